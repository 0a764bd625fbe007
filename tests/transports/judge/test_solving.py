"""How the judge's runs share the launcher."""

import sys
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from codec.programs import Bounds, Outcome
from tests.judge.kit import an_outcome
from tests.transports.process.house import open_launcher
from transports.judge import solving
from transports.judge.solving import Machine
from transports.process.keepers import RUNNING
from transports.process.run import Interrupted, Now


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
    machine: Any = Machine(Path("/"), {})  # type: ignore[arg-type]
    assert await machine.run(["true"], cwd=Path("/"), stdin=None, bounds=Bounds(), turn=Now()) is None
    assert runner.asked == before + 1


class Hears:
    """Runs nothing, and says what is to be said of it."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.bounds: list[Bounds] = []

    async def run(self, command: Any, *, turn: Any = None) -> Any:
        self.bounds.append(command.bounds)
        await trio.lowlevel.checkpoint()
        return self.outcome

    def renew(self) -> None:
        pass


async def test_bounds_and_outcomes_are_handed_on_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands between the judge and the launcher puts neither into words of its own."""
    runner, bounds = Hears(an_outcome(b"1")), Bounds(cpu_seconds=1.0, processes=3, file_bytes=7, flood_bytes=9)
    monkeypatch.setattr(solving, "Runner", lambda registry: runner)
    machine: Any = Machine(Path("/"), {})  # type: ignore[arg-type]
    for turn in (Now(), None):
        assert await machine.run(["x"], cwd=Path("/"), stdin=None, bounds=bounds, turn=turn) is runner.outcome
    assert await machine.elsewhere("x", [], bounds) is runner.outcome
    assert all(each is bounds for each in runner.bounds)
    assert len(runner.bounds) == 3


IS_CLONE = "print(b'PYTHONPATH' in open('/proc/self/environ', 'rb').read())"


@pytest.mark.parametrize(
    ("start_ahead", "are_clones"), [(True, (b"False", b"True", b"True", b"False")), (False, 4 * (b"False",))]
)
async def test_a_solution_that_runs_again_does_not_start_its_interpreter_again(
    tmp_path: Path, start_ahead: bool, are_clones: tuple[bytes, ...]
) -> None:
    """But the first of a series starts it, and so does one that runs alone after an interruption."""
    script, given = tmp_path / "main.py", tmp_path / "1.in"
    script.write_text(IS_CLONE)
    given.touch()
    async with open_launcher(tmp_path) as processes:
        machine = Machine(tmp_path, processes.registry, start_ahead=start_ahead)
        interpreter = await machine.resolve(sys.executable)

        async def run(turn: Now | None) -> bytes:
            outcome = await machine.run(
                [str(interpreter), str(script)], cwd=tmp_path, stdin=given, bounds=Bounds(), turn=turn
            )
            assert outcome is not None
            return outcome.stdout.head.strip()

        assert tuple([await run(turn) for turn in (Now(), Now(), Now(), None)]) == are_clones
