"""What is over before somebody waits for it is given at once, and not when the folder is looked through again."""

from functools import partial
from pathlib import Path

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from codec.ipc import Failure, Outcome, Success
from codec.ipc.desk import Attempt, RequestDetail, RequestFact
from tests.troupe.ipc.peer import at_the_desk
from troupe.ipc import Desk
from troupe.ipc.arrivals import Arrivals
from troupe.ipc.results import result_of


async def test_who_waits_for_what_is_over_hears_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("troupe.ipc.desk.Arrivals", partial(Arrivals, rescan=10_000.0))
    with at_the_desk(tmp_path / "base"):
        async with Desk(tmp_path / "base", state=tmp_path) as desk:
            tickets = [await desk.submit("echo", {"prompt": str(number)}) for number in range(3)]
            first = [await ticket.wait() for ticket in tickets]
            with trio.fail_after(5):
                assert [await ticket.wait() for ticket in tickets] == first
                again = [result async for result in desk.as_completed(tickets)]
            assert {each.id for each in again} == {each.id for each in first}


OUTCOME = st.one_of(st.builds(Success, st.integers()), st.builds(Failure, st.text(max_size=5)))


@given(st.lists(OUTCOME, min_size=1, max_size=5), st.booleans(), st.floats(0, 1e9))
def test_a_result_has_its_attempts_from_the_first_on_or_the_one_that_its_file_tells(
    outcomes: list[Outcome], known: bool, at: float
) -> None:
    attempts = tuple(Attempt(number=n, began=at, ended=at, outcome=each) for n, each in enumerate(outcomes, 1))
    fact = RequestFact(id="a", command="ping", state="success", created=at, changed=at)
    detail = RequestDetail(fact=fact, tried=attempts) if known else None
    found = result_of("a", outcomes[-1], at, detail)
    assert found.ok == isinstance(outcomes[-1], Success)
    assert [each.number for each in found.attempts] == list(range(1, len(found.attempts) + 1))
    assert found.attempts[-1].outcome == outcomes[-1]
    assert len(found.attempts) == (len(outcomes) if known else 1)
    assert all(each.began == each.ended == at for each in found.attempts)
