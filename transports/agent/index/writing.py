"""Puts the rows of one file of the workspace into the index, and takes them out, within a transaction of
database.py."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import DecodeError, Struct, convert
from msgspec.json import decode

from codec.agent.index.facts import FileFacts
from codec.agent.index.identifiers import humps_of, joined_words
from transports.agent.index.orders import IndexTotals
from transports.agent.index.schema import SPAN
from transports.folder.rooted import FileEntry

MOST_TROUBLES = 5
"""Files that were left out, and are told."""
NO_FILE = -1
"""As the number of a file: it is to be read, even if it holds what it held before."""
_FILE = (
    "INSERT INTO file (id, path, size, mtime_ns, ctime_ns, inode, digest, language, kind, lines, generation, trouble)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_CHUNK = "INSERT INTO chunk VALUES (?, ?, ?, ?, ?)"
_TEXT = "INSERT INTO text (rowid, body, names, path) VALUES (?, ?, ?, ?)"
_SYMBOL = "INSERT INTO symbol VALUES (?, ?, ?, ?, ?, ?, ?)"
_SYMBOL_TEXT = "INSERT INTO symbol_text (rowid, names, containers) VALUES (?, ?, ?)"
_WRITTEN_IMPORT = "INSERT INTO written_import VALUES (?, ?)"
_READ_ANEW = (
    "UPDATE meta SET value = 1 WHERE key = 'rebuilding'",
    "UPDATE meta SET value = (SELECT count(*) FROM file) WHERE key = 'files'",
    "UPDATE meta SET value = (SELECT count(*) FROM chunk) WHERE key = 'chunks'",
    "UPDATE meta SET value = (SELECT count(*) FROM symbol) WHERE key = 'symbols'",
)
_INSERTS = (_FILE, _CHUNK, _TEXT, _SYMBOL, _SYMBOL_TEXT, _WRITTEN_IMPORT)


class FileWords(NamedTuple):
    """Of a file, as FTS5 is given them. They are made before anybody waits for the lock."""

    path: str
    pieces: Sequence[str]
    """For each chunk, the parts of its identifiers."""
    symbols: Sequence[tuple[str, str]]
    """For each, the parts of its name, and of its containers."""


def file_words(path: str, facts: FileFacts) -> FileWords:
    has_names = facts.kind != "data"
    pieces = [humps_of(piece.text) if has_names else "" for piece in facts.chunks[: SPAN - 1]]
    symbols = [(joined_words(each.name), joined_words(each.container)) for each in facts.symbols[: SPAN - 1]]
    return FileWords(path_words(path), pieces, symbols)


def path_words(path: str) -> str:
    """All that somebody may look for: of api/v2/x509Names.py the words as they stand there, and their parts."""
    return f"{path} {humps_of(path)}"


class TakenFile(Struct, frozen=True):
    """What was found under a path."""

    path: str
    entry: FileEntry | None
    """None: no plain file is there."""
    digest: str = ""
    facts: FileFacts | None = None
    words: FileWords | None = None
    """There if and only if there are facts."""
    trouble: str = ""
    same: bool = False
    """Whether it holds what it held when it was last read; then there are no facts."""


class IndexRows:
    """Of one transaction. What is put in is gathered, and goes in at `close`, table by table."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._do = connection.execute
        self._files = self._chunks = self._symbols = 0
        self._gathered: dict[str, list[tuple[object, ...]]] = {statement: [] for statement in _INSERTS}
        self.changed = 0
        self._imports_changed = False
        (self._generation,) = self._do("SELECT value FROM meta WHERE key = 'generation'").fetchone()
        (self._last,) = self._do("SELECT coalesce(max(id), 0) FROM file").fetchone()

    def bring(self, read: TakenFile) -> bool:
        """Makes the index true to what was read. Each path comes once. False: the index is no longer as it was when it
        was read."""
        if read.same:
            assert read.entry is not None
            updated = self._do(
                "UPDATE file SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE path = ? AND digest = ?",
                (*read.entry, read.path, read.digest),
            )
            return updated.rowcount == 1
        if read.entry is None:
            self._take_out(read.path)
        else:
            self._put(read, read.entry)
        return True

    def close(self) -> IndexTotals:
        """Before the commit."""
        for statement, rows in self._gathered.items():
            if rows:
                self._connection.executemany(statement, rows)
        gains = {"generation": 1, "files": self._files, "chunks": self._chunks, "symbols": self._symbols}
        self._connection.executemany(
            "UPDATE meta SET value = value + ? WHERE key = ?", [(gain, key) for key, gain in gains.items()]
        )
        if self._imports_changed:
            self._do("UPDATE meta SET value = 0 WHERE key = 'related'")
        return totals(self._connection)

    def _put(self, read: TakenFile, entry: FileEntry) -> None:
        found = self._do("SELECT id FROM file WHERE path = ?", (read.path,)).fetchone()
        facts = read.facts
        imports = set() if facts is None else set(facts.imports)
        about = (facts.language, facts.kind, facts.lines) if facts is not None else ("", "data", 0)
        row = (*entry, read.digest, *about, self._generation + 1, read.trouble)
        if found is None:
            self._last += 1
            number = self._last
            self._gathered[_FILE].append((number, read.path, *row))
            self._files += 1
            self._imports_changed = True  # it may be what others mean
        else:
            (number,) = found
            self._imports_changed = self._imports_changed or self._imports(number) != imports
            self._empty(number)
            self._do(
                "UPDATE file SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, digest = ?, language = ?, kind = ?,"
                " lines = ?, generation = ?, trouble = ? WHERE id = ?",
                (*row, number),
            )
        self.changed += 1
        if facts is not None and read.words is not None:
            self._fill(number, read.words, facts, imports)

    def _fill(self, number: int, words: FileWords, facts: FileFacts, imports: Iterable[str]) -> None:
        first = number * SPAN
        chunks, texts = self._gathered[_CHUNK], self._gathered[_TEXT]
        for at, (piece, names) in enumerate(zip(facts.chunks, words.pieces, strict=False), first):
            chunks.append((at, number, piece.first, piece.last, piece.name))
            texts.append((at, piece.text, names, words.path))
        symbols, symbol_texts = self._gathered[_SYMBOL], self._gathered[_SYMBOL_TEXT]
        for at, (each, parts) in enumerate(zip(facts.symbols, words.symbols, strict=False), first):
            symbols.append((at, number, each.name, each.kind, each.line, each.last, each.container))
            symbol_texts.append((at, *parts))
        self._gathered[_WRITTEN_IMPORT] += [(number, each) for each in sorted(imports)]
        self._chunks += len(words.pieces)
        self._symbols += len(words.symbols)

    def _take_out(self, path: str) -> None:
        found = self._do("SELECT id FROM file WHERE path = ?", (path,)).fetchone()
        if found is None:
            return
        (number,) = found
        self._empty(number)
        self._do("DELETE FROM import WHERE file = ?1 OR resolved = ?1", (number,))
        self._do("DELETE FROM file WHERE id = ?", (number,))
        self._files -= 1
        self.changed += 1
        self._imports_changed = True

    def _empty(self, number: int) -> None:
        span = number * SPAN, (number + 1) * SPAN
        self._do("DELETE FROM text WHERE rowid IN (SELECT id FROM chunk WHERE id >= ? AND id < ?)", span)
        self._chunks -= self._do("DELETE FROM chunk WHERE id >= ? AND id < ?", span).rowcount
        self._do("DELETE FROM symbol_text WHERE rowid IN (SELECT id FROM symbol WHERE id >= ? AND id < ?)", span)
        self._symbols -= self._do("DELETE FROM symbol WHERE id >= ? AND id < ?", span).rowcount
        self._do("DELETE FROM written_import WHERE file = ?", (number,))

    def _imports(self, number: int) -> set[str]:
        return {target for (target,) in self._do("SELECT target FROM written_import WHERE file = ?", (number,))}


