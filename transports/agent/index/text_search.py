"""The chunks that have words of a question, by FTS5's own bm25, and which of the words a file or a chunk has.

A row costs FTS5 twenty times as much to score as to count. So words are counted first, and the rows that have the
rarest words are scored first; in them every word counts. Rows that have none of these are scored only while they could
still be among the best.

Words that are almost everywhere (most_rows) are left out while there are others. A last word that is nowhere is taken
for the beginning of one. If there are chunks with all that is in quotes, as it stands there, only these count.
"""

import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import starmap
from json import dumps, loads
from math import log
from typing import NamedTuple

from codec.agent.index.identifiers import humps_of
from codec.agent.index.ranking import FoundChunk, Weights
from codec.agent.index.wording import AskedWording, WordForWord, word_for_word, words_apart
from transports.agent.index.schema import SPAN
from transports.agent.index.stems import one_of_each_stem, stems_of

MOST_CHUNKS = 500
DEEP = 100
"""So many chunks are the best there are: what is not scored is worth less."""
AT_ONCE = 1_000
"""Rows, of so many rare words as have them together."""
SMALL = 16_000
"""In an index of no more chunks all rows are scored at once: it takes a few milliseconds."""
MOST_TIMES = 2.2
"""Its rarity, a word can bring to a row by FTS5's bm25 (1 and its k1), if it stands there without end."""
FEW, HALF, MANY, FIFTH = 300, 0.5, 4_000, 0.2
"""A word that more chunks have, and more than half of all, tells nothing. In an index of more than twice MANY, so many
rows take too long besides: there a word may have MANY, or a fifth if that is more."""
OPEN, CLOSE = "\x02", "\x03"


class CountedWord(NamedTuple):
    word: str
    phrase: str
    """As FTS5 is asked for it: letters and digits, in quotes."""
    rows: int
    """Chunks that have it."""


class WordsThere(NamedTuple):
    stems: Set[str]
    """Of those words of the question that are there."""
    begun: bool
    """Whether a word begins as the last one of the question, which is nowhere else."""


class ScoredRow(NamedTuple):
    """The best come first in order."""

    score: float
    """As FTS5 has it: the less, the better."""
    number: int


