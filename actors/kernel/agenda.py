"""Remembers when each of many items is due. An item is due once, at the earliest time that was given for it.

An actor may have no more timers than its mailbox has places. So an actor that waits for many things at a time keeps
them here, and sets one timer, for the first of them.
"""

import math
from heapq import heappop, heappush
from typing import Generic, TypeVar

K = TypeVar("K", int, str)


class Agenda(Generic[K]):
    def __init__(self) -> None:
        self._due: dict[K, float] = {}
        self._in_turn: list[tuple[float, K]] = []
        """Invariant: holds every item of `_due`. Other entries are outdated."""

    def __contains__(self, name: K) -> bool:
        return name in self._due

    def put(self, name: K, due: float) -> None:
        if due < self._due.get(name, math.inf):
            self._due[name] = due
            heappush(self._in_turn, (due, name))

    def drop(self, name: K) -> None:
        self._due.pop(name, None)

    @property
    def next(self) -> float:
        """When the first item is due; infinity if there is none."""
        while self._in_turn and self._due.get(self._in_turn[0][1]) != self._in_turn[0][0]:
            heappop(self._in_turn)
        return self._in_turn[0][0] if self._in_turn else math.inf

    def take(self, now: float, most: int) -> list[K]:
        """Take at most `most` items that are due off the agenda, the earliest first."""
        taken: list[K] = []
        while len(taken) < most and self.next <= now:
            _, name = heappop(self._in_turn)
            del self._due[name]
            taken.append(name)
        return taken
