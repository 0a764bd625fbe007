"""Drops images of files that nothing refers to: those of patches that were refused, or that nobody has answered.

    kept for a turn ─> in doubt ─┬─ an event of the log names it       it stays, as long as its session
                                 ├─ a request that waits names it      it stays in doubt
                                 └─ nothing names it                   it is dropped

Rules
  - Nobody looks while a turn's actor may keep images. The session looks after the actor has ended, before the next
    begins, and when the session itself starts; so whatever a kill has left is found then.
  - It looks at what is stored, so it waits until everything that was said is stored.
  - If the store does not answer, the images stay in doubt, and the next look finds them.
"""

from collections.abc import Callable
from contextlib import suppress

import trio

from actors.agent.record import SessionRecord
from actors.kernel import KernelError
from actors.store import StoreError

SECONDS = 5.0
"""A session goes on without it then."""


def always() -> bool:
    return True


class LettingGo:
    def __init__(self, record: SessionRecord) -> None:
        self._record = record
        self._looking = trio.Lock()
        self._due = True
        """Whether there may be images in doubt."""
        self._seen = 0
        """What the events up to this number name is not in doubt any more."""

    def begin(self) -> None:
        """A turn's actor may keep images from now on."""
        self._due = True

    async def look(self, may: Callable[[], bool] = always) -> None:
        """`may`: whether it may look, when its time has come."""
        async with self._looking:
            if not self._due or not may():
                return
            record = self._record
            with trio.move_on_after(SECONDS), suppress(KernelError, StoreError):
                kept = trio.Event()
                record.writing.then(kept.set)
                await kept.wait()
                upto, pending = record.next - 1, record.row.pending
                waited_for = {blob for each in pending for blob in (each.base, each.content) if blob is not None}
                await record.log.let_go(waited_for, self._seen)
                self._due, self._seen = bool(waited_for), upto
