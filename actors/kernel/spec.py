"""Child specs: a spec tells a supervisor how to make a child, and when to restart it."""

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
    """Restarted after every end."""
    TRANSIENT = "transient"
    """Restarted unless it ended normally (DONE, SHUTDOWN)."""
    TEMPORARY = "temporary"
    """Never restarted."""

    def wanted(self, why: Why) -> bool:
        return self is Restart.PERMANENT or (self is Restart.TRANSIENT and not why.normal)


@dataclass(frozen=True)  # no slots: with them, Python 3.11 fails on `ChildSpec[M](...)`
class ChildSpec(Generic[M]):
    id: Hashable
    """Unique within its supervisor. The actor's path consists of this id and those above it."""
    make: Callable[[], Actor[M]]
    """Called for each incarnation."""
    restart: Restart = Restart.PERMANENT
    start_timeout: float = 5.0
    """Seconds that `started()` may take. Infinity for a supervisor, because each child has a timeout of its own."""
    grace: float = 5.0
    """Seconds from the request to stop, or from the crash, until the actor is killed. They are for its last words and
    its tasks beside. Infinity for a supervisor."""
    backoff: tuple[float, float, float] = (0.1, 10.0, 0.5)
    """The delay before a restart: the first delay in seconds, which doubles with each failure in a row; the largest
    delay; and the share by which a delay may randomly be shorter or longer."""
    mailbox: Callable[[], Mailbox[Any]] = Mailbox
    unread_is_lost: bool = True
    """Whether messages that are unread when it has ended in order are dead letters. False where they concern nobody
    else: what is reported to a run that was cancelled is no loss. After a failure they are dead letters in any case."""


AnySpec = ChildSpec[Never]
"""The spec of a child whose messages are not known."""