def digests_of(connection: sqlite3.Connection, paths: Iterable[str]) -> dict[str, str]:
    """What these files held when they were last read, unless they are to be read in any case."""
    found = {}
    for path in paths:
        wanted = "SELECT digest FROM file WHERE path = ? AND digest != '' AND inode != ?"
        row = connection.execute(wanted, (path, NO_FILE)).fetchone()
        if row is not None:
            found[path] = row[0]
    return found


def read_anew(connection: sqlite3.Connection) -> None:
    """From now on every file is one that the next update reads. Until then it is found as it was. What is there is
    counted again: a rebuild is for an index that is not trusted."""
    connection.execute("UPDATE file SET inode = ?", (NO_FILE,))
    for statement in _READ_ANEW:
        connection.execute(statement)


def totals(connection: sqlite3.Connection) -> IndexTotals:
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    some = connection.execute("SELECT trouble FROM file WHERE trouble != '' ORDER BY path LIMIT ?", (MOST_TROUBLES,))
    try:
        troubles = filter(None, (meta["notice"], *decode(meta["troubles"]), *(trouble for (trouble,) in some)))
        values = [meta[name] for name in ("generation", "files", "chunks", "symbols")]
        refused = meta.get("refused", 0)
        vectors = meta.get("vectors", 0) - refused, meta.get("vector_model", ""), refused
        whole = bool(meta["complete"]) and not meta["rebuilding"], meta["completed_at"]
        return convert((*values, *whole, tuple(troubles), *vectors), IndexTotals)
    except (KeyError, TypeError, AttributeError, DecodeError) as error:
        raise sqlite3.DatabaseError("a value that no index has") from error
