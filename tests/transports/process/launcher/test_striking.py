"""Processes are counted even while an inspection has to wait for them."""

import subprocess
import sys

import pytest

HELD_UP = """
import os, sys, time
from transports.process.launcher.account import Account
from transports.process.launcher.orders import Order

BOMB = '''
import os, time
os.setsid()
os.fork()
print(flush=True)
time.sleep(0.2)
for _ in range({children}):
    if os.fork() == 0:
        break
time.sleep({seconds})
'''

def begun(children, seconds):
    read, write = os.pipe()
    command = [sys.executable, "-c", BOMB.format(children=children, seconds=seconds)]
    leader = os.posix_spawn(sys.executable, command, {}, file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)])
    os.close(write)
    assert os.read(read, 1)
    return leader

class HeldUp(Account):
    def _look_closely(self, members):
        # as /proc/PID/smaps_rollup does while the process forks
        os.waitid(os.P_PID, self.leader, os.WEXITED | os.WNOWAIT)
        return ""

def look(children, seconds):
    leader = begun(children, seconds)
    order = Order([], [], b"/", processes=16)
    print(HeldUp(order, leader, time.monotonic(), None).look() or "nothing")

look(40, 60)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
look(1, 0.5)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only there processes are counted")
def test_who_holds_a_look_up_and_forks_meanwhile_is_counted_and_ended() -> None:
    said = subprocess.run([sys.executable, "-c", HELD_UP], capture_output=True, text=True, timeout=30, check=False)
    assert said.stdout.split() == ["processes", "nothing"], said.stderr
