"""Disks with something the matter, where this process may mount them; else what comes near."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.store.test_disk_full import may_mount

MAY_MOUNT = may_mount()


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
