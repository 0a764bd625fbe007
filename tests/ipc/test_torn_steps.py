"""While somebody writes a request or its response, our server end neither runs nor writes: it waits."""

import pytest

from actors.ipc.server_steps import Cancel, Phase, Row, View, Wanted, next_step
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
