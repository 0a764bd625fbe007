"""The operations and questions for the store, as plain values.

    operation (changes something, durable when answered)      answer
    Append(stream, events, expected)                          sequence number of the last event
    Trim(stream, upto)      Drop(stream, soft)                None
    Put(space, key, value)  Delete(space, key)                None
    Together(changes)       several of Append, Put and        last number of its last Append; None without one
                            Delete, all or none
    PutBlob(data)                                             its digest
    DropBlob(digest)                                          None
    Touch()                                                   None

    question (changes nothing)
    Read(stream, after, limit)                                [(sequence number, event), ...]
    Streams(prefix, after, limit)                             [(name, last sequence number), ...]
    Get(space, key)                                           value or None
    GetEach(places)                                           [value or None, ...] for each (space, key), at one moment
    Keys(space, prefix, after, limit)                         [(key, value), ...] in the order of the keys' UTF-8 bytes
    GetBlob(digest)                                           data or None

A Put, Delete or Drop may be `soft`. It is answered when no end of this program can undo it any more, kill -9 included,
but it does not wait for the disk: a power cut undoes it, unless something that is not soft was answered since, or some
five seconds have passed. All changes are kept in their order: if a change is undone, so is everything that came after
it. Together is soft if all its changes are, so with an Append it never is.

A log counts its events from 1, without a gap. Trimmed events are gone but still counted; a dropped log starts over.
Only the owner knows the meaning of an event, a value or a blob; here they are bytes. The store records no times. Order
is given by sequence numbers, so no clock can disturb it.

The same data is one blob, however often it was put, and DropBlob deletes it for all: the store counts no references. So
a caller that drops a blob must know that nobody else names its digest. A caller that cannot know writes something of
its own, such as an id, into the data.

A page of an answer holds at most `limit` entries and about PAGE_BYTES, but at least one entry if there is any.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from actors.store.errors import Conflict, Refused

R = TypeVar("R")
Way = TypeVar("Way")

MAX_NAME = 512
"""Bytes of a stream's name, a space or a key."""
MAX_EVENT = MAX_VALUE = 1 << 20
MAX_APPEND = 16 << 20
"""Bytes of all events of one append."""
MAX_BLOB = 64 << 20
MAX_LIMIT = 10_000
MAX_PLACES = 16
"""Values that are asked for at once."""
PAGE_BYTES = 8 << 20


class Operation(msgspec.Struct, Generic[R], frozen=True):
    """A change; answered once it is on the disk."""


class Append(Operation[int], frozen=True):
    stream: str
    events: Sequence[bytes]
    expected: int | None = None
    """The sequence number at which the log must end before (0: it must be new), else Conflict. None: any."""


class Trim(Operation[None], frozen=True):
    """Deletes the events up to this one. They stay counted."""

    stream: str
    upto: int


class Drop(Operation[None], frozen=True):
    """Deletes the log and its count."""

    stream: str
    soft: bool = False


class Put(Operation[None], frozen=True):
    space: str
    key: str
    value: bytes
    soft: bool = False


class Delete(Operation[None], frozen=True):
    space: str
    key: str
    soft: bool = False


class Together(Operation[int | None], frozen=True):
    """All of these changes, in their order, or, if one fails, none: an event and the state that it changes. An Append
    that expects where its log ends counts those before it."""

    changes: Sequence[Append | Put | Delete]


class PutBlob(Operation[str], frozen=True):
    data: bytes


class DropBlob(Operation[None], frozen=True):
    """Deletes the blob for everybody who names it."""

    digest: str


class Touch(Operation[None], frozen=True):
    """Changes nothing, but is written and synced, to test whether that works."""


class Question(msgspec.Struct, Generic[R], frozen=True):
    """Answered independently of writing, from everything that was acknowledged before it was asked."""


class Read(Question[list[tuple[int, bytes]]], frozen=True):
    stream: str
    after: int = 0
    limit: int = 1000


class Streams(Question[list[tuple[str, int]]], frozen=True):
    prefix: str = ""
    after: str = ""
    limit: int = 1000


class Get(Question[bytes | None], frozen=True):
    space: str
    key: str


