"""A copy of the tree in which a mutant lives, and the tests that are to kill it."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.mutants.mutations import Mutant
from tests.mutants.rooms import Imports

Fate = Literal["killed", "timed out", "survived"]
PATIENCE = 180.0
"""For the tests without a mutant, which may have to wait for a busy machine."""
LEAST = 30.0
OPTIONS = ["-o", "addopts=--strict-markers", "-x", "-q"]
WITHOUT = ["-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist"]
SEEDED = ["-p", "tests.mutants.swift", "--hypothesis-seed=0"]
PYTEST = [sys.executable, "-m", "pytest", *OPTIONS, *WITHOUT, *SEEDED]
FAST = "not slow and not browser"
SLOW = "slow and not browser"
FINE, NONE_THERE = 0, 5
WRONG_USE = 4


class Unfit(Exception):
    """The tests fail without a mutant."""


@dataclass(frozen=True, slots=True)
class Stage:
    marked: str
    files: tuple[str, ...]


class Trial:
    def __init__(self, root: Path, scratch: Path, *, stages: int = 4) -> None:
        self.copy = scratch / "tree"
        self._most_stages = stages
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            stdout=subprocess.PIPE,
            check=True,
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (root / name).is_file():  # not what was deleted, and not yet committed
                (self.copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, self.copy / name)
        self.imports = Imports(self.copy)
        self._usual: dict[tuple[str, str], float] = {}
        """How long the tests of a file take without a mutant, by their mark; about."""

    def fate(self, mutant: Mutant) -> Fate:
        """Whether a test notices. Raises Unfit where tests fail anyway."""
        with self._in_place(mutant) as source:
            for stage in self.stages(mutant.file):
                deadline = max(LEAST, 3 * self._usual_time(stage, mutant, source))
                fate = self._fate(stage, deadline)
                if fate != "survived":
                    return fate
        return "survived"

    def stages(self, file: str) -> list[Stage]:
        near, others = map(tuple, self.imports.tests(file))
        every = [Stage(FAST, near), Stage(SLOW, near), Stage(FAST, others), Stage(SLOW, others)]
        return every[: self._most_stages]

    def _usual_time(self, stage: Stage, mutant: Mutant, source: bytes) -> float:
        """Of these tests without the mutant."""
        untried = tuple(file for file in stage.files if (stage.marked, file) not in self._usual)
        if untried:
            self._write(mutant.file, source)
            began = time.monotonic()
            code, said = self._ran(Stage(stage.marked, untried), PATIENCE * (1 + 4 * (stage.marked == SLOW)))
            if code not in (FINE, NONE_THERE):
                raise Unfit(f"without a mutant, {' '.join(untried)} say:\n{said}")
            each = (time.monotonic() - began) / len(untried)
            self._usual |= {(stage.marked, file): each for file in untried}
            self._write(mutant.file, mutant.made(source))
        return sum(self._usual[stage.marked, file] for file in stage.files)

    def _fate(self, stage: Stage, deadline: float) -> Fate:
        code, said = self._ran(stage, deadline)
        if code is None:
            return "timed out"
        if code == WRONG_USE and "conftest" not in said:  # which a mutant may break
            raise Unfit(said)
        return "survived" if code in (FINE, NONE_THERE) else "killed"

    def _ran(self, stage: Stage, deadline: float) -> tuple[int | None, str]:
        """What pytest returned (None: it took too long), and what it said."""
        if not stage.files:
            return NONE_THERE, ""
        for heard in (signal.SIGINT, signal.SIGHUP):  # under nohup they are ignored, and would be by the tests
            if signal.getsignal(heard) is signal.SIG_IGN:
                signal.signal(heard, signal.default_int_handler if heard is signal.SIGINT else signal.SIG_DFL)
        said = self.copy.parent / "said"
        scrap = self.copy.parent / "scrap"
        with said.open("wb") as output:
            running = subprocess.Popen(
                [*PYTEST, f"--basetemp={scrap}", "-m", stage.marked, *stage.files],
                cwd=self.copy,
                env={**os.environ, "PYTHONPATH": str(self.copy)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            try:
                code: int | None = running.wait(deadline)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)  # and what the tests left, if they were stopped
                running.wait()
        return code, said.read_text(errors="replace")[-3000:]

    @contextmanager
    def _in_place(self, mutant: Mutant) -> Iterator[bytes]:
        source = (self.copy / mutant.file).read_bytes()
        self._write(mutant.file, mutant.made(source))
        try:
            yield source
        finally:
            self._write(mutant.file, source)

    def _write(self, file: str, source: bytes) -> None:
        path = self.copy / file
        path.write_bytes(source)
        # What was compiled is known by second and size, which a mutant may share with the source.
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
