"""The rates are those of the messages that were handled, whoever comes, goes, restarts or is not drawn."""

from contextlib import suppress
from typing import Any

import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from actors.console.rates import Rates
from actors.kernel import Children, KernelError, Key, Place, Restart, supervisor_spec
from actors.kernel.testing import House, Puppet, crash, finish, run_schedule, staged
from tests.plenty import plenty

CROWD = Key[Children[Any]]("crowd")
IDS = st.integers(0, 4)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("start"), IDS),
        st.tuples(st.sampled_from(["tell", "tell", "tell", "crash", "finish"]), st.one_of(IDS, st.just("static"))),
        st.tuples(st.just("kill"), st.sampled_from(["crowd", "branch"])),
        st.tuples(st.just("wait"), st.integers(1, 30)),
    ),
    max_size=40,
)


class Naive:
    """What was handled in each place that there has ever been, added up over all of them."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._above: dict[Place, Place | None] = {}
        self.see()
        self._before = self._handled()
        self._at = house.stage.now()

    def see(self) -> None:
        """To be called after each step, before somebody has come and gone unseen."""
        for slot in self._house.stage.slots():
            self._above.setdefault(slot.place, None if slot.supervisor is None else slot.supervisor.place)

    def _handled(self) -> dict[Place, int]:
        living = {slot.place: slot.box.handled for slot in self._house.stage.slots() if slot.stop is None}
        return {place: place.handled + living.get(place, 0) for place in self._above}

    def measure(self) -> tuple[dict[Place, float], dict[Place, float], float]:
        """The rates of the places, those of their branches, and the overall one."""
        before, self._before = self._before, self._handled()
        at, self._at = self._at, self._house.stage.now()
        steps = {place: count - before.get(place, 0) for place, count in self._before.items()}
        sums = dict.fromkeys(steps, 0)
        for place, step in steps.items():
            above: Place | None = place
            while above is not None:
                sums[above] += step
                above = self._above[above]
        passed = self._at - at
        rates, branches = ({place: round(n / passed, 1) for place, n in each.items()} for each in (steps, sums))
        return rates, branches, round(sum(steps.values()) / passed, 1)


def check(house: House, rates: Rates, naive: Naive) -> None:
    rates.measure()
    each, sums, overall = naive.measure()
    for slot in house.stage.slots():
        assert rates.of(slot) == each[slot.place], slot.path
        assert rates.sums.get(slot.place, 0.0) == sums[slot.place], slot.path
    assert rates.overall == overall
    assert house.stage.root is not None
    assert rates.sums.get(house.stage.root.place, 0.0) == overall


@pytest.mark.slow
@settings(deadline=None, max_examples=plenty(40))
@given(seed=st.integers(0, 2**32 - 1), steps=STEPS)
@example(seed=1, steps=[("start", 0), ("tell", 0), ("wait", 10), ("tell", 0), ("tell", "static"), ("wait", 10)])
@example(seed=1, steps=[("start", 0), *[("tell", 0)] * 3, ("wait", 9), ("finish", 0), ("start", 0), ("tell", 0)])
@example(seed=1, steps=[("start", 0), ("tell", 0), ("wait", 5), ("kill", "branch"), ("wait", 30), ("tell", "static")])
@example(seed=1, steps=[("start", 1), ("tell", 1), ("wait", 3), ("finish", "static"), ("wait", 3)])
def test_a_rate_is_what_was_handled_since_the_last_tick(seed: int, steps: list[tuple[str, Any]]) -> None:
    async def main() -> None:
        static = Puppet("static", backoff=(0.1, 1.0, 0.5), restart=Restart.TRANSIENT)
        crowd = supervisor_spec("crowd", name=CROWD, max_children=9)
        branch = supervisor_spec("branch", [static.spec(), crowd])
        async with staged(branch, intensity=10_000) as house:
            rates, naive = Rates(house.stage), Naive(house)
            for what, detail in [*steps, ("wait", 10)]:
                await step(house, what, detail)
                await wait_all_tasks_blocked()
                naive.see()
                if what == "wait":
                    check(house, rates, naive)

    run_schedule(seed, main)


async def step(house: House, what: str, detail: Any) -> None:
    crowd = house.stage.registry.find(CROWD)
    if what == "wait":
        await trio.sleep(detail / 10)
    elif what == "start" and crowd is not None:
        with suppress(KernelError):  # it is there already, or its crowd has just ended
            await crowd.start_child(Puppet(str(detail)).spec(restart=Restart.TEMPORARY))
    elif what != "start":
        path = {"static": "top/branch/static", "crowd": "top/branch/crowd", "branch": "top/branch"}.get(
            detail, f"top/branch/crowd/{detail}"
        )
        ref = next((slot.ref for slot in house.stage.slots() if slot.path == path), None)
        if ref is None:
            return
        if what == "kill":
            ref.kill()
        else:
            ref.tell({"tell": "hello", "crash": crash(), "finish": finish()}[what])
