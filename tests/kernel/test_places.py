"""What is counted where a child stands is counted there, whatever ends and restarts around it, in whatever order."""

from collections import Counter, defaultdict, deque
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.kernel import ActorRef, Crash, Ended, KernelError, Restart, Strategy, Why, describe, supervisor_spec
from actors.kernel.place import MOST_VACANT, VACANT_SECONDS, Place
from actors.kernel.stage import REMEMBERED
from actors.kernel.testing import House, Puppet, crash, finish, run_schedule, staged
from tests.plenty import plenty

branch = partial(supervisor_spec, intensity=1, period=30.0)
LEAVES = ["one/a", "one/b", "all/c", "all/d", "rest/e", "rest/f"]
CROWD = ["crowd/0", "crowd/1", "crowd/2"]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["crash", "kill", "finish", "tell", "stop"]), st.sampled_from([*LEAVES, *CROWD])),
        st.tuples(st.just("kill"), st.sampled_from(["one", "all", "rest", "crowd"])),
        st.tuples(st.just("start"), st.tuples(st.integers(0, 2), st.sampled_from(Restart))),
        st.tuples(st.just("wait"), st.integers(0, 40).map(lambda tenths: tenths / 10)),
    ),
    max_size=30,
)
BACK = [("wait", 3.0), ("start", (0, Restart.TRANSIENT))]
FALLS = [("crash", "one/a"), ("wait", 1.0), ("crash", "one/a"), ("wait", 1.0)]


class Book:
    """What should be told of each place, from what the kernel tells as it happens."""

    def __init__(self, house: House) -> None:
        self.starts = Counter[str]()
        self.crashed = Counter[str]()
        self.again = 0
        self.crashes: list[tuple[str, str]] = []
        for entry in house.trace.log.entries:
            if entry.kind == "spawn":
                self.starts[entry.path] += 1

    def __call__(self, kind: str, ref: ActorRef[Any], detail: object, at: float) -> None:
        slot = ref._slot
        if kind == "spawn":
            self.starts[ref.path] += 1
            self.again += self.starts[ref.path] > 1
        elif isinstance(detail, Ended):
            if detail.stop.why.failed:
                self.crashed[ref.path] += 1
                self.crashes.append((ref.path, detail.stop.why.value))
            ends_with_supervisor = slot.supervisor is not None and slot.supervisor.closing
            lost = detail.stop.why.failed or (ends_with_supervisor and slot.spec.restart is not Restart.TEMPORARY)
            if slot.dynamic and not detail.restarts and not lost:
                del self.starts[ref.path], self.crashed[ref.path]

    def is_right(self, house: House) -> None:
        for slot in house.stage.slots():
            told = slot.statistics()
            assert (told.path, told.restarts) == (told.path, max(0, self.starts[told.path] - 1))
            assert (told.path, told.crashes) == (told.path, self.crashed[told.path])
        for slot in house.stage.slots():
            assert slot.place.around is (None if slot.supervisor is None else slot.supervisor.place)
        overall = house.stage.statistics()
        assert overall.restarts == self.again
        assert overall.crashes == len(self.crashes)
        assert [(note.path, note.why.value) for note in house.stage.crashes] == self.crashes[-REMEMBERED:]


def leaf(id: str) -> Puppet:  # noqa: A002
    return Puppet(id, backoff=(0.1, 1.0, 0.5), grace=1.0)


@pytest.mark.slow
@settings(deadline=None, max_examples=plenty(50))
@given(seed=st.integers(0, 2**32 - 1), steps=STEPS)
@example(seed=1, steps=[*FALLS, *FALLS])  # the branch falls, twice
@example(seed=1, steps=[("start", (0, Restart.TRANSIENT)), ("kill", "crowd"), *BACK])
@example(seed=1, steps=[("start", (0, Restart.PERMANENT)), ("stop", "crowd/0"), ("start", (0, Restart.PERMANENT))])
@example(seed=1, steps=[("start", (0, Restart.TEMPORARY)), ("crash", "crowd/0"), ("start", (0, Restart.TEMPORARY))])
@example(seed=1, steps=[("crash", "rest/e"), ("crash", "rest/f"), ("wait", 4.0), ("crash", "all/d"), ("wait", 4.0)])
def test_restarts_are_the_starts_at_a_place_but_the_first(seed: int, steps: list[tuple[str, Any]]) -> None:
    async def main() -> None:
        puppets = {path: leaf(path.rpartition("/")[2]) for path in LEAVES}
        inside = {
            name: [puppets[path].spec() for path in LEAVES if path.startswith(name)] for name in ("one", "all", "rest")
        }
        async with staged(
            branch("one", inside["one"]),
            branch("all", inside["all"], Strategy.ONE_FOR_ALL),
            branch("rest", inside["rest"], Strategy.REST_FOR_ONE),
            branch("crowd", max_children=9),
            intensity=10_000,
        ) as house:
            book = Book(house)
            house.stage.watch(book)
            for what, detail in steps:
                await step(house, what, detail)
                book.is_right(house)
            await trio.sleep(100)
            book.is_right(house)
            for path, puppet in puppets.items():
                taken = len(puppet.messages)
                there = [slot for slot in house.stage.slots() if slot.path == f"top/{path}"]
                assert not there or there[0].statistics().handled == taken

    run_schedule(seed, main)


