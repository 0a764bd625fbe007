"""The states of a session, which are those of its turn.

    idle        no turn                                 what waits begins
    keeping     the turn's message is being kept        a cancel ends the turn before it has begun
    preparing   what the turn needs is asked for, and   what the turn says is taken
                its actor starts
    running     its actor runs                          what the turn says is taken
    cancelling  its actor is asked to stop              nothing is taken; the session says how the turn ended
    closing     it has said its last word               nothing is taken
    suspended   its requests wait without an actor,     answers are taken; when there are all of them, the turn goes on
                since a server has ended                in another actor; a cancel ends it
"""

import enum

from actors.kernel import Table


class TurnState(enum.Enum):
    IDLE = "idle"
    KEEPING = "keeping"
    PREPARING = "preparing"
    RUNNING = "running"
    CANCELLING = "cancelling"
    CLOSING = "closing"
    SUSPENDED = "suspended"


class TurnEvent(enum.Enum):
    BEGIN = "begin"
    KEPT = "kept"
    STARTED = "started"
    CANCEL = "cancel"
    FINAL = "final"
    OVER = "over"
    SUSPEND = "suspend"
    RESUME = "resume"


IDLE, KEEPING, PREPARING, RUNNING, CANCELLING, CLOSING, SUSPENDED = TurnState

MOVES = Table(
    "a session's turn",
    {
        TurnEvent.BEGIN: {IDLE: KEEPING},
        TurnEvent.KEPT: {KEEPING: PREPARING},
        TurnEvent.STARTED: {PREPARING: RUNNING, CANCELLING: CANCELLING, CLOSING: CLOSING},
        TurnEvent.CANCEL: {PREPARING: CANCELLING, RUNNING: CANCELLING},
        TurnEvent.FINAL: {PREPARING: CLOSING, RUNNING: CLOSING},
        TurnEvent.OVER: {
            KEEPING: IDLE,
            PREPARING: IDLE,
            RUNNING: IDLE,
            CANCELLING: IDLE,
            CLOSING: IDLE,
            SUSPENDED: IDLE,
        },
        TurnEvent.SUSPEND: {IDLE: SUSPENDED},
        TurnEvent.RESUME: {SUSPENDED: PREPARING},
    },
)
SPEAKS = frozenset({PREPARING, RUNNING})
"""While what the turn says is taken."""
CANCELLABLE = frozenset(MOVES.befores(TurnEvent.CANCEL))
