"""How the judge's runs share the launcher."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from transports.judge import solving
from transports.judge.solving import Machine
from transports.process.keepers import RUNNING
from transports.process.run import Interrupted, Now


@dataclass
class Bounds:
    cpu_seconds = wall_seconds = 1.0
    memory_bytes = None
    output_bytes = flood_bytes = 1000


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
            await machine.run(["true"], cwd=Path("/"), stdin=None, bounds=Bounds(), turn=Now())
        done.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(2 * RUNNING):
            nursery.start_soon(run, number)
        await wait_all_tasks_blocked()
        assert runner.running == RUNNING - 4
        runner.ended.set()
    assert len(done) == 2 * RUNNING


class Ends:
    """Runs that are interrupted: so many before they have begun, and then each that has."""

    def __init__(self, before: int) -> None:
        self.before = before
        self.asked = 0

    async def run(self, command: Any, *, turn: Any) -> Any:
        self.asked += 1
        if self.asked > self.before:
            turn.come(lambda: None)
        await trio.lowlevel.checkpoint()
        turn.over()
        raise Interrupted("somebody did it")


@pytest.mark.parametrize("before", [0, 3])
async def test_only_who_had_begun_can_have_ended_what_ran_it(monkeypatch: pytest.MonkeyPatch, before: int) -> None:
    runner = Ends(before)
    monkeypatch.setattr(solving, "Runner", lambda registry: runner)
    monkeypatch.setattr(solving, "Interpreters", lambda runner: None)
    machine: Any = Machine(Path("/"), {})  # type: ignore[arg-type]
    assert await machine.run(["true"], cwd=Path("/"), stdin=None, bounds=Bounds(), turn=Now()) is None
    assert runner.asked == before + 1
