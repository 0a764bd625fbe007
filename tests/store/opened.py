"""Which files below a folder this process has open."""

import os
from contextlib import suppress
from pathlib import Path


def files_open_in(folder: Path) -> list[str]:
    """Their names, each as often as it is open; so also of files that are gone."""
    found = []
    for each in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # that of the listing itself
            path = Path(os.readlink(f"/proc/self/fd/{each}"))
            if path.is_relative_to(folder.resolve()):
                found.append(path.name)
    return sorted(found)
