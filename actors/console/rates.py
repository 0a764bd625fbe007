"""How many messages each actor handles in a second, measured from tick to tick.

The kernel names those that have handled something (Stage.work), so a measurement costs as much as has happened, however
many actors there are. The rates belong to places in the tree. So the rate of an actor that was restarted goes on, and
one that takes the id of another that has ended begins with none.
"""

from collections.abc import Mapping

from actors.kernel import Place, Slot, Stage


class Rates:
    def __init__(self, stage: Stage) -> None:
        self.sums: Mapping[Place, float] = {}
        """Of each branch, what it and all below it have handled, also those that have ended since: a folded one shows
        that. Those that are not named have handled nothing, as most of a large tree have most of the time."""
        self._rates: Mapping[Place, float] = {}
        self._stage = stage
        self._at = stage.now()
        stage.work()  # before our time: no rate of ours

    def measure(self) -> None:
        """To be called once a tick."""
        now = self._stage.now()
        passed, self._at = now - self._at, now
        steps = self._stage.work()
        self._rates, self.sums = {}, {}
        if passed > 0:
            self._rates, self.sums = _in(passed, steps), _in(passed, _summed(steps))

    @property
    def overall(self) -> float:
        """Of the whole server."""
        return self.sums.get(self._stage.place, 0.0)

    def of(self, slot: Slot) -> float:
        return self._rates.get(slot.place, 0.0)


def _in(passed: float, steps: Mapping[Place, int]) -> dict[Place, float]:
    return {place: round(step / passed, 1) for place, step in steps.items()}


def _summed(steps: Mapping[Place, int]) -> dict[Place, int]:
    sums: dict[Place, int] = {}
    for place, step in steps.items():
        branch: Place | None = place
        while branch is not None:
            sums[branch] = sums.get(branch, 0) + step
            branch = branch.around
    return sums
