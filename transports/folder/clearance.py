"""Deletes a folder that an untrusted program could write to.

`shutil.rmtree` is recursive, so a thousand nested folders are too deep for it (Python 3.11), and it leaves folders that
their owner may not enter. Here nothing recurses: before a folder is deleted, the folders in it are moved up, after they
have been made accessible to us.

Whatever cannot be removed stays. The function blocks: call it in a thread.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def clear_away(folder: Path) -> None:
    """Deletes the folder only if we own it: in a place where everybody may write, its name may be another user's
    link."""
    with suppress(OSError):
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return
        folder.chmod(0o700)
        here = os.open(folder, _FOLDER)
        try:
            _empty(here)
        finally:
            os.close(here)
        folder.rmdir()


def _empty(here: int) -> None:
    waiting = _folders_without_files(here)
    while waiting:
        name = waiting.pop()
        with suppress(OSError):
            there = os.open(name, _FOLDER, dir_fd=here)
            try:
                for below in _folders_without_files(there):
                    brought_up = os.urandom(8).hex()
                    os.rename(below, brought_up, src_dir_fd=there, dst_dir_fd=here)
                    waiting.append(brought_up)
            finally:
                os.close(there)
            os.rmdir(name, dir_fd=here)


def _folders_without_files(folder: int) -> list[str]:
    """The names of the folders in this folder, after everything else in it has been deleted."""
    found = []
    for entry in list(os.scandir(folder)):
        with suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.name, 0o700, dir_fd=folder)
                found.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return found
