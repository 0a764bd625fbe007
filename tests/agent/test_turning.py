"""How a turn ends that has not said its own end."""

import pytest

from actors.agent.messages import LogEntry
from actors.agent.retelling import SoFar
from actors.agent.turning import final
from codec.agent.events import Token
from codec.agent.kept import TurnMark


@pytest.mark.parametrize(
    ("began", "ended", "seconds"),
    [(100.0, 102.5, 2.5), (100.0, 102.00049, 2.0), (100.0, 102.0006, 2.001), (100.0, 99.0, 0.0), (0.0, 99.0, 0.0)],
    ids=["some seconds", "of a second its thousandths", "rounded", "the clock was set back", "of before this was kept"],
)
def test_a_turn_that_is_ended_says_what_it_has_done_and_how_long_it_took(
    began: float, ended: float, seconds: float
) -> None:
    mark = TurnMark(turn_id="t", seq=1, began=began)
    so_far = SoFar([LogEntry(1, Token(token="so far"))])
    so_far.tools["read_file"] = None
    so_far.files |= {"a.py", "b.py"}
    said = final(mark, so_far, ended, cancelled=True)
    assert said.message == "so far"
    told = said.metadata
    assert (told.success, told.cancelled, told.interrupted, told.turn_id) == (False, True, False, "t")
    assert (told.files_modified, told.tools_used, told.seconds) == (2, ("read_file",), seconds)
    assert final(mark, so_far, ended, interrupted=True).metadata.interrupted
