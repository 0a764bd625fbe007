"""What a model is told has no line of a file twice."""

import re
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.agent.budget import CUT
from actors.agent.doubles import still_missing, without_doubles
from actors.agent.prompt import STANDS_ABOVE, fitted
from codec.agent.findings import numbered
from codec.agent.material import Material

PATHS = ("src/a.py", "src/b.py")


def part(path: str, first: int, last: int) -> Material:
    text = "\n".join(f"line {number} of {path}" for number in range(first, last + 1))
    return Material(source=f"{path}:{first}-{last}", why="wanted", text=numbered(text, first))


parts = st.builds(
    lambda path, first, more: part(path, first, first + more),
    st.sampled_from(PATHS),
    st.integers(1, 30),
    st.integers(0, 20),
)


def lines(materials: tuple[Material, ...]) -> list[tuple[str, str]]:
    return [(each.source.rpartition(":")[0], line) for each in materials for line in each.text.split("\n")]


@given(st.lists(parts, max_size=8))
def test_every_line_is_told_once_by_whoever_comes_first(wanted: list[Material]) -> None:
    told = lines(without_doubles(wanted))
    assert len(told) == len(set(told))
    assert set(told) == set(lines(tuple(wanted)))


@given(st.lists(parts, max_size=8))
def test_a_source_names_the_first_and_the_last_line_that_it_has(wanted: list[Material]) -> None:
    for each in without_doubles(wanted):
        numbers = [int(line.partition("\t")[0]) for line in each.text.split("\n")]
        assert all(before < after for before, after in pairwise(numbers))
        named = [int(number) for number in re.findall(r"\d+", each.source.rpartition(":")[2])]
        assert (named[0], named[-1]) == (numbers[0], numbers[-1])


@example([part("src/a.py", 1, 1), part("src/a.py", 1, 18), part("src/a.py", 16, 36), part("src/a.py", 9, 29)], 455)
@given(st.lists(parts, max_size=8), st.integers(0, 800))
def test_what_is_fitted_has_no_line_twice_however_small_the_room(wanted: list[Material], most: int) -> None:
    told = [line for line in lines(fitted(wanted, most)) if re.fullmatch(r"\d+\tline \d+ of .+\.py", line[1])]
    assert len(told) == len(set(told))


def test_what_has_no_lines_of_a_file_stays_as_it_is() -> None:
    diagnostics = Material(source="diagnostics", why="what the editor reports", text="src/a.py:1:1: error: odd")
    assert still_missing(diagnostics, [part("src/a.py", 1, 9), diagnostics]) == diagnostics


def test_a_line_that_was_cut_is_told_again() -> None:
    cut = Material(source="src/a.py:1-40", why="", text=f"1\tone\n2\ttw{CUT}9\tirty-nine\n40\tforty")
    rest = still_missing(part("src/a.py", 1, 10), [cut])
    assert rest is not None
    assert [line.partition("\t")[0] for line in rest.text.split("\n")] == [str(number) for number in range(2, 11)]


def test_what_is_selected_is_named_though_its_lines_stand_above() -> None:
    whole, selected = part("src/a.py", 1, 9), replace(part("src/a.py", 4, 6), why="selected in the editor")
    told = fitted([whole, selected, part("src/a.py", 2, 3)], 1000)
    assert told == (whole, replace(selected, text=STANDS_ABOVE))
