"""Words as FTS5's porter has them: asked of SQLite itself, so that both are the same.

Each thread asks for itself, and keeps the answers.
"""

import sqlite3
from collections.abc import Collection, Sequence
from threading import local

MOST_KEPT = 20_000


class _Stemmer(local):
    def __init__(self) -> None:
        self.kept: dict[str, str] = {}
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.execute("CREATE VIRTUAL TABLE words USING fts5(word, tokenize = 'porter unicode61')")
        self.connection.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(words, instance)")

    def learn(self, words: Sequence[str]) -> None:
        if len(self.kept) + len(words) > MOST_KEPT:
            self.kept.clear()
        self.connection.execute("BEGIN")
        try:
            self.connection.executemany("INSERT INTO words (rowid, word) VALUES (?, ?)", enumerate(words))
            found = dict(self.connection.execute('SELECT doc, term FROM stems ORDER BY "offset" DESC'))
        finally:
            self.connection.execute("ROLLBACK")
        self.kept.update((word, found.get(number, word)) for number, word in enumerate(words))


_stemmer = _Stemmer()


def stems_of(words: Collection[str]) -> dict[str, str]:
    new = [word for word in words if word not in _stemmer.kept]
    if new:
        _stemmer.learn(list(dict.fromkeys((*new, *words))))
    kept = _stemmer.kept
    return {word: kept[word] for word in words}


def one_of_each_stem(words: Sequence[str]) -> list[str]:
    stems = stems_of(words)
    return list({stems[word]: word for word in reversed(words)}.values())[::-1]
