"""The lines of files that a text names, as compilers, stack traces, test runners and people write them:

    src/a.py:12   src/a.rs:12:5   A.java:12   a.cs:line 12       File "src/a.py", line 12      a.py, line 12
    src/a.ts(12,5)   a.php(12)    a.php on line 12               a.py#L12-L20                  at a.pl line 12
    line 12 of a.py

What stands before the number is taken for a path if it has a folder or an ending. Whether there is such a file is for
others to say. A path keeps what follows its last `..`; \\ counts as /.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

MOST_NUMBERS = 400
"""That are looked at: from the begin of the text."""
LONGEST_PATH = 400

_NUMBER = re.compile(
    r" ?\blines? (?P<number>[1-9]\d{0,6})(?:\s?[-\u2013]\s?\d{1,7})? (?:of|in) [\"'`]?(?P<path>[\w.+@~/\\-]{1,400})"
    r"|(?P<quote>[\"'])?(?::(?:line )?|,? (?:on )?line |#L|\((?=\d+(?:[,:]\s?\d+)?\)))(?P<line>[1-9]\d{0,6})(?!\w)"
)
_IN_PATHS = frozenset("._-+@~/\\$[]")
"""Beside letters and digits. Routers of the web call files [id].tsx and $id.tsx."""
_ENDING = re.compile(r"\.[A-Za-z]\w{0,9}\Z")


class WrittenLine(Struct, frozen=True, array_like=True):
    path: str
    """With /, not beginning with it."""
    line: int
    """From 1."""


def written_lines(text: str) -> list[WrittenLine]:
    """In the text's order, each once."""
    return list(dict.fromkeys(_found(text)))


def _found(text: str) -> Iterator[WrittenLine]:
    for count, number in enumerate(_NUMBER.finditer(text)):
        if count == MOST_NUMBERS:
            return
        if number["path"]:
            path = number["path"].rstrip(".")
        else:
            path = _path_before(text, number.start(), number["quote"] or "")
        path = _plain(path)
        if "/" in path or _ENDING.search(path):
            yield WrittenLine(path, int(number["line"] or number["number"]))


def _path_before(text: str, end: int, quote: str) -> str:
    least = max(0, end - LONGEST_PATH)
    if quote:
        begin = text.rfind(quote, least, end) + 1
        return text[begin:end] if begin and "\n" not in text[begin:end] else ""
    begin = end
    while begin > least and (text[begin - 1].isalnum() or text[begin - 1] in _IN_PATHS):
        begin -= 1
    return text[begin:end].lstrip("[")


def _plain(path: str) -> str:
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    below = len(parts) - parts[::-1].index("..") if ".." in parts else 0
    return "/".join(parts[below:])
