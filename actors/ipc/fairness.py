"""Whose turn it is: the order in which waiting requests are taken in hand, at both ends. Pure.

Rules
  - Submitters take turns, one request each. So a lone request waits for one of every other submitter, and not for the
    twenty thousand that another has sent before it.
  - Of the same submitter's requests the highest priority goes first, and of these the one that came first.
  - A request whose time has not come holds up nothing, and gives nobody a turn.
  - Requests whose deadline has passed take turns with the submitters as if one more had sent them. They are taken so
    that their failure can be reported, in the order of their deadlines, and do not wait for what is before them in
    their lane.
  - Scripts that know nothing of submitters are told apart by how their ids begin (`submitter_of`).

Times are in seconds since 1970, as in the wishes; whoever asks says what time it is. What has been discarded stays in
the heaps until its place comes up, or until there is more of it than of what waits; so a hundred thousand requests cost
a few hundred bytes each, however many come and go.
"""

import heapq
import itertools
import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from codec.ipc import Wishes

LATE = "late "
"""The lane of those past their deadlines. No submitter's name ends with a blank here (`submitter_of`)."""
WALL_SECONDS = 10.0
"""While anything waits for its time, the clock on the wall is looked at so often at least: it may be set meanwhile, and
the clock by which one waits stands still while a machine sleeps."""
FEW = 1000
"""So many discarded places are no reason to tidy up."""

_WORD = re.compile(r"[A-Za-z]*")
_DRAWN = re.compile(r"[0-9A-Fa-f-]{16,}")
"""An id that was drawn at random begins with nothing that says who asks."""


class LanePlace(NamedTuple):
    number: int
    """No two places have the same, and a later one has a higher."""
    lane: str
    wishes: Wishes


def submitter_of(id: str, wishes: Wishes) -> str:  # noqa: A002 - as in the contract
    """Requests with wishes and without a submitter have one lane, so that their priorities mean something."""
    if wishes.submitter:
        return f"by {wishes.submitter.rstrip()}"
    if wishes != _NONE or _DRAWN.fullmatch(id):
        return ""
    word = _WORD.match(id)
    return f"as {word[0]}" if word and word[0] else ""


_NONE = Wishes()


class FairQueue:
    def __init__(self) -> None:
        self._places: dict[str, LanePlace] = {}
        self._lanes: dict[str, list[tuple[float, int, str]]] = {}
        """Heaps of what may be taken, by urgency and number..."""
        self._turns: deque[str] = deque()
        """...and the lanes that are not empty, each once, in the order of their turns."""
        self._early: list[tuple[float, int, str]] = []
        self._deadlines: list[tuple[float, int, str]] = []
        self._numbers = itertools.count(1)
        self._discarded = 0

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, id: str) -> bool:  # noqa: A002
        return id in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def add(self, id: str, wishes: Wishes = _NONE) -> None:  # noqa: A002
        """The same id again keeps its place, unless its wishes have changed."""
        known = self._places.get(id)
        if known is not None:
            if known.wishes == wishes:
                return
            self.discard(id)
        number = next(self._numbers)
        if wishes.deadline is not None:
            heapq.heappush(self._deadlines, (wishes.deadline, number, id))
        if wishes.not_before is not None:
            self._places[id] = LanePlace(number, "", wishes)
            heapq.heappush(self._early, (wishes.not_before, number, id))
        else:
            self._line_up(id, LanePlace(number, submitter_of(id, wishes), wishes), -wishes.priority)

    def take(self, now: float) -> str | None:
        """The next request, which is no longer in the queue then; None if none may begin by now."""
        self._wake(now)
        while self._turns:
            lane = self._turns.popleft()
            heap = self._lanes[lane]
            if self._first(heap) is None:
                del self._lanes[lane]
                continue
            id = heapq.heappop(heap)[2]  # noqa: A001
            if heap:
                self._turns.append(lane)
            else:
                del self._lanes[lane]
            self._forget(id, heaps=0)
            return id
        return None

    def take_some(self, now: float, most: int) -> list[str]:
        """The next requests, up to so many, in the order of their turns."""
        some: list[str] = []
        while len(some) < most and (id := self.take(now)) is not None:  # noqa: A001
            some.append(id)
        return some

    def discard(self, id: str) -> bool:  # noqa: A002
        """Whether it was there."""
        if id not in self._places:
            return False
        self._forget(id, heaps=1)
        return True

    def next_moment(self, now: float) -> float | None:
        """When there may be something to take, though nothing is added; `now`, if there is something. None: never."""
        self._wake(now)
        while self._turns:
            if self._first(self._lanes[self._turns[0]]) is not None:
                return now
            del self._lanes[self._turns.popleft()]
        firsts = [self._first(heap) for heap in (self._early, self._deadlines)]
        return min((first[0] for first in firsts if first is not None), default=None)

    # --

    def _wake(self, now: float) -> None:
        """Lines up those whose time has come, and those whose deadline has passed."""
        for heap, is_late in ((self._deadlines, True), (self._early, False)):
            while (first := self._first(heap)) is not None and first[0] <= now:
                moment, number, id = heapq.heappop(heap)  # noqa: A001
                wishes = self._places[id].wishes
                if is_late:
                    self._discarded += 1  # where it stood: in its lane, or among those whose time has not come
                    self._line_up(id, LanePlace(next(self._numbers), LATE, wishes), moment)
                else:
                    self._line_up(id, LanePlace(number, submitter_of(id, wishes), wishes), -wishes.priority)

    def _first(self, heap: list[tuple[float, int, str]]) -> tuple[float, int, str] | None:
        while heap and not self._stands(heap[0][1], heap[0][2]):
            heapq.heappop(heap)
            self._discarded -= 1
        return heap[0] if heap else None

    def _line_up(self, id: str, place: LanePlace, urgency: float) -> None:  # noqa: A002
        self._places[id] = place
        heap = self._lanes.get(place.lane)
        if heap is None:
            heap = self._lanes[place.lane] = []
            self._turns.append(place.lane)
        heapq.heappush(heap, (urgency, place.number, id))

    def _stands(self, number: int, id: str) -> bool:  # noqa: A002
        place = self._places.get(id)
        return place is not None and place.number == number

    def _forget(self, id: str, heaps: int) -> None:  # noqa: A002
        """`heaps`: in how many it stands, besides that of the deadlines."""
        place = self._places.pop(id)
        self._discarded += heaps + (place.wishes.deadline is not None and place.lane != LATE)
        if self._discarded > max(FEW, len(self._places)):
            self._tidy()

    def _tidy(self) -> None:
        for heap in (self._early, self._deadlines, *self._lanes.values()):
            heap[:] = [entry for entry in heap if self._stands(entry[1], entry[2])]
            heapq.heapify(heap)
        self._lanes = {lane: heap for lane, heap in self._lanes.items() if heap}
        self._turns = deque(lane for lane in self._turns if lane in self._lanes)
        self._discarded = 0
