"""Reads a recording from a file: its header, then its entries in batches. It is synchronous; call it in a thread.

Every fault is a `Trouble` that names the line, with one exception: a last line that is cut off, by a kill or a full
disk, is left out and remembered in `torn`. An editor may have added a newline to it since. So a line without its end
becomes a `Trouble` only when another line follows.
"""

import sys
from collections.abc import Iterator
from io import FileIO
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Self

from codec.sidekick.recording import Entry, Header, UnreadableLine, read_entry, read_header
from program.trouble import WENT_WRONG, Trouble

READ_BYTES = 256 * 1024
LONGEST_LINE = 96 * 1024 * 1024

Lines = list[tuple[int, bytes]]
"""Lines with their numbers."""


class Reel:
    def __init__(self, path: Path | None) -> None:
        """`path` is None for standard input."""
        self.name = "standard input" if path is None else str(path)
        self.torn: int | None = None
        """The number of a last line that is cut off. It is known when everything has been read."""
        self._doubt: Trouble | None = None
        """The error to raise if the torn line turns out not to be the last."""
        self._file = FileIO(sys.stdin.fileno(), closefd=False) if path is None else _opened(path)
        self._lines: Iterator[Lines] = self._read()
        try:
            self.header = self._header()
        except Trouble:
            self.close()
            raise

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def batches(self) -> Iterator[list[Entry]]:
        for lines in self._lines:
            yield [entry for number, line in lines for entry in self._entry(number, line)]

    def _header(self) -> Header:
        first = next(self._lines, None)
        if first is None:
            raise Trouble(f"{self.name} is empty; expected a recording, as `troupe record` makes it")
        (number, line), *rest = first
        self._lines = chain([rest], self._lines)
        try:
            return read_header(line)
        except UnreadableLine as error:
            raise self._trouble(number, str(error)) from None

    def _entry(self, number: int, line: bytes) -> list[Entry]:
        if not line.strip():
            return []
        if self._doubt is not None:
            raise self._doubt
        try:
            return [read_entry(line)]
        except UnreadableLine as error:
            trouble = self._trouble(number, str(error))
            if line.endswith(b"\n") and not error.cut:
                raise trouble from None
            self.torn, self._doubt = number, trouble
            return []

    def _read(self) -> Iterator[Lines]:
        number, begun, length = 0, [b""], 0
        while data := self._piece():
            head, newline, rest = data.rpartition(b"\n")
            if newline:
                whole = b"".join([*begun, head]).split(b"\n")
                yield [(number + nth, line + b"\n") for nth, line in enumerate(whole, 1)]
                number, begun, length = number + len(whole), [b""], 0
            begun.append(rest)
            length += len(rest)
            if length > LONGEST_LINE:
                raise self._trouble(number + 1, f"it is longer than {LONGEST_LINE:,} bytes, the most for one line")
        if length:
            yield [(number + 1, b"".join(begun))]

    def _piece(self) -> bytes:
        try:
            return self._file.read(READ_BYTES) or b""
        except OSError as error:
            raise Trouble(f"{self.name} cannot be read: {error.strerror}", code=WENT_WRONG) from None

    def _trouble(self, number: int, sentence: str) -> Trouble:
        return Trouble(f"{self.name}, line {number}: {sentence}")


def _opened(path: Path) -> FileIO:
    try:
        return FileIO(path)
    except FileNotFoundError:
        raise Trouble(f"There is no file {path}; expected a recording, as `troupe record` makes it") from None
    except IsADirectoryError:
        raise Trouble(f"{path} is a folder; expected a recording, as `troupe record` makes it") from None
    except OSError as error:
        raise Trouble(f"{path} cannot be read: {error.strerror}") from None
