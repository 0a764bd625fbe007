"""The file of an index: how it is opened, who may write to it, and what happens when it is damaged.

Rules
  - Workers write, one at a time. The writer holds a lock (flock) on a file beside the index, and the others wait for
    the lock without looking again and again. The server only asks.
  - A scan finds again what was lost. So nothing is synced but the log before it is copied into the file
    (synchronous=NORMAL): a power cut may undo the last commits, and damages nothing.
  - While several read and write, the log is never begun anew, and grows. So when all is written it is copied and
    emptied (`settle`), unless somebody reads in it just then. Nobody waits for that.
  - An index never fills its disk, on which the server keeps what it has acknowledged: it writes nothing while less is
    free than `room_for_others` says, and what its log would take once more.
  - Damage is noticed when SQLite stumbles over it, and by the application's and the version's number when the file is
    opened. Then the file is put aside under another name (only the last one is kept), another one is made, and the
    caller is told.
  - SQLite removes a log when nobody has its index open any more. If somebody else does so before, each process writes
    what no other sees. So whoever has an index open looks whether its log is still the same; if not, that is damage.
  - SQLite maps the index of its log (the -shm file) into memory. A process that touches a part of it that somebody has
    cut off is ended by SIGBUS. A worker may end; the server may not. So the server looks before it opens an index, asks
    it or closes it (all touch that memory, which the connections of a process share), and gives a file that is shorter
    than it was its length again. The zeros in it then tell SQLite to make it anew from the log.
  - The file may be put aside by somebody else at any moment. So a process that takes the lock, or asks, looks first
    whether the file of that name is still the one that it has opened.
"""

import fcntl
import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import ClassVar
from weakref import WeakValueDictionary

from transports.agent.index.schema import APPLICATION, TABLES, VERSION, make_tables

FILE_MODE, FOLDER_MODE = 0o600, 0o700
CACHE_KIB = 16 << 10
LOG_PAGES = 8_000
"""After so many the log is copied into the file."""
LONG_LOG = 4 << 20
"""Bytes. A shorter log is let be."""
LEAST_ROOM, MOST_ROOM = 8 << 20, 64 << 20
"""Bytes. In between, it is a tenth of the disk."""
MAPPED_AT_ONCE, LOG_OF_ONE = 32 << 10, 4_000 * 4_096
"""Bytes of a -shm file that are mapped together, and of the log that they tell of."""
BUSY_SECONDS = 20.0
ASIDE = ".damaged"
BESIDE = ("-wal", "-shm", "-journal")
DAMAGED_NOTICE = "The index was damaged. It is made anew."
OTHER_VERSION_NOTICE = "The index was made by another version of Troupe. It is made anew."

_DAMAGE = {
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH,
}  # fmt: skip
"""SQLITE_ERROR: a table is not there, or is another. No constraint can be broken by what is written. Of the
troubles with a disk one is damage: what was to be read is not in the file any more, as after its log was deleted."""
_REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk is full, or fails",
    sqlite3.SQLITE_READONLY: "it may not be written to",
    sqlite3.SQLITE_PERM: "it may not be written to",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_BUSY: "another program holds it",
    sqlite3.SQLITE_LOCKED: "another program holds it",
    sqlite3.SQLITE_NOMEM: "there is no memory for it",
    sqlite3.SQLITE_TOOBIG: "something in it is too large",
}


class IndexUnusable(Exception):
    """The text is a sentence."""


class IndexDamaged(Exception):
    """The file with this number is no index."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def index_trouble(error: Exception) -> str:
    """Why there is no use of an index, as a sentence."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return f"The index cannot be used: {_REASONS.get(code, str(error))}."
    if isinstance(error, OSError):
        return f"The index cannot be used: {(error.strerror or 'the disk fails').lower()}."
    return str(error)


def is_damage(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # Python's own: a text that is none, a value of another type
        return not isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError)
    if code & 0xFF == sqlite3.SQLITE_ERROR and "interrupted" in str(error):
        return False
    return code & 0xFF in _DAMAGE or code == sqlite3.SQLITE_IOERR_SHORT_READ


