"""Keeps the outputs of solutions until the next run, within a bound. The results have only their beginnings."""

MOST_SHOWN = 1 << 20
"""Bytes of one text that is shown on request."""
MOST_BYTES = 32 << 20
"""Bytes for one problem; beyond that the oldest are dropped."""


class Outputs:
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._kept: dict[int, bytes] = {}  # the oldest first
        self._sum = 0

    def keep(self, index: int, output: bytes) -> None:
        """Replaces this case's last output. Empty: there is nothing to keep."""
        self._sum += len(output) - len(self._kept.pop(index, b""))
        if output:
            self._kept[index] = output
        while self._sum > self._most:
            self._sum -= len(self._kept.pop(next(iter(self._kept))))

    def of(self, index: int) -> bytes:
        return self._kept.get(index, b"")
