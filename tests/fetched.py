"""Fetches things that tests need from outside, once, and keeps them between runs in pytest's cache folder.

Tests that run side by side may need the same thing at once. The first fetches it, and the others wait.
"""

import fcntl
import os
import subprocess
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


def done(*command: str, folder: Path) -> None:
    """Runs a command that fetches. If it fails, the test is skipped, but never in the gate."""
    process = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    if process.returncode and os.environ.get("CI") != "true":
        pytest.skip(f"{command[0]} could not fetch what this test needs: {process.stderr[-200:]}")
    assert process.returncode == 0, process.stderr
