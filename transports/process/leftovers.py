"""What a launcher that was killed has left: it falls to us, and is ended before the next one runs anything.

A launcher ends what its keepers leave behind, and keepers end their runs when their sockets end. If all of them are
killed at once, whatever is left of the runs is given to the next process above that adopts orphans (Linux), which is
the server. It may have adopted others too, from programs of its own: what came from a launcher is known by its place in
the order of those who go first when memory runs out (`launcher/system.py`), which nobody without privileges can lower.
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
    """There is no launcher at this moment, and shall be one when nothing is left."""
    adopt_orphans()
    while strike():  # noqa: ASYNC110  it is the system that is asked
        await trio.sleep(LOOK_SECONDS)


def end_at_once() -> None:
    """There is no launcher, and perhaps nobody will be there any more to wait. What is killed has gone in a
    millisecond; what hangs in the kernel is not waited for."""
    for _ in range(MOST_LOOKS):
        if not strike():
            return
        time.sleep(LOOK_SECONDS)


def strike() -> bool:
    """Whether there was somebody. Those below them are theirs, and fall to us when they end."""
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
