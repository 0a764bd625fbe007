"""Ends the process although something in it hangs, such as a thread on a disk that does not answer.

The tree ends in order, and each actor in it has its grace; a task that waits for a thread then leaves the thread
behind. Once the tree is gone, the process ends without such threads, and waits only for those that tidy up. If the
process is still there some seconds after it was asked to end, whatever hangs, it leaves all the same, and logs what it
gave up. The table of ending.py says what signals mean meanwhile.

Nothing that was acknowledged is lost: a kill is a normal way to stop.
"""

import os
import re
import signal
import sys
import threading
import time
from types import TracebackType
from typing import Self

from program import streams
from program.ending import heeded
from program.trouble import WENT_WRONG

MOMENT = 0.25
"""Seconds in which a thread that does not hang finishes its work."""

_TO_THE_END = (threading.main_thread().name, "log", "leaving")
_IDLE = re.compile(r"Trio thread \d+")
"""Trio's name for a thread that waits for work. A thread at work has another name."""


class Leaving:
    """Enter it before anything listens to signals, and leave it when nothing does any more."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begun = False
        self._heeded = heeded()

    def begin(self) -> None:
        """Starts the countdown."""
        if not self._begun:
            self._begun = True
            timer = threading.Timer(self._seconds, _leave, [self._seconds])
            timer.name, timer.daemon = "leaving", True
            timer.start()

    def __enter__(self) -> Self:
        for each in self._heeded:
            signal.signal(each, self._signalled)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for each in self._heeded:
            signal.signal(each, signal.SIG_IGN if self._begun else signal.SIG_DFL)

    def _signalled(self, number: int, _frame: object) -> None:
        if not self._begun:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)


def left_behind() -> list[str]:
    """The names of threads that are still at work although the process will not wait for them."""
    last = time.monotonic() + MOMENT
    while (left := _at_work(daemon=True)) and time.monotonic() < last:
        time.sleep(0.01)
    return left


def _leave(seconds: float) -> None:
    given_up = ", ".join(_at_work()) or "the tree"
    sentence = f"troupe: Left by force {seconds:g} s after it was asked to end; given up: {given_up}\n"
    saying = threading.Thread(target=streams.say, args=[sentence, sys.stderr], daemon=True)
    saying.start()  # in a thread, because standard error itself may hang
    saying.join(MOMENT)
    os._exit(WENT_WRONG)


def _at_work(*, daemon: bool = False) -> list[str]:
    """All threads that are not idle (or only the daemons among them), without those that run to the end anyway."""
    threads = [each for each in threading.enumerate() if each.daemon or not daemon]
    return sorted({each.name for each in threads if each.name not in _TO_THE_END and not _IDLE.fullmatch(each.name)})
