"""The line that the soak fits to its figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.soak import LEAST_LAPS, Seen, results, slope

whole = st.integers(-1_000, 1_000).map(float)


@given(st.lists(st.integers(0, 10_000), min_size=2, max_size=40, unique=True), whole, whole)
def test_a_line_has_its_own_slope(times: list[int], rise: float, start: float) -> None:
    assert slope([(float(at), start + rise * at) for at in times]) == pytest.approx(rise)


@given(st.integers(5, 40), st.floats(-1e9, 1e9), st.data())
def test_one_lap_that_is_out_of_line_bends_nothing(laps: int, jump: float, data: st.DataObject) -> None:
    points = [(float(at), 3.0 * at) for at in range(laps)]
    odd = data.draw(st.integers(0, laps - 1))
    points[odd] = (float(odd), jump)
    assert slope(points) == pytest.approx(3.0)


def test_a_leak_is_missed_goals_and_no_growth_is_none() -> None:
    leaking = [Seen(float(at), 50_000_000 + 7_000 * at, 30 + at, 4) for at in range(60)]
    memory, descriptors, threads = results(leaking)
    assert (memory.missed, descriptors.missed, threads.missed) == (True, True, False)
    assert memory.ours == pytest.approx(7_000 * 3_600)


def test_too_few_laps_are_no_figure() -> None:
    few = [Seen(float(at), 1, 1, 1) for at in range(LEAST_LAPS)]
    assert all(result.why is not None and result.ratio is None for result in results(few))
