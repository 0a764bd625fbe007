"""Properties of a terminal: whether it should show colours, and how wide a text is on it."""

import os
import sys
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import TextIO


def colours_wanted(stream: TextIO, environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """True only for a terminal that can show them, and only if the user does not object (https://no-color.org)."""
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb" or platform == "win32":
        return False
    return is_terminal(stream)


def is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def cells(text: str) -> int:
    """The number of columns that `text` needs."""
    if text.isascii():
        return len(text)
    return sum(_cells_of(each) for each in text)


def fitted(text: str, width: int) -> str:
    """`text` in exactly `width` columns: padded, or cut with an ellipsis."""
    taken = cells(text)
    if taken <= width:
        return text + " " * (width - taken)
    if width < 1:
        return ""
    kept, taken = "", 0
    for each in text:
        taken += _cells_of(each)
        if taken > width - 1:
            break
        kept += each
    return f"{kept}…{' ' * (width - 1 - cells(kept))}"


@lru_cache(4096)
def _cells_of(each: str) -> int:
    if unicodedata.combining(each):
        return 0
    return 2 if unicodedata.east_asian_width(each) in "WF" else 1
