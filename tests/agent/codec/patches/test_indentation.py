"""How new lines are indented in a file that has other white space: told from its old lines, or not at all."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.patches.indentation import indentation_between

TABLE = [
    # the hunk's old lines, the file's, what is removed, what is added, and how that is written
    ("the same", ["a", "  b"], ["a", "  b"], [], ["    c", "", " d"], ["    c", "", " d"]),
    ("deeper", ["a", "  b"], ["    a", "      b"], [], ["c", "  d", "", " e"], ["    c", "      d", "", "     e"]),
    ("deeper by a tab", ["a", "\tb"], ["\ta", "\t\tb"], [], ["\tc"], ["\t\tc"]),
    ("less deep", ["    a", "      b"], ["a", "  b"], [], ["    c", "        d", ""], ["c", "    d", ""]),
    ("less deep, and a blank line of less", ["    a"], ["  a"], [], ["    b", " "], ["  b", " "]),
    ("too little to be less", ["    a", "      b"], ["a", "  b"], [], ["  c"], None),
    ("not all deeper", ["a", "  b"], ["  a", "  b"], [], ["c"], ["  c"]),
    ("not all deeper, and unknown", ["a", "  b"], ["  a", "  b"], [], ["    c"], None),
    ("not all less deep", ["  a", "    b"], ["a", "    b"], [], ["  c", "    d"], ["c", "    d"]),
    ("tabs for two", ["a", "  b", "    c"], ["a", "\tb", "\t\tc"], [], ["      d", "e"], ["\t\t\td", "e"]),
    ("tabs for four", ["a", "    b"], ["a", "\tb"], [], ["        d"], ["\t\td"]),
    ("tabs for eight", ["a", "        b"], ["a", "\tb"], [], ["                d"], ["\t\td"]),
    ("tabs for three", ["a", "   b"], ["a", "\tb"], [], ["      d"], ["\t\td"]),
    ("tabs for four, and odd spaces", ["a", "    b"], ["a", "\tb"], [], ["      d"], None),
    ("two for tabs", ["a", "\tb", "\t\tc"], ["a", "  b", "    c"], [], ["\t\t\td"], ["      d"]),
    ("four for tabs", ["a", "\tb"], ["a", "    b"], [], ["\t\td", ""], ["        d", ""]),
    ("four for tabs, and a space", ["a", "\tb"], ["a", "    b"], [], ["\t d"], None),
    ("as an old one", ["a", "  b", "   c"], ["a", "    b", "     c"], [], ["  d", "   e"], ["    d", "     e"]),
    ("one for several", ["  a", "  b"], ["    a", "\tb"], [], ["  c"], None),
    ("blank lines tell nothing", ["", "a", "  "], ["\t", " a", ""], [], ["b"], [" b"]),
    ("white space is what changes, with context", ["a", "b"], ["  a", "  b"], ["b"], ["    b"], ["      b"]),
    ("white space is what changes, without", ["b"], ["  b"], ["b"], ["    b"], None),
    ("white space is what changes, by a table", ["a", "  b"], ["\ta", "  b"], ["  b"], ["    b"], None),
]


@pytest.mark.parametrize(("old", "file", "removed", "added", "expected"), [row[1:] for row in TABLE],
                         ids=[row[0] for row in TABLE])  # fmt: skip
def test_new_lines_are_indented_as_the_old_ones_tell_or_not_at_all(
    old: list[str], file: list[str], removed: list[str], added: list[str], expected: list[str] | None
) -> None:
    found = indentation_between(old, file, removed, added)
    assert (None if found is None else [found(line) for line in added]) == expected


TREES = st.lists(st.integers(0, 4), min_size=1, max_size=8)
SHIFTS: list[Callable[[int], str]] = [
    lambda depth: "    " * depth,
    lambda depth: "    " * (depth + 1),
    lambda depth: "  " + "    " * depth,
    lambda depth: "\t" + "    " * depth,
    lambda depth: "\t" * depth,
]


@given(TREES, TREES, st.sampled_from(SHIFTS), st.sampled_from(SHIFTS))
def test_what_is_told_is_what_the_file_would_have(
    old: list[int], new: list[int], mine: Callable[[int], str], theirs: Callable[[int], str]
) -> None:
    """Both are trees, each with its own way to indent; new lines as deep as old ones are always known."""
    lines = [f"{mine(depth)}line {number}" for number, depth in enumerate(old)]
    file = [f"{theirs(depth)}line {number}" for number, depth in enumerate(old)]
    added = [f"{mine(depth)}new {number}" for number, depth in enumerate(new)]
    found = indentation_between(lines, file, [], added)
    if {*new} <= {*old}:
        assert found is not None
    if found is not None and ({*new} <= {*old} or len({*old}) > 1):
        assert [found(line) for line in added] == [f"{theirs(depth)}new {number}" for number, depth in enumerate(new)]
