"""A stream of JSON lines (NDJSON), as bytes that come in pieces of any size. Pure: bytes in, whole lines out.

Lines end with LF or CRLF. Empty lines are left out, and so is a byte order mark. A line may be cut at any byte; what
has come of it is kept, up to a limit. Empty lines cost time, too: there may be only so many without another between.
"""

from collections.abc import Iterator

from codec.agent.models import ModelTrouble

LONGEST_LINE = 4_000_000
"""Bytes. A call of a tool is one line, with all its arguments."""
MOST_EMPTY = 100_000
"""Lines in a row that say nothing. Some servers send one a second while a model thinks."""
MARK = b"\xef\xbb\xbf"


class JsonLines:
    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._begun = bytearray()
        """A line without its end."""
        self._first = True
        self._empty = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that are whole now, without their ends. If one is too long, those before it are given first."""
        *ends, rest = data.split(b"\n")
        for piece in ends:
            self._keep(piece)
            yield from self._whole()
        self._keep(rest)

    def end(self) -> Iterator[bytes]:
        """The last line, if its end is missing."""
        yield from self._whole()

    def _keep(self, piece: bytes) -> None:
        self._begun += piece
        if len(self._begun) > self._longest:
            raise too_long(self._longest)

    def _whole(self) -> Iterator[bytes]:
        line = bytes(self._begun)
        self._begun.clear()
        if self._first:
            self._first = False
            line = line.removeprefix(MARK)
        line = line.removesuffix(b"\r")
        if line:
            self._empty = 0
            yield line
            return
        self._empty += 1
        if self._empty > MOST_EMPTY:
            raise too_empty()


def too_empty() -> ModelTrouble:
    return ModelTrouble(f"The model's server sent more than {MOST_EMPTY:,} empty lines. That is no answer of a model.")


def too_long(longest: int) -> ModelTrouble:
    return ModelTrouble(f"The model's server sent a line of more than {longest:,} bytes. That is no answer of a model.")
