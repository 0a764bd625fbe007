"""What a search by words finds in a text, and how good it is.

A word is sought as it stands, case aside; as the same identifier written in another way (userName, user_name,
user-name); and by its parts, which count much less. Words that are in few files count more than those in many, a
definition more than a use, and the file's own name counts, too.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import log

from msgspec import Struct

from codec.agent.file_texts import cut_line, parts_of
from codec.agent.files import FileHit, FileLine

MOST_WORDS, LONGEST_WORD = 24, 200
SHORTEST_PART = 3
SHOWN = 5
"""Lines of a file."""
MOST_LINES = 2_000
"""Lines of a file that are weighed; further ones are only counted."""
OTHERWISE, PART = 0.9, 0.25
"""What another spelling, and what one part is worth of the word itself."""

_DEFINES = re.compile(
    r"\b(?:def|class|function|func|fn|interface|type|struct|enum|trait|impl|module|namespace|const|let|var|val|export)\b"
)


class Sought(Struct, frozen=True):
    word: str
    spellings: tuple[str, ...]
    """Lowercase, the word itself first."""
    parts: tuple[str, ...]


class FileFind(Struct):
    path: str
    lines: tuple[FileLine, ...]
    count: int
    size: int
    by_word: tuple[float, ...]
    """For each word what this file has of it, from 0 to about 3."""


def sought(words: Sequence[str]) -> tuple[Sought, ...]:
    found: dict[str, Sought] = {}
    for word in words:
        word = word.strip()[:LONGEST_WORD]
        if word and word.lower() not in found and len(found) < MOST_WORDS:
            parts = parts_of(word)
            joined = [sign.join(parts) for sign in ("", "_", "-")] if len(parts) > 1 else []
            spellings = tuple(dict.fromkeys([word.lower(), *joined]))
            long = tuple(part for part in dict.fromkeys(parts) if len(part) >= SHORTEST_PART and part != word.lower())
            found[word.lower()] = Sought(word, spellings, long)
    return tuple(found.values())


@lru_cache(maxsize=8)
def needles(words: tuple[Sought, ...]) -> tuple[str, ...]:
    """What a text must hold one of, lowercase, to be looked at closely. The shortest are enough."""
    every = {needle for each in words for needle in (*each.spellings, *each.parts)}
    return tuple(sorted(one for one in every if not any(other != one and other in one for other in every)))


def looked_through(path: str, text: str, words: tuple[Sought, ...], breathe: Callable[[], object]) -> FileFind | None:
    """None: nothing of what is sought is there. `breathe` is called now and then, for this may take a while."""
    every = needles(words)
    lowered, low_path = text.lower(), path.lower()
    in_text = {needle for needle in every if needle in lowered}
    in_path = any(needle in low_path for needle in every)
    if not in_text and not in_path:
        return None
    best = [0.0] * len(words)
    hits = [0.0] * len(words)
    count = 0
    weighed: list[tuple[float, int, str]] = []
    for number, line in enumerate(text.split("\n"), 1) if in_text else ():
        if not number % 32:
            breathe()
        low = line.lower()
        if not any(needle in low for needle in in_text):
            continue
        count += 1
        if count > MOST_LINES:
            continue
        weight = 0.0
        defines = _DEFINES.search(line) is not None
        for place, each in enumerate(words):
            here = _worth(each, low)
            if here:
                here *= 1.5 if defines and here >= OTHERWISE else 1.0
                hits[place] += here
                best[place] = max(best[place], here)
                weight += here
        weighed.append((-weight, number, line))
    lines = sorted((number, line) for _, number, line in sorted(weighed)[:SHOWN])
    named = [0.5 * _worth(each, low_path) for each in words]
    by_word = tuple(b + h / (h + 3) + n for b, h, n in zip(best, hits, named, strict=True))
    shown = tuple(FileLine(number, cut_line(line)) for number, line in lines)
    return FileFind(path, shown, count, len(text), by_word)


def _worth(each: Sought, lowered: str) -> float:
    if each.spellings[0] in lowered:
        return 1.0
    if any(spelling in lowered for spelling in each.spellings[1:]):
        return OTHERWISE
    return PART * sum(part in lowered for part in each.parts) / len(each.parts) if each.parts else 0.0


def ranked(found: Sequence[FileFind], files: int, most: int) -> list[FileHit]:
    """The best first. `files`: how many were looked through."""
    if not found:
        return []
    having = [sum(each.by_word[place] > 0 for each in found) for place in range(len(found[0].by_word))]
    rarity = [log(1 + files / (1 + each)) for each in having]
    hits = [
        FileHit(
            each.path,
            each.lines,
            each.count,
            round(sum(map(float.__mul__, each.by_word, rarity)) / (1 + log(1 + each.size / 20_000)), 4),
        )
        for each in found
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.path))[:most]
