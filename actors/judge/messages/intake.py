"""What the intake is told."""

from dataclasses import dataclass

from actors.judge.waiting import Post
from actors.kernel import Reply
from codec.judge import Task


@dataclass(frozen=True, slots=True)
class Posted:
    """Answered when it is kept; fails with a KernelError in words if it is not."""

    task: Task
    encoded: bytes
    """The same, as it is kept."""
    lane: str
    """As in `Post`."""
    reply: Reply[None]


@dataclass(frozen=True, slots=True)
class Refused:
    """What was posted was not understood, or there was no room for it: all who look on should know."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Again:
    """It is time to try this one again."""

    post: Post


@dataclass(frozen=True, slots=True)
class Complain:
    """It is time to tell of what was refused in the last second."""


IntakeMessage = Posted | Refused | Again | Complain
