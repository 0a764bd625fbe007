"""Programs against those who run them, beside honest ones: with what the kernel offers against them, and without it."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from codec.programs import Bounds, Outcome
from tests.transports.process.hostile import HOSTILE, program
from tests.transports.process.house import PATIENCE, PYTHON, Processes, open_launcher
from transports.judge.solving import Machine
from transports.process.launcher import system
from transports.process.run import Now

UNPROTECTED = Path(__file__).parents[1] / "process" / "unprotected_launcher.py"
HONEST = "import time; time.sleep(0.1); print('well')"


BOUNDS = Bounds(cpu_seconds=10.0, wall_seconds=PATIENCE, output_bytes=1000, flood_bytes=1000)


def can_protect() -> bool:
    """What a fork finds out: there is no way back from it."""
    child = os.fork()
    if not child:
        system.gain_nothing()
        os._exit(not system.keep_to_ourselves())
    return os.waitpid(child, 0)[1] == 0


@pytest.fixture
async def unprotected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Processes]:
    monkeypatch.setattr("transports.process.keepers.PROGRAM", UNPROTECTED)
    async with open_launcher(tmp_path) as processes:
        yield processes
        assert await processes.is_healthy()


async def judged(processes: Processes, machine: Machine, source: str) -> Outcome:
    """As the judge does it: who was interrupted is run again, alone."""
    run = [*PYTHON, f"{source}  # {processes.mark}"]
    with trio.fail_after(PATIENCE):
        ran = await machine.run(run, cwd=Path("/"), stdin=None, bounds=BOUNDS, turn=Now())
        ran = ran or await machine.run(run, cwd=Path("/"), stdin=None, bounds=BOUNDS, turn=None)
    assert ran is not None
    return ran


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
async def test_who_ends_what_runs_it_is_found_out_and_the_honest_beside_it_is_not_blamed(
    unprotected: Processes, name: str
) -> None:
    machine = Machine(Path("/"), unprotected.registry)
    honest: list[bytes] = []
    blamed: list[str | None] = []

    async def is_honest() -> None:
        honest.extend([(await judged(unprotected, machine, HONEST)).stdout.head for _ in range(3)])

    async def is_hostile() -> None:
        blamed.extend([(await judged(unprotected, machine, program(name))).stopped_for for _ in range(2)])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(is_honest)
        nursery.start_soon(is_hostile)
        nursery.start_soon(is_hostile)
    assert honest == [b"well\n"] * 3
    assert blamed == ["interference"] * 4
    await unprotected.gone()


@pytest.mark.slow
@pytest.mark.skipif(not can_protect(), reason="this kernel lets every program signal every other of its user")
@pytest.mark.parametrize("name", HOSTILE)
async def test_where_the_kernel_forbids_it_nobody_but_itself_can_be_interrupted(tmp_path: Path, name: str) -> None:
    async with open_launcher(tmp_path) as processes:
        machine = Machine(Path("/"), processes.registry)
        interrupted = False

        async def is_hostile() -> None:
            bounds = replace(BOUNDS, wall_seconds=0.3)
            await machine.run([*PYTHON, program(name)], cwd=Path("/"), stdin=None, bounds=bounds, turn=Now())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(is_hostile)
            for _ in range(3):
                honest = await machine.run([*PYTHON, HONEST], cwd=Path("/"), stdin=None, bounds=BOUNDS, turn=Now())
                interrupted |= honest is None
        assert not interrupted
        assert len(processes.lives) == 1
        assert await processes.is_healthy()


async def test_nobody_gains_privileges_and_nobody_looks_into_what_runs_it(tmp_path: Path) -> None:
    async with open_launcher(tmp_path) as processes:
        said = await processes.run(["/bin/cat", "/proc/self/status"])
        assert b"NoNewPrivs:\t1" in said.stdout.head
        source = "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
        assert (await processes.python(source)).stdout.head == b"1\n"  # what is run itself is as any program is
        source = "import ctypes, os; print(ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0))"
        assert (await processes.python(source)).stdout.head == b"-1\n"
