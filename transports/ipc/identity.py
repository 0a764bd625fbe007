"""Which file it is that stands under a name."""

import os
import stat

from codec.ipc.folder import Identity


def identity_of(status: os.stat_result) -> Identity:
    return Identity(status.st_ino, status.st_mtime_ns)


def identity_at(room: int, name: str) -> Identity | None:
    """Of the plain file that stands there."""
    try:
        status = os.stat(name, dir_fd=room, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return identity_of(status) if stat.S_ISREG(status.st_mode) else None
