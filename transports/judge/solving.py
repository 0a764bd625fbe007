"""How the judge runs solutions: on the launcher, within the bounds that it names (`codec/programs.py`).

Who was interrupted is to be run again alone, so that it is known whose fault it was (see `seclusion.py`).
"""

import functools
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import trio

from actors.kernel import Registry
from codec.programs import NOTHING, Bounds, Outcome, Signalled
from transports.process.command import Command
from transports.process.keepers import RUNNING
from transports.process.programs import Interpreters, NoSuchProgram, clean_env
from transports.process.run import Interrupted, NotStarted, Now, Runner, Turn
from transports.process.seclusion import Seclusion

T = TypeVar("T")

AT_ONCE = RUNNING - 4
"""Solutions that are made ready or run at once, of all problems. Somewhat fewer than the launcher runs, for it
refuses, and is asked for an interpreter now and then too."""
OURS = Path(__file__).resolve().parents[2]
"""Where our own modules are found."""

INTERFERED = Outcome(
    end=Signalled(signal.SIGKILL),
    stopped_for="interference",
    cpu_seconds=0.0,
    wall_seconds=0.0,
    peak_bytes=0,
    contended=False,
    stdout=NOTHING,
    stderr=NOTHING,
)
"""All that is known of who has ended what ran it."""


class Machine:
    def __init__(self, cwd: Path, registry: Registry) -> None:
        """`cwd`: where commands are looked for, as a shell there would."""
        self._runner = Runner(registry)
        self._interpreters = Interpreters(self._runner)
        self._cwd = cwd
        self._rooms = trio.CapacityLimiter(AT_ONCE)
        self._seclusion = Seclusion()
        self._env = clean_env({"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"})

    async def resolve(self, command: str) -> Path | str:
        """The interpreter that a command means; or why there is none that works."""
        find = functools.partial(self._interpreters.resolve, command, cwd=self._cwd, env=self._env)
        try:
            try:
                return await find()
            except Interrupted:
                async with self._seclusion.alone():
                    self._runner.renew()
                    return await find()
        except (NoSuchProgram, NotStarted, Interrupted) as error:
            return str(error)

    @asynccontextmanager
    async def room(self) -> AsyncIterator[None]:
        """For one program. Who is to begin first must come first, for those who wait for others hold theirs."""
        try:
            self._rooms.acquire_nowait()  # without a checkpoint, which costs as much as all the rest
        except trio.WouldBlock:
            await self._rooms.acquire()
        try:
            yield
        finally:
            self._rooms.release()

    async def run(
        self, program: Sequence[str], *, cwd: Path, stdin: Path | None, bounds: Bounds, turn: Turn | None
    ) -> Outcome | None:
        command = Command(program, cwd, self._env, b"" if stdin is None else stdin, bounds)
        if turn is None:
            async with self._seclusion.alone():
                self._runner.renew()
                try:
                    return await self._runner.run(command)
                except Interrupted:
                    self._runner.renew()  # it may only have been halted, and what it ran would stay
                    return INTERFERED
        while True:
            among = self._seclusion.among_others(turn)
            try:
                return await self._runner.run(command, turn=among)
            except Interrupted:
                if among.begun:
                    return None
                turn = Now()  # its own has passed; whatever it was, this program had no part in it

    async def elsewhere(self, module: str, given: Sequence[bytes], bounds: Bounds) -> Outcome:
        """A module of ours, in a process of its own that is measured, limited and ended as a solution is."""
        command = Command((sys.executable, "-m", module), OURS, self._env, tuple(given), bounds)
        try:
            return await self._runner.run(command)
        except Interrupted:
            async with self._seclusion.alone():
                self._runner.renew()
                return await self._runner.run(command)

    async def apart(self, call: Callable[..., T], *args: Any) -> T:
        return await trio.to_thread.run_sync(functools.partial(call, *args), abandon_on_cancel=True)


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
