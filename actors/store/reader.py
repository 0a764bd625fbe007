"""The reading half: a separate connection, which neither waits for a commit nor delays one.

A question is answered from a snapshot taken at that moment, and so from everything that was acknowledged before.

A page comes as a single row for this reason: sqlite3 releases the interpreter lock for each row, and a busy event loop
returns it late. Measured: 1000 rows by `fetchall` took 425 ms beside a busy loop, one row took 3 ms. So SQLite joins
the entries, and their lengths tell where to cut. A cast between TEXT and BLOB changes no byte in a UTF-8 database.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from actors.store.connection import connect, in_words, unusable
from actors.store.errors import Refused, StoreError
from actors.store.operations import (
    PAGE_BYTES,
    Get,
    GetBlob,
    GetEach,
    Keys,
    Question,
    Read,
    Streams,
    check_limit,
    check_name,
    check_number,
    check_places,
    chosen,
)
from actors.store.schema import SEQ_BITS

EVENTS = """
    SELECT id, data FROM event
    WHERE id > (SELECT id FROM stream WHERE name = :name) << 32 | :after
      AND id < (SELECT id + 1 FROM stream WHERE name = :name) << 32
    ORDER BY id LIMIT :limit
"""
PAIRS = """
    SELECT key AS id, value AS data FROM pair
    WHERE space = :space AND key > :after AND key >= :prefix AND key < CAST(:end AS TEXT)
    ORDER BY key LIMIT :limit
"""
NAMES = """
    SELECT name, max(trimmed, coalesce((
        SELECT max(event.id) - (stream.id << 32) FROM event
        WHERE event.id BETWEEN stream.id << 32 AND (stream.id + 1 << 32) - 1), 0)) AS last
    FROM stream WHERE name > :after AND name >= :prefix AND name < CAST(:end AS TEXT)
    ORDER BY name LIMIT :limit
"""


class Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._connection = connect(path, readonly=True)
        except sqlite3.Error as error:
            raise unusable(path, error) from error

    def execute(self, questions: Sequence[Question[Any]]) -> list[object]:
        """For each question its answer, or a StoreError."""
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question[Any]) -> object:
        try:
            return chosen(ANSWERS, question)(self, question)
        except sqlite3.Error as error:
            return in_words(error, "nothing could be read")
        except StoreError as error:
            return error

    def _read(self, read: Read) -> list[tuple[int, bytes]]:
        check_name("a stream's name", read.stream)
        check_number("what a log is read after", read.after)
        if read.after < 0:
            raise Refused(f"a log is read after 0 or a sequence number, not {read.after}")
        ids, data = self._page(EVENTS, read.limit, name=read.stream, after=min(read.after, (1 << SEQ_BITS) - 1))
        mask = (1 << SEQ_BITS) - 1
        return [(id & mask, event) for id, event in zip(ids, data, strict=True)]  # noqa: A001

    def _keys(self, keys: Keys) -> list[tuple[str, bytes]]:
        check_name("a space", keys.space)
        bounds = _prefixed(keys.prefix, keys.after)
        return list(zip(*self._page(PAIRS, keys.limit, space=keys.space, **bounds), strict=True))

    def _streams(self, streams: Streams) -> list[tuple[str, int]]:
        check_limit(streams.limit)
        (found,) = self._connection.execute(
            f"SELECT json_group_array(json_array(name, last)) FROM ({NAMES})",  # noqa: S608
            _prefixed(streams.prefix, streams.after) | {"limit": streams.limit},
        ).fetchone()
        return [(name, last) for name, last in json.loads(found)]

    def _get(self, get: Get) -> bytes | None:
        check_name("a space", get.space)
        check_name("a key", get.key)
        return self._one("SELECT value FROM pair WHERE space = ? AND key = ?", get.space, get.key)

    def _get_each(self, get: GetEach) -> list[bytes | None]:
        check_places(get.places)
        values = [name for place in get.places for name in place]
        return list(self._connection.execute(_each(len(get.places)), values).fetchone())

    def _get_blob(self, get: GetBlob) -> bytes | None:
        check_name("a digest", get.digest)
        return self._one("SELECT data FROM blob WHERE digest = ?", get.digest)

    def _one(self, query: str, *values: object) -> bytes | None:
        row = self._connection.execute(query, values).fetchone()
        return None if row is None else row[0]

    def _page(self, query: str, limit: int, **values: object) -> tuple[list[Any], Iterator[bytes]]:
        """Ids and data of this query's results, cut to size: one step looks at the sizes, and one fetches."""
        check_limit(limit)
        values["limit"] = limit
        (sizes,) = self._connection.execute(
            f"SELECT json_group_array(length(data)) FROM ({query})",  # noqa: S608
            values,
        ).fetchone()
        values["limit"] = _how_many(json.loads(sizes))
        ids, sizes, joined = self._connection.execute(
            "SELECT json_group_array(id), json_group_array(length(data)), "  # noqa: S608
            f"CAST(group_concat(CAST(data AS TEXT), '') AS BLOB) FROM ({query})",
            values,
        ).fetchone()
        return json.loads(ids), _cut(joined or b"", json.loads(sizes))

    def rest(self, *, idle: bool) -> bool:
        return False

    def close(self) -> None:
        self._connection.close()


ANSWERS: dict[type[Question[Any]], Callable[[Reader, Any], object]] = {
    Read: Reader._read,
    Streams: Reader._streams,
    Get: Reader._get,
    GetEach: Reader._get_each,
    Keys: Reader._keys,
    GetBlob: Reader._get_blob,
}


@cache
def _each(count: int) -> str:
    return "SELECT " + ",".join(["(SELECT value FROM pair WHERE space = ? AND key = ?)"] * count)  # noqa: S608


def _prefixed(prefix: str, after: str) -> dict[str, object]:
    """The bounds of everything that begins with the prefix: no UTF-8 text contains the byte 255."""
    for what, name in (("a prefix", prefix), ("the name to go on after", after)):
        if name != "":
            check_name(what, name)
    return {"prefix": prefix, "after": after, "end": prefix.encode() + b"\xff"}


def _how_many(sizes: list[int]) -> int:
    total = 0
    for count, size in enumerate(sizes):
        total += size
        if total > PAGE_BYTES:
            return max(count, 1)
    return len(sizes)


def _cut(joined: bytes, sizes: list[int]) -> Iterator[bytes]:
    start = 0
    for size in sizes:
        yield joined[start : start + size]
        start += size
