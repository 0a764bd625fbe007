"""Ends the processes that a killed launcher has left. The server adopts them, and ends them before the next launcher
runs anything.

A launcher ends the processes that its keepers leave behind, and keepers end their runs when their sockets end. If all
of them are killed at once, the rest of the runs is adopted by the next process above that takes orphans (Linux), which
is the server. The server may also have adopted orphans of its own programs. Those of a launcher are recognised by their
rank in the order in which processes are killed when memory runs out (`launcher/system.py`); no process without
privileges can lower it.
"""

import os
import signal
import time
from contextlib import suppress

import trio

from transports.process.launcher import census
from transports.process.launcher.system import GOES_FIRST, adopt_orphans

LOOK_SECONDS = 0.001
MOST_LOOKS = 100


async def none_left() -> None:
    """Call this while there is no launcher. Returns when nothing is left, so that the next one may start."""
    adopt_orphans()
    while strike():  # noqa: ASYNC110  it is the system that is asked
        await trio.sleep(LOOK_SECONDS)


def end_at_once() -> None:
    """For a moment without a launcher when nobody may be left to wait. Killed processes are gone within a millisecond;
    one that hangs in the kernel is not waited for."""
    for _ in range(MOST_LOOKS):
        if not strike():
            return
        time.sleep(LOOK_SECONDS)


def strike() -> bool:
    """Kills adopted processes, and returns whether there were any. Their children fall to us when they end."""
    leftovers = _leftovers()
    for pid in leftovers:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return bool(leftovers)


def _leftovers() -> list[int]:
    if _place("self") >= GOES_FIRST:  # then nothing can be told from it
        return []
    return [pid for pid in census.children(os.getpid()) if _place(str(pid)) >= GOES_FIRST]


def _place(process: str) -> int:
    try:
        with open(f"/proc/{process}/oom_score_adj", "rb") as file:
            return int(file.read())
    except OSError:  # it has gone; or this is not Linux
        return 0
