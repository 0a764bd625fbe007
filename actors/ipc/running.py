"""A clock that counts only the seconds in which this process ran and its requests could be answered.

An attempt's time is measured by it. A process that was stopped, or a laptop that slept, burns no attempt: between two
looks at the clock at most `MOST_STEP` seconds are counted, and somebody looks at it every `TICK` seconds while attempts
are under way. While it is held, nothing is counted: the folder is gone, the disk is full, or nothing may be published
yet.
"""

from collections.abc import Callable

TICK = 1.0
MOST_STEP = 1.0


class RunningClock:
    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._last = now()
        self._seconds = 0.0
        self._held: set[str] = set()

    def read(self) -> float:
        now = self._now()
        if not self._held:
            self._seconds += min(now - self._last, MOST_STEP)
        self._last = now
        return self._seconds

    def hold(self, why: str) -> None:
        self.read()
        self._held.add(why)

    def release(self, why: str) -> None:
        self.read()
        self._held.discard(why)
