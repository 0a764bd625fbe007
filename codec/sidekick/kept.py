"""A board as it is kept: a header, and a book of what its replay says, part by part.

    header   msgpack: which room, when it was drawn, whose board it is, how large the book is
    book     one zlib stream of records, each its length in four bytes, and then
               P and msgpack    a part begins: whose it is, and who may not write on it
               F and a message  what is said of it, in canonical words, as in a replay
             A part is a component; or what was said of none that was there.

Rules
  - Packing and reading go in steps, and each step handles `STEP` bytes, so that whoever has others to serve serves them
    in between. What a step gives may be nothing.
  - Reading is total: a book gives what was packed into it, or it is `Unreadable`: cut off, damaged, of another version.
    The stream's checksum tells, so a book is read to its end before it is believed.
"""

import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

VERSION = 1
STEP = 32 * 1024
MOST_BYTES = 512 * 1024 * 1024
"""Of a book, unpacked. No scene holds as much."""

_LEVEL = 1  # ten times shorter already, and three times faster than the usual
_PART, _FRAME = b"P", b"F"


class Unreadable(ValueError):
    """No board can be made of this. The text says why, and goes on after "it"."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    version: int = VERSION
    room: str
    drawn_at: float
    """When something on it changed last; seconds since 1970, as all times here."""
    heroes: tuple[str, ...] = ()
    """Scripts (by peerId) that were there, or were waited for: they may come back, and mean this board."""
    log: str = ""
    """The log in the store that holds the book; none: it is `book`."""
    book: bytes = b""
    size: int = 0
    """Bytes of the book."""


class Part(NamedTuple):
    """A component, or what was said of none, as the messages that show it."""

    hero: str | None
    """Who owns it."""
    outsiders: tuple[str, ...]
    """Heroes that may not write on it."""
    frames: Iterable[bytes]


class Begins(msgspec.Struct, frozen=True, array_like=True):
    """The frames that follow are of this part."""

    hero: str | None
    outsiders: tuple[str, ...]


class _Version(msgspec.Struct):
    version: int


encode_header = msgspec.msgpack.Encoder().encode
_decode_version = msgspec.msgpack.Decoder(_Version).decode
_decode_header = msgspec.msgpack.Decoder(Header).decode
_encode_part = msgspec.msgpack.Encoder().encode
_decode_part = msgspec.msgpack.Decoder(Begins).decode


def read_header(data: bytes) -> Header:
    try:
        version = _decode_version(data).version
        if version != VERSION:
            raise Unreadable(f"was kept in form {version}, and this version of Troupe reads form {VERSION}")
        return _decode_header(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise Unreadable("is damaged: its header makes no sense") from None


def packed(parts: Iterable[Part]) -> Iterator[bytes]:
    """The book, in pieces; after each one it is a good time to do something else."""
    deflate = None
    waiting: list[bytes] = []
    size = 0
    for record in _records(parts):
        for start in range(0, len(record), STEP):
            piece = record[start : start + STEP]
            waiting.append(piece)
            size += len(piece)
            if size >= STEP:
                deflate = deflate or zlib.compressobj(_LEVEL)
                yield deflate.compress(b"".join(waiting))
                waiting, size = [], 0
    rest = b"".join(waiting)
    if deflate is None:  # a compressor that takes more than once costs ten times as much as one that does not
        yield zlib.compress(rest, _LEVEL)
    else:
        yield deflate.compress(rest)
        yield deflate.flush()


def _records(parts: Iterable[Part]) -> Iterator[bytes]:
    for part in parts:
        begins = _encode_part(Begins(part.hero, part.outsiders))
        yield b"%b%b%b" % ((len(begins) + 1).to_bytes(4, "big"), _PART, begins)
        for frame in part.frames:
            yield b"%b%b%b" % ((len(frame) + 1).to_bytes(4, "big"), _FRAME, frame)


class Reading:
    """Reads a book whose pieces come one after the other, cut anywhere."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj()
        self._rest = bytearray()
        """Unpacked, and not yet a whole record."""
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[Begins | bytes | None]:
        """What it says; None when it is a good time to do something else. To be taken to its end."""
        filled = False  # what is unpacked may wait behind what there was room for, though all of the piece was taken
        while piece or filled:
            if self._inflate.eof:
                if not piece:
                    return
                raise Unreadable("is damaged: it goes on after its end")
            try:
                plain = self._inflate.decompress(piece, STEP)
            except zlib.error:
                raise Unreadable("is damaged") from None
            piece = self._inflate.unconsumed_tail or self._inflate.unused_data
            filled = len(plain) == STEP
            self._rest += plain
            self._size += len(plain)
            if self._size > MOST_BYTES:
                raise Unreadable(f"has more than {MOST_BYTES:,} bytes")
            yield from self._whole_records()
            yield None

    def _whole_records(self) -> Iterator[Begins | bytes]:
        rest, at = self._rest, 0
        while len(rest) >= at + 4:
            size = int.from_bytes(rest[at : at + 4], "big")
            if len(rest) < at + 4 + size:
                break
            yield _read_record(bytes(memoryview(rest)[at + 4 : at + 4 + size]))
            at += 4 + size
        del rest[:at]

    def end(self) -> None:
        """All pieces have been read. Raises Unreadable unless that was all of it."""
        if not self._inflate.eof or self._rest:
            raise Unreadable("is damaged: its end is missing")


def _read_record(record: bytes) -> Begins | bytes:
    match record[:1]:
        case b"F":
            return record[1:]
        case b"P":
            try:
                return _decode_part(record[1:])
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                pass
    raise Unreadable("is damaged: something in it makes no sense")
