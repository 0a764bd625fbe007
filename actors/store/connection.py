"""Connections to the database file, what its failures are in words, and whether it is fit for use."""

import sqlite3
from pathlib import Path
from urllib.parse import quote

from actors.store.errors import DatabaseDamaged, SchemaTooNew, StateError, StateUnusable, StoreError, StoreFull
from actors.store.schema import APPLICATION_ID, MIGRATIONS, application, version

BUSY_SECONDS = 5.0
"""How long to wait for another program that holds the file locked (a backup, a shell)."""

DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def connect(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
    """In autocommit mode, and usable from any one thread at a time."""
    return sqlite3.connect(
        f"file:{quote(str(path))}?mode={'ro' if readonly else 'rwc'}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )


def size(path: Path) -> int:
    """Of a file that may not be there."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def primary_code(error: sqlite3.Error) -> int | None:
    """SQLite's result code without its extension; None if the error is the sqlite3 module's own."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def in_words(error: sqlite3.Error) -> StoreError:
    """Why an operation was not done."""
    match primary_code(error):
        case sqlite3.SQLITE_FULL:
            return StoreFull(
                "there is no space left on the disk: this was not kept, everything acknowledged before is; "
                "free some space and try again"
            )
        case sqlite3.SQLITE_IOERR:
            return StoreError(f"the disk failed ({error}): this was not kept; look at the disk and the system log")
        case code if code in DAMAGED:
            return StoreError(f"the database is damaged ({error}): this was not kept; put a backup in its place")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreError(f"another program holds the database locked ({error}): this was not kept; try again")
        case _:
            return StoreError(f"the database refused it ({error}): this was not kept")


def unusable(path: Path, error: sqlite3.Error) -> StateError:
    """Why the database cannot be opened."""
    match primary_code(error):
        case sqlite3.SQLITE_FULL:
            return StateUnusable(f"There is no space left for the database {path}. Free some and start again.")
        case code if code in DAMAGED:
            return damaged(path, str(error))
        case _:
            return StateUnusable(f"The database {path} cannot be opened: {error}. Look at its permissions and disk.")


def damaged(path: Path, detail: str) -> DatabaseDamaged:
    return DatabaseDamaged(
        f"The database {path} is damaged ({detail}). Nothing was changed or deleted. "
        f"Move {path.name}, {path.name}-wal and {path.name}-shm away to start empty, or put a backup in their place."
    )


def inspect(path: Path) -> None:
    """Raise a StateError if the file is not a sound database that this version can work with; change nothing.

    The connection only reads, because the last writing one to close would carry the log over into a damaged file.
    """
    if not size(path):
        return
    try:
        connection = connect(path, readonly=True)
        try:
            _inspect(path, connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise unusable(path, error) from error


def _inspect(path: Path, connection: sqlite3.Connection) -> None:
    check_ours(path, connection)
    pages = size(path) / connection.execute("PRAGMA page_size").fetchone()[0]
    if pages % 1 and not size(Path(f"{path}-wal")):  # beside a log, a checkpoint was cut short, and will be redone
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
