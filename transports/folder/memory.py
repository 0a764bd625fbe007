"""Whether a folder lies in memory: then nothing that is done in it waits for a device.

Only Linux tells, and of tmpfs and ramfs only it is known. Of a folder of which nothing is known the answer is no.
"""

import os
from contextlib import suppress
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
IN_MEMORY = frozenset({"tmpfs", "ramfs"})


def lies_in_memory(device: int, mounts: Path = MOUNTS) -> bool:
    """`device`: the folder's `st_dev`."""
    return kind_of_disk(device, mounts) in IN_MEMORY


def kind_of_disk(device: int, mounts: Path = MOUNTS) -> str | None:
    """Of the file system, such as ext4; None: that is not known."""
    with suppress(OSError):
        wanted = f"{os.major(device)}:{os.minor(device)}"
        for line in mounts.read_text(errors="surrogateescape").splitlines():
            about, _, kind = line.partition(" - ")  # see proc_pid_mountinfo(5)
            if about.split(" ")[2:3] == [wanted]:
                return kind.partition(" ")[0]
    return None
