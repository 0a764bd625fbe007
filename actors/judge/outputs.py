"""What solutions wrote, where a result has only its beginning: kept until the next run, and never too much of it."""

MOST_SHOWN = 1 << 20
"""Bytes of one text that is shown on request."""
MOST_BYTES = 32 << 20
"""Of one problem; then the oldest are let go of."""


class Outputs:
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._kept: dict[int, bytes] = {}  # the oldest first
        self._sum = 0

    def keep(self, index: int, output: bytes) -> None:
        """In place of what this case wrote before; empty: there is nothing to keep."""
        self._sum += len(output) - len(self._kept.pop(index, b""))
        if output:
            self._kept[index] = output
        while self._sum > self._most:
            self._sum -= len(self._kept.pop(next(iter(self._kept))))

    def of(self, index: int) -> bytes:
        return self._kept.get(index, b"")
