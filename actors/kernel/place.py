"""A place: the counters of a child, by its position in the tree. A place outlives the slots that fill it, as a slot
outlives the incarnations in it: when a supervisor is restarted, all its children get new slots, and their counters go
on.

Places form a tree of their own. The place of a supervisor knows the places of its children by their ids, so a place
stands for a path; and each knows the place that it is in. No message touches a place: a slot that ends for good adds
the counters of its mailbox.

Rules
  - All starts but the first are restarts, no matter what was to be restarted: the child, its group, or a supervisor
    above it.
  - The place of a static child lasts as long as that of its supervisor.
  - The place of a dynamic child is forgotten when the child ends in order: a child that takes the id later is another
    one. If the child failed, or if its supervisor ended and the child was not temporary, the child may come back, and
    its place stays vacant for it. It does so for `VACANT_SECONDS`, and a supervisor keeps `MOST_VACANT` vacant places:
    beyond that, the one that has been vacant longest is forgotten.
"""

from collections import OrderedDict
from collections.abc import Hashable

VACANT_SECONDS = 600.0
MOST_VACANT = 256


class Place:
    __slots__ = (
        "_vacant",
        "around",
        "crashed_at",
        "crashes",
        "dropped",
        "error",
        "handled",
        "inside",
        "started_at",
        "starts",
    )

    def __init__(self, around: "Place | None" = None) -> None:
        self.around = around  # None: the root's
        self.starts = 0
        self.started_at: float | None = None
        self.crashes = 0
        self.crashed_at: float | None = None
        self.error: str | None = None  # the last failure, in a line
        self.handled = 0  # by slots that have ended for good
        self.dropped = 0
        self.inside: dict[Hashable, Place] | None = None  # by the ids of its children
        self._vacant: OrderedDict[Hashable, float] | None = None  # places inside without a child: since when

    @property
    def restarts(self) -> int:
        return max(0, self.starts - 1)

    @property
    def restarted_at(self) -> float | None:
        return self.started_at if self.starts > 1 else None

    def start(self, now: float) -> bool:
        """An incarnation begins. True if it is not the first one."""
        self.starts += 1
        self.started_at = now
        return self.starts > 1

    def crash(self, now: float) -> None:
        self.crashes += 1
        self.crashed_at = now

    # -- the places of its children

    def take(self, id: Hashable, now: float) -> "Place":  # noqa: A002 - as in ChildSpec
        """The place of the child with this id."""
        if self.inside is None:
            self.inside = {}
        if self._vacant is not None:
            self._expire(self._vacant, now)
            self._vacant.pop(id, None)
        place = self.inside.get(id)
        if place is None:
            place = self.inside[id] = Place(self)
        return place

    def leave(self, id: Hashable, now: float, *, vacant: bool) -> None:  # noqa: A002
        """A dynamic child has ended for good. `vacant`: the child may come back."""
        assert self.inside is not None
        if not vacant:
            self._forget(id)
            return
        if self._vacant is None:
            self._vacant = OrderedDict()
        self._vacant[id] = now
        self._expire(self._vacant, now)

    def _expire(self, vacant: "OrderedDict[Hashable, float]", now: float) -> None:
        assert self.inside is not None
        while vacant and (len(vacant) > MOST_VACANT or next(iter(vacant.values())) <= now - VACANT_SECONDS):
            forgotten, _ = vacant.popitem(last=False)
            self._forget(forgotten)

    def _forget(self, id: Hashable) -> None:  # noqa: A002
        """And all that is inside it: places that know each other would wait for the collector."""
        assert self.inside is not None
        place = self.inside.pop(id)
        for each in tuple(place.inside or ()):
            place._forget(each)

    def __len__(self) -> int:
        """How many places there are: this one and all inside it."""
        return 1 + sum(map(len, (self.inside or {}).values()))
