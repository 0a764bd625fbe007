"""The messages to the intake."""

from dataclasses import dataclass

from actors.judge.waiting import Post
from actors.kernel import Reply
from codec.judge import Task


@dataclass(frozen=True, slots=True)
class Posted:
    """A post. Answered when it is stored; if that fails, with a KernelError whose text is for the user."""

    task: Task
    encoded: bytes
    """The task in its stored form."""
    lane: str
    """As in `Post`."""
    reply: Reply[None]


@dataclass(frozen=True, slots=True)
class PostRefused:
    """A post was not understood, or there was no room for it. All panels are told."""

    sentence: str


@dataclass(frozen=True, slots=True)
class TryPostAgain:
    """It is time to try this post again."""

    post: Post


@dataclass(frozen=True, slots=True)
class Complain:
    """It is time to report the refusals of the last second."""


IntakeMessage = Posted | PostRefused | TryPostAgain | Complain
