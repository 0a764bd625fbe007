"""Why an actor ended, and how other actors are told."""

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
    """It was cancelled without a chance to react: by `kill()`, because its grace time ran out, or with its
    supervisor."""
    CRASHED = "crashed"
    """A handler, a task beside it, or its `stopping` raised."""
    PEER_GONE = "peer gone"
    """Its counterpart has vanished: it raised `PeerGone`."""
    NEVER_STARTED = "never started"
    """`started()` raised, or took longer than `start_timeout`."""

    @property
    def normal(self) -> bool:
        return self is Why.DONE or self is Why.SHUTDOWN

    @property
    def failed(self) -> bool:
        """Whether the actor failed: it ended neither in order nor because its counterpart had vanished."""
        return not self.normal and self is not Why.PEER_GONE


@dataclass(frozen=True, slots=True)
class Stop:
    """Why an incarnation ended. `error` is the error that it ended with, if there was one, and never a `Cancelled`."""

    why: Why
    error: BaseException | None = None

    def __str__(self) -> str:
        return self.why.value if self.error is None else f"{self.why.value}: {describe(self.error)}"


@dataclass(frozen=True, slots=True)
class Ended:
    """An incarnation has ended. `message` is the type of the message it crashed on, or None. `leased`: it has served a
    connection (lease.py)."""

    stop: Stop
    message: str | None
    restarts: bool
    called: str | None = None
    leased: bool = False


@dataclass(frozen=True, slots=True)
class Down:
    """The notice to a monitor. It comes exactly once when the actor has ended for good, also if that was before the
    monitor was set.

    A monitor that asked for every incarnation also gets a notice of each end that a restart follows, with `final`
    False.
    """

    ref: "AnyRef"
    stop: Stop
    final: bool = True


def describe(error: BaseException) -> str:
    """The error in one line for people. Of a group, its first member is described."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    try:
        lines = str(error).strip().splitlines()
    except Exception as broken:  # its __str__ may be anybody's code, and this is the middle of an actor's end
        lines = [f"(its text cannot be had: {type(broken).__name__})"]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
