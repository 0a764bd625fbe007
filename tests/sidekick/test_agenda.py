"""When each of many is due: against the plainest model there is."""

import math

from hypothesis import given
from hypothesis import strategies as st

from actors.sidekick.agenda import Agenda

NAMES = st.sampled_from("abcde")
TIMES = st.integers(0, 9).map(float)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), NAMES, TIMES),
        st.tuples(st.just("drop"), NAMES, st.just(0.0)),
        st.tuples(st.just("take"), st.integers(0, 3), TIMES),
    )
)


@given(STEPS)
def test_an_agenda_is_a_table_of_the_earliest_times(steps: list[tuple[str, str | int, float]]) -> None:
    agenda = Agenda()
    table: dict[str, float] = {}
    for what, which, time in steps:
        if what == "put":
            agenda.put(str(which), time)
            table[str(which)] = min(time, table.get(str(which), math.inf))
        elif what == "drop":
            agenda.drop(str(which))
            table.pop(str(which), None)
        else:
            in_turn = sorted((due, name) for name, due in table.items() if due <= time)[: int(which)]
            assert [table[name] for name in agenda.take(time, int(which))] == [due for due, _ in in_turn]
            table = {name: due for name, due in table.items() if name in agenda}
            assert len(table) == len({name for name in "abcde" if name in agenda})
        assert {name for name in "abcde" if name in agenda} == set(table)
        assert agenda.next == min(table.values(), default=math.inf)
