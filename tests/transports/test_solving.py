"""How the judge's runs share the launcher."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from transports import solving
from transports.process_launcher import RUNNING
from transports.solving import Machine


@dataclass
class Bounds:
    cpu_seconds = wall_seconds = 1.0
    memory_bytes = None
    output_bytes = flood_bytes = 1000


class Now:
    def come(self, begin: Callable[[], None]) -> None:
        begin()

    def over(self) -> None:
        pass


NOW = Now()


class Runner:
    """Runs nothing, until it is told that all have ended."""

    def __init__(self, registry: Any) -> None:
        self.running = 0
        self.ended = trio.Event()

    async def run(self, command: Any, *, turn: Any) -> Any:
        self.running += 1
        await self.ended.wait()
        self.running -= 1


async def test_more_solutions_than_the_launcher_runs_wait_their_turn(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    runners: list[Runner] = []

    def make(registry: Any) -> Runner:
        runners.append(Runner(registry))
        return runners[-1]

    monkeypatch.setattr(solving, "Runner", make)
    monkeypatch.setattr(solving, "Interpreters", lambda runner: None)
    machine: Any = Machine(Path("/"), {})  # type: ignore[arg-type]
    (runner,) = runners
    done: list[int] = []

    async def run(number: int) -> None:
        async with machine.room():
            await machine.run(["true"], cwd=Path("/"), stdin=None, bounds=Bounds(), turn=NOW)
        done.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(2 * RUNNING):
            nursery.start_soon(run, number)
        await wait_all_tasks_blocked()
        assert runner.running == RUNNING - 4
        runner.ended.set()
    assert len(done) == 2 * RUNNING
