"""Files that are written completely before they get their names.

    write_new       one file, never over another one
    write_drafts    many files that have no names yet; whoever calls renames them into place. They are synced by several
                    threads at once, or with their whole disk, because a disk syncs many files in little more time than
                    one
    rename_new      a rename that never replaces anything
    exchange        two files of a folder get each other's name, in one step

A draft that stays behind, because its process was killed, is deleted when its process is seen to have ended (`sweep`),
or when it is old (`sweep_old`), where processes cannot see each other.

Everything here blocks: call it in a thread.
"""

import ctypes
import errno
import itertools
import os
import queue
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_NAMELESS = getattr(os, "O_TMPFILE", 0)
"""Only Linux has it, and not on every file system."""
NO_NAMELESS = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)
"""The errors of a file system or kernel that does not support it."""

_OURS = os.urandom(3).hex()
"""Distinguishes us from a killed process that had the same process id."""
_numbers = itertools.count()
_DRAFT = re.compile(r"\.([0-9]{1,9})-([0-9a-f]{6})[0-9a-f]{6}\.draft", re.ASCII)
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV)
"""The errors of a file system without links, such as FAT."""

THREADS = 16
FEW = 3
"""So many files are written one after the other: to start a thread takes longer."""
MANY = 32
"""For so many it pays to sync the whole disk."""
SLOW_SECONDS, AVOIDED_SECONDS = 1.0, 60.0
ON_LINUX = sys.platform.startswith("linux")
_NO_REPLACE, _EXCHANGE = 1, 2


# -- one new file


def write_new(here: int, name: str, content: bytes) -> None:
    if not (_NAMELESS and _write_nameless(here, name, content)):
        _write_draft(here, name, content)


def _write_nameless(here: int, name: str, content: bytes) -> bool:
    """Writes a file that has no name until it is complete. False: this file system cannot do that."""
    try:
        file = os.open(".", os.O_WRONLY | os.O_CLOEXEC | _NAMELESS, 0o666, dir_fd=here)
    except OSError as error:
        if error.errno in NO_NAMELESS:
            return False
        raise
    try:
        _write_all(file, content)
        os.fsync(file)
        try:
            os.link(f"/proc/self/fd/{file}", name, dst_dir_fd=here)  # follows the link in /proc to our own descriptor
        except OSError as error:
            if error.errno in (errno.ENOENT, *NO_LINKS):  # there is no /proc
                return False
            raise
    finally:
        os.close(file)
    return True


def _write_all(file: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(file, left) :]


def _write_draft(here: int, name: str, content: bytes) -> None:
    draft = new_draft()
    file = os.open(draft, _NEW, 0o666, dir_fd=here)
    try:
        with open(file, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        _name(here, draft, name)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=here)