async def step(house: House, what: str, detail: Any) -> None:
    if what == "wait":
        await trio.sleep(detail)
        return
    slots = {slot.path: slot for slot in house.stage.slots()}
    if what == "start":
        id, restart = detail  # noqa: A001
        crowd = slots.get("top/crowd")
        if crowd is not None and crowd.incarnation is not None and not crowd.leaving:
            with trio.move_on_after(1), suppress(KernelError):  # it is there already, or its crowd is just ending
                await crowd.ref.start_child(leaf(str(id)).spec(restart=restart))
        return
    slot = slots.get(f"top/{detail}")
    if slot is None:
        return
    match what:
        case "kill":
            slot.ref.kill()
        case "stop":
            slot.ref.begin_stop()
        case _:
            slot.ref.tell({"crash": crash(ValueError("as told")), "finish": finish(), "tell": "hello"}[what])


async def test_the_restart_of_a_branch_leaves_the_counts_of_its_children_standing() -> None:
    puppet, beside = leaf("a"), leaf("b")
    async with staged(
        supervisor_spec("branch", [puppet.spec(), beside.spec()], intensity=2, period=60.0), intensity=9
    ) as house:
        house["branch/b"].tell("hello")
        for number in range(2, 5):
            house["branch/a"].tell(crash(ValueError("as told")))
            await puppet.start(number)
        await beside.start(2)
        child, above, other = (house[path].statistics() for path in ("branch/a", "branch", "branch/b"))
        assert (child.restarts, child.crashes, child.handled) == (3, 3, 3)
        assert (above.restarts, above.crashes) == (1, 1)
        assert (other.restarts, other.crashes, other.handled) == (1, 0, 1)
        assert child.error == "crashed: ValueError: as told"
        assert child.restarted_at == house.stage.now()
        assert house.stage.statistics().restarts == 3 + 1 + 1


@pytest.mark.slow
async def test_the_last_crashes_are_known_whatever_else_has_ended_since() -> None:
    puppet = leaf("a")
    async with staged(puppet.spec()) as house:
        house["a"].tell(crash(ValueError("as told")))
        at = house.stage.now()
        await puppet.start(2)
        for number in range(3 * REMEMBERED):
            async with house.root.lease(leaf(str(number)).spec()):
                pass
        assert list(house.stage.crashes) == [
            Crash(at, "top/a", Why.CRASHED, "ValueError: as told", "function", restarts=True)
        ]


async def test_of_a_crash_no_traceback_is_kept() -> None:
    """It would keep whatever its frames knew."""
    puppet = leaf("a")
    async with staged(puppet.spec()) as house:
        house["a"].tell(crash(ValueError("as told")))
        await puppet.start(2)
        (note,) = house.stage.crashes
        assert not any(isinstance(getattr(note, name), BaseException) for name in Crash.__slots__)
        assert note.error == describe(ValueError("as told"))


# -- a place is not kept for ever


@pytest.mark.slow
async def test_a_thousand_leases_leave_no_place_behind() -> None:
    async with staged(supervisor_spec("crowd", max_children=9)) as house:
        crowd = house["crowd"]
        for number in range(1_000):
            async with crowd.lease(leaf(str(number)).spec()):
                pass
        assert len(house.stage.place) == 2


@pytest.mark.slow
async def test_of_many_that_failed_the_latest_places_are_kept_for_a_while() -> None:
    async with staged(supervisor_spec("crowd", intensity=100_000, max_children=9)) as house:
        crowd = house["crowd"]
        for number in range(MOST_VACANT + 50):
            ref = await crowd.start_child(leaf(str(number)).spec(restart=Restart.TEMPORARY))
            ref.kill()
            await ref.wait_stopped()
        assert len(house.stage.place) == 2 + MOST_VACANT
        again = await crowd.start_child(leaf(str(MOST_VACANT)).spec())
        assert again.statistics().restarts == 1
        assert (await crowd.start_child(leaf("0").spec())).statistics().restarts == 0, "the eldest gave way"
        await trio.sleep(VACANT_SECONDS)
        await again.stop()
        again = await crowd.start_child(leaf("late").spec())
        assert len(house.stage.place) == 4


VISITS = st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.integers(0, 400)), max_size=60)


@pytest.mark.slow
@given(VISITS, st.integers(1, 4))
def test_places_are_a_bounded_memory_of_who_may_come_back(visits: list[tuple[int, bool, int]], most: int) -> None:
    house, now = Place(), 0.0
    kept = deque[tuple[int, float]]()
    starts = defaultdict[int, int](int)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actors.kernel.place.MOST_VACANT", most)
        for id, vacant, seconds in visits:  # noqa: A001
            now += seconds
            while kept and kept[0][1] <= now - VACANT_SECONDS:
                del starts[kept.popleft()[0]]
            place = house.take(id, now)
            kept = deque(entry for entry in kept if entry[0] != id)
            assert place.starts == starts[id]
            place.start(now)
            starts[id] += 1
            house.leave(id, now, vacant=vacant)
            if vacant:
                kept.append((id, now))
                if len(kept) > most:
                    del starts[kept.popleft()[0]]
            else:
                del starts[id]
            assert len(house) == 1 + len(kept)
