"""Requests that are submitted at the same time are put into the folder together, for the price of one sync.

One of the submitting tasks writes for all that wait at that moment. Those that come meanwhile wait for the next trip,
and one of them makes it.
"""

from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field

import trio

from troupe.ipc.folder import SHORT, DeskFolder
from troupe.ipc.troubles import DeskError
from troupe.ipc.visits import TakesLonger

MOST_AT_ONCE = 512
FEW = 8
"""So many are written in the loop, where no device is waited for."""


@dataclass(eq=False, slots=True)
class _Load:
    requests: dict[str, bytes]
    is_over: bool = False
    woken: trio.Event = field(default_factory=trio.Event)
    fates: dict[str, OSError | None] | None = None
    trouble: DeskError | None = None


class Dropping:
    def __init__(self, folder: DeskFolder) -> None:
        self._folder = folder
        self._waiting: deque[_Load] = deque()
        self._writing = False
        self._threads = trio.CapacityLimiter(1)

    async def drop(self, requests: dict[str, bytes]) -> dict[str, OSError | None]:
        """As DeskFolder.drop. If it is cancelled while others write, the requests may be there or not."""
        load = _Load(requests)
        self._waiting.append(load)
        try:
            while not load.is_over:
                if self._writing:
                    load.woken = trio.Event()
                    await load.woken.wait()
                else:
                    await self._make_a_trip()
        finally:
            if not load.is_over and load in self._waiting:
                self._waiting.remove(load)
            self._call_the_next()
        if load.trouble is not None:
            raise load.trouble
        assert load.fates is not None
        return load.fates

    async def _make_a_trip(self) -> None:
        aboard: list[_Load] = []
        together: dict[str, bytes] = {}
        for load in self._waiting:
            if aboard and len(together) + len(load.requests) > MOST_AT_ONCE:
                break
            if together.keys() & load.requests.keys():  # the same id twice: the second finds the first there
                break
            together |= load.requests
            aboard.append(load)
        self._writing = True
        fates: dict[str, OSError | None] = {}
        trouble: DeskError | None = None
        try:
            is_short = self._folder.in_memory and sum(map(len, together.values())) <= SHORT and len(together) <= FEW
            if is_short:
                await trio.lowlevel.checkpoint()
                with suppress(TakesLonger):
                    fates = self._folder.drop(together, waits=False)
            if not fates:
                fates = await trio.to_thread.run_sync(self._folder.drop, together, limiter=self._threads)
        except DeskError as error:
            trouble = error
        finally:
            self._writing = False
        for load in aboard:
            if trouble is not None:
                load.trouble = type(trouble)(*trouble.args)
            else:
                load.fates = {each: fates[each] for each in load.requests}
            load.is_over = True
            if load in self._waiting:
                self._waiting.remove(load)
            load.woken.set()

    def _call_the_next(self) -> None:
        if self._waiting and not self._writing:
            self._waiting[0].woken.set()
