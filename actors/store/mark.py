"""A mark records how far the log had come, so that a log that is missing, cut or another database's is noticed at the
start.

SQLite accepts any log that it finds. After `kill -9`, only the log holds the commits since the last checkpoint. If the
log has disappeared since, or lost its end, SQLite silently opens the database in its older state. If it is another
database's log, its pages are mixed into ours. So a small file beside the database records the state of the log at the
last acknowledged commit: its salts (which SQLite draws for each log), its number of frames, and the checksum of the
last one, which covers all frames before it.

    the mark is   the log is                                                      at the start
    absent        of an older version, or its state is unknown                    accepted
    OPENING       about to begin; nothing has been acknowledged since CLOSED      accepted
    OPEN          there, and reaches the mark's frame with the mark's checksum    accepted
                  there, restarted since (the first salt counts how often)        accepted
                  absent or empty; too short, or broken before that frame;
                  of other salts                                                  reported
    CLOSED        absent, or the mark's: the database holds all of it             accepted
                  another database's                                              reported

This holds for the database for which the mark was made: one that keeps a log (a copy made by `troupe backup` does not
yet) and is not older (each opening increases a number in its header). Otherwise another database has been put in its
place. Then we only notice whether a log that was left there belongs to the earlier one.

The mark is written after each commit and before its answer, but not synced, because `kill -9` undoes no completed
write. A power cut may; then the mark is older than the log, but never newer, because a commit syncs the log. A soft
commit does not, so its mark is not written, unless the log has begun anew with it: then the mark says only that, of no
frame, for SQLite syncs the head of a log before the first commit in it. So after a restart of the machine the log may
have restarted many times since the mark; otherwise only once, between a commit and its mark.

A mark costs 5 µs a commit: a look at the headers of a few frames, and a write of 53 bytes. The headers are read from
the log itself. SQLite's index of the log (the -shm file) has these numbers ready, but SQLite holds locks on that file,
and closing a file drops all locks that the process has on it.
"""

import logging
import os
import sqlite3
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from actors.store.connection import log_of
from actors.store.errors import DatabaseDamaged

logger = logging.getLogger("troupe.store")

LOG_HEAD = 32
FRAME_HEAD = 24
LOG_MAGIC = {0x377F0682: "<", 0x377F0683: ">"}
"""The magic numbers of a log, and the byte order of its checksums."""
ANEW_AFTER_A_POWER_CUT = 4096
"""How often a log may restart within the half minute until the system has written a mark to the disk."""

_RECORD = struct.Struct(">8sBI8sI8s16s")  # what it is, state, counter, salts, frames, checksum, boot; then a checksum
_MAGIC = b"TrouMrk1"
_CRC = struct.Struct(">I")
_NOTHING = bytes(4)
_FRAME = struct.Struct(">II8s8s")  # page, size of the database after a commit or 0, salts, checksum


class MarkState(IntEnum):
    CLOSED = 0
    OPENING = 1
    OPEN = 2


class Mark(NamedTuple):
    state: MarkState
    counter: int
    """The counter in the header of the database is at least this."""
    salts: bytes = bytes(8)
    frames: int = 0
    checksum: bytes = bytes(8)
    boot: bytes = bytes(16)
    """Identifies the boot of the machine in which it was made; zeros if that is unknown."""

    def packed(self) -> bytes:
        record = _RECORD.pack(_MAGIC, *self)
        return record + _CRC.pack(zlib.crc32(record))


def mark_of(path: Path) -> Path:
    return Path(f"{path}-mark")


def read_mark(path: Path) -> Mark | None:
    """The mark of the database at `path`; None if there is no complete one."""
    try:
        data = mark_of(path).read_bytes()[: _RECORD.size + _CRC.size]
    except OSError:
        return None
    record, crc = data[: _RECORD.size], data[_RECORD.size :]
    if len(crc) != _CRC.size or _CRC.unpack(crc)[0] != zlib.crc32(record) or not record.startswith(_MAGIC):
        return None  # the last byte of what begins it is its version
    _, state, *rest = _RECORD.unpack(record)
    return Mark(MarkState(state), *rest)


