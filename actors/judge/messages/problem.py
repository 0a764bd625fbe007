"""The messages to a problem."""

from dataclasses import dataclass

from actors.judge.messages.panel import PanelMessage
from actors.judge.places import TaskPlace
from actors.kernel import ActorRef, AnyRef, Reply
from codec.judge import Listed, RunResult, RunSettings, Scope, Task


@dataclass(frozen=True, slots=True)
class Arrived:
    """The problem was posted, for the first time or again. Answered when everything is on the disk, or with the
    OSError."""

    task: Task
    place: TaskPlace
    reply: Reply[Listed]
    again: bool = False
    """Whether an earlier attempt was interrupted, so that a part of it may already be written."""


@dataclass(frozen=True, slots=True)
class OpenFor:
    """This panel wants to show the problem and follow its changes. `anew`: as for a page that was just loaded."""

    panel: ActorRef[PanelMessage]
    anew: bool
    settings: RunSettings | None
    """The settings as the panel knows them; None if it does not know them yet."""


@dataclass(frozen=True, slots=True)
class Left:
    panel: ActorRef[PanelMessage]


@dataclass(frozen=True, slots=True)
class RunAsked:
    panel: ActorRef[PanelMessage]
    scope: Scope
    indices: tuple[int, ...] | None
    """None: all."""


@dataclass(frozen=True, slots=True)
class CancelAsked:
    panel: ActorRef[PanelMessage]


@dataclass(frozen=True, slots=True)
class CaseAsked:
    """A panel asks for the whole texts of one case."""

    panel: ActorRef[PanelMessage]
    index: int


@dataclass(frozen=True, slots=True)
class LookAgain:
    """The user is back at a page that shows the problem."""


@dataclass(frozen=True, slots=True)
class Stirred:
    """Something in its folder has changed."""


@dataclass(frozen=True, slots=True)
class NobodyLooks:
    """Nobody has looked at the problem for a while."""


@dataclass(frozen=True, slots=True)
class CaseJudged:
    """A case has been judged. Cases are reported in order. `next`: the lowest index that is not judged yet."""

    run: AnyRef
    result: RunResult
    next: int | None
    output: bytes = b""
    """As in `Judged`."""


@dataclass(frozen=True, slots=True)
class KeepSoFar:
    """This run has been under way for a while, and its results so far are to be stored."""

    run: AnyRef


ProblemMessage = (
    Arrived | OpenFor | Left | RunAsked | CancelAsked | CaseAsked | LookAgain | Stirred | NobodyLooks | CaseJudged
    | KeepSoFar
)  # fmt: skip
