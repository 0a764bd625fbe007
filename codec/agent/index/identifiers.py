"""Words in identifiers: getUserName, GetUserName, get_user_name and get-user-name have the same three, and HTTPServer2
has http, server and 2.

SQLite's own tokenizer (unicode61) splits at everything but letters and digits, so snake_case needs nothing of ours.
What it leaves whole are the humps and the digits: `humps_of` gives the words of those identifiers only, each
identifier once, and that is what a chunk's column of names needs. It takes less than
half of the time of `words_of`.
"""

import re
from collections.abc import Iterator
from itertools import filterfalse

_RUN = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"\d+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
"""Of ASCII. HTTPServer is HTTP and Server, since a capital before a small letter begins a word."""
_known: dict[str, tuple[str, ...]] = {}
MOST_KNOWN = 50_000
LONGEST = 80
"""Longer runs of letters and digits are no names: keys, digests, pictures as text. They stay whole."""


class _Humps(dict[bytes, str]):
    """The parts of those runs of letters and digits that have several, kept from text to text."""

    def __missing__(self, run: bytes) -> str:
        if len(run) > LONGEST:
            return ""
        if not _is_plain(run):
            parts = " ".join(words_of(run.decode("utf-8", "replace")))
            if " " in parts:
                self[run] = parts
                return parts
        _plain.add(run)
        return ""


class _Joined(dict[str, str]):
    """The words of a name, joined with blanks."""

    def __missing__(self, name: str) -> str:
        if len(self) >= MOST_KNOWN:
            self.clear()
        self[name] = " ".join(words_of(name))
        return self[name]


def _is_plain(run: bytes) -> bool:
    """Whether it is one word at a glance: user, User, USER, 12."""
    return run.isdigit() or (run.isalpha() and (run.isupper() or run[1:].islower() or len(run) == 1))


_plain: set[bytes] = set()
"""Those that are one word: nearly all."""
_joined = _Joined()
_humps = _Humps()
_RUNS = bytes(code if code >= 128 or chr(code).isalnum() else 0x20 for code in range(256))
"""Whatever ends a word becomes a blank."""


def words_of(text: str) -> Iterator[str]:
    """Lowercase, in order, as often as they stand there."""
    for run in _RUN.findall(text):
        yield from _known.get(run) or split(run)


def humps_of(text: str) -> str:
    """The parts of each identifier that unicode61 takes for one word and that has several: getUserName, utf8. Joined
    with blanks; each identifier counts once."""
    if len(_plain) + len(_humps) > MOST_KNOWN:
        _plain.clear()
        _humps.clear()
    runs = dict.fromkeys(text.encode("utf-8", "replace").translate(_RUNS).split())
    return " ".join([parts for run in filterfalse(_plain.__contains__, runs) if (parts := _humps[run])])


def joined_words(name: str) -> str:
    return _joined[name]


def split(run: str) -> tuple[str, ...]:
    """One run of letters and digits."""
    if len(run) > LONGEST:
        return (run[:LONGEST].lower(),)
    parts = tuple(part.lower() for part in (_PARTS.findall(run) if run.isascii() else _unicode_parts(run)))
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    _known[run] = parts
    return parts


def _unicode_parts(run: str) -> list[str]:
    parts, begin = [], 0
    for at in range(1, len(run)):
        one, two = run[at - 1], run[at]
        if (
            one.isdigit() != two.isdigit()
            or (two.isupper() and not one.isupper())
            or (two.isupper() and one.isupper() and run[at + 1 : at + 2].islower())
        ):
            parts.append(run[begin:at])
            begin = at
    return [*parts, run[begin:]]
