"""What is counted of the desk is what a plain count of the lines gives."""

from bisect import bisect_left

import hypothesis.strategies as st
from hypothesis import example, given

from actors.ipc.figures import BOUNDS, ENDS, DeskCounts, Figures
from codec.ipc.desk import STATES, DeskTotals, RequestFact
from tests.ipc.desk_kit import fact

SECONDS = st.none() | st.sampled_from(BOUNDS) | st.integers(0, 20_000).map(lambda quarters: quarters / 4)
LINES = st.builds(fact, st.sampled_from("abc"), st.sampled_from(STATES), attempts=st.integers(0, 4), seconds=SECONDS)


@given(st.lists(LINES, max_size=30))
@example([fact("a", "success", seconds=seconds) for seconds in (BOUNDS[0], BOUNDS[-1], BOUNDS[-1] + 1)])
def test_attempts_ends_and_times_are_counted_once_each(lines: list[RequestFact]) -> None:
    counts, known = DeskCounts(), dict[str, RequestFact]()
    steps = list[tuple[RequestFact | None, RequestFact]]()
    for line in lines:
        steps.append((known.get(line.id), line))
        counts.changed(*steps[-1])
        known[line.id] = line

    rises = [line.attempts - (before.attempts if before else 0) for before, line in steps]
    ends = [line for before, line in steps if line.state in ENDS and (before is None or before.state != line.state)]
    times = [line.seconds for line in ends if line.state == "success" and line.seconds is not None]
    totals = DeskTotals(by_state={"waiting": 7})
    assert counts.with_totals(totals, lonely_seconds=2.5) == Figures(
        totals=totals,
        attempts=sum(rise for rise in rises if rise > 0),
        ended={end: sum(line.state == end for line in ends) for end in ENDS},
        latencies=tuple(sum(bisect_left(BOUNDS, time) == place for time in times) for place in range(len(BOUNDS) + 1)),
        seconds=sum(times),
        lonely_seconds=2.5,
    )


def test_figures_that_were_told_do_not_change_with_what_is_counted_later() -> None:
    counts, totals = DeskCounts(), DeskTotals(by_state={})
    told = counts.with_totals(totals, lonely_seconds=0.0)
    counts.changed(None, fact("a", "success", seconds=1.0))
    assert told == DeskCounts().with_totals(totals, lonely_seconds=0.0)
