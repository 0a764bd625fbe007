"""Assigns cases to workers and gives them their turns: a limited number of programs at once, in the order of their
cases.

A worker takes the next case and prepares its program, which may take more or less time. The program begins when all
before it have begun and there is room. The code that makes the room begins it, instead of waking its worker first, so
no processor waits for a task. A case that will not begin any more must say that it is over, or later ones would wait
for it.

    untaken --take--> taken --come--> waiting --its turn--> on --over--> (gone)
                      taken, waiting --over--> forgone, until it would be its turn
"""

from collections import deque
from collections.abc import Callable, Iterable


class Turns:
    def __init__(self, at_once: int, order: Iterable[int]) -> None:
        self._free = at_once
        self._order = deque(order)
        """The cases whose turn has not come."""
        self._untaken = deque(self._order)
        self._taken: dict[int, int] = {}
        """The last case of each worker."""
        self._waiting: dict[int, Callable[[], None]] = {}
        self._forgone: set[int] = set()
        self._on: set[int] = set()

    def take(self, worker: int) -> int | None:
        """Gives this worker the next case; None if all are taken."""
        if not self._untaken:
            return None
        self._taken[worker] = number = self._untaken.popleft()
        return number

    def taken_by(self, worker: int) -> int | None:
        """The last case that this worker has taken."""
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
    """The turn of one case."""

    __slots__ = ("_number", "_turns")

    def __init__(self, turns: Turns, number: int) -> None:
        self._turns = turns
        self._number = number

    def come(self, begin: Callable[[], None]) -> None:
        """Calls `begin`, which must not raise, as soon as it is this case's turn: now, or later."""
        self._turns.come(self._number, begin)

    def over(self) -> None:
        """The program has ended, or will not begin. Further calls do nothing."""
        self._turns.over(self._number)
