"""Bounds the unsent data of all outboxes of a door together.

Each outbox has its own bound, except while a peer is being shown a whole board: a board may be large, and hundreds of
pages that do not read could each have one waiting. So there is a bound for the sum. When it is exceeded, the fullest
outbox is emptied; of equally full ones, the one that has waited longer. A page that reads has less and less waiting, so
it does not pay for pages that do not.
"""

from typing import Protocol


class Carrier(Protocol):
    def give_way(self) -> None:
        """Discards something, and carries less. It must not raise."""


class Load:
    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._carried: dict[Carrier, int] = {}
        """In the order in which they began to have something."""
        self._sum = 0
        """Invariant: the sum of `_carried`, and at most `_most`."""

    @property
    def carried_bytes(self) -> int:
        return self._sum

    def carry(self, carrier: Carrier, size: int) -> None:
        """Sets how many bytes are waiting in this carrier now."""
        self._sum += size - self._carried.get(carrier, 0)
        if size:
            self._carried[carrier] = size
        else:
            self._carried.pop(carrier, None)
        while self._sum > self._most:
            max(self._carried, key=self._carried.__getitem__).give_way()
