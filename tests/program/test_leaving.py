"""Processes in which something hangs."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from program.leaving import left_behind

ROOT = Path(__file__).parents[2]
DEADLINE = 60.0

HANGS = """
import sys, threading, time
from program.leaving import leave_within

def hang():
    threading.Event().wait()

leave_within(0.1)
if "loop" in sys.argv:
    hang()
threading.Thread(target=hang, name="clearing away").start()
"""


FILLS = """
import os
os.set_blocking(2, False)
try:
    while True:
        os.write(2, bytes(65536))
except BlockingIOError:
    os.set_blocking(2, True)
"""
"""Standard error, a pipe."""


@pytest.mark.slow
@pytest.mark.parametrize(("hangs", "named"), [("thread", "clearing away"), ("loop", "the tree")])
def test_a_process_leaves_whatever_hangs_and_says_what(hangs: str, named: str) -> None:
    command = [sys.executable, "-c", HANGS, hangs]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert (ended.returncode, ended.stderr) == (
        1,
        f"troupe: Left by force 0.1 s after it was asked to end; given up: {named}\n",
    )


@pytest.mark.slow
def test_a_process_leaves_though_nobody_reads_what_it_says() -> None:
    command = [sys.executable, "-c", FILLS + HANGS, "thread"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as process:
        assert process.wait(DEADLINE) == 1


async def test_a_thread_that_works_is_left_behind_and_one_that_idles_is_not() -> None:
    let_go = threading.Event()
    try:
        with trio.move_on_after(0.01):
            await trio.to_thread.run_sync(let_go.wait, thread_name="writing", abandon_on_cancel=True)
        assert "writing" in left_behind()
    finally:
        let_go.set()
    until(lambda: "writing" not in left_behind())


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < end
