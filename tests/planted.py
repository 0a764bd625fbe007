"""A run of pytest inside a test: planted tests that hang, crash, or have to be shared out.

It touches nothing of other runs. pytest keeps the temporary folders of its last three runs for all of an account's
projects in one place, and deletes older ones when it ends. A run with workers (`-n`) always has such a folder, so a
planted one went on to delete what the gates of days before had left, and its test waited for as long as the disk took.

A run that does not end is told to say where it stands, workers too, and is gone afterwards.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAST_WORDS = 5.0


def run_pytest(
    place: Path, *words: str, by: tuple[str, ...] = (), seconds: float = 60.0, env: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """In `place`, with modules of ours at hand, and without the options of the run around it."""
    command = [*by, sys.executable, "-m", "pytest", f"--basetemp={place / 'base'}", *words]
    around = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "", **(env or {})}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=place, env=around, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        try:
            said, complained = process.communicate(timeout=seconds)
        except BaseException as error:
            told = _last_words(process)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            pytest.fail(f"it was not over after {seconds:g} s:\n{told}")
    return subprocess.CompletedProcess(command, process.returncode, said, complained)


def _last_words(process: "subprocess.Popen[str]") -> str:
    """pytest's faulthandler writes the stacks of all threads. Workers are asked one by one, as what several write at
    once is mixed in the middle of a line; and before their controller, which would start them anew."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGSTOP)
    until = time.monotonic() + LAST_WORDS
    for worker in _group(process.pid) - {process.pid}:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGABRT)
        while worker in _group(process.pid) and time.monotonic() < until:
            os.sched_yield()
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGABRT)
        os.kill(process.pid, signal.SIGCONT)
    try:
        return "\n".join(process.communicate(timeout=LAST_WORDS))
    except subprocess.TimeoutExpired:
        return "it could not say more"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _group(leader: int) -> set[int]:
    """The processes in it that run."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, group, *_ = stat.read_text().rpartition(")")[2].split()
            if int(group) == leader and state != "Z":
                found.add(int(stat.parent.name))
    return found
