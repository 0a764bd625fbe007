"""How a hunk's new lines are indented in a file in which its old lines have other white space.

It is told from the old lines, each of which stands in the hunk and in the file: all indentations are equal; or the
file's are all deeper, or all less deep, by the same; or one has a tab for so many spaces; or a new line is indented
as an old one. Else it is not known.
"""

from collections.abc import Callable, Mapping, Sequence

from codec.agent.patches.hunk_lines import HunkLines
from codec.agent.patches.places import loosened

Indentation = Callable[[str], str]
"""A new line as the file would have it."""


def indentation_of(hunk: HunkLines, file: Sequence[str]) -> Indentation | None:
    """`file` are the lines that stand for the hunk's old ones. None: it is not known."""
    return indentation_between(hunk.old, file, hunk.removed, hunk.added)


def indentation_between(
    old: Sequence[str], file: Sequence[str], removed: Sequence[str], added: Sequence[str]
) -> Indentation | None:
    pairs = {(_indent(line), _indent(other)) for line, other in zip(old, file, strict=True) if line.strip()}
    if all(mine == theirs for mine, theirs in pairs):
        return lambda line: line
    known = dict(pairs)
    if len(known) < len(pairs):
        return None  # one indentation of the hunk stands for several of the file
    gone = {loosened(line) for line in removed if line.strip()}
    context = len([line for line in old if line.strip()]) > len([line for line in removed if line.strip()])
    only_white_space = any(loosened(line) in gone for line in added)
    if only_white_space and not context:
        return None
    for shift in (_deeper(pairs), _less_deep(pairs)):
        if shift is not None:
            return shift if all(_try(shift, line) is not None for line in added) else None
    if only_white_space:
        return None
    table = {indent: _by_tabs(pairs, indent) for indent in map(_indent, added)} | known
    if any(table[_indent(line)] is None for line in added if line.strip()):
        return None
    return lambda line: _with(line, table)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _with(line: str, table: Mapping[str, str | None]) -> str:
    return f"{table[_indent(line)]}{line.lstrip()}" if line.strip() else line


def _try(shift: Indentation, line: str) -> str | None:
    try:
        return shift(line)
    except ValueError:
        return None


def _deeper(pairs: set[tuple[str, str]]) -> Indentation | None:
    """The file has more of it before each line."""
    mine, theirs = min(pairs, key=lambda pair: (len(pair[0]), pair))
    more = theirs[: len(theirs) - len(mine)] if theirs.endswith(mine) else ""
    if not more or any(other != more + indent for indent, other in pairs):
        return None
    return lambda line: more + line if line.strip() else line


def _less_deep(pairs: set[tuple[str, str]]) -> Indentation | None:
    mine, theirs = min(pairs, key=lambda pair: (len(pair[0]), pair))
    less = mine[: len(mine) - len(theirs)] if mine.endswith(theirs) else ""
    if not less or any(indent != less + other for indent, other in pairs):
        return None

    def shift(line: str) -> str:
        if not line.strip():
            return line
        if not line.startswith(less):
            raise ValueError(line)
        return line.removeprefix(less)

    return shift


def _by_tabs(pairs: set[tuple[str, str]], indent: str) -> str | None:
    """If one of them has a tab where the other has so many spaces."""
    for width in (2, 3, 4, 8):
        unit = " " * width
        if all(_all(mine, unit) and theirs == mine.replace(unit, "\t") for mine, theirs in pairs):
            return indent.replace(unit, "\t") if _all(indent, unit) else None
        if all(_all(theirs, unit) and mine == theirs.replace(unit, "\t") for mine, theirs in pairs):
            return indent.replace("\t", unit) if not indent.strip("\t") else None
    return None


def _all(indent: str, unit: str) -> bool:
    return indent == unit * (len(indent) // len(unit))
