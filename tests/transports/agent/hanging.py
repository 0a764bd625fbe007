"""A disk that hangs: threads that write wait at a step of a write until they are let go.

    TROUPE_TEST_PROGRAM=supervisor.py python tests/transports/agent/hanging.py ...    a server whose disk hangs, as a
                                                                                       file in its folder says
"""

import os
import runpy
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STEPS = ("look", "open draft", "write", "sync", "rename", "sync folder")
"""At `look` nothing is written yet. `rename` is before the system call, which comes when it is let go."""
AFTER = ("sync folder",)
"""Steps after the rename."""
Reached = Callable[[str], None]


@contextmanager
def reached(at: Reached) -> Iterator[None]:
    """`at` is called in threads that write in a workspace, before each step."""
    from transports.folder import drafts, whole_files

    tidying: Any = whole_files
    kept = os.open, os.write, os.fsync, drafts.sync_data, drafts._renameat2, tidying.sweep

    def before(step: str, call: Any, is_meant: Callable[..., bool] = lambda *args: True) -> Any:
        def called(*args: Any, **more: Any) -> Any:
            if threading.current_thread().name.startswith("writing in") and is_meant(*args):
                at(step)
            return call(*args, **more)

        return called

    os.open = before("open draft", os.open, lambda path, flags, *_: bool(flags & os.O_EXCL))
    os.write = before("write", os.write)
    os.fsync = before("sync folder", os.fsync, lambda file: stat.S_ISDIR(os.fstat(file).st_mode))
    drafts.sync_data = before("sync", drafts.sync_data)
    drafts._renameat2 = before("rename", drafts._renameat2)
    tidying.sweep = before("look", tidying.sweep)
    try:
        yield
    finally:
        os.open, os.write, os.fsync, drafts.sync_data, drafts._renameat2, tidying.sweep = kept


class Hanging:
    """Hangs at one step, once."""

    def __init__(self, step: str) -> None:
        self.begun = threading.Event()
        self.go = threading.Event()
        self._step = step

    def at(self, step: str) -> None:
        if step == self._step and not self.begun.is_set():
            self.begun.set()
            self.go.wait(30)


def by_file(place: Path) -> Reached:
    """Hangs at the step that stands in the file `hang`, as long as that is there; `hangs` tells that it does."""
    wish, told = place / "hang", place / "hangs"

    def at(step: str) -> None:
        while wish.exists() and wish.read_text() == step:
            told.touch()
            time.sleep(0.005)

    return at


if __name__ == "__main__":
    program = sys.argv[0] = os.environ.pop("TROUPE_TEST_PROGRAM")
    sys.path[0] = str(Path(program).parent)
    with reached(by_file(Path.cwd())):
        runpy.run_path(program, run_name="__main__")
