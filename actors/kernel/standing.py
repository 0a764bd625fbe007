"""How a slot stands: its states and what they become, and all that can be asked of it.

    from        to
    WAITING     STARTING STOPPED                          not started yet, or between incarnations (backoff)
    STARTING    RUNNING STOPPING WAITING PAUSED STOPPED   until `started` has returned
    RUNNING     STOPPING WAITING PAUSED STOPPED           not by way of STOPPING: it was killed
    STOPPING    WAITING PAUSED STOPPED                    last words; WAITING or PAUSED when a restart follows
    PAUSED      STARTING STOPPED                          it failed too often; its supervisor tries again later
    STOPPED     -                                         for good
"""

import enum
from dataclasses import dataclass

from actors.kernel.mailbox import MailboxStatistics


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

MOVES: dict[SlotState, frozenset[SlotState]] = {
    WAITING: frozenset({STARTING, STOPPED}),
    STARTING: frozenset({RUNNING, STOPPING, WAITING, PAUSED, STOPPED}),
    RUNNING: frozenset({STOPPING, WAITING, PAUSED, STOPPED}),
    STOPPING: frozenset({WAITING, PAUSED, STOPPED}),
    PAUSED: frozenset({STARTING, STOPPED}),
    STOPPED: frozenset(),
}


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
