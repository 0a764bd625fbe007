"""Leaving a process in which something hangs, as a thread does on a disk that does not answer.

The tree ends in order, and each actor in it has its grace; whoever waits for a thread then leaves it behind. Once the
tree is gone, the process ends without such threads, and waits only for those that tidy up. If it is still there some
seconds after it was asked to end, whatever hangs, it leaves all the same. What was given up is said.

Nothing that was acknowledged is lost by it: a kill is a normal way to stop.
"""

import os
import re
import sys
import threading
import time

from program import streams
from program.trouble import WENT_WRONG

MOMENT = 0.25
"""Seconds in which a thread that does not hang ends what it is at."""

_TO_THE_END = (threading.main_thread().name, "log", "leaving")
_IDLE = re.compile(r"Trio thread \d+")
"""What trio calls a thread that waits for work; one that works has a name of its own."""


def leave_within(seconds: float) -> None:
    """From now, and whatever hangs."""
    timer = threading.Timer(seconds, _leave, [seconds])
    timer.name, timer.daemon = "leaving", True
    timer.start()


def left_behind() -> list[str]:
    """The threads that the end of the process will not wait for, and that are at work all the same; by name."""
    last = time.monotonic() + MOMENT
    while (left := _at_work(daemon=True)) and time.monotonic() < last:
        time.sleep(0.01)
    return left


def _leave(seconds: float) -> None:
    given_up = ", ".join(_at_work()) or "the tree"
    sentence = f"troupe: Left by force {seconds:g} s after it was asked to end; given up: {given_up}\n"
    saying = threading.Thread(target=streams.say, args=[sentence, sys.stderr], daemon=True)
    saying.start()  # not here: standard error may be what hangs
    saying.join(MOMENT)
    os._exit(WENT_WRONG)


def _at_work(*, daemon: bool = False) -> list[str]:
    """All that do not idle, or only the daemons of them; but for those that are there to the end."""
    threads = [each for each in threading.enumerate() if each.daemon or not daemon]
    return sorted({each.name for each in threads if each.name not in _TO_THE_END and not _IDLE.fullmatch(each.name)})
