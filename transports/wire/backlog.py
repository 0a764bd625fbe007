"""Bounds the memory for unfinished messages, or for requests' bodies, over all connections of a door.

Each connection may keep `message_bytes`, or `body_bytes`, but thousands of them together could not. So there is a bound
for the sum. When it is exceeded, the message that has been under way for the longest time is dropped, because its
client had the most time. So a client that quickly sends a large message does not pay for others that sent half of
theirs and stopped.
"""

from typing import Protocol


class Sender(Protocol):
    def give_way(self) -> None:
        """Forgets the unfinished message and ends the connection. It must not raise."""


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
        """Sets how many bytes of this sender's message, or body, have come."""
        self._sum += size - self._kept.get(sender, 0)
        self._kept[sender] = size
        while self._sum > self._most:
            eldest = next(iter(self._kept))
            self.release(eldest)
            eldest.give_way()

    def release(self, sender: Sender) -> None:
        """Its message is finished, its request over, or the connection has ended."""
        self._sum -= self._kept.pop(sender, 0)
