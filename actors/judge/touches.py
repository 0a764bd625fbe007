"""Which results may be of a version of a file that was there for a moment only.

A folder is read soon after each edit. If an edit is undone before that, the folder looks as it did, but a program that
was started in between has read the other version. The file's stamp tells that it was written to. Which programs ran at
that time is known: each result comes with the time in which its program ran. These results count for no version.

The stamp is the time of the last touch. Nobody knows the first one between two readings. If the file has changed, only
the last one counts. If it is as it was, there was another one before; where the folder is watched, it is read so soon
that this was at most `LATE` earlier.

Pure: the caller passes in the times, all of one clock.
"""

from bisect import bisect_left
from collections.abc import Mapping
from typing import NamedTuple

from actors.judge.given import Found

LATE = 0.25
"""Seconds from an edit to the reading that it causes; a machine under load takes a part of that."""
TICK = 0.02
"""Seconds by which a stamp may be earlier than the touch."""
SOLUTION = 0
"""Its key. Tests have their index, which is never 0."""


class _Seen(NamedTuple):
    """A file, or the two of a test."""

    stamp: int
    digest: bytes | None


class Touches:
    def __init__(self) -> None:
        self._seen: dict[int, _Seen] = {}
        """As they were read last."""
        self._read = 0.0
        """When that reading began."""
        self._times: dict[int, list[tuple[float, float]]] = {}
        """In which each file was touched since the run began, from the earliest to the latest moment, in order."""
        self._ran: dict[int, tuple[float, float]] = {}
        """In which time the program of each case ran."""

    def run_begins(self) -> None:
        self._times.clear()
        self._ran.clear()

    def ran(self, index: int, began: float, ended: float) -> set[int]:
        """This program has a result. Returns the files that were touched meanwhile."""
        self._ran[index] = began, ended
        return {key for key in (SOLUTION, index) if self._was_touched(key, began, ended)}

    def read(
        self, found: Found, *, began: float, ended: float, wall: float, is_watched: bool
    ) -> list[tuple[int, int]]:
        """The folder was read, from `began` to `ended`; `wall` is the time at the end by the clock of the stamps.
        Returns the results that are in doubt, each with the file that was touched."""
        doubts: list[tuple[int, int]] = []
        seen = _seen(found)
        for key, now in seen.items():
            before = self._seen.get(key, now)
            if now.stamp == before.stamp:
                continue
            earliest, latest = self._read, ended
            last = ended - (wall - now.stamp / 1e9)
            if earliest <= last <= latest:  # the clock was not set
                latest = min(latest, last + TICK)
                if now.digest != before.digest:
                    earliest = last
                elif is_watched:
                    earliest = max(earliest, last - LATE)
            self._touched(key, earliest, latest)
            cases = self._ran if key == SOLUTION else self._ran.keys() & {key}
            doubts += [(index, key) for index in cases if _meet(self._ran[index], (earliest, latest))]
        self._seen |= seen
        self._read = began
        return doubts

    def _touched(self, key: int, earliest: float, latest: float) -> None:
        times = self._times.setdefault(key, [])
        while times and times[-1][1] >= earliest:
            earliest = min(earliest, times.pop()[0])
        times.append((earliest, latest))

    def _was_touched(self, key: int, began: float, ended: float) -> bool:
        times = self._times.get(key, [])
        at = bisect_left(times, began, key=lambda time: time[1])  # the first that was not over by then
        return at < len(times) and _meet(times[at], (began, ended))


def _seen(found: Found) -> Mapping[int, _Seen]:
    """What has a stamp."""
    seen = {SOLUTION: _Seen(found.main_touched, found.main)}
    for index, (given, wanted) in found.cases.items():
        seen[index] = _Seen(max(given.touched, wanted.touched), given.digest + wanted.digest)
    return {key: each for key, each in seen.items() if each.stamp}


def _meet(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
