"""What a problem is told."""

from dataclasses import dataclass

from actors.judge.messages.panel import PanelMessage
from actors.judge.places import Place
from actors.kernel import ActorRef, AnyRef, Reply
from codec.judge import Listed, RunResult, RunSettings, Scope, Task


@dataclass(frozen=True, slots=True)
class Arrived:
    """It was posted, for the first time or again. Answered when all is on the disk; fails with the OSError if not."""

    task: Task
    place: Place
    reply: Reply[Listed]
    again: bool = False
    """It may be there in part, as somebody left it who was stopped in the middle of this."""


@dataclass(frozen=True, slots=True)
class Opened:
    """This panel wants to be shown the problem, and told what happens to it. `anew`: as for a page just loaded."""

    panel: ActorRef[PanelMessage]
    anew: bool
    settings: RunSettings | None
    """As the panel knows them; None: it does not yet."""


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
    """All of one case's texts."""

    panel: ActorRef[PanelMessage]
    index: int


@dataclass(frozen=True, slots=True)
class LookAgain:
    """Somebody is back at a page that shows the problem."""


@dataclass(frozen=True, slots=True)
class Stirred:
    """Something in its folder has changed."""


@dataclass(frozen=True, slots=True)
class Forsaken:
    """Nobody has looked at the problem for a while."""


@dataclass(frozen=True, slots=True)
class CaseJudged:
    """Cases are told of in the order of their indices. `next`: the lowest that is not judged yet."""

    run: AnyRef
    result: RunResult
    next: int | None
    output: bytes = b""
    """As in `Judged`."""


@dataclass(frozen=True, slots=True)
class KeepSoFar:
    """This run has been under way for a while: keep what it has come to."""

    run: AnyRef


ProblemMessage = (
    Arrived | Opened | Left | RunAsked | CancelAsked | CaseAsked | LookAgain | Stirred | Forsaken | CaseJudged
    | KeepSoFar
)  # fmt: skip
