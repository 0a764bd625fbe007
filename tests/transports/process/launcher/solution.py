"""A script in a folder, which is run again and again."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import trio
from msgspec.structs import replace

from codec.programs import Outcome
from tests.transports.process.house import PATIENCE, Processes
from transports.process.launcher import census
from transports.process.launcher.ahead.sitecustomize import TICK_NS

PYTHON = os.path.realpath(sys.executable)
IS_CLONE = "b'PYTHONPATH' in open('/proc/self/environ', 'rb').read()"
"""The kernel's copy of the environment is the only place where that is left."""


class Solution:
    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self.folder = processes.folder / "problem"
        self.folder.mkdir()
        self.script = self.folder / "main.py"
        self.given = self.folder / "1.in"
        self.given.write_text("first\nsecond\nthird\n")
        self.program = PYTHON
        self.env = {"X": "1"}

    async def run(self, *, ahead: bool = True, **bounds: Any) -> Outcome:
        command = self._processes.command([self.program, str(self.script)], stdin=self.given, **bounds)
        with trio.fail_after(PATIENCE + 10):
            return await self._processes.runner.run(
                replace(command, cwd=self.folder, env={**command.env, **self.env}, ahead=ahead)
            )

    async def as_clone(self, source: str, **bounds: Any) -> Outcome:
        """The outcome of a run that is surely a clone."""
        await self.warm()
        self.script.write_text(source)
        return await self.run(**bounds)

    async def warm(self) -> int:
        """Runs it until one is a clone. The pid of the interpreter that waits then."""
        while self._was_just_changed():
            await trio.lowlevel.checkpoint()
        self.script.write_text(f"print({IS_CLONE})")
        for expected in ("False", "True"):
            said = (await self.run()).stdout.head.decode().strip()
            assert said in (expected, "True")
        assert said == "True"
        (waiting,) = self.waiting()
        return waiting

    def _was_just_changed(self) -> bool:
        """What an interpreter is made of: none that began so soon after is trusted."""
        program = Path(self.program)
        made_of = [each for each in (program, program.parents[1] / "pyvenv.cfg") if each.exists()]
        return any(time.time_ns() - each.lstat().st_ctime_ns <= TICK_NS for each in made_of)

    def waiting(self) -> list[int]:
        return [child for keeper in self._processes.keepers() for child in census.children(keeper)]
