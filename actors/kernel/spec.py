"""How a supervisor is told to keep a child."""

import enum
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, Never, TypeVar

from actors.kernel.actor import Actor
from actors.kernel.mailbox import Mailbox
from actors.kernel.stop import Why

M = TypeVar("M", contravariant=True)


class Restart(enum.Enum):
    PERMANENT = "permanent"
    """Restarted however it ended."""
    TRANSIENT = "transient"
    """Restarted unless it ended normally (DONE, SHUTDOWN)."""
    TEMPORARY = "temporary"
    """Never restarted."""

    def wanted(self, why: Why) -> bool:
        return self is Restart.PERMANENT or (self is Restart.TRANSIENT and not why.normal)


@dataclass(frozen=True)  # no slots: of such, Python 3.11 makes no generic with its type given
class ChildSpec(Generic[M]):
    id: Hashable
    """Unique within its supervisor; with the ids above it, the actor's path."""
    make: Callable[[], Actor[M]]
    """Called again for each incarnation."""
    restart: Restart = Restart.PERMANENT
    start_timeout: float = 5.0
    """Until `started()` has returned; infinity for a supervisor, whose children have their own."""
    grace: float = 5.0
    """From the request to stop, or the crash, until it is killed: for last words and tasks beside. Infinity for a
    supervisor."""
    backoff: tuple[float, float, float] = (0.1, 10.0, 0.5)
    """Before a restart: the first delay, doubled with each failure in a row up to the second, give or take a share."""
    mailbox: Callable[[], Mailbox[Any]] = Mailbox


AnySpec = ChildSpec[Never]
"""Of a child, whatever it takes."""
