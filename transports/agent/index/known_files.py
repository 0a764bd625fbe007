"""The files that a question comes to. The policy is asked once for each; a file that it denies counts as unknown."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from json import dumps
from typing import TypeVar, cast, get_args

from codec.agent.index.facts import FileKind
from codec.agent.index.ranking import FoundChunk, FoundFile, FoundSymbol

MOST_IMPORTS = 20_000
"""Of the files of an answer; further ones are not counted."""
_KINDS: frozenset[str] = frozenset(get_args(FileKind))

T = TypeVar("T", FoundChunk, FoundSymbol)


class KnownFiles:
    def __init__(self, connection: sqlite3.Connection, readable: Callable[[str], bool]) -> None:
        self._do = connection.execute
        self._readable = readable
        self._files: dict[int, FoundFile] = {}
        self._denied: set[int] = set()

    def __getitem__(self, number: int) -> FoundFile:
        return self._files[number]

    def known(self, found: list[T]) -> list[T]:
        """Those in files that may be read."""
        self.learn({each.file for each in found})
        return [each for each in found if each.file in self._files]

    def learn(self, numbers: Iterable[int]) -> set[int]:
        """Those that may be read."""
        wanted = set(numbers)
        new = wanted - self._files.keys() - self._denied
        if new:
            for number, path, kind, digest, rank in self._do(
                "SELECT id, path, kind, digest, rank FROM file WHERE id IN (SELECT value FROM json_each(?))",
                (dumps(sorted(new)),),
            ):
                if self._readable(path):
                    known = cast("FileKind", kind if kind in _KINDS else "data")
                    self._files[number] = FoundFile(number, path, known, digest, rank)
                else:
                    self._denied.add(number)
        return wanted & self._files.keys()

    def path(self, number: int) -> str:
        self.learn([number])
        file = self._files.get(number)
        return file.path if file is not None else ""

    def numbers_of(self, paths: Iterable[str]) -> set[int]:
        found = set()
        for path in paths:
            row = self._do("SELECT id FROM file WHERE path = ?", (path.encode(errors="replace").decode(),)).fetchone()
            if row is not None:
                found.add(row[0])
        return self.learn(found)

    def so_far(self) -> Iterable[FoundFile]:
        return self._files.values()

    def importers_at_most(self, numbers: Iterable[int]) -> dict[int, int]:
        """How many files import each, whether or not they may be read."""
        rows = self._do(
            "SELECT resolved, count(*) FROM import WHERE resolved IN (SELECT value FROM json_each(?))"
            " GROUP BY resolved",
            (dumps(sorted(numbers)),),
        )
        return {number: min(count, MOST_IMPORTS) for number, count in rows}

    def importers(self, numbers: Iterable[int]) -> Counter[int]:
        """How many files that may be read import each."""
        pairs = self._do(
            "SELECT resolved, file FROM import WHERE resolved IN (SELECT value FROM json_each(?)) LIMIT ?",
            (dumps(sorted(numbers)), MOST_IMPORTS),
        ).fetchall()
        known = self.learn({file for _, file in pairs})
        return Counter(resolved for resolved, file in pairs if file in known)
