"""Messages between the actors of the desk, and their names in the registry.

client end   SubmitRequests, Requeue, CancelRequests, Archive      from the port, and so from scripts and the page
             Hold, Release                                 from the editor
ledger       Noted, Forgotten                              from the client end, after the journal has it
             RunningNow, EditorNow                         from the server end, from the editor
             WindowAsked, DetailAsked, LineAsked,
             DeskTotalsAsked                               from the port, and from the viewers of pages
             NewsWanted -> LedgerNews, FiguresAsked        from the viewers; from the port
evaluator    Succeeded                                     from the client end
"""

from collections.abc import Sequence
from dataclasses import dataclass

from actors.ipc.figures import Figures
from actors.kernel import ActorRef, Key, Reply
from codec.ipc import Request, Success
from codec.ipc.desk import (
    DeskTotals,
    EditorOrder,
    Handled,
    RequestDetail,
    RequestFact,
    Selection,
    Window,
    WindowWanted,
)

# -- to the client end. A reply is an answer to be kept: it is set after the journal has it.


@dataclass(frozen=True, slots=True)
class SubmitRequests:
    requests: Sequence[Request]
    """The same id with the same content is the same request, whatever has become of it."""
    reply: Reply[Handled]


@dataclass(frozen=True, slots=True)
class Requeue:
    """Three fresh attempts for those that gave up or were cancelled."""

    which: Selection
    reply: Reply[Handled]


@dataclass(frozen=True, slots=True)
class CancelRequests:
    which: Selection
    reply: Reply[Handled]


@dataclass(frozen=True, slots=True)
class Archive:
    """Only what is over."""

    which: Selection
    reply: Reply[Handled]


@dataclass(frozen=True, slots=True)
class Hold:
    """Publish nothing, and count no attempt's time: who is to answer is not ready. Release ends it, or time."""

    why: str
    """A sentence for users."""
    seconds: float = 20.0
    """When it ends by itself. Another one, meanwhile, begins anew."""


@dataclass(frozen=True, slots=True)
class Release:
    """What was held may go on."""


@dataclass(frozen=True, slots=True)
class TellLedgerNow:
    """What is still gathered is told to the ledger before the reply: whoever asks then sees what the journal knows."""

    reply: Reply[None]


ClientOrder = SubmitRequests | Requeue | CancelRequests | Archive | Hold | Release | TellLedgerNow
CLIENT_END = Key[ClientOrder]("ipc/client")


# -- to the ledger, which knows a line of every request


@dataclass(frozen=True, slots=True)
class Noted:
    """New facts. Whole lines: each replaces the one before."""

    facts: Sequence[RequestFact]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """They are in the archive."""

    ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class RunningNow:
    """By our server end."""

    count: int
    waiting: int
    lost: int = 0
    """Commands that did not let themselves be ended, since the server began."""


@dataclass(frozen=True, slots=True)
class EditorNow:
    sentence: str
    order: EditorOrder | None = None
    """What it can be asked for now."""


@dataclass(frozen=True, slots=True)
class PeerNow:
    sentence: str
    alive: bool


@dataclass(frozen=True, slots=True)
class WindowAsked:
    wanted: WindowWanted
    reply: Reply[Window]


@dataclass(frozen=True, slots=True)
class LineAsked:
    """None: there is no such request."""

    id: str
    reply: Reply[RequestFact | None]


@dataclass(frozen=True, slots=True)
class DetailAsked:
    """None: there is no such request."""

    id: str
    reply: Reply[RequestDetail | None]


@dataclass(frozen=True, slots=True)
class DeskTotalsAsked:
    reply: Reply[DeskTotals]


@dataclass(frozen=True, slots=True)
class NewsWanted:
    """This viewer is told `LedgerNews` once, as soon as there is something newer than what it has `seen`."""

    viewer: ActorRef["LedgerNews"]
    seen: int


@dataclass(frozen=True, slots=True)
class LedgerNews:
    version: int


@dataclass(frozen=True, slots=True)
class FiguresAsked:
    reply: Reply[Figures]


LedgerMessage = (
    Noted
    | Forgotten
    | RunningNow
    | EditorNow
    | PeerNow
    | WindowAsked
    | LineAsked
    | DetailAsked
    | DeskTotalsAsked
    | NewsWanted
    | FiguresAsked
)
LEDGER = Key[LedgerMessage]("ipc/ledger")


# -- to the evaluator


@dataclass(frozen=True, slots=True)
class Succeeded:
    request: Request
    outcome: Success
    seconds: float


EvaluatorMessage = Succeeded
EVALUATOR = Key[EvaluatorMessage]("ipc/evaluator")
