"""state/: one server and one client for each folder.

state/server.lock, state/client.lock    ours: a lock of the kernel's, which it releases when the process ends
state/ws.*.lock                         of the editor's own extension: its process id, written anew every 15 seconds

Rules
  - While an end of ours serves, its lock is touched every few seconds. So the next one knows when the last one lived.
  - Two servers that are to have both ends never share them: each would be half down for good. Whoever gets one end gets
    the other too, and keeps it while that end of his has crashed. So a lock says which ends its holder is to have, and
    nobody takes an end that the holder of the other one is to have.
  - The last word in a lock is the dialect. It holds after the process has ended, too, for scripts that submit while
    nobody is there (troupe/ipc/attendance.py).
"""

import fcntl
import os
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from codec.ipc import Dialect
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
ENDS = (SERVER, CLIENT)
"""In the order in which they are taken. Of two that take both at once, one gets neither."""
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


class _Holder(NamedTuple):
    """Of a lock of ours: its process, and the ends that are to be its together."""

    pid: int | None
    ends: tuple[str, ...]
    dialect: str = ""

    @property
    def name(self) -> str:
        return "another process" if self.pid is None else f"process {self.pid}"

    @property
    def line(self) -> bytes:
        return " ".join([str(self.pid), *self.ends, self.dialect]).encode() + b"\n"

    @classmethod
    def of(cls, content: bytes) -> "_Holder":
        pid, words = _PID.match(content), content.partition(b"\n")[0].decode("ascii", "replace").split()
        return cls(int(pid[0]) if pid else None, tuple(end for end in ENDS if end in words[1:]))


class ForeignLock(NamedTuple):
    pid: int | None
    written_ns: int
    """By the disk's clock."""
    since: float
    """When that was seen first, or how long ago it seemed to be then, by a clock that nobody sets: between two looks
    the clock on the wall may be set forward, and nobody has died of it."""


class Claims:
    def __init__(
        self,
        path: Path,
        now: Callable[[], float] = time.monotonic,
        ends: Collection[str] = frozenset(),
        dialect: Dialect = Dialect.SPEC,
    ) -> None:
        """`now`: a clock that nobody sets. `ends`: that are to be ours together."""
        self._path = path
        self._ends = tuple(end for end in ENDS if end in ends)
        self._dialect = dialect
        self._now = now
        self._foreign_locks: dict[str, ForeignLock] = {}
        self._held: dict[str, int] = {}
        self._missed: set[str] = set()
        """Ends that we held in a folder that is gone. Whoever serves with them believes that we have them still."""
        self._lived: dict[str, float] = {}
        self._made_at = time.time()
        self._lock = threading.Lock()

    def claim(self, state: int, end: str) -> str | None:
        """None: it is ours from now on. Else a sentence for users."""
        with self._lock:
            if end in self._held or end in self._missed:
                return None
            together = self._ends if end in self._ends else (end,)
            wanted = [each for each in together if each not in self._held]
            foreign = self._foreign(state) if SERVER in wanted else None
            if foreign is not None:
                wanted.remove(SERVER)
            whys = {each: self._take(state, each) for each in wanted}
            if foreign is not None and end == SERVER:
                return (
                    f"the editor's extension (process {foreign}) answers the requests in {self._path}; "
                    "our server end stays down until that has ended"
                )
            return whys[end]

    def release(self, end: str) -> None:
        """In the loop. If a thread has the claims in hand, whose disk hangs, this one ends with the process."""
        with soon(self._lock) as is_ours:
            if not is_ours:
                return
            self._missed.discard(end)
            if (file := self._held.pop(end, None)) is not None:
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
            for file in self._held.values():
                os.close(file)
            self._missed.update(self._held)
            self._held.clear()
            whys = [self._take(state, end) for end in ENDS if end in self._missed]
            return next((why for why in whys if why is not None), None)

    def close(self) -> None:
        for end in ENDS:
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
        if (owner := self._owner(state, end)) is not None:
            holder = _holder(state, end)
            return self._is_held_by(owner if holder is None else holder, end)
        file = os.open(f"{end}.lock", _OPEN, 0o600, dir_fd=state)
        try:
            check_own_file(file, f"{end}.lock")
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _Holder.of(os.read(file, _SHORT))
            os.close(file)
            return self._is_held_by(holder, end)
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
            os.pwrite(file, _Holder(os.getpid(), self._ends, self._dialect.value).line, 0)
        self._held[end] = file
        self._missed.discard(end)
        return None

    def _owner(self, state: int, end: str) -> _Holder | None:
        """Who lives, holds our other end, and is to have this one as well."""
        for other in self._ends:
            if other != end and end in self._ends and other not in self._held:
                holder = _holder(state, other)
                if holder is not None and end in holder.ends:
                    return holder
        return None

    def _is_held_by(self, holder: _Holder, end: str) -> str:
        if self._ends == holder.ends == ENDS:
            return (
                f"{holder.name} answers the requests in {self._path}, and sees to it that each ends; "
                "our ends stay down until that has ended"
            )
        return f"{holder.name} is the {end} of {self._path}; our {end} end stays down until that has ended"


def _holder(state: int, end: str) -> _Holder | None:
    """None: nobody holds it who lives. The lock itself is tried only if the process in it seems to live: to try it is
    to hold it for a moment, and whoever wants it then is refused."""
    try:
        file = os.open(f"{end}.lock", _READ, dir_fd=state)
    except OSError:
        return None
    try:
        holder = _Holder.of(os.read(file, _SHORT))
        if holder.pid is None or lives(holder.pid):
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return holder if holder.pid is not None else _Holder(None, ENDS)  # it is just being written
    except OSError:
        return None
    finally:
        os.close(file)
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
