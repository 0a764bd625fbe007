"""How a slot stands: its states, what becomes of them (MOVES), and all that can be asked of it.

    WAITING     not started yet, or between incarnations (backoff)
    STARTING    until `started` has returned
    RUNNING     it takes messages; it need not come by way of STOPPING: it may be killed
    STOPPING    last words; WAITING or PAUSED follows when a restart does
    PAUSED      it failed too often; its supervisor tries again later
    STOPPED     for good
"""

import enum
from dataclasses import dataclass

from actors.kernel.mailbox import MailboxStatistics
from actors.kernel.table import Table


@dataclass(frozen=True, slots=True)
class Again:
    """A supervisor's decision that a child will be started again."""

    delay: float
    paused: bool = False


REGROUPED = Again(0.0)
"""It was stopped for its group, and will be started with it."""


class SlotState(enum.Enum):
    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    PAUSED = "paused"
    STOPPED = "stopped"


WAITING, STARTING, RUNNING, STOPPING, PAUSED, STOPPED = SlotState


class SlotEvent(enum.Enum):
    START = "start"
    """An incarnation begins."""
    READY = "ready"
    """Its `started` has returned."""
    LEAVE = "leave"
    """It was asked to stop, or its last words begin."""
    AGAIN = "again"
    """It has ended, and a restart follows."""
    PAUSE = "pause"
    """It has ended, and failed too often: a restart follows later."""
    END = "end"
    """For good."""


START, READY, LEAVE, AGAIN, PAUSE, END = SlotEvent

MOVES = Table(
    "a slot",
    {
        START: {WAITING: STARTING, PAUSED: STARTING},
        READY: {STARTING: RUNNING},
        LEAVE: {STARTING: STOPPING, RUNNING: STOPPING},
        AGAIN: {STARTING: WAITING, RUNNING: WAITING, STOPPING: WAITING},
        PAUSE: {STARTING: PAUSED, RUNNING: PAUSED, STOPPING: PAUSED},
        END: {WAITING: STOPPED, STARTING: STOPPED, RUNNING: STOPPED, STOPPING: STOPPED, PAUSED: STOPPED},
    },
)


@dataclass(frozen=True, slots=True)
class SlotStatistics:
    path: str
    supervises: bool
    dynamic: bool
    """Started at runtime, not by its supervisor's list."""
    state: SlotState
    since: float
    """Kernel time of the last change of state."""
    restarts: int
    """This and the four below belong to the place: they outlive the slot."""
    restarted_at: float | None
    """Kernel time of the last restart."""
    crashes: int
    crashed_at: float | None
    error: str | None
    """What the last failure was, in a line."""
    handled: int
    dropped: int
    children: int
    called: str | None
    """What people call it, where its id is only a number."""
    note: str | None
    trouble: str | None
    """What keeps it from doing all that it is for, while it lives."""
    mailbox: MailboxStatistics
