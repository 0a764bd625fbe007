"""The vectors of an index: which texts have one, and which chunk has which.

    vector        a text's, under its digest. It stays when the text is gone, until there are too many such: who goes
                  back to another branch asks no model again. One without data is of a text that the model refuses
    chunk_vector  the chunks that have one. A chunk that goes takes its row along (a trigger)

In `meta` there are `vectors` (rows of chunk_vector), `refused` (those of them whose vector has no data),
`vector_model`, and `vector_era`, which is another one whenever vectors were taken out: until then their numbers only
grow, and what was read of them stays true.

The tables are made when they are first needed: without a model an index has none.
"""

import secrets
import sqlite3
from collections.abc import Sequence
from hashlib import blake2b

from codec.agent.embeddings import MOST_TEXTS, as_asked
from transports.agent.index.orders import ChunkMeaning, UnknownText, WithoutMeaning
from transports.agent.index.writing import totals

MOST_VECTORS = 200_000
"""Of one index."""
LOOKED_AT = 2_000
"""Chunks that one order looks at."""
SPARE = 5_000
"""Vectors without a chunk that are kept, besides as many as there are chunks."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS vector"
    " (id INTEGER PRIMARY KEY AUTOINCREMENT, digest BLOB NOT NULL UNIQUE, data BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS chunk_vector (chunk INTEGER PRIMARY KEY, vector INTEGER NOT NULL)",
    "CREATE TRIGGER IF NOT EXISTS chunk_gone AFTER DELETE ON chunk"
    " BEGIN DELETE FROM chunk_vector WHERE chunk = old.id; END",
    "CREATE TRIGGER IF NOT EXISTS vector_given AFTER INSERT ON chunk_vector"
    " BEGIN UPDATE meta SET value = value + 1 WHERE key = 'vectors'; END",
    "CREATE TRIGGER IF NOT EXISTS vector_taken AFTER DELETE ON chunk_vector"
    " BEGIN UPDATE meta SET value = value - 1 WHERE key = 'vectors'; END",
    "CREATE TRIGGER refused_given AFTER INSERT ON chunk_vector"
    " WHEN (SELECT length(data) FROM vector WHERE id = new.vector) = 0"
    " BEGIN UPDATE meta SET value = value + 1 WHERE key = 'refused'; END",
    "CREATE TRIGGER refused_taken AFTER DELETE ON chunk_vector"
    " WHEN (SELECT length(data) FROM vector WHERE id = old.vector) = 0"
    " BEGIN UPDATE meta SET value = value - 1 WHERE key = 'refused'; END",
    "INSERT INTO meta VALUES ('refused', 0)",
)
"""An index may have those up to `vector_taken` already."""


def digest_of(text: str) -> bytes:
    return blake2b(as_asked(text).encode(errors="replace"), digest_size=16).digest()


def without_meaning(connection: sqlite3.Connection, model: str, size: int, after: int) -> WithoutMeaning:
    """Chunks whose texts have no vector of this model, in their order, and are not refused. In a transaction."""
    _make_ready(connection, model, size)
    total = totals(connection)
    texts: dict[bytes, UnknownText] = {}
    reached: int | None = None
    done = total.vectors + total.refused
    if done < min(total.chunks, MOST_VECTORS):
        given: list[tuple[int, int]] = []
        rows = connection.execute(
            "SELECT chunk.id, body FROM chunk JOIN text ON text.rowid = chunk.id"
            " WHERE chunk.id > ? AND NOT EXISTS (SELECT 1 FROM chunk_vector WHERE chunk_vector.chunk = chunk.id)"
            " ORDER BY chunk.id LIMIT ?",
            (after, min(LOOKED_AT, MOST_VECTORS - done)),
        )
        for chunk, body in rows:
            if len(texts) == MOST_TEXTS:
                break
            reached = chunk
            digest = digest_of(body)
            found = connection.execute("SELECT id FROM vector WHERE digest = ?", (digest,)).fetchone()
            if found is not None:
                given.append((chunk, found[0]))
            elif digest not in texts:  # the next one like it is given its vector by the next look
                texts[digest] = UnknownText(chunk, digest, as_asked(body))
        rows.close()
        connection.executemany("INSERT INTO chunk_vector VALUES (?, ?)", given)
        if given:
            _grow(connection)
            total = totals(connection)
    if reached is None:
        _sweep(connection, total.chunks)
    return WithoutMeaning(tuple(texts.values()), reached, total)


def keep_meanings(connection: sqlite3.Connection, model: str, meanings: Sequence[ChunkMeaning]) -> None:
    """In a transaction."""
    _make_ready(connection, model, max((len(each.vector) for each in meanings), default=0))
    for each in meanings:
        connection.execute("INSERT OR IGNORE INTO vector (digest, data) VALUES (?, ?)", (each.digest, each.vector))
        row = connection.execute("SELECT body FROM text WHERE rowid = ?", (each.chunk,)).fetchone()
        if row is not None and digest_of(row[0]) == each.digest:
            connection.execute(
                "INSERT OR IGNORE INTO chunk_vector SELECT ?, id FROM vector WHERE digest = ?",
                (each.chunk, each.digest),
            )
    _grow(connection)


def forget_refused(connection: sqlite3.Connection) -> None:
    """The model's server may take longer texts by now. In a transaction."""
    if connection.execute("SELECT 1 FROM meta WHERE key = 'refused'").fetchone() is not None:
        connection.execute(
            "DELETE FROM chunk_vector WHERE vector IN (SELECT id FROM vector WHERE length(data) = 0)"
        )
        connection.execute("DELETE FROM vector WHERE length(data) = 0")


def _make_ready(connection: sqlite3.Connection, model: str, size: int) -> None:
    """`size`: of the model's vectors, 0 if it is not known."""
    meta = dict(connection.execute("SELECT key, value FROM meta WHERE key IN ('vector_model', 'refused')"))
    if "refused" not in meta:
        for statement in _TABLES:
            connection.execute(statement)
    if meta.get("vector_model") != model or _has_others(connection, size):
        _clear(connection, model)


def _has_others(connection: sqlite3.Connection, size: int) -> bool:
    """Whether under the same name there is another model now."""
    kept = connection.execute("SELECT length(data) FROM vector WHERE length(data) > 0 LIMIT 1").fetchone()
    return bool(size) and kept is not None and kept[0] != size


def _clear(connection: sqlite3.Connection, model: str) -> None:
    connection.execute("DELETE FROM chunk_vector")
    connection.execute("DELETE FROM vector")
    connection.executemany(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)",
        [("vectors", 0), ("vector_model", model), ("vector_era", secrets.token_hex(8))],
    )


def _grow(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")


def _sweep(connection: sqlite3.Connection, chunks: int) -> None:
    """When too many texts are gone."""
    ((kept,),) = connection.execute("SELECT count(*) FROM vector")
    if kept > 2 * chunks + SPARE:
        connection.execute("DELETE FROM vector WHERE id NOT IN (SELECT vector FROM chunk_vector)")
        connection.execute("UPDATE meta SET value = ? WHERE key = 'vector_era'", (secrets.token_hex(8),))
