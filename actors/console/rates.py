"""How many messages each actor handles in a second, measured from tick to tick.

A measurement looks at every actor of the tree. There may be thousands, and mostly nobody watches, so it does little for
each of them: it adds two counters of the kernel and compares the sum with the last one. What costs more (names, rows,
statistics) is only done for the actors that are drawn.

The counters belong to places in the tree. So the rate of an actor that was restarted goes on, and one that takes the id
of another that has ended begins with none.
"""

from collections.abc import Sequence

from actors.kernel import Place, Slot, Stage

Family = tuple[Slot | None, list[Slot]]


class Rates:
    def __init__(self, stage: Stage) -> None:
        self.overall = 0.0
        """Of the whole server, with the actors that have ended."""
        self._stage = stage
        self._at = stage.now()
        self._rates: dict[Place, float] = {}
        """Of those that have handled something since the last tick."""
        self._handled: dict[Place, int] = {}
        """Up to the last tick."""
        self._all = 0
        """The same of the whole server."""
        self._count()  # before our time: no rate of ours

    def measure(self) -> dict[Place, float]:
        """To be called once a tick. Returns the sums, as `sums` does."""
        now = self._stage.now()
        passed, self._at = now - self._at, now
        before = self._all
        families, steps = self._count()
        if passed <= 0:
            self._rates, self.overall = {}, 0.0
            return {}
        rounded = {step: round(step / passed, 1) for step in set(steps.values())}
        self._rates = {place: rounded[step] for place, step in steps.items()}
        self.overall = round((self._all - before) / passed, 1)
        return self._sums(families)

    def of(self, slot: Slot) -> float:
        return self._rates.get(slot.place, 0.0)

    def sums(self) -> dict[Place, float]:
        """Of each actor that is there now, its rate and those of all below it: what its branch shows when it is folded.
        Those that are not named have none, as most of a large tree have most of the time."""
        return self._sums(list(self._stage.families()))

    def _sums(self, families: Sequence[Family]) -> dict[Place, float]:
        sums = self._rates.copy()
        for slot, children in reversed(families):  # children before their parents
            below = sum([sums.get(child.place, 0.0) for child in children])
            if below and slot is not None:
                sums[slot.place] = sums.get(slot.place, 0.0) + below
        return sums

    def _count(self) -> tuple[list[Family], dict[Place, int]]:
        """Read all counters. Returns the families, and how far those counters have moved that have."""
        before, counts, steps = self._handled, {}, {}
        living, families = 0, []
        for family in self._stage.families():  # which looks at the children once more when they have been counted
            families.append(family)
            for child in family[1]:
                place = child.place
                count = place.handled
                if child.stop is None:  # as in Slot.handled, which would be a call for each actor
                    handled = child.box.handled
                    living += handled
                    count += handled
                if count:
                    counts[place] = count
                    if step := count - before.get(place, 0):
                        steps[place] = step
        self._handled, self._all = counts, self._stage.handled_by_gone + living
        return families, steps
