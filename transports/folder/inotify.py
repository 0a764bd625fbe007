"""Linux's inotify: reports in which of the watched folders something has happened.

The standard library does not offer inotify, so this calls the C library's functions, as far as we need them. An
existing library (watchfiles) would bring threads of its own, for which a cancelled task would have to wait.

    add(path)     watches a folder and returns its number; the same folder has the same number under every path
    read()        the events since the last call, without waiting
"""

import ctypes
import os
import struct
import sys
from pathlib import Path

from msgspec import Struct

_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC
"""IN_NONBLOCK and IN_CLOEXEC have these values."""
_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x40, 0x80, 0x100, 0x200, 0x400, 0x800
_OVERFLOW, _IGNORED, _ONLY_FOLDERS, NO_LINKS, _FOLDER = 0x4000, 0x8000, 0x0100_0000, 0x0200_0000, 0x4000_0000
_WANTED = (
    _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
    | _ONLY_FOLDERS
)  # fmt: skip
ARRIVALS = _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS
"""Which files come and go, and which have been written to the end: not each step on the way."""
ANYTHING = ARRIVALS | _MODIFY | _ATTRIB
"""Also a file that is cut off by its name, or written to and kept open, and who may read it."""
TRY_SECONDS = 30.0
"""After which the system is asked again for what it did not allow: others may have given it back."""
_HEAD = struct.Struct("iIII")
_MOST_BYTES = 1 << 16


class FolderEvent(Struct, frozen=True):
    number: int
    """The folder's number; -1 if events were lost, and any folder may have changed."""
    name: str
    """The name of the file or folder in it; empty if the event is about the watched folder itself."""
    of_folder: bool
    """Whether the event is about a folder, so that watched folders below it may have been replaced."""
    over: bool = False
    """Whether this number is no longer watched."""
    unfinished: bool = False
    """Whether the file of that name is written to by somebody who may go on."""

    @property
    def lost(self) -> bool:
        return self.number == -1


class Inotify:
    """Raises OSError if the system has no inotify, or allows no more of it."""

    def __init__(self) -> None:
        if not sys.platform.startswith("linux"):
            raise OSError("there is no inotify on this system")
        library = ctypes.CDLL(None, use_errno=True)
        self._add = library.inotify_add_watch
        self._add.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
        self._remove = library.inotify_rm_watch
        self._remove.argtypes = (ctypes.c_int, ctypes.c_int)
        self._file = _checked(library.inotify_init1(_FLAGS), "inotify")

    def fileno(self) -> int:
        return self._file

    def add(self, folder: Path, wanted: int = _WANTED) -> int:
        """This may take a while, because a disk may hang."""
        return _checked(self._add(self._file, os.fsencode(folder), wanted), str(folder))

    def add_opened(self, folder: int, wanted: int = _WANTED) -> int:
        """Watches a folder by its descriptor, wherever its path leads to by now. Needs /proc."""
        return self.add(Path(f"/proc/self/fd/{folder}"), wanted)

    def remove(self, number: int) -> None:
        """Stops watching. Does nothing if the folder is gone already."""
        self._remove(self._file, number)

    def read(self) -> list[FolderEvent]:
        try:
            told = os.read(self._file, _MOST_BYTES)
        except BlockingIOError:
            return []
        return list(_events(told))

    def close(self) -> None:
        os.close(self._file)


def _events(told: bytes) -> "list[FolderEvent]":
    found, at = [], 0
    while at < len(told):
        number, mask, _, length = _HEAD.unpack_from(told, at)
        at += _HEAD.size
        name = os.fsdecode(told[at : at + length].rstrip(b"\0"))
        at += length
        if mask & _OVERFLOW:
            found.append(FolderEvent(-1, "", of_folder=True))
        else:
            of_folder = bool(mask & _FOLDER) or not name
            unfinished = bool(name) and mask & ANYTHING == _MODIFY
            event = FolderEvent(
                number, name, of_folder=of_folder, over=bool(mask & _IGNORED), unfinished=unfinished
            )
            found.append(event)
    return found


def _checked(answer: int, what: str) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return answer
