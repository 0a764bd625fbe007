"""Folders that are ours alone: real ones, that belong to our account and that no other account can write to.

A folder of ours that others may only read is closed to them, and that is said. One that others may write to is refused:
nobody knows what they have put there. So is one that is kept for something else: whoever has mistyped a path does not
want `/` or a home to be closed to others.
"""

import errno
import os
import shlex
import stat
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

OWN_MODE = 0o700
MADE_BY_DISKS = "lost+found"
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_HAS_ACCOUNTS = sys.platform != "win32"


class NotOurs(OSError):
    """The text is a sentence for users: what is wrong with a folder, and what to do."""


def open_own(
    name: str | Path,
    here: int | None,
    path: str | Path,
    said: Callable[[str], None],
    marks: Collection[str] = (),
    rooms: Collection[str] = (),
) -> int:
    """Opens a folder, by its name in the folder `here`. Raises NotOurs. `path`: as it is shown. `marks`: one of these
    folders is in it, or nothing but `rooms`. The caller closes the descriptor."""
    try:
        folder = os.open(name, FOLDER, dir_fd=here)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise NotOurs(f"{path} is a link or a file, and has to be a real folder; move it away") from None
        raise
    try:
        status = os.fstat(folder)
        if (why := why_not_ours(status, path)) is not None:
            raise NotOurs(why)
        if marks and not (_has_one_of(marks, folder) or _has_only(rooms, folder)):
            raise NotOurs(
                f"{path} holds other things; choose a folder that is empty, or one that does not exist yet "
                f"(if it is the right one: mkdir -m 700 {shlex.quote(os.path.join(path, next(iter(marks))))})"
            )
        if _HAS_ACCOUNTS and stat.S_IMODE(status.st_mode) & 0o077:
            os.fchmod(folder, OWN_MODE)
            said(f"others could look into {path}, and no longer can: only your account has access to it now")
    except BaseException:
        os.close(folder)
        raise
    return folder


def _has_one_of(marks: Collection[str], folder: int) -> bool:
    for mark in marks:
        with suppress(OSError):
            if stat.S_ISDIR(os.lstat(mark, dir_fd=folder).st_mode):
                return True
    return False


def _has_only(rooms: Collection[str], folder: int) -> bool:
    with os.scandir(folder) as entries:
        return all(entry.name in rooms or entry.name == MADE_BY_DISKS for entry in entries)


def why_not_ours(status: os.stat_result, path: str | Path) -> str | None:
    """Why this folder is refused, as a sentence for users."""
    if not stat.S_ISDIR(status.st_mode):
        return f"{path} is a link or a file, and has to be a real folder; move it away"
    if _HAS_ACCOUNTS and status.st_uid != os.geteuid():
        return f"{path} belongs to another account; choose a folder that is yours"
    if _HAS_ACCOUNTS and stat.S_IMODE(status.st_mode) & 0o022:
        return f"other accounts may write to {path}; look what is in it, then run: chmod 700 {shlex.quote(str(path))}"
    return None


def check_own_file(file: int, name: str) -> None:
    """Raises NotOurs for anything but a plain file of our account that has no other name: to write to it would be to
    write to somebody's document."""
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or (_HAS_ACCOUNTS and status.st_uid != os.geteuid()):
        raise NotOurs(f"{name} is no plain file of yours alone; move it away")
