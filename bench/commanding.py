"""The agent's commands: how long a cancel takes until nothing of a command is left.

Each command forks on and on, leaves its session, ignores whatever it can and closes its outputs
(tests/transports/process/cornered.py). It is run as a turn runs it: by its own actor, in a folder of its workspace,
off the network where the system allows that. It is cancelled at a moment of its own, and the time is from there until
the command's actor has ended, which it does when the keeper has said that nothing is left. Then /proc is searched for a
mark in the environment of every process: one that is found ends the bench.

TROUPE_BENCH_CANCELS=5000 draws more of them than 500.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Never

import trio

from actors.agent.commanding import CommandLife, command_spec, commands_ended, commands_specs
from actors.kernel import ActorRef, Children
from actors.kernel.testing import staged
from bench.harness import Result, Unit
from codec.agent.commands import CommandOrder
from tests.transports.process.cornered import CORNERED, LONGEST
from tests.transports.process.house import PYTHON, Processes, open_launcher
from transports.agent.commands import ShellCommands

CANCELS = int(os.environ.get("TROUPE_BENCH_CANCELS", "500"))
MILLISECONDS = Unit("ms", cost=True, scale=1e-3)
ALLOWED = (("p50", 0.5, 250.0), ("p99", 0.99, 250.0), ("latest", 1.0, 1_000.0))
"""Milliseconds."""


def cases(name: str) -> Iterator[Result]:
    """`name`: of the bench in which they stand."""
    seconds = sorted(trio.run(_cancelled, CANCELS))
    for rank, share, allowed in ALLOWED:
        figure = seconds[min(len(seconds) - 1, int(share * len(seconds)))]
        goal = None if rank == "latest" else 1.0
        case = f"{len(seconds)} commands cancelled, {rank}"
        yield Result.between(name, case, "allowed", [(1000 * figure, allowed)], MILLISECONDS, goal)


async def _cancelled(count: int) -> Sequence[float]:
    chance, seconds = Random(1), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        async with open_launcher(Path(folder)) as processes, staged(*commands_specs()) as house:
            commands = ShellCommands(processes.runner)
            await commands.confines()
            order = CommandOrder((*PYTHON, CORNERED), folder, environment={"MARK": processes.mark})
            for number in range(count):
                life, turn = CommandLife(order), f"turn{number}"
                crowd: ActorRef[Children[Never]] = house["commands"]
                await crowd.start_child(command_spec(f"{turn}-c1", house.root, life, commands))
                await trio.sleep(chance.uniform(0.0, LONGEST))
                began = perf_counter()
                life.stop.set()
                await commands_ended(house.stage.registry, turn)
                seconds.append(perf_counter() - began)
                _check(processes)
    return seconds


def _check(processes: Processes) -> None:
    if left := processes.left():
        raise AssertionError(f"{len(left)} processes of a cancelled command are left")
