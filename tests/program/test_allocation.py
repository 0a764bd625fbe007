"""Memory that the server lets go of goes back to the system."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from program import allocation

ROOT = Path(__file__).parents[2]
MIB = 1 << 20
LIVES = """
import os, sys
sys.path.insert(0, sys.argv[1])
from program import allocation
assert allocation.settle()
def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")
before = resident()
for _ in range(5):
    large = bytearray(int(sys.argv[2]))
    small = [bytes(600) for _ in range(1_000)]  # whatever happens to be kept behind it
    del large
print(resident() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc is Linux's")
@pytest.mark.parametrize("size", [1, 4, 31])
def test_a_large_block_goes_back_to_the_system_however_often_there_was_one(size: int) -> None:
    """By default the second one of up to 32 MiB comes from the heap, and stays if anything was made after it."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", LIVES, str(ROOT), str(size * MIB)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environ, check=True)
    assert int(done.stdout) < MIB + 700_000


def test_where_there_is_no_such_c_library_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not allocation.settle()
