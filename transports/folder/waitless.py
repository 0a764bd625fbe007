"""Looking at files without ever waiting for a disk: what the system has in memory is told, and no more.

    stat_at_once, open_at_once     Linux goes to no disk for a name that it knows (`openat2`, RESOLVE_CACHED, from 5.12)
    read_at_once                   nor for a content that it has (RWF_NOWAIT)

What it has not raises BlockingIOError: that is to be done in a thread. So does everything, where the system cannot do
that. Of a disk of another machine's, or of a program's, even an open file may have to be asked for: only the local
kinds are looked at (`is_local`).

The calls are made without letting another thread have Python's lock: they take a microsecond.
"""

import ctypes
import errno
import os
import sys
from pathlib import Path

from transports.folder.memory import IN_MEMORY, MOUNTS, kind_of_disk

LOCAL = IN_MEMORY | {"ext2", "ext3", "ext4", "xfs", "f2fs"}
_OPENAT2, _RESOLVE_CACHED = 437, 0x20  # the number is the same on all machines
_PATH_ONLY = getattr(os, "O_PATH", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_HERE = -100
"""AT_FDCWD: no folder but the present one."""
CANNOT = frozenset({errno.ENOSYS, errno.EINVAL, errno.EPERM, errno.EOPNOTSUPP})
"""The errors of a kernel, a sandbox or a file system that does not know this."""


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def _found_syscall() -> "ctypes._NamedFuncPointer | None":
    if not sys.platform.startswith("linux") or not hasattr(os, "RWF_NOWAIT"):
        return None
    call = getattr(ctypes.PyDLL(None, use_errno=True), "syscall", None)
    if call is not None:
        call.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
        call.restype = ctypes.c_long
    return call


_syscall = _found_syscall()


def is_local(device: int, mounts: Path = MOUNTS) -> bool:
    """`device`: of a folder, its `st_dev`. Whether it may be looked at here."""
    return _syscall is not None and kind_of_disk(device, mounts) in LOCAL


def open_at_once(name: str | Path, flags: int, dir_fd: int | None = None) -> int:
    if _syscall is None:
        raise _would_wait(name)
    how = _How(flags, 0, _RESOLVE_CACHED)
    file: int = _syscall(
        _OPENAT2, _HERE if dir_fd is None else dir_fd, os.fsencode(name), ctypes.addressof(how), ctypes.sizeof(how)
    )
    if file >= 0:
        return file
    number = ctypes.get_errno()
    if number in CANNOT:
        raise _would_wait(name)
    raise OSError(number, os.strerror(number), str(name))


def stat_at_once(name: str | Path, dir_fd: int | None = None) -> os.stat_result:
    """Links are not followed."""
    there = open_at_once(name, _PATH_ONLY, dir_fd)
    try:
        return os.fstat(there)
    finally:
        os.close(there)


def read_at_once(file: int, size: int) -> bytes:
    """As many bytes from its beginning, or as many as it has."""
    data, have = bytearray(size), 0
    while have < size:
        try:
            more = os.preadv(file, [memoryview(data)[have:]], have, os.RWF_NOWAIT)
        except OSError as error:
            if error.errno in CANNOT:
                raise _would_wait(file) from None
            raise
        if not more:
            break
        have += more
    return bytes(memoryview(data)[:have])


def _would_wait(what: object) -> BlockingIOError:
    return BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(what))
