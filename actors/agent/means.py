"""What the sessions are given: how turns are made, and what acts upon a workspace outside of a turn."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from actors.agent.half_done import FilesNow
from actors.agent.log import SessionLog
from actors.agent.messages import TurnMessage, TurnOrder
from actors.kernel import ChildSpec, Registry
from codec.agent.action_events import TurnUndone
from codec.agent.approvals import UndoReport, UndoWish
from codec.agent.kept import SessionRow

MakeTurn = Callable[[TurnOrder], ChildSpec[TurnMessage]]
CommandsEnded = Callable[[Registry, str], Awaitable[None]]
"""Returns when nothing is left of the commands of the turn with this id, whose own actor has ended."""
Keep = Callable[[TurnUndone], Awaitable[object]]
"""Returns when the event is in the log; the row's `undone` is changed with it."""


class UndoOrder(Struct, frozen=True):
    """All that undoing a turn, or doing it again, is made from."""

    registry: Registry
    log: SessionLog
    row: SessionRow
    wish: UndoWish
    redo: bool
    by: str
    keep: Keep


Undo = Callable[[UndoOrder], Awaitable[UndoReport]]


async def no_commands(registry: Registry, turn_id: str) -> None:
    """Nothing here runs commands."""


class TurnMeans(Struct, frozen=True):
    make_turn: MakeTurn
    wall: Callable[[], float]
    """Seconds since 1970."""
    new_id: Callable[[], str]
    commands_ended: CommandsEnded = no_commands
    undo: Undo | None = None
    files_now: FilesNow | None = None