# -- at the start


def check_log(path: Path) -> None:
    """Raises DatabaseDamaged, with a text for the user, if this database needs another log. Changes nothing."""
    wrong = what_is_wrong(path)
    if wrong is None:
        return
    log, mark = log_of(path), mark_of(path)
    last = time.strftime("%Y-%m-%d %H:%M", time.localtime(mark.stat().st_mtime))
    raise DatabaseDamaged(
        f"The log of the database {path} {wrong}: the last changes, up to {last}, may be lost with it. Nothing was "
        f"changed. Put the right {log.name} back; or, to go on without it, move {log.name} and {mark.name} away."
    )


def what_is_wrong(path: Path) -> str | None:
    """The fault of the log of the database at `path`, in words that follow "its log"; or None. Changes nothing."""
    mark = read_mark(path)
    if mark is None or mark.state is MarkState.OPENING:
        return None
    with _Reading(log_of(path)) as log:
        salts = log.salts
        ours = _is_the_marks(path, mark)
        if salts is None:
            if not ours or mark.state is not MarkState.OPEN:
                return None
            return "is missing" if log.descriptor is None else "is missing, for its file holds something else"
        own = salts == mark.salts
        since = _goes_on(mark, salts)
        if not ours:
            return "belongs to another database, that was here before" if since else None
        if mark.state is MarkState.CLOSED:
            return None if own else "belongs to another database"
        if not since:
            return "belongs to another database, or to another time"
        return "is cut short or damaged" if own and not log.reaches(mark) else None


def _is_the_marks(path: Path, mark: Mark) -> bool:
    head = _head(path)
    return head is not None and head[0] and head[1] >= mark.counter


def _head(path: Path) -> tuple[bool, int] | None:
    """For a database that is not open: whether it keeps a log, and the counter."""
    try:
        with open(path, "rb") as file:
            data = file.read(100)
    except OSError:
        return None
    return (data[18:20] == b"\2\2", int.from_bytes(data[24:28], "big")) if len(data) == 100 else None


def _goes_on(mark: Mark, salts: bytes) -> bool:
    """Whether this is the mark's log, possibly restarted since."""
    if salts == mark.salts:
        return True
    times = (int.from_bytes(salts[:4], "big") - int.from_bytes(mark.salts[:4], "big")) & 0xFFFFFFFF
    same_boot = mark.boot == _boot() != bytes(16)
    return 1 <= times <= (1 if same_boot else ANEW_AFTER_A_POWER_CUT)


@cache
def _boot() -> bytes:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return bytes.fromhex(file.read().strip().replace("-", ""))
    except (OSError, ValueError):
        return bytes(16)


# -- the log


