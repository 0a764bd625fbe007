"""The output of a command, passed on line by line: without colours, and with every other character that would move the
cursor shown as its code. A line that a program overwrites, as a progress bar does, is passed on as it is in the
end."""

import re

from codec.printable import printable
from program.status import Status

LONGEST = 10_000
"""Characters of a line; a longer one is broken."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")


class PassedOn:
    def __init__(self, status: Status) -> None:
        self._status = status
        self._line = ""

    def write(self, text: str) -> None:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._show(line)
        if len(self._line) > LONGEST:
            self.end()

    def end(self) -> None:
        if self._line:
            self._show(self._line)
        self._line = ""

    def _show(self, line: str) -> None:
        bare = _ESCAPES.sub("", line).removesuffix("\r").rpartition("\r")[2]
        self._status.pass_on(f"    {printable(bare.expandtabs(8))}\n")
