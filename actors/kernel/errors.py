"""The errors between actors.

Each error has two texts. `str(error)` is for the person who looks after the server: it names the actor by its path in
the tree. `in_words(error)` is for a user of the server. It mentions no actors, and says what the error means for the
user and what to do. An error class that a system defines itself is already in the user's words and is shown as it is.
"""

import enum
from collections.abc import Sequence
from typing import ClassVar

import trio

from actors.kernel.stop import Stop


class KernelError(Exception):
    """The base of the kernel's errors."""

    told: ClassVar[str | None] = None
    """The text for users. None: they are shown `str(error)`."""


def in_words(error: Exception) -> str:
    """What a user is told about this error."""
    return getattr(error, "told", None) or str(error)


class ActorDown(KernelError):
    """The actor has ended, or ended before it answered."""

    told: ClassVar[str | None] = "what was asked for has just ended; try again in a moment"

    def __init__(self, path: str, stop: Stop) -> None:
        super().__init__(f"{path} is down ({stop})")
        self.path = path
        self.stop = stop


class TooSlow(KernelError):
    """The actor did not answer in time; the request was withdrawn."""

    told: ClassVar[str | None] = "the server did not answer in time; try again in a moment"


class MailboxFull(KernelError, trio.WouldBlock):
    """The mailbox has no room, and its overflow policy does not make any."""

    told: ClassVar[str | None] = "the server has more to do than it can keep in mind; try again in a moment"


class AlreadyAnswered(KernelError):
    """A reply was given a second answer."""

    told: ClassVar[str | None] = "the server has made a mistake; its log says more"


class NotTaken(KernelError):
    """No clause of the actor's handler takes this question."""

    told: ClassVar[str | None] = "the server has made a mistake; its log says more"


class IllegalMove(KernelError):
    """An event has happened that, by the state table, cannot happen in this state: a mistake in the code."""

    told: ClassVar[str | None] = "the server has made a mistake; its log says more"

    def __init__(self, who: object, event: enum.Enum, state: enum.Enum, befores: Sequence[enum.Enum]) -> None:
        known = " or ".join(before.value for before in befores)
        when = f"can happen only while it is {known}" if known else "can never happen"
        super().__init__(f"{who} is {state.value}; '{event.value}' {when}")
        self.who = who
        self.event = event
        self.state = state


class StartFailed(KernelError):
    """A child's `started()` raised or took too long. `__cause__` says why."""

    told: ClassVar[str | None] = "what was asked for could not be started; the log of the server says why"


class TooManyRestarts(KernelError):
    """Children failed more often than the supervisor's intensity allows."""

    told: ClassVar[str | None] = "a part of the server has failed too often; its log says why"


class TooManyChildren(KernelError):
    """The supervisor has as many children as it may have."""

    told: ClassVar[str | None] = "there are as many already as the server takes; close one, or try again later"


class NameTaken(KernelError):
    """A living actor has claimed this name, or the supervisor has a child of this id."""

    told: ClassVar[str | None] = "what was asked for is there already; try again in a moment"


class NobodyThere(KernelError):
    """No living actor has claimed this name."""

    told: ClassVar[str | None] = "this part of the server is not running at the moment; try again in a moment"


class PeerGone(Exception):
    """Raised by an actor whose counterpart (a socket, a process) has vanished. The actor ends, and this does not count
    as a crash."""
