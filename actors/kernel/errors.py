"""What can go wrong between actors.

Each has two texts. `str` is for who looks after the server: it names the actor, by its path in the tree. What a user
of the server is told (`in_words`) knows of no actors: what that means for him, and what he can do. An error that a
system makes of its own, in the user's words, is told as it is.
"""

from typing import ClassVar

import trio

from actors.kernel.stop import Stop


class KernelError(Exception):
    """The base of all that the kernel raises."""

    told: ClassVar[str | None] = None
    """To users; None: as it is."""


def in_words(error: Exception) -> str:
    """What a user is told of it."""
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
    """The mailbox has no room and its policy does not make any."""

    told: ClassVar[str | None] = "the server has more to do than it can keep in mind; try again in a moment"


class AlreadyAnswered(KernelError):
    """A reply was given a second answer."""

    told: ClassVar[str | None] = "the server has made a mistake; its log says more"


class NotTaken(KernelError):
    """No clause of the actor's handler takes this question."""

    told: ClassVar[str | None] = "the server has made a mistake; its log says more"


class StartFailed(KernelError):
    """A child's `started()` raised or took too long; the cause is the `__cause__`."""

    told: ClassVar[str | None] = "what was asked for could not be started; the log of the server says why"


class TooManyRestarts(KernelError):
    """Children failed more often than the supervisor's intensity allows."""

    told: ClassVar[str | None] = "a part of the server has failed too often; its log says why"


class TooManyChildren(KernelError):
    """The supervisor's cap on children is reached."""

    told: ClassVar[str | None] = "there are as many already as the server takes; close one, or try again later"


class NameTaken(KernelError):
    """A living actor has claimed this name, or this child id is in use."""

    told: ClassVar[str | None] = "what was asked for is there already; try again in a moment"


class NobodyThere(KernelError):
    """No living actor has claimed this name."""

    told: ClassVar[str | None] = "this part of the server is not running at the moment; try again in a moment"


class PeerGone(Exception):
    """Raised by an actor whose counterpart (a socket, a process) has vanished: the actor ends, nothing has crashed."""
