"""The vectors of an index: which texts have one, and which chunk has which.

    vector        a text's, under its digest. It stays when the text is gone, until there are too many such: who goes
                  back to another branch asks no model again
    chunk_vector  the chunks that have one. A chunk that goes takes its row along (a trigger)

In `meta` there are `vectors` (rows of chunk_vector), `vector_model`, and `vector_era`, which is another one whenever
vectors were taken out: until then their numbers only grow, and what was read of them stays true.

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
    "CREATE TABLE vector (id INTEGER PRIMARY KEY AUTOINCREMENT, digest BLOB NOT NULL UNIQUE, data BLOB NOT NULL)",
    "CREATE TABLE chunk_vector (chunk INTEGER PRIMARY KEY, vector INTEGER NOT NULL)",
    "CREATE TRIGGER chunk_gone AFTER DELETE ON chunk BEGIN DELETE FROM chunk_vector WHERE chunk = old.id; END",
    "CREATE TRIGGER vector_given AFTER INSERT ON chunk_vector"
    " BEGIN UPDATE meta SET value = value + 1 WHERE key = 'vectors'; END",
    "CREATE TRIGGER vector_taken AFTER DELETE ON chunk_vector"
    " BEGIN UPDATE meta SET value = value - 1 WHERE key = 'vectors'; END",
)


def digest_of(text: str) -> bytes:
    return blake2b(as_asked(text).encode(errors="replace"), digest_size=16).digest()


def without_meaning(connection: sqlite3.Connection, model: str, after: int) -> WithoutMeaning:
    """Chunks whose texts have no vector of this model, in their order. In a transaction."""
    _make_ready(connection, model)
    total = totals(connection)
    texts: dict[bytes, UnknownText] = {}
    reached: int | None = None
    if total.vectors < min(total.chunks, MOST_VECTORS):
        given: list[tuple[int, int]] = []
        rows = connection.execute(
            "SELECT chunk.id, body FROM chunk JOIN text ON text.rowid = chunk.id"
            " WHERE chunk.id > ? AND NOT EXISTS (SELECT 1 FROM chunk_vector WHERE chunk_vector.chunk = chunk.id)"
            " ORDER BY chunk.id LIMIT ?",
            (after, min(LOOKED_AT, MOST_VECTORS - total.vectors)),
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
    _make_ready(connection, model)
    other = connection.execute("SELECT length(data) FROM vector LIMIT 1").fetchone()
    if other is not None and any(len(each.vector) != other[0] for each in meanings):
        _clear(connection, model)  # under the same name there is another model now
    for each in meanings:
        connection.execute("INSERT OR IGNORE INTO vector (digest, data) VALUES (?, ?)", (each.digest, each.vector))
        row = connection.execute("SELECT body FROM text WHERE rowid = ?", (each.chunk,)).fetchone()
        if row is not None and digest_of(row[0]) == each.digest:
            connection.execute(
                "INSERT OR IGNORE INTO chunk_vector SELECT ?, id FROM vector WHERE digest = ?",
                (each.chunk, each.digest),
            )
    _grow(connection)


def _make_ready(connection: sqlite3.Connection, model: str) -> None:
    known = connection.execute("SELECT value FROM meta WHERE key = 'vector_model'").fetchone()
    if known is None:
        for statement in _TABLES:
            connection.execute(statement)
    if known is None or known[0] != model:
        _clear(connection, model)


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
