"""Stores the events of a problem's runs one after the other, in the order in which they happened."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import trio

from actors.judge.keeping import Keeping, Kept
from actors.judge.ledger import Recorded
from actors.kernel import KernelError, in_words
from actors.store import StoreError
from codec.judge import LastRun, Notice


class Filing:
    def __init__(self, keeping: Keeping, id: str, tell: Callable[[Notice], None]) -> None:  # noqa: A002 - as on the wire
        self._keeping = keeping
        self._id = id
        self._tell = tell
        self._lock = trio.Lock()

    async def run_began(self, run: LastRun) -> None:
        """Marks the run as begun. Without this mark nobody would learn that it was interrupted."""
        with suppress(StoreError, KernelError):
            async with self._lock:
                await self._keeping.run_began(self._id, run)

    async def stands(self, kept: Kept) -> None:
        """Its folder was edited: the next server's list begins with what is stored here."""
        with suppress(StoreError, KernelError):  # the folder is read again when somebody opens the problem
            async with self._lock:
                await self._keeping.keep(kept)

    async def run_over(self, kept: Kept, records: Sequence[Recorded]) -> None:
        async with self._lock:
            await self._for_later(self._keeping.run_over(kept, records))

    async def at_last(self, records: Callable[[], Sequence[Recorded]]) -> None:
        """Stores the records as they are when everything before has been stored."""
        async with self._lock:
            await self.so_far(records())

    async def so_far(self, records: Sequence[Recorded]) -> None:
        await self._for_later(self._keeping.keep_results(self._id, records))

    async def _for_later(self, keeping: Awaitable[None]) -> None:
        try:
            await keeping
        except (StoreError, KernelError) as error:
            why = in_words(error)
            self._tell(Notice("warn", f"The results of {self._id} will be forgotten when the server stops: {why}"))
