"""What the desk's page and its HTTP interface say and hear, in JSON.

    WebSocket /live   page -> desk   {"type": "window", ...}   which requests to show, from now on
                                     {"type": "detail", "id"}  one request with all its attempts, from now on; "": none
                      desk -> page   {"type": "window", ...}, {"type": "totals", ...}, {"type": "detail", ...},
                                     {"type": "gone", "id"}, {"type": "notice", ...}
                                     after each change, a few times a second at most
    GET  /requests?state=&text=&after=&limit=    a window         GET /requests/ID    a detail
    GET  /totals                                 the totals       GET /metrics, /health
    (/requests also takes order=newest|oldest; after=ID: the requests that come after that one)
    POST /requests                               {"requests": [{id?, command, params?, troupe?}, ...]} -> {"ids": [...]}
    POST /requeue /cancel /archive               a Selection -> {"ids": [...], "refused": {ID: why}}
    POST /editor                                 {"order": "stop" | "start"} -> {"editor": what is done, in a sentence}

Names, messages and answers come from outside: they are texts, never markup.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from codec.ipc.response import Outcome

RequestState = Literal["waiting", "polling", "retrying", "success", "gave up", "cancelled"]
"""waiting: accepted, and not published yet. retrying: an attempt has failed, and another follows."""

STATES: tuple[RequestState, ...] = ("waiting", "polling", "retrying", "success", "gave up", "cancelled")


class Attempt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    number: int
    """From 1; goes on counting after a requeue."""
    began: float
    """Seconds since 1970, for display."""
    ended: float | None = None
    seconds: float | None = None
    """By a clock that nobody sets."""
    outcome: Outcome | None = None
    """None: it is under way."""
    late: bool = False
    """Nobody answered in time."""


class RequestFact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of the list."""

    id: str
    command: str
    state: RequestState
    created: float
    changed: float
    attempts: int = 0
    """Begun so far."""
    seconds: float | None = None
    """From its acceptance to its end."""
    submitter: str = ""
    priority: int = 0
    message: str = ""
    """Why the last attempt failed, shortened."""


class RequestDetail(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="detail"):
    fact: RequestFact
    params: Any = None
    reference: str | None = None
    """What a good answer says, if that is no param."""
    tried: tuple[Attempt, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences: requeued from where and when, may have run twice, answered late, what was archived."""
    not_before: float | None = None
    deadline: float | None = None
    made_way: bool = False
    """It was cancelled for another request of its id, which a script has submitted; that is about to be shown here."""
    evaluation: Any = None


class Window(Struct, frozen=True, kw_only=True, tag="window"):
    first: int
    total: int
    """Requests that the filter lets through."""
    rows: tuple[RequestFact, ...]


EditorOrder = Literal["stop", "start"]
"""stop: ends the editor, and launches none until it is wanted again. start: it is."""


class DeskTotals(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="totals"):
    by_state: dict[str, int]
    oldest: float | None = None
    """When the oldest request that is not over was accepted."""
    running: int = 0
    """Commands that our server end runs now."""
    lost: int = 0
    """Commands that did not let themselves be ended since it began; they may run still."""
    quarantined: int = 0
    failed: int = 0
    base: str = ""
    trouble: str = ""
    """Why the desk stands still, as a sentence."""
    down: str = ""
    """Why an end of ours does not work, as sentences."""
    watched: bool = True
    events: int = 0
    overflows: int = 0
    rescans: int = 0
    sync_ms: float = 0.0
    peer: str = ""
    """What is known of the server end that answers, as a sentence."""
    editor: str = ""
    """What is known of the editor, as a sentence; empty: none is managed."""
    editor_order: Literal["", "stop", "start"] = ""
    """What it can be asked for now."""
    peer_alive: bool = True
    reasons: tuple[str, ...] = ()
    """Why the last few things went to quarantine, as sentences, newest first; where it is known."""
    withheld: int = 0
    """Files in the folder that the disk does not give now; they are tried again."""
    withheld_reasons: tuple[str, ...] = ()
    """Why, of some, as sentences."""
    filling: bool = False
    """The journal is still being read after a start: there are more requests than are told."""


class DeskNotice(Struct, frozen=True, kw_only=True, tag="notice"):
    level: Literal["info", "warn", "error"]
    text: str


class DetailGone(Struct, frozen=True, kw_only=True, tag="gone"):
    """The request whose detail is wanted is not here: it is in the archive, or never was."""

    id: str


class DeskHealth(Struct, frozen=True, kw_only=True):
    status: Literal["ok", "failing"]
    trouble: tuple[str, ...] = ()
    """Sentences."""


Shown = Window | RequestDetail | DetailGone | DeskTotals | DeskNotice

# -- heard

MOST_SHOWN = 500
"""Requests in a window."""
Id = Annotated[str, Meta(max_length=128)]


class WindowWanted(Struct, frozen=True, kw_only=True, tag="window", forbid_unknown_fields=True):
    first: Annotated[int, Meta(ge=0)] = 0
    count: Annotated[int, Meta(ge=0, le=MOST_SHOWN)] = 100
    states: tuple[RequestState, ...] = ()
    """Empty: all."""
    text: Annotated[str, Meta(max_length=200)] = ""
    """In the id, the command, the submitter or the message."""
    order: Literal["newest", "oldest", "slowest", "attempts"] = "newest"
    at: Id = ""
    """If this request is there, the window begins so that `above` rows come before it, wherever `first` is. So what a
    reader looks at stays where it is while others come and go above."""
    above: Annotated[int, Meta(ge=-1, le=500)] = 0
    """-1: the window begins behind it."""


class DetailWanted(Struct, frozen=True, kw_only=True, tag="detail", forbid_unknown_fields=True):
    id: Id


Wanted = WindowWanted | DetailWanted


class Selection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The requests that something is to be done with. Only those are touched of which it can be done."""

    ids: Annotated[tuple[Id, ...], Meta(max_length=10_000)] = ()
    all: bool = False
    match: Annotated[str, Meta(max_length=200)] = ""
    """A pattern of ids with *, ? and [...]."""
    older_than: Annotated[float, Meta(ge=0)] | None = None
    """Seconds since they ended."""


class EditorWanted(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    order: EditorOrder


class EditorAnswer(Struct, frozen=True, kw_only=True):
    editor: str
    """What is done about it, as a sentence."""


NO_SUCH_REQUEST = "there is no such request"
"""Why an order was refused."""


class Handled(Struct, frozen=True, kw_only=True):
    ids: tuple[str, ...]
    refused: dict[str, str] = {}
