"""Reads lines that somebody types at the terminal, for a question that may end before it is answered."""

import os
import sys
from typing import Self, TextIO

import trio

from program.terminal import is_terminal

try:
    import termios
except ImportError:  # not on this system: then nobody is asked
    termios = None  # type: ignore[assignment]

MOST = 4096


class Typist:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def of(cls, stdin: TextIO | None = None) -> Self | None:
        """None: nobody sits there."""
        stream = stdin or sys.stdin
        if termios is None or not is_terminal(stream):
            return None
        return cls(stream.fileno())

    def forget(self) -> None:
        """What was typed before a question is no answer to it."""
        termios.tcflush(self._descriptor, termios.TCIFLUSH)

    async def line(self) -> str | None:
        """The next line, without its end. None: there is none any more (Ctrl-D)."""
        data = b""
        while not data.endswith(b"\n"):
            await trio.lowlevel.wait_readable(self._descriptor)
            more = os.read(self._descriptor, MOST)  # a terminal gives one line at most
            if not more:
                return data.decode(errors="replace") if data else None
            data += more
        return data.decode(errors="replace").rstrip("\r\n")
