"""Disks with something the matter, where this process may mount them; else what comes near."""

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.store.test_disk_full import may_mount

MAY_MOUNT = may_mount()
UNWATCHED = [
    (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
    (OSError("something odd"), "something odd"),
    (FileNotFoundError(errno.ENOENT, "No such file or directory"), None),
    (NotADirectoryError(errno.ENOTDIR, "Not a directory"), None),
]
"""Why the system does not watch a folder, and what is said of that: nothing of one that has only gone."""


@contextmanager
def small_disk(place: Path, megabytes: int = 1) -> Iterator[Path]:
    """One that is soon full."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=0700,size={megabytes}m", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@contextmanager
def read_only_disk(place: Path) -> Iterator[Path]:
    place.mkdir()
    if os.geteuid() != 0:
        place.chmod(0o555)
        yield place
        place.chmod(0o755)
        return
    assert MAY_MOUNT, "root may write everywhere, and may not mount here"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,mode=0755", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