class LogFile:
    """The log as it stands in its file. No lock is held on it, so it may be opened and closed beside SQLite."""

    def __init__(self, descriptor: int | None) -> None:
        self.descriptor = descriptor
        head = self.read(LOG_HEAD, 0)
        whole = len(head) == LOG_HEAD and int.from_bytes(head[:4], "big") in LOG_MAGIC
        self.page_size = int.from_bytes(head[8:12], "big") if whole else 0
        self.frame_size = FRAME_HEAD + self.page_size
        self._head = head

    def read(self, size: int, at: int) -> bytes:
        return b"" if self.descriptor is None else os.pread(self.descriptor, size, at)

    @property
    def salts(self) -> bytes | None:
        """None: there is no log."""
        return self._head[16:24] if self.page_size else None

    def frame(self, number: int) -> tuple[int, bytes, bytes] | None:
        """The frame `number`, counted from 1: the size that it commits (0: no commit), the salts, the checksum."""
        data = self.read(FRAME_HEAD, LOG_HEAD + (number - 1) * self.frame_size)
        return _FRAME.unpack(data)[1:] if len(data) == FRAME_HEAD else None

    def commit_after(self, frames: int, salts: bytes) -> tuple[int, bytes] | None:
        """The last frame of the transaction that begins after `frames` frames, and its checksum; None if there is none.

        A transaction commits with its last frame, and no frame of this log follows it. So it is found by bisection,
        because a large transaction has many frames. A transaction that was rolled back may have left further frames.
        They commit nothing; then all frames are looked at.
        """

        def head(number: int) -> bytes:
            return self.read(FRAME_HEAD, LOG_HEAD + (number - 1) * self.frame_size)

        known, looked, unknown = frames, 1, 0
        while unknown != known + 1:
            number = (known + unknown) // 2 if unknown else frames + looked
            data = head(number)
            if data[8:16] != salts:
                unknown = number
            elif data[4:8] != _NOTHING:
                return number, data[16:24]
            else:
                known, looked = number, 2 * looked
        for number in range(frames + 1, known + 1):
            data = head(number)
            if data[4:8] != _NOTHING:
                return number, data[16:24]
        return None

    def counter(self, number: int) -> int:
        """The counter in the database's header according to frame `number`; 0 if the frame holds another page."""
        at = LOG_HEAD + (number - 1) * self.frame_size
        first = self.read(4, at) == b"\0\0\0\1"
        return int.from_bytes(self.read(4, at + FRAME_HEAD + 24), "big") if first else 0

    def reaches(self, mark: Mark) -> bool:
        """Whether every frame up to the mark's is intact."""
        if mark.frames == 0:
            return True
        found = self.frame(mark.frames)
        if found is None or found[1:] != (mark.salts, mark.checksum):
            return False
        order = LOG_MAGIC[int.from_bytes(self._head[:4], "big")]
        sums = _sum(order, self._head[:24], (0, 0))
        for number in range(1, mark.frames + 1):
            data = self.read(self.frame_size, LOG_HEAD + (number - 1) * self.frame_size)
            if len(data) < self.frame_size or data[8:16] != mark.salts:
                return False
            sums = _sum(order, data[FRAME_HEAD:], _sum(order, data[:8], sums))
            if data[16:24] != struct.pack(">II", *sums):
                return False
        return True


