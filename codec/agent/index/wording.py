"""What stands in a question word for word as it may stand in a file: a message, a line of a stack trace, anything in
quotes. Everywhere else a question's words are looked for each by itself, and those that carry nothing not at all.

    quoted    what is in quotes, if the question is nothing else: the index is asked for these words as they follow each
              other. Two words or more, with a blank between them, for `a.b` is a name
    windows   four words in a row, for each place at which they begin. What is found by its words anyway is read for
              these: the more of a line a text has, the more of its windows
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from codec.agent.index.question import CARRY_NOTHING, LONGEST, asked_part, both_ends

MOST_QUOTED = 4
MOST_WINDOWS = 64
WIDE = 4
FEWEST = 3
"""Pieces of a line, with blanks between. One or two long names are no wording: they are looked for as names."""
TELLING = 2
"""Words of a window that carry something: "is to be in" may stand anywhere."""

_RUN = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r"\"([^\"\n]{3,400})\"|“([^”\n]{3,400})”|`([^`\n]{3,400})`")
_APART = "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(128))


class AskedWording(Struct, frozen=True):
    """Each is lowercase, a blank between its words."""

    quoted: tuple[str, ...] = ()
    windows: tuple[str, ...] = ()
    """In their order."""


class WordForWord(Struct, frozen=True):
    """What a text has of a wording."""

    worth: float
    """Less than 1. Half of what is missing to 1 for each window that no other text has."""
    longest: str
    """The most words in a row."""


def wording_of(text: str) -> AskedWording:
    text = asked_part(text)
    found = ("".join(groups).strip() for groups in _QUOTED.findall(text))
    parted = [words_apart(each) for each in found if len(each.split()) > 1]
    quoted = [words for words in parted if len(words) > 1 and max(map(len, words)) <= LONGEST][:MOST_QUOTED]
    windows = [window for words in quoted for window in _windows(words)]
    for line in (each for each in text.splitlines() if len(each.split()) >= FEWEST):
        windows += (each for each in _windows(words_apart(line)) if len(each) == WIDE and _tells(each))
    alone = not words_apart(_QUOTED.sub("", text))
    return AskedWording(
        tuple(dict.fromkeys(map(" ".join, quoted))) if alone else (),
        both_ends(dict.fromkeys(map(" ".join, windows)), MOST_WINDOWS),
    )


def words_apart(text: str) -> list[str]:
    """As the index parts a text into words."""
    return text.translate(_APART).split() if text.isascii() else _RUN.findall(text.lower())


def word_for_word(wording: AskedWording, texts: Mapping[int, str]) -> dict[int, WordForWord]:
    """The texts, by their numbers, that have any of its windows. Several that have a window share it: four of
    them have half of its worth each."""
    had: dict[int, list[int]] = {}
    shares = [0] * len(wording.windows)
    parts = [sorted(window.split(), key=len, reverse=True) for window in wording.windows]
    for number, text in texts.items():
        low = text.lower()
        if not any(all(word in low for word in words) for words in parts):
            continue  # most have no window: to see that takes a third of the time
        plain = f" {' '.join(words_apart(text))} "
        here = [at for at, window in enumerate(wording.windows) if f" {window} " in plain]
        if here:
            had[number] = here
        for at in here:
            shares[at] += 1
    return {
        number: WordForWord(1 - 0.5 ** sum(shares[at] ** -0.5 for at in here), _longest(wording.windows, here))
        for number, here in had.items()
    }


def _windows(words: Sequence[str]) -> Iterator[Sequence[str]]:
    for at in range(max(1, len(words) - WIDE + 1)):
        yield words[at : at + WIDE]


def _tells(words: Collection[str]) -> bool:
    return len(set(words) - CARRY_NOTHING) >= TELLING and max(map(len, words)) <= LONGEST


def _longest(windows: Sequence[str], here: Sequence[int]) -> str:
    """`here`: which windows there are."""
    best = row = windows[here[0]]
    for before, at in pairwise(here):
        follows = at == before + 1 and windows[at].rpartition(" ")[0] == windows[before].partition(" ")[2]
        row = f"{row} {windows[at].rpartition(' ')[2]}" if follows else windows[at]
        best = max(best, row, key=len)
    return best
