"""While somebody writes a request or its response, our server end neither runs nor writes: it waits."""

import pytest
from msgspec.structs import replace

from actors.ipc.server_steps import Cancel, Journal, Phase, Row, View, Wanted, next_step
from actors.ipc.steps import Torn, Wait
from codec.ipc import Success

ROWS = [
    None,
    *(Row("r", fingerprint, phase, 1, Success()) for fingerprint in (b"same", b"other") for phase in Phase),
]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("running", [False, True])
def test_nothing_is_done_about_what_somebody_is_writing(row: Row | None, running: bool) -> None:
    is_other = row is None or row.fingerprint == b"other"
    for_torn_answer = Cancel() if running and is_other else Wait()
    assert next_step("r", row, View(Wanted(b"same"), Torn(), running=running)) == for_torn_answer
    assert next_step("r", row, View(Torn(), None, running=running)) == Wait()
    assert next_step("r", row, View(Torn(), Torn(), running=running)) == Wait()


TORN = [View(Torn(), None), View(Torn(), Torn()), View(Wanted(b"same"), Torn())]


@pytest.mark.parametrize("view", TORN)
def test_what_is_known_of_it_is_in_the_journal_before_anybody_waits(view: View) -> None:
    """A disk may keep a file back for ever, and whoever waited for that with something in mind would keep a place."""
    begun = Row("r", b"same", Phase.ASKED, 2)
    ended = Success({"n": 1})
    decided = Journal(Row("r", b"same", Phase.DECIDED, 2, ended))
    assert next_step("r", begun, replace(view, ended=ended)) == decided
    assert next_step("r", decided.row, view) == Wait()
    taken_back = Journal(Row("r", b"same", Phase.ASKED, 1))
    assert next_step("r", begun, replace(view, may_run=True)) == taken_back
    assert next_step("r", taken_back.row, view) == Wait()
