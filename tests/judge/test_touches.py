"""Which results are in doubt, by the times of programs, edits and readings."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.judge.touches import LATE, SOLUTION, TICK, Touches
from tests.judge.kit import CaseFile, Found


def found(main: float = 0.001, content: bytes = b"", **touched: float) -> Found:
    """`in1=7`: the first test's input was touched then."""

    def text(index: int, kind: str) -> CaseFile:
        return CaseFile(b"", int(1e9 * touched.get(f"{kind}{index}", 0.001)))

    cases = {index: (text(index, "in"), text(index, "out")) for index in (1, 2)}
    return Found(cases, {}, 2, content, True, main_touched=int(1e9 * main))


def read(touches: Touches, state: Found, at: float, *, is_watched: bool = True) -> list[tuple[int, int]]:
    """In a tenth of a second, up to then."""
    return touches.read(state, began=at - 0.1, ended=at, wall=at, is_watched=is_watched)


@pytest.fixture
def touches() -> Touches:
    touches = Touches()
    assert read(touches, found(), 1.0) == []
    touches.run_begins()
    return touches


@pytest.mark.parametrize(
    ("state", "doubts"),
    [
        (found(), []),
        (found(main=10), [(1, SOLUTION), (2, SOLUTION)]),
        (found(in1=10), [(1, 1)]),
        (found(out2=10), [(2, 2)]),
        (found(main=0, in1=0, out1=0, in2=0, out2=0), []),  # nobody knows
    ],
)
def test_a_file_that_was_touched_casts_doubt_on_what_it_was_used_for(
    touches: Touches, state: Found, doubts: Sequence[tuple[int, int]]
) -> None:
    assert [touches.ran(index, 9.9, 10.1) for index in (1, 2)] == [set(), set()]
    assert read(touches, state, 10.3) == doubts
    assert read(touches, state, 10.5) == [], "that is known"


WHEN = [
    (10.0, 10.5, True),
    (10.0, 10.0, True),
    (9.0, 10.1, True),
    (9.0, 10.0 - LATE - 0.001, False),
    (9.0, 10.0 - LATE + 0.001, True),
    (10.0 + TICK - 0.001, 10.2, True),
    (10.0 + TICK + 0.001, 10.2, False),
    (11.0, 12.0, False),
]


@pytest.mark.parametrize(("began", "ended", "in_doubt"), WHEN)
@pytest.mark.parametrize("is_told_before", [False, True])
def test_a_result_is_in_doubt_if_its_program_ran_at_that_time(
    touches: Touches, began: float, ended: float, in_doubt: bool, is_told_before: bool
) -> None:
    state = found(main=10.0)
    if is_told_before:
        assert touches.ran(1, began, ended) == set()
        assert read(touches, state, 10.3) == [(1, SOLUTION)] * in_doubt
    else:
        assert read(touches, state, 10.3) == []
        assert touches.ran(1, began, ended) == ({SOLUTION} if in_doubt else set())


@pytest.mark.parametrize(("ended", "in_doubt"), [(9.99, False), (10.0, True)])
@pytest.mark.parametrize("is_watched", [False, True])
def test_an_edit_that_is_seen_counts_from_its_own_time(
    touches: Touches, ended: float, in_doubt: bool, is_watched: bool
) -> None:
    touches.ran(1, 9.0, ended)
    state = found(main=10, content=b"edited")
    assert read(touches, state, 10.3, is_watched=is_watched) == [(1, SOLUTION)] * in_doubt


def test_where_nothing_is_watched_it_may_have_been_touched_since_the_last_reading(touches: Touches) -> None:
    assert touches.ran(1, 0.5, 0.89) == touches.ran(2, 0.5, 0.91) == set()
    assert read(touches, found(main=50), 51.0, is_watched=False) == [(2, SOLUTION)]


@pytest.mark.parametrize("set_by", [-1e6, -60.0, 60.0, 1e6])
def test_if_the_clock_was_set_it_may_have_been_touched_since_the_last_reading(touches: Touches, set_by: float) -> None:
    assert touches.ran(1, 0.5, 0.89) == touches.ran(2, 0.5, 0.91) == set()
    state = found(main=max(30.0, 50 + set_by), content=b"edited")
    assert touches.read(state, began=30.9, ended=31.0, wall=31.0 + set_by, is_watched=True) == [(2, SOLUTION)]


def test_results_of_another_run_are_not_in_question(touches: Touches) -> None:
    read(touches, found(main=10), 10.1)
    touches.ran(1, 9.0, 10.2)
    touches.run_begins()
    assert touches.ran(2, 9.0, 10.2) == set()
    assert read(touches, found(main=10.2), 10.3) == [(2, SOLUTION)]


@given(st.lists(st.integers(0, 500), min_size=1, max_size=12, unique=True), st.integers(0, 600), st.integers(0, 50))
def test_of_many_edits_none_is_forgotten(times: list[int], began: int, takes: int) -> None:
    """Hundredths of a second. Each edit is read a hundredth later."""
    touches = Touches()
    read(touches, found(), 1.0)
    touches.run_begins()
    edits = [2 + each / 100 for each in sorted(times)]
    for time in edits:
        touches.read(found(main=time), began=time + 0.01, ended=time + 0.01, wall=time + 0.01, is_watched=True)
    known = touches._times[SOLUTION]
    assert all(one[1] < other[0] for one, other in pairwise(known)), "in order, and none is in another"
    first, last = 2 + began / 100 + 0.005, 2 + (began + takes) / 100 + 0.005
    readings = [0.9, *(time + 0.01 for time in edits)]
    windows = [(max(before, time - LATE), time + 0.01) for before, time in zip(readings, edits, strict=False)]
    meets = any(first <= end and begin <= last for begin, end in windows)
    assert touches.ran(1, first, last) == ({SOLUTION} if meets else set())
