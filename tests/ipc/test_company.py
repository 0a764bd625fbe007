"""Whether anybody answers, by the lines alone."""

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from msgspec.structs import replace

from actors.ipc.client_steps import OVERDUE
from actors.ipc.company import OURS, THEIRS, Company
from codec.ipc.desk import STATES, RequestFact
from tests.ipc.desk_kit import fact

POLLING = fact("a", "polling", attempts=1)


@pytest.mark.parametrize(
    ("before", "now", "answers"),
    [
        (POLLING, replace(POLLING, state="success"), True),
        (POLLING, replace(POLLING, state="retrying", message="busy"), True),
        (POLLING, replace(POLLING, state="gave up", message="busy"), True),
        (POLLING, replace(POLLING, state="retrying", message=OVERDUE), False),
        (POLLING, replace(POLLING, state="gave up", message=OVERDUE), False),
        (POLLING, replace(POLLING, attempts=2, message=OVERDUE), False),  # what was between was not told
        (POLLING, replace(POLLING, attempts=2, message="busy"), True),
        (POLLING, replace(POLLING, attempts=2, state="success", message=OVERDUE), True),
        (POLLING, replace(POLLING, state="cancelled"), None),
        (POLLING, POLLING, None),
        (replace(POLLING, state="retrying", message=OVERDUE), replace(POLLING, attempts=2), None),
        (replace(POLLING, state="retrying", message=OVERDUE), replace(POLLING, state="gave up"), None),
        (replace(POLLING, state="retrying"), replace(POLLING, attempts=2, state="success"), True),
        (None, replace(POLLING, state="success"), None),  # it may be of an earlier day
        (fact("a", "waiting"), POLLING, None),
        (fact("a", "waiting"), fact("a", "gave up", attempts=0, message="its deadline has passed"), None),
    ],
)
def test_an_attempt_that_ends_shows_whether_anybody_answers(
    before: RequestFact | None, now: RequestFact, answers: bool | None
) -> None:
    here = Company()
    here.changed(before, now, 5.0)
    assert here.lonely_since == (5.0 if answers is False else None)
    assert (here.sentence == THEIRS) == (answers is True)
    assert (here.sentence == "") == (answers is None)


LINES = st.builds(
    fact,
    st.just("a"),
    st.sampled_from(STATES),
    attempts=st.integers(0, 3),
    message=st.sampled_from(["", "busy", OVERDUE]),
)


@given(st.lists(LINES, max_size=30))
def test_who_is_lonely_is_so_since_the_first_of_the_attempts_in_a_row_that_nobody_answered(lines: list[Any]) -> None:
    here = Company()
    since: float | None = None
    for now, (before, line) in enumerate(zip([None, *lines], lines, strict=False)):
        missed = here.missed
        here.changed(before, line, float(now))
        if here.missed > missed:
            since = float(now) if since is None else since
        elif here.missed == 0:
            since = None
        assert here.lonely_since == since
        assert ("not answered in time" in here.sentence) == (since is not None)


def test_our_own_server_end_stays_named_when_it_has_answered() -> None:
    here = Company()
    here.told(OURS, alive=True, now=0.0)
    here.changed(POLLING, replace(POLLING, state="success"), 1.0)
    assert here.sentence == OURS
