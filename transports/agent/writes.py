"""Writes below a workspace's folder, also those that nobody waits for any more.

    under way ──> over
        └─ given up ──> over

A thread in a system call cannot be ended, and a disk may hang. So a caller that gives up a write is free at once, as
with reading. But the write has then done nothing, or all of it, or a part, and that is known only when its thread is
back.

Rules
  - A write that was given up begins no rename any more (`wanted`). A rename that it has begun may still happen.
  - Until its thread is back, nothing else is written below the same root: nobody could tell which write came last.
  - A write that has not begun when it is given up never begins.
  - `rested` returns when all writes that were given up are over. Only then do the files say what became of them.
  - A write has a deadline. After that it is given up on behalf of the caller that waits.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

import trio

from codec.agent.files import FileRefused, FileUnknown
from codec.words import counted

SECONDS = 60.0

Wanted = Callable[[], bool]
T = TypeVar("T")


class FolderWrite:
    """One of them. Its thread and the loop both change it, under the lock of all."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self.begun = False
        self.over = False
        self.given_up = False

    def wanted(self) -> bool:
        return not self.given_up


class FolderWrites:
    """All below one root, from whichever session."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._lock = threading.Lock()
        """Held for a few steps only, and never while anything waits for a disk."""
        self._given_up: list[FolderWrite] = []
        """Those that are not over."""
        self._ends = trio.lowlevel.ParkingLot()

    async def do(self, paths: Sequence[str], job: Callable[[Wanted], T], limiter: trio.CapacityLimiter) -> T:
        """`paths`: what is written, for whoever is told that nobody knows. Raises FileRefused; FileUnknown, if this
        write itself was given up at its deadline."""
        write, token = FolderWrite(paths), trio.lowlevel.current_trio_token()

        def in_thread() -> T:
            self._begin(write)
            try:
                return job(write.wanted)
            finally:
                with self._lock:
                    write.over = True
                with suppress(trio.RunFinishedError):
                    token.run_sync_soon(self._end, write)

        self._check()
        with trio.move_on_after(SECONDS):
            try:
                return await trio.to_thread.run_sync(
                    in_thread, thread_name=f"writing in {self._root}", abandon_on_cancel=True, limiter=limiter
                )
            finally:
                self._leave(write)
        if not write.begun:
            raise FileRefused(f"Nothing was written: the disk of {self._root} does not answer.")
        raise FileUnknown(self._not_known(write))

    async def rested(self) -> None:
        """Waits until all that were given up are over, however long that takes."""
        while self._given_up:
            await self._ends.park()

    def _check(self) -> None:
        """Raises FileRefused."""
        for write in self._given_up[:1]:
            raise FileRefused(
                f"{self._not_known(write)} Nothing else is changed in this workspace until that is known. Try again"
                " when the disk answers."
            )

    def _not_known(self, write: FolderWrite) -> str:
        first, *others = write.paths or ("anything",)
        what = f"{first} and {counted(len(others), 'other')} were" if others else f"{first} was"
        return f"It is not known yet whether {what} written: the disk of {self._root} does not answer."

    def _begin(self, write: FolderWrite) -> None:
        """In the thread. Raises FileRefused: nobody waits for it any more, or another one was given up meanwhile."""
        with self._lock:
            if write.given_up:
                raise FileRefused("It was given up.")
            self._check()
            write.begun = True

    def _leave(self, write: FolderWrite) -> None:
        """Nobody waits for it any more: it is over, or given up."""
        with self._lock:
            if write.over:
                return
            write.given_up = True
            if write.begun:
                self._given_up.append(write)

    def _end(self, write: FolderWrite) -> None:
        with self._lock:
            if write in self._given_up:
                self._given_up.remove(write)
        if not self._given_up:
            self._ends.unpark_all()
