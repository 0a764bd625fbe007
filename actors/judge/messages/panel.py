"""The messages to a panel."""

from typing import Any, overload

from msgspec import Struct

from actors.kernel import ActorRef, MailboxFull
from codec.judge import (
    LastRun,
    Listed,
    Notice,
    RunComplete,
    Running,
    RunProgress,
    RunReport,
    RunResult,
    RunSettings,
    ShownProblem,
    StateCase,
    StateProblems,
    StateProblemsChanged,
    StateUpdate,
    Summary,
)  # fmt: skip


class Said(Struct, frozen=True):
    """The page sent this."""

    text: bytes


class Welcome(Struct, frozen=True):
    """The list of problems and the settings. It is sent again when the settings have changed."""

    settings: RunSettings
    current: str | None
    asked: bool = False
    """Whether this panel asked for the change. Then it is answered even if nothing has changed."""


class Follow(Struct, frozen=True):
    """Another problem came in. The panel shows it if the page follows."""

    listed: Listed


class IsBack(Struct, frozen=True):
    """The problem that the page wants is in the list again."""

    id: str


class TakenOff(Struct, frozen=True):
    """A user has taken this problem off the list."""

    id: str


class Shown(Struct, frozen=True):
    """A problem as it is now."""

    problem: ShownProblem
    results: tuple[RunResult, ...]
    summary: Summary | None
    last: LastRun | None
    running: Running | None
    interrupted: bool
    anew: bool


PassedOn = RunProgress | RunReport | RunComplete | Notice | StateCase | StateUpdate
"""What goes to the page as it is."""


class InOnePiece(Struct, frozen=True):
    """Messages that are sent to the page in one piece, so that it wakes up once."""

    messages: tuple[PassedOn, ...]


PanelMessage = (
    Said | Welcome | Follow | IsBack | TakenOff | Shown | StateProblems | StateProblemsChanged | InOnePiece | PassedOn
)


@overload
def tell(panel: ActorRef[PanelMessage], message: PanelMessage, /) -> None: ...
@overload
def tell(panel: ActorRef[PanelMessage], *messages: PassedOn) -> None: ...
def tell(panel: ActorRef[PanelMessage], *messages: Any) -> None:
    """Sends messages to a panel. A panel whose page accepts nothing is ended; one that has just gone is ignored."""
    if not panel.alive:
        return
    try:
        panel.hand(messages[0] if len(messages) == 1 else InOnePiece(messages))
    except MailboxFull:
        panel.begin_stop()
