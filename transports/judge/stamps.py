"""Which versions of a case's files are there: by their entries, without reading them.

`stamps` may take a while, and is called in a thread. `stamps_at_once` never does: it tells only what the system has in
memory. That is asked for only where the disk is a local one.
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from transports.folder.rooted import FileEntry
from transports.folder.waitless import stat_at_once

Stamp = FileEntry | tuple[FileEntry, FileEntry]
"""Of a file; or of a link, and the file that it leads to."""
Paths = tuple[str, str, str]
"""Of the solution, the input and the answer."""


class Stamps(NamedTuple):
    """The files of a case at one moment. None: it is not there, or is no file."""

    main: Stamp | None
    given: FileEntry | None
    wanted: FileEntry | None


def stamps(paths: Paths) -> Stamps:
    main, given, wanted = paths
    return Stamps(followed(main), *(_plain(_found(path, os.lstat)) for path in (given, wanted)))


def stamps_at_once(paths: Paths) -> Stamps | None:
    """None: only a thread may look."""
    try:
        main, given, wanted = (_found(path, stat_at_once) for path in paths)
    except BlockingIOError:
        return None
    if main is not None and stat.S_ISLNK(main.st_mode):  # it may lead to any disk
        return None
    return Stamps(_plain(main), _plain(given), _plain(wanted))


def followed(path: str | Path) -> Stamp | None:
    """The solution may be a link."""
    status = _found(path, os.lstat)
    if status is None or not stat.S_ISLNK(status.st_mode):
        return _plain(status)
    there = _plain(_found(path, os.stat))
    return None if there is None else (FileEntry.of(status), there)


def _found(path: str | Path, look: Callable[[str | Path], os.stat_result]) -> os.stat_result | None:
    try:
        return look(path)
    except BlockingIOError:
        raise
    except OSError:
        return None


def _plain(status: os.stat_result | None) -> FileEntry | None:
    return FileEntry.of(status) if status is not None and stat.S_ISREG(status.st_mode) else None
