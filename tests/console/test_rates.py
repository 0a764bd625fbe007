"""The rates are those of the messages that were handled, whoever comes, goes, restarts or is not drawn."""

from contextlib import suppress
from typing import Any

import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from actors.console.rates import Rates
from actors.kernel import Children, KernelError, Key, Restart, supervisor_spec
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
    """What each actor has handled in all, as everybody can ask it. Who has taken the path of another begins at 0."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._before = self._now()
        self._all = house.stage.statistics().handled
        self.at = house.stage.now()

    def _now(self) -> dict[str, tuple[object, int]]:
        return {slot.path: (slot.place, slot.statistics().handled) for slot in self._house.stage.slots()}

    def moved(self) -> tuple[dict[str, int], int]:
        before, self._before = self._before, self._now()
        all_, self._all = self._all, self._house.stage.statistics().handled
        steps = {}
        for path, (place, count) in self._before.items():
            earlier, handled = before.get(path, (None, 0))
            steps[path] = count - (handled if earlier is place else 0)
        return steps, self._all - all_


def check(house: House, rates: Rates, naive: Naive) -> None:
    steps, overall = naive.moved()
    passed = house.stage.now() - naive.at
    naive.at = house.stage.now()
    sums = rates.measure()
    assert sums == rates.sums()
    slots = {slot.path: slot for slot in house.stage.slots()}
    expected = {path: round(step / passed, 1) for path, step in steps.items()}
    assert {path: rates.of(slot) for path, slot in slots.items()} == expected
    assert rates.overall == round(overall / passed, 1)


def add_up(house: House, rates: Rates) -> None:
    """The sums are those of the rates of whoever is there now."""
    sums, slots = rates.sums(), list(house.stage.slots())
    for slot in slots:
        below = sum(rates.of(each) for each in slots if f"{each.path}/".startswith(f"{slot.path}/"))
        assert sums.get(slot.place, 0.0) == pytest.approx(below), slot.path


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
                if what == "wait":
                    check(house, rates, naive)
                add_up(house, rates)

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
