"""Opens connections to the database file, turns its errors into sentences, and checks whether it is fit for use."""

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from actors.store.errors import DatabaseDamaged, SchemaTooNew, StateError, StateUnusable, StoreError, StoreFull
from actors.store.schema import APPLICATION_ID, MIGRATIONS, application, tables, tables_of_version, version

BUSY_SECONDS = 5.0
"""How long to wait for another program that holds the file locked (a backup, a shell)."""

DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
HELD = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def connect(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
    """A connection in autocommit mode, which any thread may use, one at a time."""
    return sqlite3.connect(
        f"file:{quote(os.fsencode(path))}?mode={'ro' if readonly else 'rwc'}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )


def log_of(path: Path) -> Path:
    """The log file, with commits that are not yet in the database itself."""
    return Path(f"{path}-wal")


def size(path: Path) -> int:
    """The size of a file; 0 if it does not exist."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def primary_code(error: sqlite3.Error) -> int | None:
    """SQLite's result code without its extension; None if the error is the sqlite3 module's own."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def in_words(error: sqlite3.Error, undone: str) -> StoreError:
    """The reason why something failed; `undone` says what it was."""
    match primary_code(error):
        case sqlite3.SQLITE_FULL:
            return StoreFull(
                f"there is no space left on the disk: {undone}, everything acknowledged before is kept; "
                "free some space and try again"
            )
        case sqlite3.SQLITE_IOERR:
            return StoreError(f"the disk failed ({error}): {undone}; look at the disk and the system log")
        case code if code in DAMAGED:
            return StoreError(
                f"the database is damaged ({error}): {undone}; stop the server, and put a backup in the place of the "
                "database and of the -wal and -shm files beside it"
            )
        case code if code in HELD:
            return StoreError(f"another program holds the database locked ({error}): {undone}; try again")
        case _:
            return StoreError(f"the database refused it ({error}): {undone}")


def unusable(path: Path, error: sqlite3.Error) -> StateError:
    """The reason why the database cannot be opened."""
    match primary_code(error):
        case sqlite3.SQLITE_FULL:
            return StateUnusable(f"There is no space left for the database {path}. Free some and start again.")
        case code if code in DAMAGED or code == sqlite3.SQLITE_ERROR:  # the tables are not what their version says
            return damaged(path, str(error))
        case code if code in HELD:
            return StateUnusable(f"The database {path} is locked by another program. End that program and start again.")
        case _:
            return StateUnusable(
                f"The database {path} cannot be opened: {error}. Look at its permissions, and whether the disk is full."
            )


def damaged(path: Path, detail: str) -> DatabaseDamaged:
    return DatabaseDamaged(
        f"The database {path} is damaged ({detail}). Nothing was changed or deleted. "
        f"Move {path.name}, {path.name}-wal and {path.name}-shm away to start empty, or put a backup in their place."
    )


def inspect(path: Path) -> None:
    """Raises a StateError if the file is not a sound database that this version can use. Changes nothing.

    The connection only reads, because closing the last writing connection would carry the log over into a damaged file.
    But a killed program may have left a journal instead of a log: a new database, or a restored copy, has one until it
    is switched to a log (database.py). Only a writing connection can undo a half-written transaction then.
    """
    if not size(path):
        if size(log_of(path)):  # SQLite would take the log for another database's, and delete it
            raise damaged(path, "it is empty or gone, and its log is not")
        return
    try:
        connection = connect(path, readonly=not size(Path(f"{path}-journal")))
        try:
            _inspect(path, connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise unusable(path, error) from error


def _inspect(path: Path, connection: sqlite3.Connection) -> None:
    check_ours(path, connection)
    missing = tables_of_version(version(connection)) - tables(connection)
    if missing:
        raise damaged(path, f"it lacks the table {min(missing)}")
    pages = size(path) / connection.execute("PRAGMA page_size").fetchone()[0]
    if pages % 1 and not size(log_of(path)):  # beside a log, a checkpoint was cut short, and will be redone
        raise damaged(path, "it is cut off amid a page")
    verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise damaged(path, " ".join(str(verdict).split()))


def check_ours(path: Path, connection: sqlite3.Connection) -> None:
    found = version(connection)
    if application(connection) != APPLICATION_ID and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise DatabaseDamaged(f"{path} is another program's database. Nothing was changed. Name another directory.")
    if found > len(MIGRATIONS):
        raise SchemaTooNew(
            f"The database {path} was written by a newer version (schema {found}, this one knows up to "
            f"{len(MIGRATIONS)}). Nothing was changed. Use that version, or another state directory."
        )
