"""What can go wrong between actors. Every message names the actor, by its path in the tree."""

import trio

from actors.kernel.stop import Stop


class KernelError(Exception):
    """The base of all that the kernel raises."""


class ActorDown(KernelError):
    """The actor has ended, or ended before it answered."""

    def __init__(self, path: str, stop: Stop) -> None:
        super().__init__(f"{path} is down ({stop})")
        self.path = path
        self.stop = stop


class TooSlow(KernelError):
    """The actor did not answer in time; the request was withdrawn."""


class MailboxFull(KernelError, trio.WouldBlock):
    """The mailbox has no room and its policy does not make any."""


class AlreadyAnswered(KernelError):
    """A reply was given a second answer."""


class StartFailed(KernelError):
    """A child's `started()` raised or took too long; the cause is the `__cause__`."""


class TooManyRestarts(KernelError):
    """Children failed more often than the supervisor's intensity allows."""


class TooManyChildren(KernelError):
    """The supervisor's cap on children is reached."""


class NameTaken(KernelError):
    """A living actor has claimed this name, or this child id is in use."""


class NobodyThere(KernelError):
    """No living actor has claimed this name."""


class PeerGone(Exception):
    """Raised by an actor whose counterpart (a socket, a process) has vanished: the actor ends, nothing has crashed."""
