"""What a terminal can show: whether colours are wanted, and how wide a text is on it."""

import os
import sys
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import TextIO


def colours_wanted(stream: TextIO, environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """Only on a terminal that knows them, and only if nobody objects (https://no-color.org)."""
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb" or platform == "win32":
        return False
    return is_terminal(stream)


def is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def printable(text: str) -> str:
    """`text` with everything escaped that would move a terminal's cursor or colour its words."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)


def cells(text: str) -> int:
    """How many columns `text` takes."""
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