def _sum(order: str, data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    """SQLite's checksum of a log. It takes 60 µs a page, but only a start after a kill needs it."""
    one, other = sums
    for first, second in struct.iter_unpack(f"{order}II", data):
        one = (one + first + other) & 0xFFFFFFFF
        other = (other + second + one) & 0xFFFFFFFF
    return one, other


class _Reading:
    """A block in which the log is open for reading."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def __enter__(self) -> LogFile:
        with suppress(FileNotFoundError):
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        return LogFile(self._descriptor)

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


# -- while the database is open


class Marking:
    """Keeps the mark of one open database. If that fails (on a full disk), the store goes on without a mark: the log
    says so, and a fault would not be noticed."""

    def __init__(self, path: Path) -> None:
        """Make this before SQLite opens the database."""
        self._path = path
        self._log: LogFile | None = None
        self._file: int | None = None
        self._mark = Mark(MarkState.OPENING, 0)
        self._lost = False
        """Whether a commit has failed, so that the state of the log has to be looked up. What it left there may look
        like a later commit; so this holds until the log has begun anew."""
        self._left_in: bytes | None = None
        """The salts of the log in which it may stand, as soon as they were looked up."""
        self._open_still: Mark | None = None
        """The mark, if the log could not be carried over at the end because another program reads from it."""
        known = read_mark(path)
        if known is None:
            return
        with _Reading(log_of(path)) as log:
            if known.state is MarkState.OPEN and log.salts is not None and _goes_on(known, log.salts):
                return  # what SQLite does with that log now, the mark allows for
        with self._if_it_can_be_kept():
            self._open_file()
            self._write(self._mark, synced=True)

    def begin(self, connection: sqlite3.Connection, version: int) -> None:
        """Call this when SQLite has opened the database and everything is prepared."""
        with self._if_it_can_be_kept():
            connection.execute(f"PRAGMA user_version = {version}")  # counts up in the header; and now there is a log
            self._open_file()
            self._take_stock(connection, synced=True)

    def committed(self, connection: sqlite3.Connection, *, synced: bool = True) -> None:
        """Call this after a transaction, even if it changed nothing."""
        log = self._log
        if self._file is None or log is None:
            return
        try:
            if self._lost:
                if synced:
                    self._take_stock(connection, synced=False)
                return
            _, counter, salts, frames, _, boot = self._mark
            found = log.commit_after(frames, salts)
            if found is None:
                log = LogFile(log.descriptor)
                if log.salts is None or log.salts == salts:
                    return
                salts = log.salts
                found = log.commit_after(0, salts)
                if found is None:
                    return
                if not synced:
                    self._write(Mark(MarkState.OPEN, counter, salts, boot=boot))
            self._mark = Mark(MarkState.OPEN, counter, salts, *found, boot)
            if synced:
                self._write(self._mark)
        except (OSError, sqlite3.Error) as error:
            self.forsake(error)

    def failed(self) -> None:
        """A commit has failed and may have left frames in the log that commit nothing."""
        self._lost, self._left_in = True, None
        if self._file is not None:
            with self._if_it_can_be_kept():
                self._write(self._mark._replace(state=MarkState.OPENING))

    def end(self, connection: sqlite3.Connection) -> None:
        """Call this before SQLite closes the database, which carries the log over and removes it."""
        if self._file is not None:
            with self._if_it_can_be_kept():
                known = self._mark.state is MarkState.OPEN
                if carried_over(connection)[1] and known:
                    self._write(self._mark._replace(state=MarkState.CLOSED), synced=True)
                else:
                    self._open_still = self._mark if known else None
                    self._write(self._mark._replace(state=MarkState.OPENING))

    def close(self) -> None:
        """SQLite has closed it."""
        if self._file is not None and self._open_still is not None:
            there = log_of(self._path).exists()
            with self._if_it_can_be_kept():
                mark = self._open_still if there else self._open_still._replace(state=MarkState.CLOSED)
                self._write(mark, synced=True)
        self._let_go()

    def _let_go(self) -> None:
        if self._log is not None and self._log.descriptor is not None:
            os.close(self._log.descriptor)
        if self._file is not None:
            os.close(self._file)
        self._log = self._file = None

    def _take_stock(self, connection: sqlite3.Connection, *, synced: bool) -> None:
        frames, carried = carried_over(connection)
        if self._log is None:
            self._log = LogFile(os.open(log_of(self._path), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW))
        else:
            self._log = LogFile(self._log.descriptor)
        found = self._log.frame(frames) if frames > 0 else None
        if found is None:
            if self._lost:
                return  # it is asked again after the next commit
            raise OSError("there is no log yet")
        counter = self._mark.counter
        if not self._lost and carried:  # the last frame is the first page, as it is in the database, too, by now
            counter = self._log.counter(frames)
        self._lost = self._lost and self._left_in in (None, found[1])
        self._left_in = found[1] if self._lost else None
        self._write(Mark(MarkState.OPEN, counter, found[1], frames, found[2], _boot()), synced=synced)

    def _open_file(self) -> None:
        if self._file is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.open(mark_of(self._path), flags, 0o600)

    def _write(self, mark: Mark, *, synced: bool = False) -> None:
        assert self._file is not None
        self._mark = mark
        os.pwrite(self._file, mark.packed(), 0)
        if synced:
            os.fsync(self._file)

    @contextmanager
    def _if_it_can_be_kept(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            self.forsake(error)

    def forsake(self, error: Exception) -> None:
        logger.warning("there is no mark of how far the log of the database has come: %s", error)
        with suppress(OSError):
            mark_of(self._path).unlink()
        self._let_go()


def carried_over(connection: sqlite3.Connection) -> tuple[int, bool]:
    """Tries to carry the log over. Returns the log's number of frames, and whether all of them are in the database."""
    busy, frames, carried = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return frames, not busy and frames == carried
