"""Messages between the actors of the desk, and their names in the registry.

client end   SubmitRequests, Requeue, CancelRequests, Archive      from the port, and so from scripts and the page
             Hold, Release                                 from the editor
             Vouched, TakeUp                               from the commands of the server end
ledger       Noted, Forgotten                              from the client end, after the journal has it
             RunningNow, EditorNow                         from the server end, from the editor
             WindowAsked, DetailAsked, LineAsked,
             DeskTotalsAsked                               from the port, and from the viewers of pages
             NewsWanted -> LedgerNews, FiguresAsked        from the viewers; from the port
evaluator    Succeeded                                     from the client end
"""

from collections.abc import Sequence

from msgspec import Struct

from actors.ipc.figures import Figures
from actors.ipc.steps import Answer
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
from codec.ipc.folder import Asked

# -- to the client end. A reply is an answer to be kept: it is set after the journal has it.


class SubmitRequests(Struct, frozen=True):
    requests: Sequence[Request]
    """The same id with the same content is the same request, whatever has become of it."""
    reply: Reply[Handled]


class Requeue(Struct, frozen=True):
    """Three fresh attempts for those that gave up or were cancelled."""

    which: Selection
    reply: Reply[Handled]


class CancelRequests(Struct, frozen=True):
    which: Selection
    reply: Reply[Handled]


class Archive(Struct, frozen=True):
    """Only what is over."""

    which: Selection
    reply: Reply[Handled]


class Hold(Struct, frozen=True):
    """Publish nothing, and count no attempt's time: who is to answer is not ready. Release ends it, or time."""

    why: str
    """A sentence for users."""
    seconds: float = 20.0
    """When it ends by itself. Another one, meanwhile, begins anew."""


class Release(Struct, frozen=True):
    """What was held may go on."""


class TellLedgerNow(Struct, frozen=True):
    """What is still gathered is told to the ledger before the reply: whoever asks then sees what the journal knows."""

    reply: Reply[None]


class Vouched(Struct, frozen=True):
    """Our server end has written this answer. Whoever asked for it may have taken it away already (vouching.py)."""

    asked: Asked
    answer: Answer
    seconds: float
    """How long its run took."""
    size: int
    """Bytes of both."""


class TakeUp(Struct, frozen=True):
    """The server end is to remove the file of this request, to which there is an answer. The reply is set once we know
    the request. It fails while another request of this id is under way: then this one has its turn later."""

    id: str
    fingerprint: bytes
    found: bool
    """The answer lay there before. The reply fails if it is known to be another request's."""
    reply: Reply[None]


ClientOrder = SubmitRequests | Requeue | CancelRequests | Archive | Hold | Release | TellLedgerNow | Vouched | TakeUp
CLIENT_END = Key[ClientOrder]("ipc/client")


# -- to the ledger, which knows a line of every request


class Noted(Struct, frozen=True):
    """New facts. Whole lines: each replaces the one before."""

    facts: Sequence[RequestFact]


class Forgotten(Struct, frozen=True):
    """They are in the archive."""

    ids: Sequence[str]


class RunningNow(Struct, frozen=True):
    """By our server end."""

    count: int
    waiting: int
    lost: int = 0
    """Commands that did not let themselves be ended, since the server began."""


class EditorNow(Struct, frozen=True):
    sentence: str
    order: EditorOrder | None = None
    """What it can be asked for now."""


class PeerNow(Struct, frozen=True):
    sentence: str
    alive: bool


class WindowAsked(Struct, frozen=True):
    wanted: WindowWanted
    reply: Reply[Window]


class LineAsked(Struct, frozen=True):
    """None: there is no such request."""

    id: str
    reply: Reply[RequestFact | None]


class DetailAsked(Struct, frozen=True):
    """None: there is no such request."""

    id: str
    reply: Reply[RequestDetail | None]


class DeskTotalsAsked(Struct, frozen=True):
    reply: Reply[DeskTotals]


class NewsWanted(Struct, frozen=True):
    """This viewer is told `LedgerNews` once, as soon as there is something newer than what it has `seen`."""

    viewer: ActorRef["LedgerNews"]
    seen: int


class LedgerNews(Struct, frozen=True):
    version: int


class FiguresAsked(Struct, frozen=True):
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


class Succeeded(Struct, frozen=True):
    request: Request
    outcome: Success
    seconds: float | None
    """None: nobody knows how long it took."""


EvaluatorMessage = Succeeded
EVALUATOR = Key[EvaluatorMessage]("ipc/evaluator")
