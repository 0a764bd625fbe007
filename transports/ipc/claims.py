"""state/: one server and one client for each folder.

state/server.lock, state/client.lock    ours: a lock of the kernel's, which it releases when the process ends
state/ws.*.lock                         of the editor's own extension: its process id, written anew every 15 seconds

While an end of ours serves, its lock is touched every few seconds. So the next one knows when the last one lived.
"""

import fcntl
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from transports.folder.drafts import lives
from transports.folder.owned import check_own_file
from transports.ipc.processes import Census

SERVER, CLIENT = "server", "client"
CLOSING_SECONDS = 0.1
"""What is closed waits so long for a thread that has it in hand."""
FRESH_SECONDS = 60.0
"""A foreign server that has not written for so long has ended, and its process id may be another's by now."""
_FOREIGN = re.compile(r"ws\..*\.lock", re.DOTALL)
_PID = re.compile(rb"[1-9][0-9]{0,8}")
_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SHORT = 4096


@contextmanager
def soon(lock: threading.Lock) -> Iterator[bool]:
    """For what is closed in the loop. Whether we hold the lock: not if a thread has it whose disk hangs."""
    is_ours = lock.acquire(timeout=CLOSING_SECONDS)
    try:
        yield is_ours
    finally:
        if is_ours:
            lock.release()


class ForeignLock(NamedTuple):
    pid: int | None
    written_ns: int
    """By the disk's clock."""
    since: float
    """When that was seen first, or how long ago it seemed to be then, by a clock that nobody sets: between two looks
    the clock on the wall may be set forward, and nobody has died of it."""


class Claims:
    def __init__(self, path: Path, now: Callable[[], float] = time.monotonic) -> None:
        """`now`: a clock that nobody sets."""
        self._path = path
        self._now = now
        self._foreign_locks: dict[str, ForeignLock] = {}
        self._held: dict[str, int] = {}
        self._lived: dict[str, float] = {}
        self._made_at = time.time()
        self._lock = threading.Lock()

    def claim(self, state: int, end: str) -> str | None:
        """None: it is ours from now on. Else a sentence for users."""
        with self._lock:
            if end in self._held:
                return None
            if end == SERVER and (pid := self._foreign(state)) is not None:
                return (
                    f"the editor's extension (process {pid}) answers the requests in {self._path}; "
                    "our server end stays down until that has ended"
                )
            return self._take(state, end)

    def release(self, end: str) -> None:
        """In the loop. If a thread has the claims in hand, whose disk hangs, this one ends with the process."""
        with soon(self._lock) as is_ours:
            if is_ours and (file := self._held.pop(end, None)) is not None:
                os.close(file)

    def touch(self) -> None:
        """The ends that we hold live."""
        with self._lock:
            for file in self._held.values():
                with suppress(OSError):  # the disk is full, or gone: then it lived a little earlier
                    os.utime(file)

    def lived(self, end: str) -> float:
        """When the end that was there before ours was last known to live, by the disk's clock. If there was none: when
        ours began."""
        return self._lived.get(end, self._made_at)

    def renew(self, state: int) -> str | None:
        """Takes what we hold anew, in a folder that may be another one."""
        with self._lock:
            ends = list(self._held)
            for end in ends:
                os.close(self._held[end])
                self._held[end] = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)  # wanted, and not held
            whys = []
            for end in ends:
                wanted = self._held.pop(end)
                why = self._take(state, end)
                if why is None:
                    os.close(wanted)
                else:
                    self._held[end] = wanted
                    whys.append(why)
            return whys[0] if whys else None

    def close(self) -> None:
        for end in list(self._held):
            self.release(end)

    def _foreign(self, state: int) -> int | None:
        """The process id of another server that lives."""
        seen, before = {}, self._foreign_locks
        for name in os.listdir(state):
            if _FOREIGN.fullmatch(name):
                with suppress(OSError):
                    seen[name] = self._read(state, name, before.get(name))
        self._foreign_locks = seen
        for lock in seen.values():
            is_fresh = self._now() - lock.since < FRESH_SECONDS
            if is_fresh and lock.pid is not None and lock.pid != os.getpid() and lives(lock.pid):
                return lock.pid
        return None

    def _read(self, state: int, name: str, before: "ForeignLock | None") -> "ForeignLock":
        file = os.open(name, _READ, dir_fd=state)
        try:
            written, pid = os.fstat(file).st_mtime_ns, _PID.search(os.read(file, _SHORT))
        finally:
            os.close(file)
        if before is not None and written == before.written_ns:
            since = before.since
        elif before is not None and written > before.written_ns:
            since = self._now()
        else:  # all that is known of it is what the clock on the wall says, which may have been set back
            since = self._now() - max(0.0, time.time() - written / 1e9)
        return ForeignLock(int(pid[0]) if pid else None, written, since)

    def _take(self, state: int, end: str) -> str | None:
        file = os.open(f"{end}.lock", _OPEN, 0o600, dir_fd=state)
        try:
            check_own_file(file, f"{end}.lock")
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = _PID.match(os.read(file, _SHORT))
            os.close(file)
            who = f"process {int(pid[0])}" if pid else "another process"
            return f"{who} is the {end} of {self._path}; our {end} end stays down until that has ended"
        except BaseException:
            os.close(file)
            raise
        before = os.fstat(file)
        if before.st_size:
            ahead = before.st_mtime - time.time()
            self._lived[end] = before.st_mtime - 2 * max(0.0, ahead)  # the clock was set back, by so much or more
        else:
            self._lived.pop(end, None)
        with suppress(OSError):  # the disk is full: the number is only for whoever reads it
            os.ftruncate(file, 0)
            os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        self._held[end] = file
        return None


def stopped_server(state: int, census: Census) -> int | None:
    """The process that is the server, and is stopped. None: there is none, it runs, or the system does not tell."""
    try:
        file = os.open(f"{SERVER}.lock", _READ, dir_fd=state)
    except OSError:
        return None
    try:
        found, there = _PID.match(os.read(file, _SHORT)), os.fstat(file)
    except OSError:
        return None
    finally:
        os.close(file)
    pid = int(found[0]) if found else os.getpid()
    if pid == os.getpid() or not census.is_stopped(pid):
        return None
    return pid if census.has_open(pid, there) else None  # its number may be another's by now
