"""Away with a folder in which a program did what it liked.

`shutil.rmtree` goes down by calling itself, so a thousand folders within each other are too deep for it (Python 3.11),
and it leaves what was closed to its owner. Here nobody goes down: the folders in a folder are brought up before that
goes, and opened to us first.

What cannot be removed stays. It blocks: call it in a thread.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def clear_away(folder: Path) -> None:
    """Only if it is a folder of ours: where all may write, a link of somebody else's may have that name."""
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
    """The folders in it. All else has gone."""
    found = []
    for entry in list(os.scandir(folder)):
        with suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.name, 0o700, dir_fd=folder)
                found.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return found
