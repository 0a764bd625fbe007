"""What all connections of a door together keep of messages of which the end has not come, or of requests' bodies.

Each may keep `message_bytes`, or `body_bytes`; thousands of them could not all. So there is a bound for the sum, and
when it is passed, what has been under way for the longest time gives way: its client has had its chance, and one that
sends a large message in a moment is not made to pay for others that sent half of theirs and stopped.
"""

from typing import Protocol


class Sender(Protocol):
    def give_way(self) -> None:
        """Forget what has come, and end the connection. It must not raise."""


class Backlog:
    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._kept: dict[Sender, int] = {}
        """In the order in which they began."""
        self._sum = 0
        """Invariant: the sum of `_kept`, and at most `_most`."""

    @property
    def kept_bytes(self) -> int:
        return self._sum

    def keep(self, sender: Sender, size: int) -> None:
        """So much of this one's message, or body, is there."""
        self._sum += size - self._kept.get(sender, 0)
        self._kept[sender] = size
        while self._sum > self._most:
            eldest = next(iter(self._kept))
            self.release(eldest)
            eldest.give_way()

    def release(self, sender: Sender) -> None:
        """Its message is finished, its request over, or the connection has ended."""
        self._sum -= self._kept.pop(sender, 0)
