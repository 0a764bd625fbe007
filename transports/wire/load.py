"""What all outboxes of a door together have not yet sent.

Each has a bound of its own, but for what begins anew: the whole of a board may be large, and hundreds of pages that do
not read could each have one waiting. So there is a bound for the sum, and when it is passed, the outbox with the most
gives way, of equals the one that has been waiting for longer: who reads has less and less, and is not made to pay for
those who do not.
"""

from typing import Protocol


class Carrier(Protocol):
    def give_way(self) -> None:
        """Let go of something, and carry less. It must not raise."""


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
        """So much is waiting in this one now."""
        self._sum += size - self._carried.get(carrier, 0)
        if size:
            self._carried[carrier] = size
        else:
            self._carried.pop(carrier, None)
        while self._sum > self._most:
            max(self._carried, key=self._carried.__getitem__).give_way()
