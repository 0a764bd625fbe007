"""What may still be being written: it is torn until it has not changed for a second, by a clock that nobody sets.

When that second is over, the keeper tells of it once more, so whoever waits for it looks again in time.
"""

import os
import threading
from collections.abc import Callable

from codec.ipc.folder import Tray

TORN_SECONDS = 1.0
MOST_REMEMBERED = 50_000
"""Torn files whose times are remembered. The oldest is forgotten first, and waits for longer."""

Stamp = tuple[int, int, int]
"""Size, time of the last change, number."""


class Torns:
    """Asked from two threads."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._since: dict[tuple[Tray, str], tuple[Stamp, float]] = {}
        self._untold: dict[tuple[Tray, str], float] = {}
        """The oldest first."""
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._since)

    def is_still(self, tray: Tray, name: str, status: os.stat_result) -> bool:
        """Whether it has not changed for a second, while we looked."""
        stamp, now, key = stamp_of(status), self._now(), (tray, name)
        with self._lock:
            known = self._since.get(key)
            if known is not None and known[0] == stamp:
                return now - known[1] >= TORN_SECONDS
            if known is None and len(self._since) >= MOST_REMEMBERED:
                oldest = next(iter(self._since))
                self._forget(oldest)
            self._forget(key)
            self._since[key] = (stamp, now)
            self._untold[key] = now
        return False

    def forget(self, tray: Tray, name: str) -> None:
        if self._since:
            with self._lock:
                self._forget((tray, name))

    def _forget(self, key: tuple[Tray, str]) -> None:
        self._since.pop(key, None)
        self._untold.pop(key, None)

    def next_due(self) -> float | None:
        """In how many seconds one may be known to be spoiled."""
        with self._lock:
            oldest = next(iter(self._untold.values()), None)
        return None if oldest is None else max(0.0, oldest + TORN_SECONDS - self._now())

    def due(self) -> dict[Tray, frozenset[str]]:
        """The files that are to be looked at again, by their names. Each is told once."""
        found: dict[Tray, set[str]] = {}
        now = self._now()
        with self._lock:
            while self._untold:
                (tray, name), since = next(iter(self._untold.items()))
                if now - since < TORN_SECONDS:
                    break
                del self._untold[tray, name]
                found.setdefault(tray, set()).add(name)
        return {tray: frozenset(names) for tray, names in found.items()}


def stamp_of(status: os.stat_result) -> Stamp:
    return status.st_size, status.st_mtime_ns, status.st_ino
