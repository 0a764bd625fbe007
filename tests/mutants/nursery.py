"""A process that has imported what the tests need from outside of the tree, and forks one pytest after another.

Most mutants are killed by a test of a few milliseconds, and pytest needs more than a second to import hypothesis, trio
and itself. So that is done once. Nothing of the tree is imported before the fork, so each pytest reads its mutant's
sources and tests anew. Each pytest is a process group of its own, which whoever asked may kill.

    who asks -> nursery    a line of JSON: {words, env, said}, `said` being the file for all that it says
    nursery -> who asks    a line with its process id; when it has ended, a line with its status
"""

import gc
import importlib
import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

RUN = "import sys; from runpy import run_path; sys.exit(run_path(sys.argv[1])['main']())"
"""By its path: the package around it is of the tree."""


class Nursery:
    """Its other side."""

    def __init__(self, copy: Path, modules: Iterable[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", RUN, __file__],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy), "PYTEST_ADDOPTS": ""},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self._write(sorted(modules))

    def run(self, words: Sequence[str], env: Mapping[str, str], said: Path, deadline: float) -> int | None:
        """What it returned; None: it took too long."""
        self._write({"words": [*words], "env": {**env}, "said": str(said)})
        pid = self._read()
        assert self._process.stdout is not None
        try:
            in_time, _, _ = select.select([self._process.stdout], [], [], deadline)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)  # and what the tests left, if they were stopped
        code = self._read()
        return code if in_time else None

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.kill()
        self._process.wait()

    def _write(self, told: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(told).encode() + b"\n")

    def _read(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


def main() -> int:
    wanted = json.loads(sys.stdin.buffer.readline())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # hypothesis minds that it is not pytest who imports it
        for name in wanted:
            with suppress(ImportError):  # one that only another module can import
                importlib.import_module(name)
    gc.collect()
    gc.freeze()
    for line in iter(sys.stdin.buffer.readline, b""):
        asked = json.loads(line)
        if (pid := os.fork()) == 0:
            return run(**asked)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    return 0


def run(words: Sequence[str], env: Mapping[str, str], said: str) -> int:
    """pytest, in the forked process."""
    import pytest

    os.setsid()
    print(os.getpid(), flush=True)
    os.environ.update(env)
    for heard, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(heard) is signal.SIG_IGN:  # under nohup they are ignored, and would be by the tests
            signal.signal(heard, usual)
    nothing, output = os.open(os.devnull, os.O_RDONLY), os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    for descriptor, place in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(descriptor, place)
    os.close(nothing)
    os.close(output)
    return int(pytest.main([*words]))
