"""What is counted where a child stands. A place outlives the slots that fill it, as a slot outlives incarnations: the
restart of a supervisor makes new slots for all its children, and what happened to those is not forgotten by it.

Places are a tree of their own: each is known to the place of its supervisor by the child's id, so it is what a path
names. Nothing here is touched by a message; a slot hands over what its mailbox has counted when it ends for good.

Rules
  - Restarts are the starts but the first, whoever was meant: the child, its group, or a supervisor above it.
  - The place of a child of the fixed tree lasts as long as that of its supervisor.
  - That of a dynamic child is forgotten when the child ends in order: whoever takes the id later is somebody else. It
    stays vacant for who comes back if the child failed, or if its supervisor ended and the child was not temporary:
    for `VACANT_SECONDS`, and `MOST_VACANT` at one supervisor, of which the one that was left first gives way.
"""

from collections import OrderedDict
from collections.abc import Hashable

VACANT_SECONDS = 600.0
MOST_VACANT = 256


class Place:
    __slots__ = ("_inside", "_vacant", "crashed_at", "crashes", "dropped", "error", "handled", "started_at", "starts")

    def __init__(self) -> None:
        self.starts = 0
        self.started_at: float | None = None
        self.crashes = 0
        self.crashed_at: float | None = None
        self.error: str | None = None  # what the last failure was, in a line
        self.handled = 0  # by slots that have ended for good
        self.dropped = 0
        self._inside: dict[Hashable, Place] | None = None
        self._vacant: OrderedDict[Hashable, float] | None = None  # those inside that nobody fills, since when

    @property
    def restarts(self) -> int:
        return max(0, self.starts - 1)

    @property
    def restarted_at(self) -> float | None:
        return self.started_at if self.starts > 1 else None

    def start(self, now: float) -> bool:
        """An incarnation begins; True if it is not the first."""
        self.starts += 1
        self.started_at = now
        return self.starts > 1

    def crash(self, now: float) -> None:
        self.crashes += 1
        self.crashed_at = now

    # -- the places of its children

    def take(self, id: Hashable, now: float) -> "Place":  # noqa: A002 - as in ChildSpec
        """Where the child of this id stands."""
        if self._inside is None:
            self._inside = {}
        if self._vacant is not None:
            self._expire(self._vacant, now)
            self._vacant.pop(id, None)
        place = self._inside.get(id)
        if place is None:
            place = self._inside[id] = Place()
        return place

    def leave(self, id: Hashable, now: float, *, vacant: bool) -> None:  # noqa: A002
        """A dynamic child has ended for good. `vacant`: somebody may come back."""
        assert self._inside is not None
        if not vacant:
            del self._inside[id]
            return
        if self._vacant is None:
            self._vacant = OrderedDict()
        self._vacant[id] = now
        self._expire(self._vacant, now)

    def _expire(self, vacant: "OrderedDict[Hashable, float]", now: float) -> None:
        assert self._inside is not None
        while vacant and (len(vacant) > MOST_VACANT or next(iter(vacant.values())) <= now - VACANT_SECONDS):
            forgotten, _ = vacant.popitem(last=False)
            del self._inside[forgotten]

    def __len__(self) -> int:
        """How many places are kept here, this one and all inside."""
        return 1 + sum(map(len, (self._inside or {}).values()))
