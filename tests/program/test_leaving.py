"""Processes in which something hangs."""

import signal
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
import sys, threading
from program.leaving import Leaving

def hang():
    threading.Event().wait()

if "thread" in sys.argv:
    threading.Thread(target=hang, name="clearing away").start()
Leaving(0.1).begin()
if "loop" in sys.argv:
    hang()
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


SIGNALLED = """
import signal, sys
from program.leaving import Leaving

with Leaving(600) as leaving:
    if "asked" in sys.argv:
        leaving.begin()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.raise_signal(number)
    print("tidied up")
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.raise_signal(number)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "code", "said"), [("asked", 0, "tidied up\n"), ("unasked", -signal.SIGTERM, "")])
def test_a_signal_disturbs_no_process_that_is_leaving(asked: str, code: int, said: str) -> None:
    command = [sys.executable, "-c", SIGNALLED, asked]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, said, "")


async def test_a_thread_that_works_is_left_behind_and_one_that_idles_is_not() -> None:
    at_work, let_go = threading.Event(), threading.Event()

    def work() -> None:
        at_work.set()
        let_go.wait()

    async def wait_for_it() -> None:
        await trio.to_thread.run_sync(work, thread_name="writing", abandon_on_cancel=True)

    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait_for_it)
            await trio.to_thread.run_sync(at_work.wait)
            nursery.cancel_scope.cancel()
        assert "writing" in left_behind()
    finally:
        let_go.set()
    until(lambda: "writing" not in left_behind())


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < end
