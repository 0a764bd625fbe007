"""Why an actor ended, and how others hear of it."""

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actors.kernel.ref import AnyRef


class Why(enum.Enum):
    DONE = "done"
    """It finished its work."""
    SHUTDOWN = "shutdown"
    """It was asked to stop and did so in order."""
    KILLED = "killed"
    """It was cancelled without being heard: by `kill()`, by a grace time that ran out, or with its supervisor."""
    CRASHED = "crashed"
    """A handler, a task beside it, or its `stopping` raised."""
    PEER_GONE = "peer gone"
    """What it served has vanished (it raised `PeerGone`)."""
    NEVER_STARTED = "never started"
    """`started()` raised, or took longer than `start_timeout`."""

    @property
    def normal(self) -> bool:
        return self is Why.DONE or self is Why.SHUTDOWN

    @property
    def failed(self) -> bool:
        """It neither ended in order nor because its counterpart had vanished."""
        return not self.normal and self is not Why.PEER_GONE


@dataclass(frozen=True, slots=True)
class Stop:
    """Why an incarnation ended. `error` is what went wrong, if anything did; never a `Cancelled`."""

    why: Why
    error: BaseException | None = None

    def __str__(self) -> str:
        return self.why.value if self.error is None else f"{self.why.value}: {describe(self.error)}"


@dataclass(frozen=True, slots=True)
class Ended:
    """An incarnation ended. `message` is the type of the message it crashed on, if it did."""

    stop: Stop
    message: str | None
    restarts: bool
    called: str | None = None


@dataclass(frozen=True, slots=True)
class Down:
    """Told to a monitor: exactly once when the actor has ended for good, also if it already had.

    A monitor that asked for every incarnation is also told of each end that a restart will follow (`final` is False).
    """

    ref: "AnyRef"
    stop: Stop
    final: bool = True


def describe(error: BaseException) -> str:
    """One line a person can read; a group is opened down to its first member."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    try:
        lines = str(error).strip().splitlines()
    except Exception as broken:  # its __str__ is not ours, and we are in the middle of somebody's end
        lines = [f"(its text cannot be had: {type(broken).__name__})"]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
