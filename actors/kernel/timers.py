"""One clock for everything that waits in the kernel: ask deadlines, start and grace limits, backoff, timer messages.

It consists of a heap of due times and one task that sleeps until the earliest of them. Setting a timer pushes it onto
the heap, and cancelling it only marks it, because nearly all timers (the deadline of every ask) are cancelled. A trio
cancel scope for each would cost more than the message that it guards: `fail_after` halves the rate of asks. Marked
timers are swept when they outnumber the others, so the heap stays within twice the number of pending timers.

The task is not woken when an earlier timer is set: only the deadline of the scope that it sleeps in is moved. When a
timer is cancelled, the deadline is moved back only if the clock is not the system's. In virtual time an outdated
deadline would make the clock jump, whereas in real time it only wakes the task once in vain.
"""

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass

import trio

SWEEP_FROM = 64


def growing_wait(first: float, failures: int, most: float) -> float:
    """How long to wait before the next try: twice as long after each failure, up to a limit."""
    return min(most, first * 2.0 ** min(failures, 60))


class Timer:
    """A call that will be made at a given time, unless it is cancelled."""

    __slots__ = ("_fire", "_timers", "due")

    def __init__(self, timers: "Timers", due: float, fire: Callable[[], None]) -> None:
        if due != due:  # NaN has no order, so it would hold up timers behind it in the heap
            raise ValueError("a timer is due in a number of seconds, and NaN is none")
        self._timers = timers
        self._fire: Callable[[], None] | None = fire
        self.due = due

    @property
    def pending(self) -> bool:
        return self._fire is not None

    def cancel(self) -> None:
        if self._fire is not None:
            self._fire = None
            self._timers._cancelled(self)


@dataclass(frozen=True, slots=True)
class TimersStatistics:
    pending: int
    next_due: float
    """Infinity if nothing is pending."""


class Timers:
    __slots__ = ("_dead", "_exact", "_heap", "_now", "_scope", "_sequence")

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Timer]] = []
        self._sequence = 0
        self._dead = 0
        self._scope = trio.CancelScope()
        self._exact = type(trio.lowlevel.current_clock()).__name__ != "SystemClock"
        self._now = trio.current_time

    def after(self, seconds: float, fire: Callable[[], None]) -> Timer:
        """Call `fire`, which must not raise or block, after so many seconds. With infinity it is never called."""
        timer = Timer(self, self._now() + seconds, fire)
        self.push(timer)
        return timer

    def push(self, timer: Timer) -> None:
        due = timer.due
        if due == math.inf:
            return
        self._sequence = sequence = self._sequence + 1
        heapq.heappush(self._heap, (due, sequence, timer))
        if due < self._scope.deadline:
            self._scope.deadline = due

    def now(self) -> float:
        return self._now()

    def _cancelled(self, timer: Timer) -> None:
        if timer.due == math.inf:
            return
        self._dead += 1
        heap = self._heap
        if self._dead > SWEEP_FROM and self._dead * 2 > len(heap):
            self._heap = [entry for entry in heap if entry[2]._fire is not None]
            heapq.heapify(self._heap)
            self._dead = 0
        if self._exact:
            self._drop_dead_heads()
            self._scope.deadline = self._heap[0][0] if self._heap else math.inf

    def _drop_dead_heads(self) -> None:
        while self._heap and self._heap[0][2]._fire is None:
            heapq.heappop(self._heap)
            self._dead -= 1

    async def run(self) -> None:
        while True:
            self._fire_due()
            with trio.CancelScope(deadline=self._heap[0][0] if self._heap else math.inf) as self._scope:
                await trio.sleep_forever()

    def _fire_due(self) -> None:
        self._drop_dead_heads()
        while self._heap and self._heap[0][0] <= self._now():
            timer = heapq.heappop(self._heap)[2]
            fire, timer._fire = timer._fire, None
            assert fire is not None
            fire()
            self._drop_dead_heads()

    def statistics(self) -> TimersStatistics:
        pending = [entry[0] for entry in self._heap if entry[2]._fire is not None]
        return TimersStatistics(len(pending), min(pending, default=math.inf))
