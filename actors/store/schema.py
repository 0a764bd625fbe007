"""The tables, as an ordered list of migrations, counted by `user_version`.

A released migration is never edited; a change is a new entry at the end. Each migration runs in one transaction
together with its number, so a crash leaves the database at one version or the next.

`event` is the hot table. It has only two columns: `id` combines the stream's id and the sequence number in one integer.
So an append to a log touches one page, and a replay reads neighbouring rows. Two alternatives were measured: a table
with (stream, seq) as its key WITHOUT ROWID needs 1.4 pages for a lone append and is slower in groups; a table in order
of arrival with an index needs 2.1 pages. The latter wins for hundreds of logs in one commit, which one developer's
server seldom has.
"""

import sqlite3
from contextlib import closing

APPLICATION_ID = 0x54726F75
"""Marks the file as ours ("Trou")."""

SEQ_BITS = 32
"""event.id = stream.id << 32 | sequence number"""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE stream (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, trimmed INTEGER NOT NULL DEFAULT 0)",
        "CREATE TABLE event (id INTEGER PRIMARY KEY, data BLOB NOT NULL)",
        "CREATE TABLE pair (space TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (space, key)) "
        "WITHOUT ROWID",
        "CREATE TABLE blob (digest TEXT PRIMARY KEY, data BLOB NOT NULL)",
    ),
)


def version(connection: sqlite3.Connection) -> int:
    number: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return number


def application(connection: sqlite3.Connection) -> int:
    number: int = connection.execute("PRAGMA application_id").fetchone()[0]
    return number


def tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def tables_of_version(number: int) -> set[str]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, MIGRATIONS[:number])
        return tables(connection)


def migrate(connection: sqlite3.Connection, migrations: tuple[tuple[str, ...], ...] = MIGRATIONS) -> None:
    for number in range(version(connection), len(migrations)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in migrations[number]:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {number + 1}")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
