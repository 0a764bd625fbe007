"""The messages to a problem."""

from msgspec import Struct

from actors.judge.given import Used
from actors.judge.messages.panel import PanelMessage
from actors.judge.places import TaskPlace
from actors.kernel import ActorRef, AnyRef, Reply
from codec.judge import Listed, RunResult, RunSettings, Scope, Task


class Arrived(Struct, frozen=True):
    """The problem was posted, for the first time or again. Answered when everything is on the disk, or with the
    OSError."""

    task: Task
    place: TaskPlace
    reply: Reply[Listed]
    at: float
    """When it was taken up, in seconds of the wall clock. Later posts have later times."""
    again: bool = False
    """Whether an earlier attempt was interrupted, so that a part of it may already be written."""


class OpenFor(Struct, frozen=True):
    """This panel wants to show the problem and follow its changes. `anew`: as for a page that was just loaded."""

    panel: ActorRef[PanelMessage]
    anew: bool
    settings: RunSettings | None
    """The settings as the panel knows them; None if it does not know them yet."""


class Left(Struct, frozen=True):
    panel: ActorRef[PanelMessage]


class RunAsked(Struct, frozen=True):
    panel: ActorRef[PanelMessage]
    scope: Scope
    indices: tuple[int, ...] | None
    """None: all."""


class CancelAsked(Struct, frozen=True):
    panel: ActorRef[PanelMessage]


class CaseAsked(Struct, frozen=True):
    """A panel asks for the whole texts of one case."""

    panel: ActorRef[PanelMessage]
    index: int


class LookAgain(Struct, frozen=True):
    """The user is back at a page that shows the problem."""


class Stirred(Struct, frozen=True):
    """Something in its folder has changed."""


class NobodyLooks(Struct, frozen=True):
    """Nobody has looked at the problem for a while."""


class CaseJudged(Struct, frozen=True):
    """A case has been judged. Cases are reported in order. `next`: the lowest index that is not judged yet."""

    run: AnyRef
    result: RunResult
    next: int | None
    output: bytes = b""
    used: Used | None = None
    """As in `Judged`."""


class KeepSoFar(Struct, frozen=True):
    """This run has been under way for a while, and its results so far are to be stored."""

    run: AnyRef


ProblemMessage = (
    Arrived | OpenFor | Left | RunAsked | CancelAsked | CaseAsked | LookAgain | Stirred | NobodyLooks | CaseJudged
    | KeepSoFar
)  # fmt: skip
