"""A file that two have changed: what both wanted, where that is clear.

Each change of either side is a range of lines of the base. Ranges that overlap or touch belong together: if only one
side has changed them, its lines count; if both have, they must have made the same of them. Else there is no merge:
nobody is asked to read marks of conflicts.
"""

from collections.abc import Sequence

from codec.agent.patches.comparing import LineChange, changes
from codec.agent.patches.text_lines import read_lines


def merged(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """None: the changes are in each other's way, or one of the files is no text."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    files = [read_lines(data, only_lf=True) for data in (base, ours, theirs)]
    old, mine, other = files
    if old is None or mine is None or other is None:
        return None
    if not all((each.encoding, each.mark) == (old.encoding, old.mark) for each in (mine, other)):
        return None
    lines = _merged_lines(old.raw, mine.raw, other.raw)
    if lines is None:
        return None
    return old.mark + "".join(lines).encode(old.encoding)


def _merged_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str] | None:
    all_changes = sorted(
        [(change, 0) for change in changes(base, ours)] + [(change, 1) for change in changes(base, theirs)],
        key=lambda each: (each[0].old, each[0].old_end),
    )
    groups: list[list[tuple[LineChange, int]]] = []
    reach = -1
    for each in all_changes:
        if not groups or each[0].old > reach:
            groups.append([])
            reach = each[0].old_end
        groups[-1].append(each)
        reach = max(reach, each[0].old_end)
    found: list[str] = []
    at = 0
    for group in groups:
        first, last = group[0][0].old, max(change.old_end for change, _ in group)
        found += base[at:first]
        made = []
        for side, lines in ((0, ours), (1, theirs)):
            of_side = [change for change, whose in group if whose == side]
            if of_side:
                begin = of_side[0].new - (of_side[0].old - first)
                end = of_side[-1].new_end + (last - of_side[-1].old_end)
                made.append(list(lines[begin:end]))
        if len(made) == 2 and made[0] != made[1]:
            return None
        found += made[0]
        at = last
    return [*found, *base[at:]]
