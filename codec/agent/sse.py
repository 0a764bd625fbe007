"""Server-sent events, as bytes that come in pieces of any size. Pure: bytes in, whole events out.

It follows the HTML standard: lines end with LF, CR or CRLF, an empty line ends an event, several `data` lines are one
text, lines that begin with a colon are comments, and a byte order mark is left out. Two things are more lenient. An
event that has begun when the stream ends is taken, because some servers leave out the last empty line. And data stay
bytes, because a text may be cut where it is no UTF-8.
"""

from collections.abc import Iterator

from msgspec import Struct

from codec.agent.ndjson import LONGEST_LINE, MARK, MOST_EMPTY, too_empty, too_long


class ServerSent(Struct, frozen=True):
    data: bytes
    event: bytes = b"message"


class EventStream:
    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._begun = bytearray()
        """A line without its end."""
        self._first = True
        self._after_return = False
        """Whether the last byte was a CR, so that an LF would belong to it."""
        self._name = b""
        self._data: list[bytes] = []
        self._size = 0
        """Bytes of `_data`."""
        self._empty = 0
        """Lines in a row that said nothing."""

    def feed(self, data: bytes) -> Iterator[ServerSent]:
        """The events that are whole now. If something is too long, those before it are given first."""
        if not data:
            return
        if self._after_return and data.startswith(b"\n"):
            data = data[1:]
        self._after_return = data.endswith(b"\r")
        for piece in data.splitlines(keepends=True):  # of bytes: at LF, CR and CRLF only
            self._begun += piece
            if len(self._begun) > self._longest:
                raise too_long(self._longest)
            if piece.endswith((b"\n", b"\r")):
                yield from self._take()

    def end(self) -> Iterator[ServerSent]:
        """What has begun when the stream ends."""
        if self._begun:
            yield from self._take()
        yield from self._dispatch()

    def _take(self) -> Iterator[ServerSent]:
        line = bytes(self._begun).rstrip(b"\r\n")
        self._begun.clear()
        if self._first:
            self._first = False
            line = line.removeprefix(MARK)
        self._empty += 1
        if self._empty > MOST_EMPTY:
            raise too_empty()
        if not line:
            yield from self._dispatch()
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._empty = 0
            self._size += len(value) + 1
            if self._size > self._longest:
                raise too_long(self._longest)
            self._data.append(value)
        elif name == b"event":
            self._name = value

    def _dispatch(self) -> Iterator[ServerSent]:
        name, data = self._name, self._data
        self._name, self._data, self._size = b"", [], 0
        if data:
            yield ServerSent(b"\n".join(data), name or b"message")
