"""The collector of a server, in a process of its own: it would change that of all tests."""

import subprocess
import sys

SCRIPT = """
import gc
from program.collector import rest, settle

class Ring:
    def __init__(self):
        self.me = self

rest()
assert not gc.isenabled()
settle()
assert gc.isenabled() and gc.get_freeze_count() > 1000
young = [Ring() for _ in range(30_000)]
del young
many = [Ring() for _ in range(30_000)]
print(sum(isinstance(each, Ring) for each in gc.get_objects()))
"""


def test_what_stays_is_not_looked_through_and_garbage_is_still_found() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert 30_000 <= int(done.stdout) < 60_000
