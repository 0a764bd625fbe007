"""Runs the judge's solutions on the launcher, within the bounds that `codec/programs.py` names.

A solution that was interrupted is run again alone, to find out whether the interruption was its own fault (see
`seclusion.py`).
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
"""Solutions of all problems that are prepared or run at once. The launcher can run a few more. It refuses above its own
limit, and it also has to run interpreters now and then to locate them."""
OURS = Path(__file__).resolve().parents[2]
"""The folder of our own modules."""

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
"""The reason for a solution that has ended its own launcher. Nothing more is known."""


class Machine:
    def __init__(self, cwd: Path, registry: Registry, *, start_ahead: bool = True) -> None:
        """`cwd`: the folder from which commands are searched, as by a shell there."""
        self._start_ahead = start_ahead
        self._runner = Runner(registry)
        self._interpreters = Interpreters(self._runner)
        self._cwd = cwd
        self._rooms = trio.CapacityLimiter(AT_ONCE)
        self._seclusion = Seclusion()
        self._env = clean_env({"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"})

    async def resolve(self, command: str) -> Path | str:
        """The interpreter for a command, or the reason why none works."""
        find = functools.partial(self._interpreters.resolve, command, cwd=self._cwd, env=self._env)
        try:
            try:
                return await find()
            except Interrupted:
                async with self._seclusion.alone(command):
                    self._runner.renew()
                    return await find()
        except (NoSuchProgram, NotStarted, Interrupted) as error:
            return str(error)

    @asynccontextmanager
    async def room(self) -> AsyncIterator[None]:
        """Room for one program. Programs must ask in the order in which they start, because those that wait keep
        theirs."""
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
        ahead = self._start_ahead and self._interpreters.can_be_ahead(program[0])
        command = Command(program, cwd, self._env, b"" if stdin is None else stdin, bounds, ahead=ahead)
        if turn is None:
            async with self._seclusion.alone(tuple(program)):
                self._runner.renew()
                try:
                    return await self._runner.run(command)
                except Interrupted:
                    self._runner.renew()  # the launcher may only have been halted, and its other runs would stay
                    return INTERFERED
        while True:
            among = self._seclusion.among_others(turn)
            try:
                return await self._runner.run(command, turn=among)
            except Interrupted:
                if among.begun:
                    return None
                turn = Now()  # its own turn has passed, and this program had no part in the interruption

    async def elsewhere(self, module: str, given: Sequence[bytes], bounds: Bounds) -> Outcome:
        """Runs a module of ours in a separate process, which is measured, limited and ended as a solution is."""
        command = Command((sys.executable, "-m", module), OURS, self._env, tuple(given), bounds)
        try:
            return await self._runner.run(command)
        except Interrupted:
            async with self._seclusion.alone(module):
                self._runner.renew()
                return await self._runner.run(command)

    async def apart(self, call: Callable[..., T], *args: Any) -> T:
        return await trio.to_thread.run_sync(functools.partial(call, *args), abandon_on_cancel=True)


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
