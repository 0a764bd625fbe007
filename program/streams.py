"""The three standard streams, including the cases where one is missing or accepts nothing.

Rules
  - Output is written at once and completely, or there is a `Trouble`. A full disk gives one sentence and exit code 1. A
    reader that has left, as `head` does, gives no sentence, and the exit code that shells use for this.
  - Text that cannot be written to standard error is dropped.
  - A missing stream is replaced by /dev/null. Otherwise the next opened file would get its number, and output would be
    written there. Reading or writing the replacement fails as without it, except for standard error, which swallows
    all.
"""

import os
import select
import sys
from contextlib import suppress
from typing import TextIO

from program.trouble import WENT_WRONG, Trouble

NOBODY_READS = 141
"""The exit code that shells use for a program that wrote to a pipe without a reader."""

_STAND_INS = {0: os.O_WRONLY, 1: os.O_RDONLY, 2: os.O_WRONLY}
"""The mode in which /dev/null is opened in place of each stream."""


class ReaderLeft(Trouble):
    """The reader has left because it has read enough. This needs no message."""

    def __init__(self) -> None:
        super().__init__("", code=NOBODY_READS)


def complete() -> None:
    """Call this before anything is opened."""
    for descriptor, mode in _STAND_INS.items():
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, mode), True)  # it gets this number, the lowest that is free
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def show(text: str, out: TextIO, *, code: int = WENT_WRONG) -> None:
    """Prints the command's result. Raises a Trouble with this exit code if that fails."""
    try:
        write(text, out, errors="replace")  # box characters on a terminal without them
    except BrokenPipeError:
        raise ReaderLeft from None
    except OSError as error:
        raise Trouble(f"The output cannot be written: {error.strerror}", code=code) from None


def expect_reader(out: TextIO) -> None:
    """Raises ReaderLeft if the reader of this pipe has left, where nothing is to be written for a while."""
    try:
        descriptor = out.fileno()
    except (OSError, ValueError, AttributeError):
        return
    left = select.poll()
    left.register(descriptor, 0)
    if any(events & select.POLLERR for _, events in left.poll(0)):
        raise ReaderLeft


def say(text: str, err: TextIO, *, errors: str = "backslashreplace") -> None:
    """Prints a message beside the result."""
    with suppress(OSError):
        write(text, err, errors=errors)


def write(text: str, stream: TextIO, *, errors: str) -> None:
    """Writes all of the text, directly to the stream's descriptor if it has one.

    A TextIOWrapper keeps text that it failed to write, and fails again when the interpreter flushes it at the end, with
    exit code 120. Without a buffer (python -u) it mistakes a partial write for a complete one.
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
