"""The stored form of a board: a header, and a book of the messages that draw the board again, part by part.

    header   msgpack: the room, the time of the last drawing, the owners of the board, the size of the book
    book     one zlib stream of records, each its length in four bytes, and then
               P and msgpack    a part begins: its owner, and the heroes that may not write on it
               F and a message  a message that draws it, in canonical form, as in a replay
             A part is one component, or the messages that belong to no existing component.

Rules
  - Packing and reading go in steps of `STEP` bytes, so that the caller can serve others in between. A step may yield
    nothing.
  - Reading is total: it returns what was packed into the book, or the book is `UnreadableBoard`: cut off, damaged, or
    of another version. The stream's checksum comes last, so a book is read to its end before its content is used.
"""

import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

VERSION = 1
STEP = 32 * 1024
MOST_BYTES = 512 * 1024 * 1024
"""The largest book, unpacked. No scene is that large."""

_LEVEL = 1  # this already makes a book ten times shorter, and is three times faster than the usual level
_PART, _FRAME = b"P", b"F"


class UnreadableBoard(ValueError):
    """No board can be made of this. The text gives the reason and continues a sentence after "it"."""


class BoardHeader(msgspec.Struct, frozen=True, kw_only=True):
    version: int = VERSION
    room: str
    drawn_at: float
    """The time of its last change, in seconds since 1970 like all times here."""
    heroes: tuple[str, ...] = ()
    """Scripts (by peerId) that were connected, or were expected back. They may come back and continue this board."""
    log: str = ""
    """The log in the store that holds the book. Empty: it is `book`."""
    book: bytes = b""
    size: int = 0
    """The size of the book in bytes."""


class KeptPart(NamedTuple):
    """A component, or messages that belong to none, as the messages that draw it."""

    hero: str | None
    """Its owner."""
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
_decode_header = msgspec.msgpack.Decoder(BoardHeader).decode
_encode_part = msgspec.msgpack.Encoder().encode
_decode_part = msgspec.msgpack.Decoder(Begins).decode


def read_header(data: bytes) -> BoardHeader:
    try:
        version = _decode_version(data).version
        if version != VERSION:
            raise UnreadableBoard(f"was kept in form {version}, and this version of Troupe reads form {VERSION}")
        return _decode_header(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise UnreadableBoard("is damaged: its header makes no sense") from None


def packed(parts: Iterable[KeptPart]) -> Iterator[bytes]:
    """The book in pieces. After each one the caller may serve others."""
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


def _records(parts: Iterable[KeptPart]) -> Iterator[bytes]:
    for part in parts:
        begins = _encode_part(Begins(part.hero, part.outsiders))
        yield b"%b%b%b" % ((len(begins) + 1).to_bytes(4, "big"), _PART, begins)
        for frame in part.frames:
            yield b"%b%b%b" % ((len(frame) + 1).to_bytes(4, "big"), _FRAME, frame)


class Reading:
    """Reads a book that arrives in pieces, cut anywhere."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj()
        self._rest = bytearray()
        """Unpacked bytes that are not yet a whole record."""
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[Begins | bytes | None]:
        """The content of a piece. A None means that the caller may serve others. The iterator must be read to its
        end."""
        filled = False  # zlib may hold back unpacked bytes for which there was no room, though it took the whole piece
        while piece or filled:
            if self._inflate.eof:
                if not piece:
                    return
                raise UnreadableBoard("is damaged: it goes on after its end")
            try:
                plain = self._inflate.decompress(piece, STEP)
            except zlib.error:
                raise UnreadableBoard("is damaged") from None
            piece = self._inflate.unconsumed_tail or self._inflate.unused_data
            filled = len(plain) == STEP
            self._rest += plain
            self._size += len(plain)
            if self._size > MOST_BYTES:
                raise UnreadableBoard(f"has more than {MOST_BYTES:,} bytes")
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
        """Call this after the last piece. Raises Unreadable if the book is not complete."""
        if not self._inflate.eof or self._rest:
            raise UnreadableBoard("is damaged: its end is missing")


def _read_record(record: bytes) -> Begins | bytes:
    match record[:1]:
        case b"F":
            return record[1:]
        case b"P":
            try:
                return _decode_part(record[1:])
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                pass
    raise UnreadableBoard("is damaged: something in it makes no sense")