class GetEach(Question[list[bytes | None]], frozen=True):
    places: Sequence[tuple[str, str]]
    """Spaces and keys."""


class Keys(Question[list[tuple[str, bytes]]], frozen=True):
    space: str
    prefix: str = ""
    after: str = ""
    limit: int = 1000


class GetBlob(Question[bytes | None], frozen=True):
    digest: str


def is_soft(operation: Operation[Any]) -> bool:
    match operation:
        case Put(soft=soft) | Delete(soft=soft) | Drop(soft=soft):
            return soft
        case Together(changes):
            return all(is_soft(change) for change in changes)
    return False


def chosen(ways: Mapping[type[Any], Way], job: object) -> Way:
    """The way to do this kind of job."""
    way = ways.get(type(job))
    if way is None:
        known = ", ".join(sorted(kind.__name__ for kind in ways))
        raise Refused(f"the store can do {known} here, not {type(job).__name__}")
    return way


def check_name(what: str, name: str) -> None:
    if type(name) is not str:
        raise Refused(f"{what} is a str, not {type(name).__name__}")
    if not (name.isascii() and name.isprintable()) and any(ord(c) < 32 or "\ud800" <= c <= "\udfff" for c in name):
        raise Refused(f"{what} must not hold control characters or lone surrogates: {name!r}")
    if not 0 < len(name.encode()) <= MAX_NAME:
        raise Refused(f"{what} has 1 to {MAX_NAME} bytes, not {len(name.encode())}: {name[:40]!r}")


def check_bytes(what: str, data: bytes, most: int) -> None:
    if type(data) is not bytes:
        raise Refused(f"{what} is bytes, not {type(data).__name__}")
    if len(data) > most:
        raise Refused(f"{what} has at most {most:,} bytes, not {len(data):,}")


def check_number(what: str, number: int) -> None:
    if type(number) is not int:
        raise Refused(f"{what} is an int, not {type(number).__name__}")


def check_places(places: Sequence[tuple[str, str]]) -> None:
    if not 1 <= len(places) <= MAX_PLACES:
        raise Refused(f"1 to {MAX_PLACES} values are asked for at once, not {len(places)}")
    for space, key in places:
        check_name("a space", space)
        check_name("a key", key)


def check_pair(change: Put | Delete) -> None:
    check_name("a space", change.space)
    check_name("a key", change.key)
    if isinstance(change, Put):
        check_bytes("a value", change.value, MAX_VALUE)


def check_append(append: Append, last: int) -> None:
    if append.expected is not None and append.expected != last:
        raise Conflict(append.stream, append.expected, last)
    if not isinstance(append.events, Sequence):
        raise Refused(f"the events of an append are a list, not {type(append.events).__name__}")
    if not append.events:
        raise Refused(f"an append to {append.stream!r} holds no event")
    for event in append.events:
        if type(event) is not bytes or len(event) > MAX_EVENT:
            check_bytes("an event", event, MAX_EVENT)
    if len(append.events) > 1 and (size := sum(map(len, append.events))) > MAX_APPEND:
        raise Refused(f"an append has at most {MAX_APPEND:,} bytes, not {size:,}")


def check_together(together: Together, last_of: Callable[[str], int]) -> None:
    if not isinstance(together.changes, Sequence):
        raise Refused(f"the changes that are done together are a list, not {type(together.changes).__name__}")
    lasts: dict[str, int] = {}
    size = 0
    for change in together.changes:
        match change:
            case Append(stream):
                if type(stream) is not str or stream not in lasts:  # what is no name is refused by `last_of`
                    lasts[stream] = last_of(stream)
                check_append(change, lasts[stream])
                lasts[stream] += len(change.events)
                size += sum(map(len, change.events))
            case Put() | Delete():
                check_pair(change)
            case _:
                raise Refused(f"what is done together is Append, Put and Delete, not {type(change).__name__}")
    if size > MAX_APPEND:
        raise Refused(f"what is appended together has at most {MAX_APPEND:,} bytes, not {size:,}")


def check_limit(limit: int) -> None:
    check_number("a limit", limit)
    if not 1 <= limit <= MAX_LIMIT:
        raise Refused(f"a limit is 1 to {MAX_LIMIT:,}, not {limit:,}")
