"""A thread with an engine, which is told once that nothing is to be done, and not before that was so for a while."""

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from actors.store import executors
from actors.store.executors import Inline, Threaded
from tests.patience import PATIENCE


class Resting:
    """An engine that has something to tidy up after each work."""

    def __init__(self) -> None:
        self.did: list[str] = []
        self.rested = threading.Event()
        self._tidy = True

    def execute(self, jobs: Sequence[Any]) -> list[object]:
        self._tidy = False
        self.did.append("work")
        return list(jobs)

    def rest(self, *, idle: bool) -> bool:
        if idle:
            self._tidy = True
            self.did.append("rest")
            self.rested.set()
        return not self._tidy

    def close(self) -> None:
        self.did.append("close")


async def test_after_some_work_there_is_one_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "IDLE_SECONDS", 0.02)
    engine = Resting()
    executor = Threaded(lambda: engine, "resting")
    await executor.opened()
    for number in range(2):
        executor.submit([number])
        done = await executor.done()
        assert done is not None
        assert engine.rested.wait(PATIENCE)
        engine.rested.clear()
    executor.close()
    assert await executor.done() is None
    executor.leave()
    assert engine.did == ["work", "rest", "work", "rest", "close"]


class Unclosable(Resting):
    def close(self) -> None:
        super().close()
        raise OSError("it cannot be closed")


async def test_whoever_asks_late_hears_of_the_batch_and_then_of_the_end() -> None:
    engine, turn = Unclosable(), threading.Lock()
    executor = Threaded(lambda: engine, "unclosable", turn)
    await executor.opened()
    executor.submit([1])
    executor.close()
    assert turn.acquire(timeout=PATIENCE), "the thread has ended"
    done = await executor.done()
    assert done is not None
    assert done.answers == [1]
    with pytest.raises(OSError, match="it cannot be closed"):
        await executor.done()
    assert await executor.done() is None
    executor.leave()


async def test_in_the_loop_itself_an_engine_never_has_time_to_rest() -> None:
    engine = Resting()
    executor = Inline(lambda: engine)
    await executor.opened()
    for number in range(2):
        executor.submit([number])
        done = await executor.done()
        assert done is not None
        assert done.answers == [number]
    executor.close()
    assert await executor.done() is None
    executor.leave()
    assert engine.did == ["work", "work", "close"]
