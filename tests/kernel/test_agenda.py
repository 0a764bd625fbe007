"""The agenda of what is due, against one that is looked through from the beginning each time."""

import math

from hypothesis import example, given
from hypothesis import strategies as st

from actors.kernel import Agenda

NAMES = st.sampled_from("abcd")
TIMES = st.integers(0, 6).map(float)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), NAMES, TIMES),
        st.tuples(st.just("drop"), NAMES, st.just(0.0)),
        st.tuples(st.just("take"), st.sampled_from(["0", "1", "2", "9"]), TIMES),
    ),
    max_size=40,
)


@given(STEPS)
@example([("put", "a", 5.0), ("put", "a", 3.0), ("put", "a", 4.0), ("take", "9", 3.0)])
@example([("put", "a", 3.0), ("drop", "a", 0.0), ("put", "a", 5.0), ("take", "9", 4.0), ("take", "9", 5.0)])
@example([("put", "a", 1.0), ("put", "b", 1.0), ("take", "1", 1.0), ("take", "0", 1.0), ("take", "2", 1.0)])
def test_each_is_due_once_at_the_earliest_time_that_was_said(steps: list[tuple[str, str, float]]) -> None:
    agenda, due = Agenda[str](), dict[str, float]()
    for what, name, time in steps:
        match what:
            case "put":
                agenda.put(name, time)
                due[name] = min(time, due.get(name, math.inf))
            case "drop":
                agenda.drop(name)
                due.pop(name, None)
            case "take":
                ready = sorted((at, one) for one, at in due.items() if at <= time)[: int(name)]
                assert agenda.take(time, int(name)) == [one for _, one in ready]
                for _, one in ready:
                    del due[one]
        assert agenda.next == min(due.values(), default=math.inf)
        assert [one for one in "abcd" if one in agenda] == sorted(due)
