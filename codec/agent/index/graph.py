"""How much a file matters by what imports it: the rank of pages, with files for pages and imports for links.

A walker goes from a file to one of those that it imports, and now and then to any file (or, when the ranks are
somebody's, back to where that one begins). A file's rank is how often the walker is there, times the number of files:
1 is usual.
"""

from collections.abc import Iterable, Mapping, Sequence

DAMPING = 0.85
ROUNDS = 30
NEAR_ENOUGH = 1e-6


def ranks(
    nodes: Sequence[int], edges: Iterable[tuple[int, int]], begin: Mapping[int, float] | None = None
) -> dict[int, float]:
    """`edges`: who imports whom. `begin`: where the walker begins anew, and how often; everywhere, without."""
    if not nodes:
        return {}
    place = {node: at for at, node in enumerate(dict.fromkeys(nodes))}
    count = len(place)
    out = [0] * count
    links = sorted(
        {(place[one], place[other]) for one, other in edges if one in place and other in place and one != other}
    )
    for one, _ in links:
        out[one] += 1
    start = _start(place, begin)
    now = start
    for _ in range(ROUNDS):
        given = [DAMPING * rank / links_out if links_out else 0.0 for rank, links_out in zip(now, out, strict=True)]
        lost = 1 - DAMPING + DAMPING * sum(rank for rank, links_out in zip(now, out, strict=True) if not links_out)
        then = [lost * share for share in start]
        for one, other in links:
            then[other] += given[one]
        moved = sum(abs(one - other) for one, other in zip(now, then, strict=True))
        now = then
        if moved < NEAR_ENOUGH:
            break
    return {node: count * now[at] for node, at in place.items()}


def _start(place: Mapping[int, int], begin: Mapping[int, float] | None) -> list[float]:
    shares = [0.0] * len(place)
    for node, share in (begin or {}).items():
        if node in place and share > 0:
            shares[place[node]] = share
    whole = sum(shares)
    return [share / whole for share in shares] if whole else [1 / len(place)] * len(place)
