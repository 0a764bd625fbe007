"""What may still be being written: it is torn until it has not changed for a second, by a clock that nobody sets.

When that second is over, the keeper tells of it once more, so whoever waits for it looks again in time.

Only so many torn files are remembered, and there may be more. Then the place of one that was found to be still twice is
given to the next: whoever waited for it has had his turn, because an end looks when it reads, and again when the turn
of a request has come. If there is none, the next one is not remembered yet. If the oldest were forgotten instead, each
of very many would be forgotten just before its turn.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection

from codec.ipc.folder import Tray

TORN_SECONDS = 1.0
MOST_REMEMBERED = 50_000
OLD_SECONDS = 600.0
"""What nobody has looked at for so long gives its place to another, too."""

Stamp = tuple[int, int, int]
"""Size, time of the last change, number."""


class _Torn:
    __slots__ = ("looked", "since", "stamp")

    def __init__(self, stamp: Stamp, now: float) -> None:
        self.stamp = stamp
        self.since = self.looked = now


class Torns:
    """Asked from two threads. Its dictionaries are emptied from their ends, which a plain one would take ever longer
    for."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._known: OrderedDict[tuple[Tray, str], _Torn] = OrderedDict()
        """What was looked at longest ago comes first."""
        self._still: set[tuple[Tray, str]] = set()
        """Those of them that were found to be still..."""
        self._settled: dict[tuple[Tray, str], None] = {}
        """...and those that were so twice, the last ones last."""
        self._untold: OrderedDict[tuple[Tray, str], float] = OrderedDict()
        """The oldest first."""
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._known)

    def is_still(self, tray: Tray, name: str, status: os.stat_result) -> bool:
        """Whether it has not changed for a second, while we looked."""
        stamp, now, key = stamp_of(status), self._now(), (tray, name)
        with self._lock:
            known = self._known.get(key)
            if known is not None and known.stamp == stamp:
                known.looked = now
                self._known.move_to_end(key)
                if now - known.since < TORN_SECONDS:
                    return False
                if key in self._still:
                    self._settled[key] = None
                self._still.add(key)
                return True
            self._forget(key)
            if len(self._known) >= MOST_REMEMBERED:
                self._make_room(now)
            if len(self._known) < MOST_REMEMBERED:
                self._known[key] = _Torn(stamp, now)
                self._untold[key] = now
        return False

    def _make_room(self, now: float) -> None:
        if self._settled:
            self._forget(next(reversed(self._settled)))
        elif now - (eldest := next(iter(self._known.items())))[1].looked >= OLD_SECONDS:
            self._forget(eldest[0])

    def forget(self, tray: Tray, name: str) -> None:
        if self._known:
            with self._lock:
                self._forget((tray, name))

    def listed(self, tray: Tray, names: Collection[str]) -> None:
        """Only these are in that room."""
        if self._known:
            with self._lock:
                for key in [key for key in self._known if key[0] is tray and key[1] not in names]:
                    self._forget(key)

    def _forget(self, key: tuple[Tray, str]) -> None:
        self._known.pop(key, None)
        self._still.discard(key)
        self._settled.pop(key, None)
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
            while self._untold and now - next(iter(self._untold.values())) >= TORN_SECONDS:
                (tray, name), _ = self._untold.popitem(last=False)
                found.setdefault(tray, set()).add(name)
        return {tray: frozenset(names) for tray, names in found.items()}


def stamp_of(status: os.stat_result) -> Stamp:
    return status.st_size, status.st_mtime_ns, status.st_ino
