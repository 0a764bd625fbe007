"""The process in which large outputs are compared, for real: its ends, and how little the server notices."""

import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from actors.judge import comparing
from actors.judge.checkers import Differs, Same, Verdict
from actors.judge.comparing import ELSEWHERE, MODULE, Undecided
from actors.judge.difference import diff_summary
from actors.judge.run import _compared
from codec.judge import Compare
from tests.transports.process.house import PATIENCE, Processes, marked, open_launcher
from transports.judge.solving import Machine
from transports.process.launcher import census

pytestmark = pytest.mark.slow

LONG = b"1.000000 " * (ELSEWHERE // 9)
NEAR = LONG.replace(b"1.000000 ", b"1.0000001 ")


class Comparer:
    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self.machine = Machine(Path("/"), processes.registry)

    def alive(self) -> list[int]:
        """Those of our own launcher."""
        below = [child for keeper in self._processes.keepers() for child in census.children(keeper)]
        return [pid for pid in marked(MODULE) if pid in below]

    async def until(self, count: int) -> list[int]:
        with trio.fail_after(PATIENCE):
            while len(found := self.alive()) != count:  # noqa: ASYNC110  it is the system that is asked
                await trio.sleep(0.005)
        return found

    async def compared(self, expected: bytes = LONG, actual: bytes = NEAR) -> Verdict | Undecided:
        with trio.fail_after(PATIENCE):
            return await _compared(self.machine, expected, actual, Compare(mode="float", tolerance=1e-6))


@asynccontextmanager
async def comparer(folder: Path) -> AsyncIterator[Comparer]:
    async with open_launcher(folder) as processes:
        yield Comparer(processes)


async def test_a_real_process_finds_what_differs_and_what_does_not(tmp_path: Path) -> None:
    async with comparer(tmp_path) as real:
        assert await real.compared() == Same()
        found = await real.compared(LONG, NEAR + b"\n7")
        assert isinstance(found, Differs)
        assert diff_summary(found) == "line 2: expected end of output got '7'"
        await real.until(0)


async def test_a_comparison_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    async with comparer(tmp_path) as real, trio.open_nursery() as nursery:
        nursery.start_soon(real.compared)
        await real.until(1)
        nursery.cancel_scope.cancel()
    async with comparer(tmp_path) as real:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(real.compared)
            await real.until(1)
            nursery.cancel_scope.cancel()
        await real.until(0)
        assert await real.compared() == Same(), "and the next one is right"


async def test_a_comparer_that_is_killed_is_told_in_a_sentence(tmp_path: Path) -> None:
    async with comparer(tmp_path) as real:
        told: list[object] = []

        async def compare_() -> None:
            told.append(await real.compared())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(compare_)
            [pid] = await real.until(1)
            os.kill(pid, signal.SIGKILL)
        [answer] = told
        assert isinstance(answer, Undecided)
        assert answer.why.endswith("the comparison was ended by something else. Run it again.")
        await real.until(0)


async def test_a_comparison_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "SECONDS", 0.05)
    monkeypatch.setattr("actors.judge.run.SECONDS", 0.05)
    async with comparer(tmp_path) as real:
        answer = await real.compared()
        assert isinstance(answer, Undecided)
        assert answer.why.endswith("the comparison took more than 0.05 seconds and was given up.")
        await real.until(0)


class Steps(trio.abc.Instrument):
    """How long the loop's longest step was, in its own CPU time: what others do to the machine does not count."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._began = time.thread_time()

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._began = time.thread_time()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self.longest = max(self.longest, time.thread_time() - self._began)


async def test_a_hundred_megabytes_hold_nobody_up(tmp_path: Path) -> None:
    expected, actual = LONG * 12, NEAR * 12
    assert len(expected) > 100_000_000
    async with comparer(tmp_path) as real:
        steps = Steps()
        trio.lowlevel.add_instrument(steps)
        try:
            assert await real.compared(expected, actual) == Same()
        finally:
            trio.lowlevel.remove_instrument(steps)
        assert steps.longest < 0.01, f"a step of {steps.longest * 1000:.0f} ms"
