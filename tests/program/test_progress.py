"""The bar of many requests, over any numbers and widths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from program.progress import EMPTY, FAILED, FULL, NARROWEST, WIDEST, Progress, bar, line, summary
from program.terminal import cells

NUMBERS = st.integers(0, 200_000)


@st.composite
def progresses(draw: st.DrawFn) -> Progress:
    succeeded, failed, under_way = draw(NUMBERS), draw(NUMBERS), draw(NUMBERS)
    since = draw(st.integers(0, succeeded + failed))
    return Progress(succeeded + failed + under_way, succeeded, failed, draw(st.floats(0, 1e6)), since)


@given(progresses(), st.integers(NARROWEST, WIDEST))
def test_a_bar_has_its_width_and_is_full_only_when_all_is_over(progress: Progress, width: int) -> None:
    drawn = bar(progress, width)
    assert len(drawn) == cells(drawn) == width
    if progress.failed:
        assert FAILED in drawn
    if progress.total and progress.over == progress.total:
        assert EMPTY not in drawn
        assert set(drawn) - set(FAILED + FULL) == set() or progress.failed
    if not progress.over:
        assert set(drawn) == {EMPTY}


@given(progresses(), st.integers(20, 200))
def test_a_line_fits_and_says_first_what_matters_most(progress: Progress, width: int) -> None:
    text = line(progress, width)
    assert cells(text) <= width
    assert f"{100 * progress.over // progress.total if progress.total else 0} %" in text


def test_the_figures_in_words() -> None:
    assert summary(Progress(1, 0, 0)) == "1 request: 0 answered, 1 under way"
    assert summary(Progress(2_000, 1_990, 10)) == "2,000 requests: 1,990 answered, 10 failed"
    told = line(Progress(2_000, 990, 10, seconds=10, since=100), 120)
    assert told.endswith(" 50 %  990 of 2,000 answered  10 failed  1,000 under way  10.0/s  about 2 min left")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s"), (1, "1 s"), (89, "89 s"), (90, "2 min"), (60 * 119, "119 min"), (60 * 120, "2 h"), (86_400, "24 h")],
)
def test_the_time_that_is_left_is_told_in_a_unit_of_which_there_is_more_than_one(seconds: float, said: str) -> None:
    """Ten requests end in a second."""
    told = line(Progress(10 + round(seconds * 10), 10, 0, seconds=1, since=10), 200)
    assert told.endswith(f"about {said} left")
