"""Whose turn it is: so many at once, in a given order.

Those who wait come in any order, because what they prepare takes them different times; whoever is to be before them is
waited for, until it has come or has said that it will not.
"""

from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import trio


class Turns:
    def __init__(self, at_once: int, order: Iterable[int]) -> None:
        self._free = at_once
        self._order = deque(order)
        """Those whose turn has not come."""
        self._waiting: dict[int, trio.Event] = {}
        self._forgone: set[int] = set()

    @asynccontextmanager
    async def turn(self, number: int) -> AsyncIterator[None]:
        """The block begins when it is this one's turn; each has one turn."""
        event = self._waiting[number] = trio.Event()
        self._go_on()
        try:
            await event.wait()
            yield
        finally:
            if event.is_set():
                self._free += 1
                self._go_on()
            else:
                self.forgo(number)

    def forgo(self, number: int) -> None:
        """It will not come, or has had its turn."""
        self._waiting.pop(number, None)
        if number in self._order:
            self._forgone.add(number)
            self._go_on()

    def _go_on(self) -> None:
        while self._order:
            first = self._order[0]
            if first in self._forgone:
                self._forgone.discard(first)
            elif self._free and first in self._waiting:
                self._free -= 1
                self._waiting.pop(first).set()
            else:
                return
            self._order.popleft()
