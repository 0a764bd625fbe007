"""Who has seen an answer waits for the server's journal, and only for one that will have it.

The client end journals a request that a script has dropped a moment after the server end has answered it. So the answer
may be there before the server knows of any request; and a client end that knows it may have yet to write how it ended.
"""

from pathlib import Path

import pytest

from codec.ipc import Failure, Success
from codec.ipc.desk import Attempt, RequestDetail, RequestFact, RequestState
from tests.troupe.ipc.peer import at_the_desk
from tests.troupe.ipc.test_desk import put
from troupe.ipc import Desk, NoServer
from troupe.ipc import desk as module
from troupe.ipc.desk import JOURNAL_STEPS

DONE = Success({"n": 1})
TRIED = (
    Attempt(number=1, began=1.0, ended=2.0, outcome=Failure("busy")),
    Attempt(number=2, began=3.0, ended=4.0, outcome=DONE),
)


def detail(state: RequestState) -> RequestDetail:
    return RequestDetail(fact=RequestFact(id="r1", command="never", state=state, created=1.0, changed=4.0), tried=TRIED)


class LaterOffice:
    """A server whose journal gets there step by step: the last step again and again."""

    def __init__(self, *steps: RequestState | None, is_there: bool = True) -> None:
        self.steps = list(steps)
        self.is_there = is_there
        self.asked = 0

    def detail(self, id: str) -> RequestDetail | None:  # noqa: A002 - as in the contract
        self.asked += 1
        if not self.is_there:
            raise NoServer("nobody is there")
        state = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        return None if state is None else detail(state)

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "JOURNAL_STEPS", (0.0,) * len(JOURNAL_STEPS))


async def attempts(base: Path, office: LaterOffice, *, is_kept: bool = True) -> int:
    async with Desk(base, state=base) as desk:
        ticket = await desk.submit("never", id="r1")
        desk.office = office
        put(base, "responses", "r1", DONE)
        if not is_kept:
            (base / "requests" / "r1.json").unlink()
        result = await ticket.wait()
        assert result.data == {"n": 1}
        return len(result.attempts)


@pytest.mark.parametrize("before", [None, "waiting", "polling"])
@pytest.mark.parametrize("late", range(len(JOURNAL_STEPS)))
async def test_a_journal_that_comes_late_is_waited_for(tmp_path: Path, late: int, before: RequestState | None) -> None:
    with at_the_desk(tmp_path / "base"):
        office = LaterOffice(*[before] * late, "success")
        assert await attempts(tmp_path / "base", office) == 2
        assert office.asked == late + 1


async def test_a_journal_that_never_comes_costs_so_many_questions_and_then_the_file_tells(tmp_path: Path) -> None:
    with at_the_desk(tmp_path / "base"):
        office = LaterOffice(None)
        assert await attempts(tmp_path / "base", office) == 1
        assert office.asked == len(JOURNAL_STEPS)


async def test_where_no_client_end_lives_nobody_waits_for_its_journal(tmp_path: Path) -> None:
    office = LaterOffice(None, "success")
    assert await attempts(tmp_path / "base", office) == 1
    assert office.asked == 1


async def test_a_request_that_its_peer_has_taken_away_will_not_be_adopted_and_nobody_waits_for_it(
    tmp_path: Path,
) -> None:
    with at_the_desk(tmp_path / "base"):
        office = LaterOffice(None, "success")
        assert await attempts(tmp_path / "base", office, is_kept=False) == 1
        assert office.asked == 1


async def test_a_server_that_cannot_be_asked_is_asked_once(tmp_path: Path) -> None:
    with at_the_desk(tmp_path / "base"):
        office = LaterOffice(None, is_there=False)
        assert await attempts(tmp_path / "base", office) == 1
        assert office.asked == 1
