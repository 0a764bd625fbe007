"""The state directory holds everything that outlives the process. One process at a time owns it.

It is claimed once, before the tree starts. So any problem with it is reported in one sentence before anything has been
started. The claim is a lock on a file (flock), which the operating system drops whenever the process ends. The process
number in the file is only for that sentence.

No other account may write to it. Otherwise that account could put a link in place of a file, and we would write to the
link's target, or take a foreign log for ours.

    the directory      is refused if it belongs to another account, or its group or others may write to it (as in /tmp)
    a folder above it  is refused if everybody may rename its entries, which a sticky folder such as /tmp forbids
    a file in it       is refused if it is a link: its target may be anybody's, and its log would be beside the target.
                       So is anything else that is no file: whoever opens a pipe waits for its other end
"""

import fcntl
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actors.store.connection import inspect, size
from actors.store.database import Database
from actors.store.errors import StateInUse, StateUnusable
from actors.store.mark import check_log

LOCK = "troupe.lock"
DATABASE = "troupe.db"
OURS = (LOCK, DATABASE, *(f"{DATABASE}-{tail}" for tail in ("wal", "shm", "journal", "mark")))

LAST_COMMIT_SECONDS = 0.5
"""Seconds for which the end of a claim waits for a writing thread that a kill has left behind. The tree has used most
of the 10 s in which a server ends, and a thread that is still there then must have a disk that hangs."""


class StateDirectory:
    """A claimed directory. Only `claim` makes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = path / DATABASE
        self.writing = threading.Lock()
        """The thread that has the database open for writing holds this, and the next one waits for it."""

    @classmethod
    @contextmanager
    def claim(cls, path: Path) -> Iterator["StateDirectory"]:
        """Creates the directory if necessary, claims it, and checks that its database is sound and can be opened for
        writing. Raises a StateError with a text for the user."""
        path = path.absolute()
        lock = _lock(path)
        directory = cls(path)
        try:
            if size(directory.database):
                check_log(directory.database)
            inspect(directory.database)
            Database(directory.database).close()
            yield directory
        finally:
            if directory.writing.acquire(timeout=LAST_COMMIT_SECONDS):
                os.close(lock)  # if a thread still writes, the lock stays until the process ends, which is soon


def _lock(path: Path) -> int:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_shared(path)
        _refuse_what_is_no_file(path)
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
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


def _refuse_shared(path: Path) -> None:
    """Refuses a directory to which other accounts may write."""
    path = path.resolve()
    there = path.stat()
    if there.st_uid != os.geteuid():
        raise StateUnusable(
            f"The state directory {path} belongs to another account (uid {there.st_uid}; this is uid {os.geteuid()}). "
            "Make it your own, or name another one."
        )
    if there.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise StateUnusable(
            f"The state directory {path} can be written to by other accounts (mode {stat.S_IMODE(there.st_mode):04o}). "
            f"Take that from them (chmod go-w {path}), or name another one."
        )
    for above in path.parents:
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise StateUnusable(
                f"The state directory {path} can be replaced by every account, for {above} is everybody's (mode "
                f"{stat.S_IMODE(mode):04o}). Take that from them (chmod o-w {above}), or name another directory."
            )


def _refuse_what_is_no_file(path: Path) -> None:
    for name in OURS:
        file = path / name
        try:
            mode = file.lstat().st_mode
        except FileNotFoundError:
            continue
        if stat.S_ISLNK(mode):
            raise StateUnusable(
                f"{file} is a link, and a server writes only to files of its own. Nothing was changed. Put the file "
                "itself in its place, or name the directory that it is in as the state directory."
            )
        if not stat.S_ISREG(mode):
            is_what = "a folder" if stat.S_ISDIR(mode) else "a device, a pipe or a socket"
            raise StateUnusable(
                f"{file} is {is_what}, where a server keeps a file. Nothing was changed. Move it away, and put the "
                "file in its place if there was one; or name another state directory."
            )


def _unusable(path: Path, error: OSError) -> StateUnusable:
    reason = "there is a file of that name" if isinstance(error, FileExistsError) else error.strerror
    return StateUnusable(f"The state directory {path} cannot be used: {reason}. Fix that, or name another one.")
