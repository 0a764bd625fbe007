"""Runs that are asked to stop: the outcome comes, and it comes when nothing of them is left."""

import os
import random
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from codec.programs import Exited, Signalled, Stream
from tests.transports.process.cornered import CORNERED, corner, stopped
from tests.transports.process.house import PATIENCE, PYTHON, Processes, open_launcher
from transports.process.keepers import Launcher
from transports.process.run import Interrupted, StoppedBefore


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[Processes]:
    async with open_launcher(tmp_path) as processes:
        yield processes
        assert await processes.is_healthy()


@pytest.mark.slow
async def test_whoever_is_stopped_at_any_moment_is_gone_when_that_is_told(processes: Processes) -> None:
    with trio.fail_after(PATIENCE):
        cornered = await corner(processes, 40, random.Random(13))
    assert cornered.share(0.5) < 0.25
    assert len(processes.lives) == 1


@pytest.mark.slow
async def test_a_stop_and_an_end_that_cross_are_told_as_one_of_them_and_the_next_run_is_right(
    processes: Processes,
) -> None:
    chance = random.Random(5)
    ends = set()
    for _ in range(30):
        outcome, _ = await stopped(processes, chance.uniform(0.0, 0.05), source="import time; time.sleep(0.005)")
        if outcome is not None:
            ends.add((outcome.end, outcome.stopped_for))
        assert await processes.is_healthy()
    assert ends <= {(Exited(0), None), (Exited(0), "asked"), (Signalled(signal.SIGKILL), "asked")}


class Later:
    """A turn that comes when the test says so."""

    def __init__(self) -> None:
        self.came = trio.Event()
        self.gone = False
        self.begin: Callable[[], None] = lambda: None

    def come(self, begin: Callable[[], None]) -> None:
        self.begin = begin
        self.came.set()

    def over(self) -> None:
        self.gone = True


async def test_whoever_is_stopped_before_its_turn_never_starts_even_if_the_turn_comes_then(
    processes: Processes,
) -> None:
    turn, stop = Later(), trio.Event()

    async def ends() -> None:
        with pytest.raises(StoppedBefore, match="was stopped before it had started"):
            await processes.runner.run(processes.command(["/usr/bin/touch", "here"]), turn=turn, stop=stop)

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ends)
            await turn.came.wait()
            stop.set()
            await trio.testing.wait_all_tasks_blocked()
            turn.begin()
    assert turn.gone
    assert await processes.is_healthy()
    assert not (processes.folder / "here").exists()


async def test_whoever_is_stopped_before_it_has_a_keeper_never_starts(processes: Processes) -> None:
    stop = trio.Event()
    stop.set()
    with trio.fail_after(PATIENCE), suppress(StoppedBefore):
        outcome = await processes.runner.run(processes.command(["/bin/sleep", "1000"]), stop=stop)
        assert outcome.stopped_for == "asked"
    assert processes.left() == []


async def test_a_stop_that_comes_together_with_a_large_order_is_heard(processes: Processes) -> None:
    turn, stop = Later(), trio.Event()
    command = processes.command(["/bin/sh", "-c", "exec sleep 1000", "x" * 100_000])

    async def ends() -> None:
        assert (await processes.runner.run(command, turn=turn, stop=stop)).stopped_for == "asked"

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ends)
            await turn.came.wait()
            turn.begin()
            stop.set()  # the keeper is being forked, and finds both at once


async def test_what_was_written_before_the_stop_is_in_the_outcome(processes: Processes) -> None:
    stop = trio.Event()
    command = processes.command(["/bin/sh", "-c", "echo one; exec sleep 1000"])
    with trio.fail_after(PATIENCE):
        outcome = await processes.runner.run(command, on_output=lambda *_: stop.set(), stop=stop)
    assert (outcome.stopped_for, outcome.stdout.head) == ("asked", b"one\n")


async def test_output_is_told_at_once_to_whoever_listens(processes: Processes) -> None:
    """And not when most programs have ended."""
    os.mkfifo(processes.folder / "go")
    go = os.open(processes.folder / "go", os.O_RDWR)
    command = processes.command(["/bin/sh", "-c", "echo one; read line < go"])
    try:
        with trio.fail_after(PATIENCE):
            outcome = await processes.runner.run(command, on_output=lambda *_: os.write(go, b"\n"), stop=trio.Event())
    finally:
        os.close(go)
    assert outcome.end == Exited(0)


async def test_what_a_listener_raises_comes_as_it_is(processes: Processes) -> None:
    def on_output(stream: Stream, data: bytes) -> None:
        raise ValueError("not what I wanted")

    command = processes.command(["/bin/sh", "-c", "echo one; exec sleep 1000"])
    with pytest.raises(ValueError, match="not what I wanted"):
        await processes.runner.run(command, on_output=on_output, stop=trio.Event())
    await processes.gone()


def _keeper(processes: Processes) -> list[int]:
    return processes.keepers()


def _launcher(processes: Processes) -> list[int]:
    pid = processes.statistics().pid
    assert pid is not None
    return [pid]


def _both(processes: Processes) -> list[int]:
    return [*_launcher(processes), *processes.keepers()]


def _halted(processes: Processes) -> list[int]:
    """It could answer nobody any more."""
    os.kill(_launcher(processes)[0], signal.SIGSTOP)
    return processes.keepers()


VICTIMS = {
    "its keeper": _keeper,
    "the launcher": _launcher,
    "both": _both,
    "its keeper, the launcher is halted": _halted,
}


@pytest.mark.slow
@pytest.mark.parametrize("victims", VICTIMS.values(), ids=VICTIMS)
@pytest.mark.parametrize("offline", [False, True], ids=["", "offline"])
async def test_when_those_that_run_it_are_killed_nothing_is_left_when_that_is_told(
    processes: Processes, victims: Callable[[Processes], list[int]], offline: bool
) -> None:
    up = trio.Event()
    command = replace(processes.command([*PYTHON, CORNERED]), offline=offline)

    async def ends() -> None:
        with pytest.raises(Interrupted):
            await processes.runner.run(command, on_output=lambda *_: up.set(), stop=trio.Event())
        assert processes.left() == []

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ends)
            await up.wait()
            await processes.started(8)
            for pid in victims(processes):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
async def test_a_launcher_that_is_halted_just_after_it_was_asked_is_asked_again(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its signal is on its way for a moment, and then it is not seen to be halted yet."""
    is_halted, looks = Launcher._is_halted, list[bool]()

    def late(launcher: Launcher) -> bool:
        looks.append(is_halted(launcher))
        return looks[-1] and len(looks) > 1

    up = trio.Event()

    async def ends() -> None:
        with pytest.raises(Interrupted):
            await processes.runner.run(
                processes.command([*PYTHON, CORNERED]), on_output=lambda *_: up.set(), stop=trio.Event()
            )
        assert processes.left() == []

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ends)
            await up.wait()
            await processes.started(8)
            (keeper,) = _halted(processes)
            while not is_halted(processes.lives[-1]):  # noqa: ASYNC110  it is the system that is asked
                await trio.sleep(0.001)
            monkeypatch.setattr(Launcher, "_is_halted", late)
            os.kill(keeper, signal.SIGKILL)
