"""Keeps a program's output within a bound: all of it, or its beginning and its end, half the bound each.

The end is kept in one buffer that is cut when it has grown to twice its size, so a flood of small writes costs no more
than one of large writes.
"""

from codec.programs import Captured


class Capture:
    def __init__(self, most: int) -> None:
        self._most = most
        self._last = most // 2
        self._head = bytearray()
        """Invariant: at most `_most` long. When the output exceeds that, it keeps the first half, and a tail begins."""
        self._tail: bytearray | None = None
        self.total = 0

    def take(self, data: bytes) -> None:
        self.total += len(data)
        if self._tail is not None:
            self._tail += data
        else:
            self._head += data
            if self.total <= self._most:
                return
            first = self._most - self._last
            self._tail = self._head[first:]
            del self._head[first:]
        if len(self._tail) > 2 * self._last:
            del self._tail[: len(self._tail) - self._last]

    def captured(self) -> Captured:
        tail = self._tail
        if tail is None:
            return Captured(bytes(self._head), b"", self.total)
        return Captured(bytes(self._head), bytes(tail[max(0, len(tail) - self._last) :]), self.total)
