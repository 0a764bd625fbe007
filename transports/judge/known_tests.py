"""What is known of the files of tests, so that a file is not read again while it is unchanged.

Files are known by the folder that they are in. If too many are known, those of the folder that was looked at longest
ago are forgotten. The folder that was looked at last stays, however many files it has: whoever looks at it again would
have to read all of them, and its problem holds them in memory anyway.
"""

import threading
from collections.abc import Mapping
from typing import Generic, TypeVar

V = TypeVar("V")
Folder = tuple[str, ...]


class KnownTests(Generic[V]):
    """Used by several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._folders: dict[Folder, Mapping[str, V]] = {}
        """The one that was looked at longest ago first."""
        self._count = 0
        """Invariant: the number of files in all folders."""

    def __len__(self) -> int:
        return self._count

    def of(self, folder: Folder) -> Mapping[str, V]:
        """What is known of the files in this folder, by name."""
        return self._folders.get(folder, {})

    def looked(self, folder: Folder, files: Mapping[str, V]) -> None:
        """From now on, this is known of the folder, and nothing else."""
        with self._lock:
            self._count -= len(self._folders.pop(folder, {}))
            if files:
                self._folders[folder] = files
                self._count += len(files)
            while self._count > self._most and len(self._folders) > 1:
                self._count -= len(self._folders.pop(next(iter(self._folders))))
