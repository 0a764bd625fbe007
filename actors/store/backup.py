"""A copy of the database as it is at one moment, made while it is being written to, by this process or another.

The copy is complete or not there: it is made under a temporary name beside its target, synced, and only then renamed. It is what
the writer had committed when the copying began, so a prefix of every log. VACUUM INTO and not sqlite3's `backup`: it is
one reading transaction, it leaves out free pages, and it can be given up.
"""

import os
import sqlite3
import tempfile
from pathlib import Path

from actors.store.connection import connect, in_words
from actors.store.errors import Refused, StoreError

STEPS_BETWEEN_LOOKS = 1_000_000
"""Of SQLite's machine: some 20 ms, after which it asks whether the copy is still wanted."""


class Backup:
    """`run` in a thread; `give_up` from any."""

    def __init__(self, source: Path, target: Path) -> None:
        self._source = source
        self._target = target
        self._unwanted = False

    def give_up(self) -> None:
        self._unwanted = True

    def run(self) -> int:
        """Bytes of the copy. Raises a StoreError."""
        if not self._source.exists():
            raise Refused(f"There is no database {self._source} to back up.")
        if self._target.exists():
            raise Refused(f"{self._target} exists already. Name a new file, or move that one away.")
        try:
            return self._draft_and_rename()
        except sqlite3.Error as error:
            if self._unwanted:
                raise StoreError(f"The backup {self._target} was given up.") from error
            raise in_words(error) from error
        except OSError as error:
            raise StoreError(f"The backup {self._target} cannot be written: {error.strerror}.") from error

    def _draft_and_rename(self) -> int:
        descriptor, name = tempfile.mkstemp(prefix=f"{self._target.name}.", suffix=".part", dir=self._target.parent)
        draft = Path(name)
        try:
            self._copy(draft)
            os.fsync(descriptor)
            size = os.fstat(descriptor).st_size
            draft.rename(self._target)
        finally:
            os.close(descriptor)
            draft.unlink(missing_ok=True)
        _sync_directory(self._target.parent)
        return size

    def _copy(self, draft: Path) -> None:
        connection = connect(self._source, readonly=True)
        try:
            connection.set_progress_handler(lambda: self._unwanted, STEPS_BETWEEN_LOOKS)
            connection.execute("VACUUM INTO ?", (str(draft),))
        finally:
            connection.close()


def _sync_directory(path: Path) -> None:
    """Make the names in it durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
