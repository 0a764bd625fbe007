"""A copy of the database as it is at one moment, made while it is being written to, by this process or another.

The copy is complete or not there: it is made under a temporary name beside its target, synced, and only then renamed. It is what
the writer had committed when the copying began, so a prefix of every log. VACUUM INTO and not sqlite3's `backup`: it is
one reading transaction, it leaves out free pages, and it can be interrupted.
"""

import os
import sqlite3
from pathlib import Path

from actors.store.connection import connect, in_words
from actors.store.errors import Refused, StoreError, StoreFull


class Backup:
    """`run` in a thread; `interrupt` from any."""

    def __init__(self, source: Path, target: Path) -> None:
        if not source.exists():
            raise Refused(f"There is no database {source} to back up.")
        if target.exists():
            raise Refused(f"{target} exists already. Name a new file, or move that one away.")
        self._target = target
        self._draft = target.with_name(f"{target.name}.part-{os.getpid()}")
        self._connection = connect(source, readonly=True)

    def run(self) -> int:
        """Bytes of the copy."""
        try:
            return self._run()
        except sqlite3.Error as error:
            raise in_words(error) from error
        except FileExistsError as error:
            raise Refused(f"{self._target} exists already. Name a new file, or move that one away.") from error
        except OSError as error:
            raise StoreError(f"The backup {self._target} cannot be written: {error.strerror}.") from error
        finally:
            self._connection.close()
            self._draft.unlink(missing_ok=True)

    def _run(self) -> int:
        os.close(os.open(self._draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        self._connection.execute("VACUUM INTO ?", (str(self._draft),))
        descriptor = os.open(self._draft, os.O_RDWR | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        os.link(self._draft, self._target)  # unlike a rename, it never replaces a file that came meanwhile
        sync_directory(self._target.parent)
        return size

    def interrupt(self) -> None:
        self._connection.interrupt()


def sync_directory(path: Path) -> None:
    """Make the names in it durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
