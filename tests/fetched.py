"""Fetches things that tests need from outside, once, and keeps them between runs in pytest's cache folder.

Tests that run side by side may need the same thing at once. The first fetches it, and the others wait.
"""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


def fetched(folder: Path, fetch: Callable[[Path], None]) -> Path:
    """The folder, filled by `fetch(folder)` if no earlier run has finished that."""
    folder.mkdir(parents=True, exist_ok=True)
    finished = folder / "installed"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            fetch(folder)
            finished.touch()
    return folder


def environment(folder: Path) -> Path:
    """A new Python environment's interpreter. It has no pip of its own, which takes six seconds of CPU time to install:
    ours installs into it (`pip --python`)."""
    done(sys.executable, "-m", "venv", "--clear", "--without-pip", "env", folder=folder)
    return folder / "env" / "bin" / "python"


def done(*command: str, folder: Path) -> None:
    """Runs a command that fetches. If it fails, the test is skipped, but never in the gate.

    What pip installs is compiled when it is imported.
    """
    environ = {**os.environ, "PIP_NO_COMPILE": "1"}
    process = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, env=environ)
    if process.returncode and os.environ.get("CI") != "true":
        pytest.skip(f"{command[0]} could not fetch what this test needs: {process.stderr[-200:]}")
    assert process.returncode == 0, process.stderr
