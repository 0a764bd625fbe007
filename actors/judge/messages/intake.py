"""The messages to the intake."""

from msgspec import Struct

from actors.kernel import Reply
from codec.judge import Task


class Posted(Struct, frozen=True):
    """A post. Answered when it is stored; if that fails, with a KernelError whose text is for the user."""

    task: Task
    encoded: bytes
    """The task in its stored form."""
    lane: str
    """As in `Post`."""
    reply: Reply[None]


class PostRefused(Struct, frozen=True):
    """A post was not understood, or there was no room for it. All panels are told."""

    sentence: str


class TryPostsAgain(Struct, frozen=True):
    """It is time to try posts again that rest."""


class Complain(Struct, frozen=True):
    """It is time to report the refusals of the last second."""


IntakeMessage = Posted | PostRefused | TryPostsAgain | Complain
