"""A copy of the tree in which a mutant lives, and the tests that are to kill it."""

import importlib.util
import os
import re
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
OPTIONS = ["-o", "addopts=--strict-markers", "-x", "-q"]
WITHOUT = ["-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist"]
SEEDED = ["-p", "tests.mutants.swift", "--hypothesis-seed=0"]
PYTEST = [sys.executable, "-m", "pytest", *OPTIONS, *WITHOUT, *SEEDED]
FAST = "not slow and not browser"
SLOW = "slow and not browser"
FIRST = 3
"""Files that are asked before the others: most mutants get no further."""
SECONDS = {FAST: 90.0, SLOW: 180.0}
"""For a stage; one that takes longer is tried without the mutant, too."""
LONGEST = 1800.0
FINE, NONE_THERE = 0, 5
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?::.+?)(?: - .*)?$", re.MULTILINE)


class Unfit(Exception):
    """The tests cannot tell, also without a mutant."""


@dataclass(frozen=True, slots=True)
class Stage:
    marked: str
    files: tuple[str, ...]


class Trial:
    def __init__(self, root: Path, scratch: Path, *, stages: int = 5) -> None:
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
        self._usual: dict[Stage, float] = {}
        self._begins = False
        self._sound: dict[str, bool] = {}
        """Tests that failed with some mutant: whether they pass without."""

    def fate(self, mutant: Mutant) -> Fate:
        """Whether a test notices that passes without it."""
        for stage in self.stages(mutant.file):
            fate = self._fate(stage, mutant)
            if fate != "survived":
                return fate
        return "survived"

    def stages(self, file: str) -> list[Stage]:
        near, others = map(tuple, self.imports.tests(file))
        first, near_too = near[:FIRST], near[FIRST:]
        every = [Stage(FAST, first), Stage(FAST, near_too), Stage(SLOW, near), Stage(FAST, others), Stage(SLOW, others)]
        return every[: self._most_stages]

    def _fate(self, stage: Stage, mutant: Mutant) -> Fate:
        deadline = SECONDS[stage.marked]
        while True:
            with self._in_place(mutant):
                code, said = self._ran(stage, deadline)
            if code is None:
                usual = self._usual_time(stage)
                if 3 * usual <= deadline:
                    return "timed out"
                deadline = 3 * usual
            elif code in (FINE, NONE_THERE):
                return "survived"
            else:
                failed = _FAILED.findall(said)
                if not failed:
                    self._check_that_they_begin(stage)
                if all(self._is_sound(test, stage) for test in failed):
                    return "killed"

    def _check_that_they_begin(self, stage: Stage) -> None:
        """No test has failed: it could not even be imported with the mutant; it can without, unless it never can."""
        if not self._begins:
            code, said = self._ran(stage, LONGEST, "--collect-only")
            if code not in (FINE, NONE_THERE):
                raise Unfit(said)
            self._begins = True

    def _is_sound(self, test: str, stage: Stage) -> bool:
        """Whether it passes without a mutant; if not, it is asked no more."""
        if test not in self._sound:
            code, _ = self._ran(Stage(stage.marked, (test,)), SECONDS[SLOW])
            self._sound[test] = code == FINE
            if code != FINE:
                print(f"fails without a mutant, and is asked no more: {test}", file=sys.stderr)
        return self._sound[test]

    def _usual_time(self, stage: Stage) -> float:
        """Of these tests without a mutant."""
        if stage not in self._usual:
            began = time.monotonic()
            code, _ = self._ran(stage, LONGEST)
            if code is None:
                raise Unfit(f"without a mutant these take more than {LONGEST:,.0f} s: {' '.join(stage.files)}")
            self._usual[stage] = time.monotonic() - began
        return self._usual[stage]

    def _ran(self, stage: Stage, deadline: float, *options: str) -> tuple[int | None, str]:
        """What pytest returned (None: it took too long), and what it said."""
        if not stage.files:
            return NONE_THERE, ""
        for heard in (signal.SIGINT, signal.SIGHUP):  # under nohup they are ignored, and would be by the tests
            if signal.getsignal(heard) is signal.SIG_IGN:
                signal.signal(heard, signal.default_int_handler if heard is signal.SIGINT else signal.SIG_DFL)
        unsound = [f"--deselect={test}" for test, sound in self._sound.items() if not sound]
        said = self.copy.parent / "said"
        scrap = self.copy.parent / "scrap"
        with said.open("wb") as output:
            running = subprocess.Popen(
                [*PYTEST, f"--basetemp={scrap}", "-m", stage.marked, *options, *unsound, *stage.files],
                cwd=self.copy,
                env={**os.environ, "PYTHONPATH": str(self.copy), "PYTEST_ADDOPTS": ""},
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
    def _in_place(self, mutant: Mutant) -> Iterator[None]:
        source = (self.copy / mutant.file).read_bytes()
        self._write(mutant.file, mutant.made(source))
        try:
            yield
        finally:
            self._write(mutant.file, source)

    def _write(self, file: str, source: bytes) -> None:
        path = self.copy / file
        path.write_bytes(source)
        # What was compiled is known by second and size, which a mutant may share with the source.
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
