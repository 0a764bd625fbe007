"""A desk in a process that was forked from the one that has opened it."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os, sys
from troupe.ipc import DeskError
from troupe.ipc.testing import FakeDesk

def told(call):
    try:
        call()
    except DeskError as error:
        return str(error)

with FakeDesk.blocking({"echo": lambda params: params}) as desk:
    results = desk.map("echo", ({"n": n} for n in range(9)))
    next(results)
    child = os.fork()
    if child == 0:
        refused = [told(lambda: desk.run("echo")), told(lambda: next(results)), told(lambda: desk.cancel(["a"]))]
        results.close()
        desk.close()
        with FakeDesk.blocking({"echo": lambda params: params}) as own:
            refused.append(own.run("echo", {"n": 1}).data)
        print(refused, flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    print(len(list(results)), desk.run("echo", {"n": 2}).data)
"""


@pytest.mark.slow
def test_a_desk_says_that_it_was_forked_and_neither_process_hangs() -> None:
    script = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    root = Path(__file__).parents[3]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60, check=False, cwd=root)
    assert done.stderr == ""
    of_child, of_parent = done.stdout.splitlines()
    assert of_child.count("which was forked from it; open a desk in each process") == 3
    assert of_child.endswith("{'n': 1}]")
    assert of_parent == "8 {'n': 2}"