class TextSearch:
    """Of one question."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        words: Sequence[str],
        total: int,
        weights: Weights,
        quotes: Sequence[str] = (),
    ) -> None:
        self._do = connection.execute
        self._total = total
        self._weights = weights
        self.begun = ""
        """The last word, if it is taken for the beginning of others."""
        counted = [self._counted(word, quoted(word)) for word in one_of_each_stem(words)]
        if counted and not counted[-1].rows and len(counted[-1].word) > 1:
            counted[-1] = self._counted(counted[-1].word, f"{counted[-1].phrase}*")
            self.begun = counted[-1].word
        self._there = [each for each in counted if each.rows]
        self._quotes = self._found_quotes(quotes)
        self._words: list[CountedWord] = []
        """Those that were last looked for."""

    def tries(self) -> Iterator[list[FoundChunk]]:
        """The best chunks; if these will not do, those of more usual words."""
        usual = most_rows(self._total)
        for some in ([each for each in self._there if each.rows <= usual], self._there):
            if some:
                self._words = some
                yield self._best()

    def word_for_word(self, wording: AskedWording, chunks: Sequence[FoundChunk]) -> dict[int, WordForWord]:
        """Of the best of these chunks, those that have something of the question's wording."""
        if not wording.windows or not chunks:
            return {}
        numbers = dumps([chunk.id for chunk in chunks[:DEEP]])
        texts = self._do("SELECT rowid, body FROM text WHERE rowid IN (SELECT value FROM json_each(?))", (numbers,))
        return word_for_word(wording, dict(texts))

    def covered(self, files: Set[int]) -> dict[int, float]:
        """Which share of the words each of these files has: rare ones count more."""
        shares: dict[int, float] = {}
        whole = 0.0
        for _, phrase, many in self._words:
            rare = log(1 + self._total / many)
            whole += rare
            ((those,),) = self._do(
                "SELECT json_group_array(DISTINCT rowid / ?) FROM text WHERE text MATCH ?", (SPAN, phrase)
            )  # one row: to fetch thousands takes longer than to find them
            for file in files & set(loads(those)):
                shares[file] = shares.get(file, 0.0) + rare
        return {file: share / whole for file, share in shares.items()}

    def in_paths(self, files: Mapping[int, str], total: int) -> dict[int, float]:
        """How rare among the paths of all files, `total`, those words are that stand in the paths of these files."""
        worth: dict[int, float] = {}
        paths = "\n".join(files.values()).lower()
        stems = stems_of([each.word for each in self._words])
        for word, phrase, _ in self._words:
            # in porter's rules, all words of one stem begin with it, but for its last letter
            if paths.isascii() and stems[word][:-1] not in paths:
                continue  # most are in none: to ask for all takes a tenth of a question's time
            ((those,),) = self._do(
                "SELECT json_group_array(DISTINCT rowid / ?) FROM text WHERE text MATCH ?", (SPAN, f"path : {phrase}")
            )
            having = set(loads(those))
            for file in files.keys() & having:
                worth[file] = worth.get(file, 0.0) + log(1 + total / len(having))
        return worth

    def words_in(self, parts: Mapping[int, slice]) -> dict[int, WordsThere]:
        """Which of the words these chunks have in some of their lines."""
        if not self._words:
            return {number: WordsThere(set(), False) for number in parts}
        wanted = set(stems_of([each.word for each in self._words]).values())
        begin = {stem[:2] for stem in wanted} | {f"{stem[0]}y" for stem in wanted if stem[1:2] == "i"}
        likely: dict[int, list[str]] = {}
        begun = set[int]()
        for number, lines in parts.items():
            for (body,) in self._do("SELECT body FROM text WHERE rowid = ?", (number,)):
                text = "\n".join(body.split("\n")[lines])
                words = set(words_apart(humps_of(text)))
                words |= set(words_apart(text)) if text.isascii() else self._marked(number, lines)
                likely[number] = [word for word in words if word[:2] in begin or not word.isascii()]
                if self.begun and any(word.startswith(self.begun) for word in words):
                    begun.add(number)
        stems = stems_of({word for words in likely.values() for word in words})
        return {
            number: WordsThere(wanted & {stems[word] for word in words}, number in begun)
            for number, words in likely.items()
        }

    def _marked(self, number: int, lines: slice) -> set[str]:
        """The words that FTS5 finds in a chunk. It reads the chunk again for that: it takes three times as long
        as to part it here, which does for ASCII only."""
        texts = self._do(
            "SELECT highlight(text, 0, ?1, ?2) FROM text WHERE text MATCH ?3 AND rowid = ?4",
            (OPEN, CLOSE, _any_of(self._words), number),
        ).fetchall()
        parts = ["\n".join(text.split("\n")[lines]) for (text,) in texts]
        return {found.partition(CLOSE)[0].lower() for part in parts for found in part.split(OPEN)[1:]}

    def _best(self) -> list[FoundChunk]:
        found: list[ScoredRow] = []
        before: list[CountedWord] = []
        left = deque(sorted(self._words, key=lambda each: each.rows))
        least = 0.0
        while left and self._at_most(left) >= least:
            now = [left.popleft()]
            while left and (self._total <= SMALL or sum(each.rows for each in now) + left[0].rows <= AT_ONCE):
                now.append(left.popleft())
            some, others, none = _any_of(now), _any_of(left), _any_of(before)
            if others:
                found += self._scored(f"({some}) AND ({others})", none)
            if not others or self._at_most(now) >= least:
                found += self._scored(f"({some}) NOT ({others})" if others else some, none)
            found.sort()
            least = -found[DEEP - 1].score if len(found) >= DEEP else 0.0
            before += now
        return self._chunks(found[:MOST_CHUNKS])

    def _at_most(self, words: Iterable[CountedWord]) -> float:
        """What a row is worth that has these words and no others."""
        return sum(MOST_TIMES * max(log((self._total - each.rows + 0.5) / (each.rows + 0.5)), 0.0) for each in words)

    def _scored(self, match: str, none: str) -> Iterator[ScoredRow]:
        """No word may stand twice in what FTS5 is asked, or it would count twice."""
        weights = self._weights
        match = f"({match}) AND {self._quotes}" if self._quotes else match
        rows = self._do(
            "SELECT bm25(text, ?, ?, ?) AS score, rowid FROM text WHERE text MATCH ? ORDER BY score LIMIT ?",
            (weights.body, weights.names, weights.path, f"({match}) NOT ({none})" if none else match, MOST_CHUNKS),
        )
        return starmap(ScoredRow, rows)

    def _chunks(self, rows: Sequence[ScoredRow]) -> list[FoundChunk]:
        """Read when it is known which are the best: that takes longer than to score them."""
        numbers = dumps([row.number for row in rows])
        found = self._do(
            "SELECT id, file, first, last, name FROM chunk WHERE id IN (SELECT value FROM json_each(?))", (numbers,)
        )
        about = {number: (file, first, last, name) for number, file, first, last, name in found}
        return [FoundChunk(row.number, *about[row.number], -row.score) for row in rows if row.number in about]

    def _found_quotes(self, quotes: Sequence[str]) -> str:
        """What every chunk must have; empty, if there is none that has all of it."""
        every = " AND ".join(map(quoted, quotes))
        return every if every and self._counted("", every).rows else ""

    def _counted(self, word: str, phrase: str) -> CountedWord:
        ((count,),) = self._do("SELECT count(*) FROM text WHERE text MATCH ?", (phrase,))
        return CountedWord(word, phrase, count)


def most_rows(chunks: int) -> float:
    """Of a word that is looked for. Of a more usual one, only if there is no other."""
    return max(FEW, min(HALF * chunks, max(MANY, FIFTH * chunks)))


def quoted(word: str) -> str:
    return f'"{word}"'


def _any_of(words: Sequence[CountedWord]) -> str:
    return " OR ".join(each.phrase for each in words)
