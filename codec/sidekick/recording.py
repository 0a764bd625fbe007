"""A recording of a room: JSON lines with the messages that a canonical screen was sent, and their times.

    {"troupe":"recording","version":1,"room":"demo","started":"2026-03-01T09:30:00.250Z"}
    {"at":0.001,"message":{"id":0,"component":"global","type":"clearAll"}}
    {"at":1.25,"raw":"what was no JSON, as a string"}

Rules
  - It begins with the whole board of that moment, so it can be played by itself.
  - A message is kept as it came, except for line breaks between its words. `at` is in seconds since the start, and
    never decreases in recordings that we have written.
  - Reading is total: a line is an entry, or `UnreadableLine`, whose text continues a sentence after "line 7: ".
  - Unknown fields are left alone. Another version is refused, because its fields may mean something else.

A recording keeps everything that a screen is sent, but only the drawing of heroes is played. Announces, events and
errors are kept to tell what else happened.
"""

import math
import re
from datetime import UTC, datetime
from typing import Literal

import msgspec

from codec.decoding import fault
from codec.sidekick.repair import repaired

VERSION = 1
NOT_DRAWN = frozenset({"announce", "event", "error"})

_ROOM = re.compile(r"[A-Za-z0-9_-]{1,64}")


class UnreadableLine(ValueError):
    """This is not a line of a recording. The text says what was expected and what is there."""

    def __init__(self, sentence: str, *, cut: bool = False) -> None:
        super().__init__(sentence)
        self.cut = cut
        """Its end is missing."""


class Header(msgspec.Struct, frozen=True):
    troupe: Literal["recording"]
    version: int
    room: str
    started: str


class Entry(msgspec.Struct, frozen=True):
    at: float
    drawn: bytes
    """The message, if a hero drew with it; otherwise empty."""


class _Line(msgspec.Struct):
    at: float
    message: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    raw: str | msgspec.UnsetType = msgspec.UNSET


class _Envelope(msgspec.Struct):
    type: str = ""
    src: str | None = None


_write = msgspec.json.Encoder().encode
_is_json = msgspec.json.Decoder(msgspec.Raw).decode
_read_line = msgspec.json.Decoder(_Line).decode
_read_envelope = msgspec.json.Decoder(_Envelope).decode


def is_room(name: str) -> bool:
    return _ROOM.fullmatch(name) is not None


def header_line(room: str, started: float) -> bytes:
    """`started` is in seconds since 1970."""
    moment = datetime.fromtimestamp(started, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return _write(Header("recording", VERSION, room, moment)) + b"\n"


def entry_line(at: float, message: bytes) -> bytes:
    try:
        _is_json(message)
        message.decode()
    except (msgspec.DecodeError, ValueError, RecursionError):
        return b'{"at":%.6f,"raw":%b}\n' % (at, _write(message.decode("utf-8", "replace")))
    if b"\n" in message or b"\r" in message:  # only ever between words: in a string they are escaped
        message = message.replace(b"\r", b" ").replace(b"\n", b" ")
    return b'{"at":%.6f,"message":%b}\n' % (at, message)


def read_header(line: bytes) -> Header:
    try:
        said = msgspec.json.decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError):
        if _is_cut(line):
            raise UnreadableLine("the recording is cut off inside its first line; there is nothing to play") from None
        said = None
    if not isinstance(said, dict) or said.get("troupe") != "recording":
        raise UnreadableLine('this is not a recording, which begins with {"troupe":"recording", ...}')
    if said.get("version") != VERSION:
        raise UnreadableLine(
            f"this recording is of version {_write(said.get('version')).decode()}, and this program reads version "
            f"{VERSION}; play it with the version of Troupe that made it, or a newer one"
        )
    try:
        return msgspec.convert(said, Header)
    except msgspec.ValidationError as error:
        raise UnreadableLine(f"the header is not right: {fault(error)}") from None


def read_entry(line: bytes) -> Entry:
    try:
        said = _read_line(line)
        if not math.isfinite(said.at) or said.at < 0:
            raise UnreadableLine(f'expected "at" to be seconds since the start, got {said.at:g}')
        if isinstance(said.message, msgspec.Raw):
            message = bytes(said.message)
        elif isinstance(said.raw, str):
            message = repaired(said.raw.encode()) or b"{}"
            if not message.startswith(b"{"):
                message = b"{}"
        else:
            raise UnreadableLine('expected "at", and "message" or "raw" beside it')
        envelope = _read_envelope(message)
    except msgspec.ValidationError as error:
        raise UnreadableLine(f'expected {{"at": seconds, "message": {{...}}}}: {_lowered(error)}') from None
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        if isinstance(error, UnreadableLine):
            raise
        raise UnreadableLine(f"expected a JSON object: {_lowered(error)}", cut=_is_cut(line)) from None
    drawn = envelope.type and envelope.type not in NOT_DRAWN and envelope.src is None
    return Entry(said.at, message if drawn else b"")


def _is_cut(line: bytes) -> bool:
    """Whether a line that is not a JSON object could have become one, because its only fault is a missing end."""
    begun = line.strip()
    if not begun.startswith(b"{"):
        return False
    try:
        _is_json(begun)
    except (msgspec.DecodeError, ValueError) as error:
        place = re.search(r"\(byte (\d+)\)", str(error))  # msgspec 0.19 to 0.21: of some cuts it says "truncated" alone
        return "truncated" in str(error) or (place is not None and int(place[1]) >= len(begun))
    except RecursionError:
        pass
    return False


def _lowered(error: Exception) -> str:
    text = str(error)
    return text if text.startswith("JSON") else text[:1].lower() + text[1:]
