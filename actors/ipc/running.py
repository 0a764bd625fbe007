"""A clock that counts only the seconds in which this process ran and its requests could be answered.

An attempt's time is measured by it. A process that was stopped, or a laptop that slept, burns no attempt: between two
looks at the clock at most `MOST_STEP` seconds are counted, and somebody looks at it every `TICK` seconds while attempts
are under way. While it is held, nothing is counted: the folder is gone, the disk is full, nothing may be published
yet, or the process that is to answer is stopped.

The peer may have a queue. As long as it answers what was asked for before, an attempt waits for its turn and not for an
answer: its time runs from the last such answer (`Headway`).
"""

from bisect import bisect_left, bisect_right
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


TOGETHER = 1.0
"""What was asked for within so many seconds is in no order."""
MOST_ANSWERS = 2_000


class Headway:
    """How the peer gets on with what it was asked for. All moments are of the running clock."""

    def __init__(self) -> None:
        self._answers: list[tuple[float, float]] = []
        """When each was asked for and answered, both rising: a later answer counts for all that the earlier one counts
        for, unless it was asked for later too."""

    def answered(self, asked: float, moment: float) -> None:
        del self._answers[bisect_left(self._answers, asked, key=_asked) :]
        self._answers.append((asked, moment))
        if len(self._answers) > MOST_ANSWERS:
            del self._answers[: MOST_ANSWERS // 2]

    def last_before(self, asked: float) -> float:
        """When the last of those was answered that were asked for before; 0: none was."""
        place = bisect_right(self._answers, asked + TOGETHER, key=_asked)
        return self._answers[place - 1][1] if place else 0.0


def _asked(answer: tuple[float, float]) -> float:
    return answer[0]