class WritableIndex:
    """For one worker. `changing` is the only way to write."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock_path = path.with_name(f"{path.stem}.lock")
        self._log_path = log_of(path)
        self._connection: sqlite3.Connection | None = None
        self._number = -1
        self._log_number: int | None = None
        """As long as there is a connection, SQLite leaves its log where it is."""
        self._lock = -1

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, under the lock. Raises IndexDamaged when the file has been put aside, IndexUnusable,
        sqlite3.Error or OSError."""
        with self._locked():
            self._leave_room()
            connection = self._opened()
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                self._roll_back(connection)
                if is_damage(error):
                    number = self._number
                    self._put_aside(number)
                    raise IndexDamaged(number) from error
                raise
            except BaseException:
                self._roll_back(connection)
                raise

    @contextmanager
    def looking(self) -> Iterator[sqlite3.Connection]:
        """To read, as it was with the last commit. Raises as `changing` does."""
        with self._locked():
            connection = self._opened()
        try:
            yield connection
        except sqlite3.Error as error:
            if is_damage(error):
                number = self._number
                self.put_aside(number)
                raise IndexDamaged(number) from error
            raise

    def settle(self) -> None:
        """Empties a long log. Raises as `changing` does."""
        with self.looking() as connection:
            if _size(self._log_path) < LONG_LOG:
                return
            connection.execute("PRAGMA busy_timeout = 0")
            try:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1_000:.0f}")

    def put_aside(self, number: int) -> None:
        """If the file of the index still has this number."""
        with self._locked():
            self._put_aside(number)

    def remove(self, unused_since: float) -> bool:
        """Whether nobody has used it since then, by the wall's clock, and it is no longer there."""
        with self._locked():
            if used_at(self._path) > unused_since:
                return False
            self.close()
            for path in (self._path, *_beside(self._path), self._path.with_name(self._path.name + ASIDE)):
                path.unlink(missing_ok=True)
            self._lock_path.unlink(missing_ok=True)
        return True

    def close(self) -> None:
        connection, self._connection, self._number = self._connection, None, -1
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    # -- the lock

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        while True:
            lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                if os.fstat(lock).st_ino == os.stat(self._lock_path).st_ino:
                    break
            except FileNotFoundError:  # the index was deleted while we waited
                pass
            os.close(lock)
        try:
            yield
        finally:
            os.close(lock)

    # -- the file, under the lock

    def _leave_room(self) -> None:
        disk = os.statvfs(self._path.parent)
        room = room_for_others(disk.f_blocks * disk.f_frsize)
        if disk.f_blocks and disk.f_bavail * disk.f_frsize < room + _size(self._log_path):
            raise IndexUnusable(
                f"The index waits for room: less than {room >> 20} MB would be free on the disk of {self._path.parent}."
            )

    def _opened(self) -> sqlite3.Connection:
        number = number_of(self._path)
        if self._connection is not None and number == self._number:
            if number_of(self._log_path) == self._log_number:
                return self._connection
            self._put_aside(number)
            raise IndexDamaged(number)
        self.close()
        if number is not None and not stat.S_ISREG(os.lstat(self._path).st_mode):
            self._put_aside(number)
            raise IndexDamaged(number)
        if number is None:
            self._clear_beside()
        try:
            self._connection = self._ready(sqlite3.connect(self._path, isolation_level=None, timeout=BUSY_SECONDS))
        except sqlite3.Error as error:
            if number is None or not is_damage(error):
                raise
            self._put_aside(number)
            raise IndexDamaged(number) from error
        found = number_of(self._path)
        assert found is not None
        self._number, self._log_number = found, number_of(self._log_path)
        return self._connection

    def _ready(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        try:
            ours = _is_ours(connection)
            if ours is False:
                raise sqlite3.DatabaseError("an index of another version")
            if ours is None:
                connection.execute("PRAGMA journal_mode = WAL")
                make_tables(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _put_aside(self, number: int) -> None:
        """A sentence in the new file says that this was done. An index of another version is not kept."""
        self.close()
        if number_of(self._path) != number:
            return
        notice = OTHER_VERSION_NOTICE if _is_of_another_version(self._path) else DAMAGED_NOTICE
        aside = self._path.with_name(self._path.name + ASIDE)
        _clear(aside)
        if notice is DAMAGED_NOTICE:
            self._path.rename(aside)
        else:
            self._path.unlink()
        self._clear_beside()
        connection = self._ready(sqlite3.connect(self._path, isolation_level=None, timeout=BUSY_SECONDS))
        with connection:
            connection.execute("UPDATE meta SET value = ? WHERE key = 'notice'", (notice,))
        connection.close()

    def _clear_beside(self) -> None:
        for path in _beside(self._path):
            path.unlink(missing_ok=True)

    @staticmethod
    def _roll_back(connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")


class ReadableIndex:
    """For the server: one connection, which one thread uses at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log_path = log_of(path)
        self._connection: sqlite3.Connection | None = None
        self._number = -1
        self._log_number: int | None = None
        self._log_index: _LogIndex | None = None
        """As long as there is a connection."""

    def connection(self) -> sqlite3.Connection | None:
        """None: there is no index. Raises IndexDamaged, sqlite3.Error, or OSError."""
        number = number_of(self._path)
        if self._connection is not None and self._log_index is not None and number == self._number:
            if number_of(self._log_path) != self._log_number:
                raise IndexDamaged(number)
            self._log_index.make_whole()
            return self._connection
        self.close()
        if number is None:
            return None
        if not stat.S_ISREG(os.lstat(self._path).st_mode):
            raise IndexDamaged(number)
        log_index = _LogIndex.of(self._path)
        log_index.before_opening()
        connection = sqlite3.connect(
            f"file:{_quoted(self._path)}?mode=rw", uri=True, isolation_level=None, timeout=1.0, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA query_only = ON")
            ours = _is_ours(connection)
            if ours is None:  # a worker is making it
                connection.close()
                return None
            if not ours:
                raise IndexDamaged(number)
            os.utime(self._path)  # who looks for unused ones sees that this one was asked
        except sqlite3.Error as error:
            connection.close()
            if is_damage(error):
                raise IndexDamaged(number) from error
            raise
        except BaseException:
            connection.close()
            raise
        self._connection, self._number, self._log_index = connection, number, log_index
        self._log_number = number_of(self._log_path)
        log_index.opened()
        return connection

    def damaged(self) -> IndexDamaged:
        return IndexDamaged(self._number)

    def close(self) -> None:
        connection, self._connection, self._number = self._connection, None, -1
        log_index, self._log_index = self._log_index, None
        if connection is not None and log_index is not None:
            with suppress(OSError):
                log_index.before_closing()
            connection.close()

    def __del__(self) -> None:
        self.close()


class _LogIndex:
    """The -shm file of one index, of which all connections of this process have one mapping."""

    _lock: ClassVar = threading.RLock()  # a ReadableIndex may be collected while its own thread is in here
    _known: ClassVar[WeakValueDictionary[Path, "_LogIndex"]] = WeakValueDictionary()

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}-shm")
        self._log = log_of(path)
        self._number, self._length = -1, 0
        self._connections = 0

    @classmethod
    def of(cls, path: Path) -> "_LogIndex":
        with cls._lock:
            known = cls._known.get(path)
            if known is None:
                known = cls._known[path] = cls(path)
            return known

    def before_opening(self) -> None:
        """What was left behind by others, who may have been killed, has no length to keep: nobody has mapped it, and
        SQLite begins it anew, maybe shorter."""
        with self._lock:
            if self._connections:
                self.make_whole()

    def opened(self) -> None:
        with self._lock:
            self._connections += 1
            self.make_whole()

    def before_closing(self) -> None:
        with self._lock:
            try:
                self.make_whole()
            finally:
                self._connections -= 1
                if not self._connections:
                    self._number, self._length = -1, 0

    def make_whole(self) -> None:
        """By its name: to close a file that was opened twice would drop SQLite's locks on it."""
        with self._lock:
            try:
                status = os.lstat(self._path)
            except FileNotFoundError:
                return
            if status.st_ino == self._number and status.st_size < self._length:
                if status.st_size:  # what is left of it would count
                    os.truncate(self._path, 0)
                regions = _size(self._log) // LOG_OF_ONE + 2
                os.truncate(self._path, max(self._length, MAPPED_AT_ONCE * regions))
            else:
                self._number, self._length = status.st_ino, status.st_size


def room_for_others(disk: int) -> int:
    """On a disk of this size. All are bytes."""
    return min(MOST_ROOM, max(LEAST_ROOM, disk // 10))


def number_of(path: Path) -> int | None:
    try:
        return os.lstat(path).st_ino
    except FileNotFoundError:
        return None


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def used_at(path: Path) -> float:
    """When it was last written to, or opened to be asked."""
    times = []
    for each in (path, *_beside(path)):
        with suppress(FileNotFoundError):
            times.append(os.lstat(each).st_mtime)
    return max(times, default=0.0)


def _is_ours(connection: sqlite3.Connection) -> bool | None:
    """None: there is nothing in it yet."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return None
    return (application, version) == (APPLICATION, VERSION) and tables >= TABLES


def _is_of_another_version(path: Path) -> bool:
    if not stat.S_ISREG(os.lstat(path).st_mode):  # even to open a pipe may take for ever
        return False
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True)) as connection:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        return bool(application == APPLICATION and version != VERSION)
    return False


def _size(path: Path) -> int:
    try:
        return os.lstat(path).st_size
    except FileNotFoundError:
        return 0


def _beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + end) for end in BESIDE]


def _clear(path: Path) -> None:
    """Whatever it is; a folder with something in it stays, under a name of its own."""
    try:
        path.unlink()
    except FileNotFoundError:
        return
    except OSError:
        for number in range(100):
            with suppress(OSError):
                path.rename(path.with_name(f"{path.name}-{number}"))
                return
        raise


def _quoted(path: Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
