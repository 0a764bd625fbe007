"""The states of an editor, what can happen in them, and what is needed of the program that is launched."""

import enum
from typing import Protocol

from actors.kernel import Table


class EditorState(enum.Enum):
    STANDING_BY = "standing by"
    LOOKING = "looking"
    STARTING = "starting"
    UP = "up"
    SILENT = "silent"
    RESTING = "resting"
    ENDING = "ending"
    STOPPED = "stopped"


STANDING_BY, LOOKING, STARTING, UP, SILENT, RESTING, ENDING, STOPPED = EditorState


class EditorEvent(enum.Enum):
    CLAIMED = "claimed"
    """This editor is ours to manage."""
    OUSTED = "ousted"
    FOUND = "found"
    """An earlier process of ours has launched it."""
    ANSWERED = "answered"
    LAUNCHED = "launched"
    """Now, or by an earlier process of ours less than a cold start ago."""
    REFUSED = "refused"
    """It could not be launched."""
    WAITED = "waited"
    """The cold start is over."""
    OVERDUE = "overdue"
    """It is over, and no ping was answered."""
    GONE = "gone"
    RESTED = "rested"
    STOP = "stop"
    START = "start"


CLAIMED, OUSTED, FOUND, ANSWERED, LAUNCHED, REFUSED, WAITED, OVERDUE, GONE, RESTED, STOP, START = EditorEvent

MOVES = Table(
    "an editor",
    {
        CLAIMED: {STANDING_BY: LOOKING},
        OUSTED: {state: STANDING_BY for state in EditorState if state is not STANDING_BY},
        FOUND: {LOOKING: UP},
        ANSWERED: {LOOKING: UP, STARTING: UP, SILENT: UP},
        LAUNCHED: {LOOKING: STARTING},
        REFUSED: {LOOKING: RESTING},
        WAITED: {STARTING: UP},
        OVERDUE: {STARTING: SILENT},
        GONE: {STARTING: RESTING, UP: RESTING, SILENT: RESTING, ENDING: STOPPED},
        RESTED: {RESTING: LOOKING},
        STOP: {LOOKING: STOPPED, RESTING: STOPPED, STARTING: ENDING, UP: ENDING, SILENT: ENDING},
        START: {STOPPED: LOOKING},
    },
)
HELD = (LOOKING, STARTING, RESTING, ENDING, STOPPED)


class EditorSeen(Protocol):
    """What can be seen of what was launched."""

    @property
    def pid(self) -> int | None:
        """The editor's process, if it lives. None: it does not, or none is known."""

    @property
    def age(self) -> float:
        """Seconds since the launch."""

    @property
    def code(self) -> int | None:
        """With which the command has ended. None: it has not, or nobody knows."""


class EditorProgram(Protocol):
    """The command, what it has launched, and the right to do so. Nothing here raises for what a user can cause."""

    @property
    def name(self) -> str: ...

    async def claim(self) -> str | None:
        """None: it is ours, as it may have been before. Else who has it, in a sentence for users."""

    def release(self) -> None: ...

    async def launch(self) -> str | None:
        """None: it is running. Else why not, in a sentence for users."""

    async def look(self) -> EditorSeen:
        """At what was launched last, by whichever process of ours."""

    async def end(self, *, hard: bool) -> None:
        """Asks all that was launched to end; `hard`: ends it."""
