"""Who judges which case, and whose turn it is: so many programs at once, in the order of their cases.

A worker takes the next case, and makes ready what its program needs, which takes different times; it begins when all
before it have begun and there is room. It is begun by whoever makes that room, and not when its worker is woken: no
processor waits for a task. One that will not begin any more says that it is over, or those after it would wait.

    untaken --take--> taken --come--> waiting --its turn--> on --over--> (gone)
                      taken, waiting --over--> forgone, until it would be its turn
"""

from collections import deque
from collections.abc import Callable, Iterable


class Turns:
    def __init__(self, at_once: int, order: Iterable[int]) -> None:
        self._free = at_once
        self._order = deque(order)
        """Those whose turn has not come."""
        self._untaken = deque(self._order)
        self._taken: dict[int, int] = {}
        """What each worker has taken last."""
        self._waiting: dict[int, Callable[[], None]] = {}
        self._forgone: set[int] = set()
        self._on: set[int] = set()

    def take(self, worker: int) -> int | None:
        """The next case, which is this worker's now; None: all are taken."""
        if not self._untaken:
            return None
        self._taken[worker] = number = self._untaken.popleft()
        return number

    def taken_by(self, worker: int) -> int | None:
        """What it has taken last."""
        return self._taken.get(worker)

    @property
    def all_taken(self) -> bool:
        return not self._untaken

    def turn(self, number: int) -> "Turn":
        return Turn(self, number)

    def come(self, number: int, begin: Callable[[], None]) -> None:
        self._waiting[number] = begin
        self._go_on()

    def over(self, number: int) -> None:
        self._waiting.pop(number, None)
        if number in self._on:
            self._on.remove(number)
            self._free += 1
        elif number in self._order:
            self._forgone.add(number)
        else:
            return
        self._go_on()

    def _go_on(self) -> None:
        while self._order:
            first = self._order[0]
            if first in self._forgone:
                self._order.popleft()
                self._forgone.remove(first)
            elif self._free and first in self._waiting:
                self._order.popleft()
                self._free -= 1
                self._on.add(first)
                self._waiting.pop(first)()
            else:
                return


class Turn:
    """That of one case."""

    __slots__ = ("_number", "_turns")

    def __init__(self, turns: Turns, number: int) -> None:
        self._turns = turns
        self._number = number

    def come(self, begin: Callable[[], None]) -> None:
        """Call this, which must not raise, as soon as it is its turn: now, or later."""
        self._turns.come(self._number, begin)

    def over(self) -> None:
        """It has ended, or will not begin. Said again, it is nothing."""
        self._turns.over(self._number)
