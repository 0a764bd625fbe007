"""A launcher, and those who look whether anything is left of what it ran.

Run as a program, it is a server that runs one command, to be killed.
"""

import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import trio

from actors.kernel import ChildSpec, Stage, Top, run
from codec.programs import Bounds, Exited, Outcome
from transports.process.command import Command
from transports.process.keepers import Launcher, LauncherStatistics, launcher_spec
from transports.process.launcher import census
from transports.process.launcher.ahead import sitecustomize
from transports.process.run import Runner

PATIENCE = 60.0
"""Real time after which a test that waits for a process has failed."""

PYTHON = (sys.executable, "-I", "-S", "-c")


class Processes:
    """Every process that is run through this carries a mark, in its environment or its arguments."""

    def __init__(self, stage: Stage, lives: list[Launcher], folder: Path, mark: str) -> None:
        self.runner = Runner(stage.registry)
        self.registry = stage.registry
        self.stage = stage
        self.folder = folder
        self.mark = mark
        self.lives = lives
        """The launcher's incarnations."""

    def statistics(self) -> LauncherStatistics:
        return self.lives[-1].statistics()

    def keepers(self) -> list[int]:
        pid = self.statistics().pid
        assert pid is not None
        return census.children(pid)

    def command(self, argv: Sequence[str], *, stdin: bytes | Path = b"", **bounds: Any) -> Command:
        bounds.setdefault("wall_seconds", PATIENCE)
        env = {"PATH": os.defpath, "MARK": self.mark}
        return Command(argv, self.folder, env, stdin, Bounds(**bounds))

    async def run(self, argv: Sequence[str], *, stdin: bytes | Path = b"", **bounds: Any) -> Outcome:
        with trio.fail_after(PATIENCE + 10):
            return await self.runner.run(self.command(argv, stdin=stdin, **bounds))

    async def python(self, source: str, *, stdin: bytes | Path = b"", **bounds: Any) -> Outcome:
        return await self.run([*PYTHON, source], stdin=stdin, **bounds)

    def left(self) -> list[int]:
        return marked(self.mark)

    async def started(self, count: int = 1) -> list[int]:
        """Wait until at least so many of the marked run."""
        with trio.fail_after(PATIENCE):
            while len(found := self.left()) < count:  # noqa: ASYNC110  it is the system that is asked
                await trio.sleep(0.005)
        return found

    @asynccontextmanager
    async def one_that_stays(self) -> AsyncIterator[None]:
        """It runs for as long as the block lasts, whatever else is run or refused there, and ends as it should."""
        go = self.folder / "go"
        os.mkfifo(go)

        async def stays() -> None:
            assert (await self.run(["/bin/sh", "-c", "read line < go; exit 5"])).end == Exited(5)

        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(stays)
                await self.started()
                yield
                go.write_text("\n")

    async def gone(self) -> float:
        """Wait until nothing is left; how long that took."""
        return await gone(self.mark)

    async def is_healthy(self) -> bool:
        """The next run is right, and nothing of the last is left: a keeper that was let go before it had read its order
        still begins with it."""
        outcome = await self.run(["/bin/echo", "well"])
        await self.gone()
        return outcome.stdout.head == b"well\n"


async def gone(mark: str) -> float:
    began = time.monotonic()
    with trio.fail_after(PATIENCE):
        while marked(mark):  # noqa: ASYNC110  it is the system that is asked
            await trio.sleep(0.005)
    return time.monotonic() - began


def marked(mark: str) -> list[int]:
    """Living processes that carry the mark. Interpreters that wait for the next run of a program are no part of one."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        text = b""
        if waits(int(name)):
            continue
        for place in ("environ", "cmdline"):
            try:
                text += Path("/proc", name, place).read_bytes()
            except OSError:  # it has gone, or is a zombie
                continue
        if mark.encode() in text and int(name) != os.getpid():
            found.append(int(name))
    return found


def waits(pid: int) -> bool:
    try:
        return Path("/proc", str(pid), "comm").read_bytes() == sitecustomize.NAME + b"\n"
    except OSError:  # it has gone
        return False


@asynccontextmanager
async def open_launcher(folder: Path, **options: Any) -> AsyncIterator[Processes]:
    stages: list[Stage] = []
    lives: list[Launcher] = []

    def make() -> Launcher:
        lives.append(Launcher(**options))
        return lives[-1]

    spec = ChildSpec("top", lambda: Top([launcher_spec(make)]), start_timeout=PATIENCE, grace=PATIENCE)
    async with trio.open_nursery() as nursery:
        ref = await nursery.start(partial(run, spec, on_stage=stages.append))
        yield Processes(stages[0], lives, folder, f"mark-{os.getpid()}-{time.monotonic_ns()}")
        with trio.fail_after(PATIENCE):
            await ref.stop()


async def _serve(*arguments: str) -> None:
    mark, source = arguments
    async with open_launcher(Path("/")) as processes:
        processes.mark = mark
        await processes.python(source)


if __name__ == "__main__":
    trio.run(_serve, *sys.argv[1:])
