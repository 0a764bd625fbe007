"""How a session is kept: the entries of its log, and its row.

An entry is a head, a space and a JSON text. The head says what it is and which numbers it holds, so the entry with a
number is found without reading any text:

    e7        an event, as it is sent: its number stands in it
    t8-31     tokens, each with a number of its own: a list of their texts
    b8-31     the entry of these numbers is a blob, and this is its digest

The row is all that is not in the log: the session's fact, what waits, the turn that is under way, and up to which
number clients may have seen tokens that the log does not have yet.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from codec.agent.approvals import Pending, Remembered
from codec.agent.context import EditorContext
from codec.agent.events import LogEvent, ModelNow, QueuedMessage, Token
from codec.agent.sessions import SessionFact

Numbers = tuple[int, int]
"""The first and the last."""


class UnreadableEntry(Exception):
    """An entry that this version cannot read."""


class Waiting(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message of the user that waits for its turn, or to be read by the one that runs."""

    message_id: str
    message: str
    delivery: Literal["queue", "steer"] = "queue"
    context: EditorContext = EditorContext()
    by: str = ""
    at: float = 0.0
    plan: int = 0
    """The number of the plan that it carries out; 0: it carries out none."""

    @property
    def shown(self) -> QueuedMessage:
        return QueuedMessage(message_id=self.message_id, message=self.message, delivery=self.delivery)


class TurnMark(Struct, frozen=True, kw_only=True):
    """The turn that is under way. It is in the row from the commit of its message to that of its end."""

    turn_id: str
    seq: int
    """Of its message."""
    began: float = 0.0


class SessionRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    fact: SessionFact
    reserved: int = 0
    """After a kill numbers go on after this one."""
    turn: TurnMark | None = None
    queue: tuple[Waiting, ...] = ()
    taken: tuple[str, ...] = ()
    """Ids of the last messages that were taken, so that none is taken twice."""
    compacted: int = 0
    """What the model is told begins after this number."""
    current_step: int = 0
    total_steps: int = 0
    context_used: int = 0
    context_window: int = 0
    model: ModelNow | None = None
    pending: tuple[Pending, ...] = ()
    """Requests of the turn that is under way. While the turn's actor is not there, they suspend it."""
    remembered: tuple[Remembered, ...] = ()
    applied_patches: tuple[str, ...] = ()
    """The last ones."""
    undone: tuple[str, ...] = ()
    """Turns that are undone, in the order in which they were."""
    approved_plans: tuple[int, ...] = ()
    """The numbers of the plans that were approved. Each is carried out once."""
    audited: int | None = None
    """Up to which entry of its workspace's audit log it has told. None: as of its next look."""
    deleted: bool = False
    """What is left of it is to be removed."""


class _OnlyFact(Struct, frozen=True, kw_only=True):
    fact: SessionFact
    queue: tuple[msgspec.Raw, ...] = ()
    turn: TurnMark | None = None
    deleted: bool = False


class RowGist(Struct, frozen=True, kw_only=True):
    """What a list of sessions needs of a row."""

    fact: SessionFact
    unfinished: bool
    """Something waits, a turn was under way, or it is to be removed."""


_encoder = msgspec.json.Encoder()
_read_event = msgspec.json.Decoder(LogEvent).decode
_read_texts = msgspec.json.Decoder(list[str]).decode
_read_row = msgspec.json.Decoder(SessionRow).decode
_read_gist = msgspec.json.Decoder(_OnlyFact).decode


def event_text(seq: int, event: LogEvent) -> bytes:
    """The event as it is sent. Raises ValueError or TypeError if it cannot be said in JSON."""
    return _encoder.encode(replace(event, seq=seq))


def event_entry(seq: int, text: bytes) -> bytes:
    return b"e%d %b" % (seq, text)


def tokens_entry(first: int, texts: Sequence[str]) -> bytes:
    return b"t%d-%d %b" % (first, first + len(texts) - 1, _encoder.encode(texts))


def blob_entry(entry: bytes, digest: str) -> bytes:
    """What stands in the log for an entry that is a blob."""
    numbers, _, _ = entry[1:].partition(b" ")
    return b"b%b %b" % (numbers, digest.encode())


def numbers_of(entry: bytes) -> Numbers:
    numbers, _, _ = entry[1:].partition(b" ")
    first, _, last = numbers.partition(b"-")
    try:
        return int(first), int(last or first)
    except ValueError:
        raise UnreadableEntry(f"an entry begins with {entry[:40]!r}") from None


def blob_of(entry: bytes) -> str | None:
    """The digest, if the entry is a blob."""
    return entry.partition(b" ")[2].decode("ascii", "replace") if entry[:1] == b"b" else None


def read_entry(entry: bytes) -> list[tuple[int, LogEvent]]:
    """The events of an entry that is no blob, each with its number. Raises UnreadableEntry."""
    first, _ = numbers_of(entry)
    text = entry.partition(b" ")[2]
    try:
        match entry[:1]:
            case b"e":
                return [(first, replace(_read_event(text), seq=msgspec.UNSET))]
            case b"t":
                return [(first + place, Token(token=each)) for place, each in enumerate(_read_texts(text))]
            case kind:
                raise UnreadableEntry(f"an entry is of the kind {kind!r}")
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise UnreadableEntry(f"the entry of {first} cannot be read: {error}") from error


def write_row(row: SessionRow) -> bytes:
    return _encoder.encode(row)


def read_row(data: bytes) -> SessionRow:
    try:
        return _read_row(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise UnreadableEntry(f"a session's row cannot be read: {error}") from error


def read_gist(data: bytes) -> RowGist:
    try:
        row = _read_gist(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise UnreadableEntry(f"a session's row cannot be read: {error}") from error
    unfinished = bool(row.queue) or row.turn is not None or row.deleted
    return RowGist(fact=row.fact, unfinished=unfinished)
