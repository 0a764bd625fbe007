"""A line that is rewritten while a command works, and the sentences that stay. The line is shown on a terminal only."""

import shutil
from typing import TextIO

from codec.printable import printable
from program import streams
from program.terminal import fitted, is_terminal

INTERVAL = 0.1
"""Seconds between two updates of the line."""

_START, _CLEAR = "\r", "\r\x1b[K"


class Status:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = False
        self.live = is_terminal(stream)

    @property
    def width(self) -> int:
        return shutil.get_terminal_size().columns - 1

    def show(self, text: str) -> None:
        if self.live:
            self._write(_START + fitted(printable(text), self.width))
            self._shown = True

    def say(self, sentence: str) -> None:
        self._write((_CLEAR if self._shown else "") + f"troupe: {printable(sentence)}\n")
        self._shown = False

    def pass_on(self, text: str) -> None:
        """Writes a text that can be shown as it is, from the beginning of a line on."""
        self.clear()
        self._write(text)

    def clear(self) -> None:
        if self._shown:
            self._write(_CLEAR)
            self._shown = False

    def _write(self, text: str) -> None:
        streams.say(text, self._stream, errors="replace")
