"""Where two files differ: what is found is right, small, and as far down as it can be, however little was searched."""

from collections.abc import Sequence
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from codec.agent.patches import comparing
from codec.agent.patches.comparing import LineChange, changes

FEW_LINES = st.lists(st.sampled_from("abcd"), max_size=14)
ONCE_EACH = st.lists(st.integers(0, 16).map(str), max_size=14, unique=True)


def common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines both have in the same order, at most: by the table that everybody knows."""
    row = [0] * (len(new) + 1)
    for line in old:
        above, row = row, [0]
        for at, other in enumerate(new):
            row.append(above[at] + 1 if line == other else max(row[-1], above[at + 1]))
    return row[-1]


def changed(found: Sequence[LineChange]) -> int:
    return sum(each.old_end - each.old + each.new_end - each.new for each in found)


def is_right(found: Sequence[LineChange], old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether they are in order, none is empty or beside another, and what is between them is the same."""
    a = b = 0
    for number, each in enumerate(found):
        gap = each.old - a
        if gap != each.new - b or gap < (number > 0) or old[a : each.old] != new[b : each.new]:
            return False
        if each.old_end < each.old or each.new_end < each.new or each.old_end + each.new_end == each.old + each.new:
            return False
        a, b = each.old_end, each.new_end
    return old[a:] == new[b:]


@given(FEW_LINES, FEW_LINES)
def test_no_fewer_lines_can_be_changed(old: list[str], new: list[str]) -> None:
    found = changes(old, new)
    assert is_right(found, old, new)
    assert changed(found) == len(old) + len(new) - 2 * common(old, new)


@given(FEW_LINES, FEW_LINES, st.integers(0, 4), st.integers(1, 40))
def test_a_search_that_is_cut_short_finds_more_changes_and_no_wrong_ones(
    old: list[str], new: list[str], depth: int, steps: int
) -> None:
    with mock.patch.multiple(comparing, DEPTH=depth, STEPS=steps):
        found = changes(old, new)
    assert is_right(found, old, new)
    assert changed(found) >= len(old) + len(new) - 2 * common(old, new)


@given(ONCE_EACH, ONCE_EACH)
def test_lines_that_both_have_once_are_found_without_any_search(old: list[str], new: list[str]) -> None:
    with mock.patch.object(comparing, "DEPTH", 0):
        found = changes(old, new)
    assert is_right(found, old, new)
    assert changed(found) == len(old) + len(new) - 2 * common(old, new)


@given(FEW_LINES, FEW_LINES, st.integers(0, 200))
def test_a_change_that_could_as_well_stand_further_down_stands_there(
    old: list[str], new: list[str], depth: int
) -> None:
    with mock.patch.object(comparing, "DEPTH", depth):
        found = changes(old, new)
    for number, each in enumerate(found, 1):
        if each.old_end < (found[number].old if number < len(found) else len(old)):
            assert each.old != each.old_end or new[each.new] != new[each.new_end]
            assert each.new != each.new_end or old[each.old] != old[each.old_end]
