"""The states of a slot, the moves between them (MOVES), and a slot's statistics.

    WAITING     the child has not been started yet, or waits for a restart (backoff)
    STARTING    until `started` has returned
    RUNNING     the child takes messages; the next state need not be STOPPING, because the child may be killed
    STOPPING    the child says its last words; WAITING or PAUSED follows if it will be restarted
    PAUSED      the child failed too often; its supervisor tries again later
    STOPPED     the child has ended for good
"""

import enum
from dataclasses import dataclass

from actors.kernel.mailbox import MailboxStatistics
from actors.kernel.table import Table


@dataclass(frozen=True, slots=True)
class Again:
    """A supervisor's decision to start a child again."""

    delay: float
    paused: bool = False


REGROUPED = Again(0.0)
"""The child was stopped together with its group, and will be started with the group."""


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
    """The child was asked to stop, or its last words begin."""
    AGAIN = "again"
    """The child has ended, and a restart follows."""
    PAUSE = "pause"
    """The child has failed too often: a restart follows later."""
    END = "end"
    """The child has ended for good."""


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
    """Started at runtime: not one of the children that the supervisor was made with."""
    state: SlotState
    since: float
    """Kernel time of the last change of state."""
    restarts: int
    """This and the next four fields belong to the place: they outlive the slot."""
    restarted_at: float | None
    """Kernel time of the last restart."""
    crashes: int
    crashed_at: float | None
    error: str | None
    """The last failure, in a line."""
    handled: int
    dropped: int
    children: int
    called: str | None
    """Its role and name for people, if its id is only a number."""
    note: str | None
    trouble: str | None
    """Why the living actor cannot do all of its work, in a sentence for people."""
    mailbox: MailboxStatistics
