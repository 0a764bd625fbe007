"""The state directory: where everything that outlives the process is kept, owned by one process at a time.

It is claimed once, before the tree starts, so that everything that can be wrong with it is said in one sentence and
nothing has been started yet. The claim is a lock on a file (flock), which the operating system drops with the
process however it dies; the number in the file is only for the sentence.
"""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actors.store.connection import inspect
from actors.store.database import Database
from actors.store.errors import StateInUse, StateUnusable

LAST_COMMIT_SECONDS = 0.5
"""How long the end of a claim waits for a writing thread that was left behind by a kill: the tree has had most of the
10 s in which a server ends, and a thread that is still there then has a disk that hangs."""


class StateDirectory:
    """A claimed directory. Made by `claim` only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = path / "troupe.db"
        self.writing = threading.Lock()
        """Held by the thread that has the database open for writing: the next one waits for its end."""

    @classmethod
    @contextmanager
    def claim(cls, path: Path) -> Iterator["StateDirectory"]:
        """Create it if need be, own it, and see that its database is sound and can be opened for writing. Raises a
        StateError in words."""
        path = path.absolute()
        lock = _lock(path)
        directory = cls(path)
        try:
            inspect(directory.database)
            Database(directory.database).close()
            yield directory
        finally:
            if directory.writing.acquire(timeout=LAST_COMMIT_SECONDS):
                os.close(lock)  # if it still writes, the lock goes with the process, which is about to end


def _lock(path: Path) -> int:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path / "troupe.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    except BlockingIOError as error:
        owner = os.pread(lock, 20, 0).decode(errors="replace").strip()
        os.close(lock)
        raise StateInUse(
            f"The state directory {path} is in use by another instance (process {owner or 'unknown'}). "
            "Stop that one, or give this one a state directory of its own."
        ) from error
    except OSError as error:
        os.close(lock)
        raise _unusable(path, error) from error
    return lock


def _unusable(path: Path, error: OSError) -> StateUnusable:
    reason = "there is a file of that name" if isinstance(error, FileExistsError) else error.strerror
    return StateUnusable(f"The state directory {path} cannot be used: {reason}. Set that right, or name another one.")
