"""What a panel is told."""

from dataclasses import dataclass
from typing import Any, overload

from actors.kernel import ActorRef, MailboxFull
from codec.judge import (
    LastRun,
    Listed,
    Notice,
    Problem,
    RunComplete,
    Running,
    RunProgress,
    RunReport,
    RunResult,
    RunSettings,
    StateCase,
    StateProblems,
    StateUpdate,
    Summary,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """The page sent this."""

    text: bytes


@dataclass(frozen=True, slots=True)
class Welcome:
    """What there is; also told anew when the settings have changed."""

    settings: RunSettings
    current: str | None
    asked: bool = False
    """This panel has changed them; it is answered, though they be as before."""


@dataclass(frozen=True, slots=True)
class Follow:
    """Another problem came in: show that, if the page follows."""

    listed: Listed


@dataclass(frozen=True, slots=True)
class IsBack:
    """The problem that the page has wished for is in the list."""

    id: str


@dataclass(frozen=True, slots=True)
class TakenOff:
    """This problem is not in the list any more, by somebody's wish."""

    id: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A problem as it is now."""

    problem: Problem
    results: tuple[RunResult, ...]
    summary: Summary | None
    last: LastRun | None
    running: Running | None
    interrupted: bool
    anew: bool


PassedOn = RunProgress | RunReport | RunComplete | Notice | StateCase | StateUpdate
"""What goes to the page as it is."""


@dataclass(frozen=True, slots=True)
class Together:
    """What goes to the page in one piece: it is woken once."""

    messages: tuple[PassedOn, ...]


PanelMessage = Said | Welcome | Follow | IsBack | TakenOff | Shown | StateProblems | Together | PassedOn


@overload
def tell(panel: ActorRef[PanelMessage], message: PanelMessage, /) -> None: ...
@overload
def tell(panel: ActorRef[PanelMessage], *messages: PassedOn) -> None: ...
def tell(panel: ActorRef[PanelMessage], *messages: Any) -> None:
    """Tell a panel; one whose page takes nothing is let go, and one that has just gone need not hear it."""
    if not panel.alive:
        return
    try:
        panel.hand(messages[0] if len(messages) == 1 else Together(messages))
    except MailboxFull:
        panel.begin_stop()
