"""How long a batch has been under way: by that a disk is noticed that does not answer any more."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import trio
from trio.testing import MockClock

from actors.store.batches import Batches
from actors.store.executors import Done


class PaperExecutor:
    """Whose batches end when the test says so."""

    def __init__(self) -> None:
        self.batches: list[Sequence[Any]] = []
        self.ended, self._ends = trio.open_memory_channel[Done | None](9)

    async def opened(self) -> None:
        await trio.lowlevel.checkpoint()

    def submit(self, jobs: Sequence[Any], /) -> None:
        self.batches.append(jobs)

    async def done(self) -> Done | None:
        return await self._ends.receive()

    def close(self) -> None:
        self.ended.send_nowait(None)

    def leave(self) -> None: ...


def slip(job: str, told: list[object]) -> Any:
    return SimpleNamespace(job=job, reply=SimpleNamespace(abandoned=False, set=told.append, fail=told.append))


async def test_only_a_batch_that_is_under_way_takes_time(autojump_clock: MockClock) -> None:
    executor, told = PaperExecutor(), list[object]()
    desk = Batches(executor, lambda: None)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(desk.serve)
        await trio.sleep(5)
        assert desk.seconds == 0.0
        desk.take(slip("a", told))
        assert desk.seconds == 0.0
        await trio.sleep(3)
        desk.take(slip("b", told))
        assert desk.seconds == 3.0
        executor.ended.send_nowait(Done(["A"], 3.0))
        await trio.sleep(2)
        assert (executor.batches, told, desk.seconds) == ([["a"], ["b"]], ["A"], 2.0)
        executor.ended.send_nowait(Done(["B"], 2.0))
        await trio.sleep(1)
        assert (told, desk.seconds) == (["A", "B"], 0.0)
        await desk.finish()
