"""A process that dies in the middle of a change to a base folder: before the n-th step that the disk would see.

It reads lines `N CHANGE PATH`, makes the change in a child that is gone at that step, and answers `died` or `done`.
"""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from codec.ipc.folder import Identity, Tray
from tests.transports.ipc.places import answered, asked, identity, refused
from transports.folder import drafts
from transports.ipc import writing
from transports.ipc.site import Site
from transports.ipc.writing import RoomWriter, WriteJob

DAY = "2026-01-31"
NEW = {"a": asked("a", text="new"), "b": asked("b", text="new")}
KNOWN = {"a": asked("a", text="stands"), "c": asked("c", text="gone")}
"""Requests of the journal. A HEAD peer has removed the second one."""
STEPS = "open rename link unlink mkdir rmdir fsync fdatasync utime fchmod".split()  # noqa: SIM905


def _taking(job: Callable[[Any], WriteJob]) -> Callable[[Path], WriteJob]:
    def make(path: Path) -> WriteJob:
        return job(identity(path / "responses" / "a.json"))

    return make


def _withdrawing(path: Path) -> WriteJob:
    request = path / "requests" / "a.json"
    return writing.withdrawing("a", identity(request) if request.exists() else Identity(0, 0))


CHANGES: dict[str, Callable[[Path], WriteJob]] = {
    "open": lambda path: writing.withdrawing("nobody"),
    "publish": lambda path: writing.publishing(NEW),
    "answer": lambda path: writing.answering("b", answered("b", "new")),
    "take_away": _taking(lambda identity: writing.taking_away("a", identity)),
    "withdraw": _withdrawing,
    "set_aside": _taking(lambda identity: writing.setting_aside("a", identity, "why")),
    "write": lambda path: writing.writing(Tray.FAILED, "a", refused("a", "new")),
    "archive": lambda path: writing.archiving(["a", "b", "c"], DAY, None, KNOWN),
    "reopen": lambda path: writing.reopening("a"),
}


def dying_at(number: int) -> None:
    left = number

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os._exit(77)
            return call(*args, **options)

        return step

    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))
    vars(drafts)["_renameat2"] = counted(drafts._renameat2) if drafts._renameat2 else None


def main(lines: Sequence[str]) -> None:
    for line in lines:
        number, change, path = line.split(maxsplit=2)
        child = os.fork()
        if child == 0:
            place = Path(path.strip())
            writer = RoomWriter(Site(place, writing.give_back_what_is_away), sync=True)
            writer.run([]) if change != "open" else None
            job = CHANGES[change](place)
            dying_at(int(number))
            writer.run([job])
            os._exit(0)
        _, status = os.waitpid(child, 0)
        ending = {0: "done", 77: "died"}[os.waitstatus_to_exitcode(status)]
        print(ending, flush=True)


if __name__ == "__main__":
    main(sys.stdin)  # type: ignore[arg-type]
