"""One look at the desk's folder, and how its files are read: whole, and no more of them than a server reads."""

import os
import stat

from transports.folder.owned import FOLDER, why_not_ours
from transports.folder.rooted import Rooted
from transports.folder.waitless import open_at_once, read_at_once, stat_at_once

LARGEST = 16 << 20
"""A larger file is refused by the server."""
READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class TakesLonger(Exception):
    """What was to be done at once is to be done in a thread."""


class FolderVisit:
    """One look at the folder: the way to it is gone once, and each of its rooms is entered once."""

    def __init__(self, rooted: Rooted, waits: bool = True) -> None:
        """`waits`: for the disk. Else, raises TakesLonger where it would."""
        self._rooted = rooted
        self._waits = waits
        self._folders: dict[str, int] = {}
        """The root has no name."""

    def room(self, name: str) -> int:
        found = self._folders.get(name)
        if found is None:
            if not self._waits:
                found = self._found_at_once(name)
            else:
                found = self._rooted.enter(self.room(""), (name,)) if name else self._rooted.open_root()
            self._folders[name] = found
        return found

    def _found_at_once(self, name: str) -> int:
        above, path = (self.room(""), self._rooted.path((name,))) if name else (None, self._rooted.root)
        folder = open_at_once(name or path, FOLDER, above)
        status = os.fstat(folder)
        if why_not_ours(status, path) is not None or status.st_mode & 0o077:  # there is something to be done, or said
            os.close(folder)
            raise TakesLonger
        return folder

    def stat(self, room: str, name: str) -> os.stat_result:
        return (os.lstat if self._waits else stat_at_once)(name, dir_fd=self.room(room))

    def read(self, room: str, name: str, short: int | None) -> tuple[bytes, float]:
        """And when it was written. Raises NotPlain."""
        here = self.room(room)
        if not self._waits and not stat.S_ISREG(stat_at_once(name, here).st_mode):
            raise TakesLonger
        file = self._rooted.open_in(here, (room, name)) if self._waits else open_at_once(name, READ, here)
        try:
            status = os.fstat(file)
            if short is not None and status.st_size > short:
                raise TakesLonger
            return (whole if self._waits else read_at_once)(file, status.st_size), status.st_mtime
        finally:
            os.close(file)

    def close(self) -> None:
        for folder in self._folders.values():
            os.close(folder)
        self._folders.clear()


def whole(file: int, size: int) -> bytes:
    """To its end, if it has grown meanwhile, and no more of it than a server reads."""
    data, left = b"", LARGEST + 1
    while left and (more := os.read(file, min(left, max(size - len(data), 1 << 10)))):
        data += more
        left -= len(more)
    return data