def _name(here: int, draft: str, name: str) -> None:
    """Gives a draft its name, by a link: a rename could overwrite another file."""
    try:
        os.link(draft, name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        with suppress(FileNotFoundError):
            os.stat(name, dir_fd=here, follow_symlinks=False)
            raise FileExistsError(f"{name} exists") from None
        os.rename(draft, name, src_dir_fd=here, dst_dir_fd=here)


# -- many


class Sheet(NamedTuple):
    """What a draft is to hold, and be."""

    content: bytes
    mode: int = 0o600
    """With which it is made: only our account can read it, unless this says otherwise."""
    finish: Callable[[int], None] | None = None
    """Is called when all is written, and before that is synced."""


def write_drafts(here: int, contents: Sequence[bytes | Sheet], *, sync: bool = True) -> list[str | OSError]:
    """The names of the drafts, in this order; in place of a draft that could not be written, the reason."""
    if sync and len(contents) >= MANY and whole_disk.may_be_synced():
        written = [_drafted(here, content, sync=False) for content in contents]
        error = whole_disk.sync(here)
        if error is not None:
            discard(here, written)
            return [error] * len(contents)
        return written
    drafts: list[str | OSError] = [OSError(errno.EIO, os.strerror(errno.EIO))] * len(contents)

    def write(start: int, step: int) -> None:
        for place in range(start, len(contents), step):
            drafts[place] = _drafted(here, contents[place], sync=sync)

    threads = 1 if len(contents) <= FEW or not sync else min(THREADS, len(contents))
    together([partial(write, start, threads) for start in range(threads)])
    return drafts


class WholeDisk:
    """Linux can sync a whole disk, with whatever anybody has written to it. For many small files this takes half the
    time of syncing them by threads, unless others are writing a lot: if it was slow, it is not tried for a while."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None) if ON_LINUX else None
        self._not_before = 0.0

    def may_be_synced(self) -> bool:
        return self._syncfs is not None and self._now() >= self._not_before

    def sync(self, here: int) -> OSError | None:
        assert self._syncfs is not None
        began = self._now()
        answer = self._syncfs(here)
        if self._now() - began > SLOW_SECONDS:
            self._not_before = self._now() + AVOIDED_SECONDS
        if answer == 0:
            return None
        number = ctypes.get_errno()
        return OSError(number, os.strerror(number))


whole_disk = WholeDisk()


def together(calls: Sequence[Callable[[], None]]) -> None:
    """Calls them all at once, and returns when the last one has."""
    from trio.lowlevel import start_thread_soon  # here, because processes that only read files do without trio

    done: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
    for call in calls[1:]:
        start_thread_soon(call, lambda outcome: done.put(outcome.unwrap), "syncing")
    for call in calls[:1]:
        call()
    for _ in calls[1:]:
        done.get()()


def discard(here: int, drafts: Iterable[str | OSError]) -> None:
    """Deletes those of them that have got no name."""
    for draft in drafts:
        if isinstance(draft, str):
            with suppress(OSError):
                os.unlink(draft, dir_fd=here)


def _drafted(here: int, wanted: bytes | Sheet, *, sync: bool) -> str | OSError:
    sheet = Sheet(wanted) if isinstance(wanted, bytes) else wanted
    draft = new_draft()
    try:
        file = os.open(draft, _NEW, sheet.mode, dir_fd=here)
    except OSError as error:
        return error
    try:
        try:
            _write_all(file, sheet.content)
            if sheet.finish is not None:
                sheet.finish(file)
            _stamp(file)
            if sync:
                sync_data(file)
        finally:
            os.close(file)
    except OSError as error:
        with suppress(OSError):
            os.unlink(draft, dir_fd=here)
        return error
    return draft


def _stamp(file: int) -> None:
    """Gives it a time of its own: the disk's clock goes on a few times in a hundredth of a second, and the numbers of
    deleted files are used again, so that two files in a row could not be told apart."""
    now = time.time_ns()
    os.utime(file, ns=(now, now))


def new_draft() -> str:
    """Numbered, for of a thousand that are drawn by chance two are often the same."""
    return f".{os.getpid()}-{_OURS}{next(_numbers) & 0xFFFFFF:06x}.draft"


def sync_data(file: int) -> None:
    """The content, and as much of the rest as is needed to find it. macOS does not offer this."""
    getattr(os, "fdatasync", os.fsync)(file)


# -- drafts that stayed behind


def sweep(here: int) -> None:
    """Deletes the drafts of processes that were killed while they wrote."""
    for name in os.listdir(here):
        if (draft := _DRAFT.fullmatch(name)) and not _writes(int(draft[1]), draft[2]):
            with suppress(OSError):  # another process was faster; or it is not a plain file, and not ours
                os.unlink(name, dir_fd=here)


def _writes(pid: int, whose: str) -> bool:
    return whose == _OURS if pid == os.getpid() else lives(pid)


def sweep_old(here: int, seconds: float) -> None:
    """Deletes drafts older than this by the disk's own clock, whoever wrote them."""
    with suppress(OSError):  # it is full, or read-only
        probe = new_draft()
        os.close(os.open(probe, _NEW, 0o600, dir_fd=here))
        now = os.stat(probe, dir_fd=here, follow_symlinks=False).st_mtime
        os.unlink(probe, dir_fd=here)
        for name in os.listdir(here):
            if _DRAFT.fullmatch(name):
                with suppress(OSError):
                    if now - os.stat(name, dir_fd=here, follow_symlinks=False).st_mtime > seconds:
                        os.unlink(name, dir_fd=here)


def lives(pid: int) -> bool:
    """Whether this process exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it exists, and belongs to another user
        return True
    return True


# -- renaming


def rename_new(name: str, new: str, here: int, there: int) -> None:
    """Raises FileExistsError if anything has that name."""
    if _renameat2 is not None:
        if _renameat2(here, os.fsencode(name), there, os.fsencode(new), _NO_REPLACE) == 0:
            return
        number = ctypes.get_errno()
        if number not in (errno.EINVAL, errno.ENOSYS):  # those are of a file system or a kernel that cannot
            raise OSError(number, os.strerror(number), new)
    try:
        os.link(name, new, src_dir_fd=here, dst_dir_fd=there, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        with suppress(FileNotFoundError):
            os.stat(new, dir_fd=there, follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new) from None
        os.rename(name, new, src_dir_fd=here, dst_dir_fd=there)
    else:
        os.unlink(name, dir_fd=here)


def exchange(name: str, other: str, here: int) -> bool:
    """False: this kernel or this file system cannot do that. Raises FileNotFoundError if one of them is not there."""
    if _renameat2 is None:
        return False
    if _renameat2(here, os.fsencode(name), here, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS):
        return False
    raise OSError(number, os.strerror(number), other)


def _found_renameat2() -> Callable[[int, bytes, int, bytes, int], int] | None:
    if not ON_LINUX:
        return None
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return call


_renameat2 = _found_renameat2()
