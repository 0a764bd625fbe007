"""The definitions that have a name of a question.

They are found by an index over lower(name). A name that begins with the only word of a question counts, too (somebody
is typing), and, if nothing else is found, a name that is spelled nearly so or ends so. A search for symbols alone, by
several words, also finds definitions whose names have only some of the words.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from json import dumps
from typing import Any

from codec.agent.index.languages import ENDINGS
from codec.agent.index.question import AskedName, IndexQuestion
from codec.agent.index.ranking import FoundSymbol, Weights
from transports.agent.index.text_search import quoted

MOST_SYMBOLS = 200
"""With the same name; further ones are only counted."""
MOST_BEGINNINGS = 50
MOST_SIMILAR, ALIKE, ALIKE_BUT_BEGUN = 1_000, 0.75, 0.85


class SymbolSearch:
    """Of one question. `alone`: nothing but symbols is looked for. `path_of`: of a file that may be read."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        question: IndexQuestion,
        weights: Weights,
        path_of: Callable[[int], str],
        *,
        alone: bool,
    ) -> None:
        self._do = connection.execute
        self._question = question
        self._weights = weights
        self._path_of = path_of
        self._alone = alone

    def symbols(self) -> list[FoundSymbol]:
        found: list[FoundSymbol] = []
        seen: set[str] = set()
        for name in (*self._question.names, *(AskedName(each, certain=True) for each in self._question.joined)):
            if name.name.lower() not in seen:
                seen.add(name.name.lower())
                found += self._named_so(name)
        sole = _last(self._question.sole)
        stem, _, ending = self._question.sole.rpartition(".")
        if stem and ending.lower() in ENDINGS:  # Cart.java, which is not there: what it may define
            sole = _last(stem)
            found += self._named_so(AskedName(sole))
        elif sole:
            found += self._beginning_so(sole)
        if not found and self._question.names and (sole or self._alone):
            found += self._similar(sole or self._question.names[0].name)
        if self._alone and not sole:
            found += self._with_words({symbol.name.lower() for symbol in found})
        return found

    def _named_so(self, asked: AskedName) -> list[FoundSymbol]:
        rows = self._do(
            "SELECT file, name, kind, line, last, container FROM symbol WHERE lower(name) = lower(?)"
            " ORDER BY name = ? DESC, container != '', id LIMIT ?",
            (asked.name, asked.name, MOST_SYMBOLS),
        ).fetchall()
        others = len(rows)
        if others == MOST_SYMBOLS:
            ((others,),) = self._do("SELECT count(*) FROM symbol WHERE lower(name) = lower(?)", (asked.name,))
        if asked.containers:
            inside = [row for row in rows if _is_in(asked.containers, row[5], row[0], self._path_of)]
            rows, others = (inside, len(inside)) if inside else (rows, others)
        return [
            _symbol(row, 1.0 if row[1] == asked.name else self._weights.other_case, asked.certain, others)
            for row in rows
        ]

    def _beginning_so(self, beginning: str) -> list[FoundSymbol]:
        low = beginning.lower()
        rows = self._do(
            "SELECT file, name, kind, line, last, container FROM symbol WHERE lower(name) > ? AND lower(name) < ?"
            " ORDER BY lower(name), id LIMIT ?",
            (low, low + "\U0010ffff", MOST_BEGINNINGS),
        ).fetchall()
        return [
            _symbol(row, self._weights.beginning * len(low) / max(len(row[1]), 1), False, len(rows)) for row in rows
        ]

    def _similar(self, name: str) -> list[FoundSymbol]:
        """Spelled nearly so: whoever mistypes a name mostly begins it right. If there is none, those that end so, or
        nearly so."""
        low = lowered(name)
        if len(low) < 4:
            return []
        between = len(low) - 2, len(low) + 2, MOST_SIMILAR
        begin = self._do(
            "SELECT DISTINCT lower(name) FROM symbol WHERE lower(name) >= ? AND lower(name) < ?"
            " AND length(name) BETWEEN ? AND ? LIMIT ?",
            (low[:2], low[:2] + "\U0010ffff", *between),
        )
        if likes := _alike(low, begin, ALIKE):
            return self._those(likes)
        end = self._do(
            "SELECT DISTINCT lower(name) FROM symbol WHERE substr(lower(name), -4) = ?"
            " AND length(name) BETWEEN ? AND ? LIMIT ?",
            (low[-4:], *between),
        )
        whole = self._do(
            "SELECT DISTINCT lower(name) FROM symbol WHERE substr(lower(name), -?1) = ?2"
            " AND length(name) > ?1 LIMIT ?3",
            (len(low), low, MOST_BEGINNINGS),
        )
        return self._those({**_alike(low, end, ALIKE_BUT_BEGUN), **_alike(low, whole, 0.0)})

    def _those(self, likes: Mapping[str, float]) -> list[FoundSymbol]:
        """By their names, lowercase, and how alike these are to what was asked for."""
        rows = self._do(
            "SELECT file, name, kind, line, last, container FROM symbol"
            " WHERE lower(name) IN (SELECT value FROM json_each(?)) LIMIT ?",
            (dumps(list(likes)), MOST_SIMILAR),
        ).fetchall()
        alike = sorted(rows, key=lambda row: -likes[lowered(row[1])])
        return [
            _symbol(row, self._weights.similar * likes[lowered(row[1])], False, len(alike))
            for row in alike[:MOST_BEGINNINGS]
        ]

    def _with_words(self, but: Collection[str]) -> list[FoundSymbol]:
        """Whose names have words of the question: for a search of symbols by a few words."""
        if not self._question.words:
            return []
        rows = self._do(
            "SELECT symbol.file, name, kind, line, last, container, -score FROM"
            " (SELECT rowid AS number, bm25(symbol_text, 1.0, 0.3) AS score FROM symbol_text"
            " WHERE symbol_text MATCH ? ORDER BY score LIMIT ?)"
            " JOIN symbol ON symbol.id = number",
            (" OR ".join(map(quoted, self._question.words)), MOST_SYMBOLS),
        ).fetchall()
        best = max((row[-1] for row in rows), default=0.0)
        return [
            _symbol(row[:-1], self._weights.other_case * row[-1] / best, False, 1)
            for row in rows
            if best > 0 and row[1].lower() not in but
        ]


def _symbol(row: Sequence[Any], likeness: float, certain: bool, others: int) -> FoundSymbol:
    file, name, kind, line, last, container = row
    return FoundSymbol(file, name, kind, line, last, container, likeness, certain, others)


def _alike(low: str, names: Iterable[tuple[str]], least: float) -> dict[str, float]:
    matcher = SequenceMatcher(None, b=low, autojunk=False)
    likes: dict[str, float] = {}
    for (other,) in names:
        matcher.set_seq1(other)
        if min(matcher.real_quick_ratio(), matcher.quick_ratio()) >= least and matcher.ratio() >= least:
            likes[other] = matcher.ratio()
    return likes


def lowered(text: str) -> str:
    """As SQLite has it: ASCII only."""
    return text.encode(errors="replace").lower().decode()


def _last(name: str) -> str:
    return name.replace("::", ".").replace("->", ".").replace("#", ".").rpartition(".")[2]


def _is_in(containers: Sequence[str], container: str, file: int, path_of: Callable[[int], str]) -> bool:
    """Whether the last of the containers that were asked for is around it: a class, or its file's name."""
    last = containers[-1].lower()
    if last in container.lower().split("."):
        return True
    path = path_of(file).lower()
    return last in path.rpartition(".")[0].split("/") or last in path.replace("_", "/").replace(".", "/").split("/")
