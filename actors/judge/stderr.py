"""Prepares standard error for the reader.

On some machines PyPy warns once that it cannot find the size of a cache. That line is left out, because it is about the
machine. Nothing else is left out: a line that merely quotes the warning, as in a traceback, does not begin with it.

Text that is too long loses its middle, because the last line of a traceback says what happened. If the texts of a
problem's results are too long together, so does each one that comes then: a page is sent all of them at once.
"""

import re

from codec.judge import excerpt

SHOWN = 262_144
"""Bytes: a traceback of a thousand frames, and more."""
TOGETHER = 4 << 20
"""Characters, of all results of a problem."""
SHORT = 4_096
"""Characters of one beyond that."""

_WARNING = re.compile(rb"^Warning: cannot find your CPU [^\n]*cache size[^\n]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)


def console(head: bytes, tail: bytes = b"", total: int | None = None, limit: int = SHOWN) -> str:
    """The output as text. `total` bytes were written; `head` has the first of them and `tail` the last."""
    missing = max(0, total - len(head) - len(tail)) if total is not None else 0
    if not missing:
        head, tail = head + tail, b""
    head = _WARNING.sub(b"", head)
    if len(head) + len(tail) > limit:
        whole = head + tail
        kept = limit // 4
        if missing:
            first, last = head[:kept], tail[-(limit - kept) :]
        else:
            first, last = whole[:kept], whole[-(limit - kept) :]
        missing += len(whole) - len(first) - len(last)
        head, tail = first, last
    if not missing:
        return _text(head + tail)
    beginning = excerpt(head, len(head), len(head) + 1).text
    return f"{beginning}\n[{missing:,} bytes left out]\n{_text(_from_a_character(tail))}"


class Consoles:
    """What the results of a problem have of it, by their cases."""

    def __init__(self, most: int = TOGETHER) -> None:
        self._most = most
        self._lengths: dict[int, int] = {}
        self._sum = 0

    def fitted(self, index: int, text: str) -> str:
        """This case's newest, shorter if it has to be."""
        self._sum -= self._lengths.pop(index, 0)
        if self._sum + len(text) > self._most and len(text) > SHORT:
            text = console(text.encode(), limit=SHORT)
        self._lengths[index] = len(text)
        self._sum += len(text)
        return text


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _from_a_character(data: bytes) -> bytes:
    """The data without the rest of a character that the cut has split."""
    for start in range(min(4, len(data))):
        if data[start] & 0xC0 != 0x80:
            return data[start:]
    return data
