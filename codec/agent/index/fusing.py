"""Answers that were found by words and names, and answers that were found by their meaning, as one list.

Their scores cannot be compared, so their places are: each list gives a hit 1 / (60 + its place), and a hit of both
lists has the sum. Hits of one file that overlap are one. A question for a single name gets the places with that name
first.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from codec.agent.index.asking import IndexHit

SOFTENED = 60
MEANING = 0.9
"""What a place among the meanings is worth beside one among the words: the first of the words stays before it."""


def fused(
    words: Sequence[IndexHit], meanings: Sequence[IndexHit], most: int, per_file: int, *, sole: bool = False
) -> list[IndexHit]:
    """The best first. `sole`: the question is one name."""
    hits = [(replace(hit, score=1 / (SOFTENED + place))) for place, hit in enumerate(words, 1)]
    for place, hit in enumerate(meanings, 1):
        worth = MEANING / (SOFTENED + place)
        at = next((at for at, other in enumerate(hits) if _overlap(hit, other)), None)
        if at is None:
            hits.append(replace(hit, score=worth * (0.1 if sole else 1)))
        else:
            other = hits[at]
            more = 0 if sole else worth
            hits[at] = replace(other, score=other.score + more, reasons=(*other.reasons, *hit.reasons))
    hits.sort(key=lambda hit: (-hit.score, hit.path, hit.first_line))
    counts: dict[str, int] = {}
    kept = []
    for hit in hits:
        counts[hit.path] = counts.get(hit.path, 0) + 1
        if counts[hit.path] <= per_file:
            kept.append(replace(hit, score=float(f"{hit.score:.4g}")))
    return kept[:most]


def _overlap(one: IndexHit, other: IndexHit) -> bool:
    return one.path == other.path and one.first_line <= other.last_line and other.first_line <= one.last_line
