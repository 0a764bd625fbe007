"""A disk that forgets: what a power cut leaves of a database, which is what was synced, and a mark of any age."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from actors.store.connection import log_of
from actors.store.database import Database
from actors.store.mark import mark_of
from actors.store.operations import Operation, is_soft


class ForgetfulDatabase(Database):
    """Beside its folder stand copies: of what the disk has for certain, and of how things were when it was closed."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._copy("kept")

    def _copy(self, name: str) -> None:
        folder = self.path.parent
        shutil.rmtree(_beside(folder, name), ignore_errors=True)
        shutil.copytree(folder, _beside(folder, name))

    def execute(self, operations: Sequence[Operation[Any]]) -> list[object]:
        answers = super().execute(operations)
        if not all(map(is_soft, operations)):
            self._copy("kept")
        return answers

    def rest(self, *, idle: bool) -> bool:
        due = self.unrested
        left = super().rest(idle=idle)
        if due and not self.unrested:  # a checkpoint syncs the log first
            self._copy("kept")
        return left

    def close(self) -> None:
        self._copy("last")
        super().close()


def cut_the_power(folder: Path, database: str = "troupe.db") -> None:
    """As if that had happened just before it was closed. The head of a log that has begun anew is synced."""
    kept, last = (_beside(folder, name) / database for name in ("kept", "last"))
    there = folder / database
    for of in (lambda path: path, log_of):
        shutil.copyfile(of(kept), of(there))
    with log_of(there).open("r+b") as log:
        log.write(log_of(last).read_bytes()[:32])
    shutil.copyfile(mark_of(last), mark_of(there))


def _beside(folder: Path, name: str) -> Path:
    return folder.with_name(f"{folder.name}-{name}")
