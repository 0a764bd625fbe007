"""Commands that do not want to end, and are stopped at any moment.

    .venv/bin/python -m tests.transports.process.cornered --moments 500 --seed 1

stops so many, one after the other, each at a moment of its own, and says how long it took until nothing was left. The
suite stops a few of them (`test_stopping.py`).
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import trio
from msgspec.structs import replace

from codec.programs import Outcome
from tests.transports.process.house import PYTHON, Processes, open_launcher
from transports.process.run import StoppedBefore

CORNERED = """
import os, signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
print("up", flush=True)
for round in range(12):
    if not os.fork():
        os.setsid()
        if not os.fork():
            os.setsid()
            os.closerange(0, 64)
            while True:
                time.sleep(1000)
        os._exit(0)
    time.sleep(0.004)
os.closerange(0, 64)
while True:
    time.sleep(1000)
"""
"""It ignores what it can, forks on and on, twice each time, leaves its session, and closes its outputs."""

LONGEST = 0.12
"""Seconds from the run's begin to the latest moment: by then it has done all of that."""


class Cornered:
    def __init__(self) -> None:
        self.seconds: list[float] = []
        """From each stop until nothing was left."""
        self.before = 0
        """How many had not started."""

    def share(self, share: float) -> float:
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(share * len(self.seconds)))]


async def stopped(
    processes: Processes, moment: float, *, source: str = CORNERED, offline: bool = False
) -> tuple[Outcome | None, float]:
    """Its outcome (None: it had not started), and how long it took. Nothing is left when that is told."""
    stop, asked = trio.Event(), 0.0

    async def ask() -> None:
        nonlocal asked
        await trio.sleep(moment)
        asked = time.perf_counter()
        stop.set()

    outcome: Outcome | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        command = replace(processes.command([*PYTHON, source]), offline=offline)
        with suppress(StoppedBefore):
            outcome = await processes.runner.run(command, stop=stop)
        over = time.perf_counter()
        left = processes.left()
        nursery.cancel_scope.cancel()
    assert left == [], f"stopped after {moment:.4f} s, {len(left)} processes were left"
    return outcome, over - asked


async def corner(
    processes: Processes, moments: int, chance: random.Random, said: Callable[[str], object] = lambda line: None
) -> Cornered:
    cornered = Cornered()
    for number in range(moments):
        outcome, seconds = await stopped(processes, chance.uniform(0.0, LONGEST), offline=bool(number % 2))
        cornered.seconds.append(seconds)
        cornered.before += outcome is None
        assert outcome is None or outcome.stopped_for == "asked", outcome
        if number % 100 == 99:
            said(f"{number + 1} stopped")
    return cornered


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="cornered-") as folder:
        yield Path(folder)


async def _main(moments: int, seed: int) -> None:
    with _folder() as folder:
        async with open_launcher(folder) as processes:
            cornered = await corner(processes, moments, random.Random(seed), print)
    p50, p99, latest = (1000 * cornered.share(share) for share in (0.5, 0.99, 1.0))
    print(f"{moments} stopped, {cornered.before} of them before they had started; nothing was left of any")
    print(f"until nothing was left: p50 {p50:.1f} ms, p99 {p99:.1f} ms, latest {latest:.1f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--moments", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    trio.run(_main, options.moments, options.seed)
