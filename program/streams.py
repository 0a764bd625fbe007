"""The three streams that a program is given: what is done when one is missing, or takes nothing.

Rules
  - What is printed is printed at once and whole, or it is a `Trouble`: a disk that is full is one sentence and exit
    code 1, and a reader who has left, as `head` does, is none, and the exit code that shells have for it.
  - What cannot be said on standard error is not said.
  - A stream that was not given is stood in for: nothing else may be opened with its number, or what is printed would
    be written there. Reading or writing fails as it would without, but for standard error, which goes nowhere.
"""

import os
import select
import sys
from contextlib import suppress
from typing import TextIO

from program.trouble import WENT_WRONG, Trouble

NOBODY_READS = 141
"""The exit code of a program that wrote to a pipe without a reader, as shells have it."""

_STAND_INS = {0: os.O_WRONLY, 1: os.O_RDONLY, 2: os.O_WRONLY}
"""How nothing (/dev/null) is opened in the place of each."""


class ReaderLeft(Trouble):
    """Enough was read. There is nothing to be said of it."""

    def __init__(self) -> None:
        super().__init__("", code=NOBODY_READS)


def complete() -> None:
    """Before anything is opened."""
    for descriptor, mode in _STAND_INS.items():
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, mode), True)  # the lowest number that is free is this one
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def show(text: str, out: TextIO, *, code: int = WENT_WRONG) -> None:
    """What was asked for. Raises a Trouble, with this exit code, if it cannot be."""
    try:
        write(text, out, errors="replace")  # box characters on a terminal without them
    except BrokenPipeError:
        raise ReaderLeft from None
    except OSError as error:
        raise Trouble(f"The output cannot be written: {error.strerror}", code=code) from None


def say(text: str, err: TextIO, *, errors: str = "backslashreplace") -> None:
    """What is said beside it."""
    with suppress(OSError):
        write(text, err, errors=errors)


def write(text: str, stream: TextIO, *, errors: str) -> None:
    """All of it; to the stream's descriptor when it has one.

    A TextIOWrapper keeps what it failed to write, and fails once more, with exit code 120, when the interpreter flushes
    it at the end; without a buffer (python -u) it takes a part for the whole.
    """
    encoding = stream.encoding or "utf-8"
    content = text.encode(encoding, errors)
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError, AttributeError):
        stream.write(content.decode(encoding))
        stream.flush()
        return
    rest = memoryview(content)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # a terminal that somebody else made non-blocking
            select.select([], [descriptor], [])
