"""The console's restarts, crashes, trouble and sums are true, whatever happens."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from actors.console import ConsoleDesk, Observer, Surroundings, SystemFact, viewers_spec
from actors.console.observer import NAME
from actors.console.picture import LATELY, REMEMBERED
from actors.kernel import (
    ActorRef,
    Children,
    ChildSpec,
    Ended,
    KernelError,
    Key,
    Restart,
    Strategy,
    Top,
    supervisor_spec,
)
from actors.kernel.testing import House, Puppet, crash, run_schedule, staged
from codec.console import Health, Hello
from tests.plenty import plenty

RUNS = Key[Children[Any]]("runs")
FACTS = [SystemFact("judge", enabled=True, listens=False, about="runs"), SystemFact("store", True, False, "keeps")]


def leaf(id: str) -> ChildSpec[Any]:  # noqa: A002
    return Puppet(id).spec(backoff=(0.1, 1.0, 0.5), grace=1.0)


class Console:
    def __init__(self, house: House) -> None:
        self.house = house
        self.desk = ConsoleDesk(house.stage.registry, house.stage.new_id)

    async def hello(self) -> Hello:
        while True:
            with suppress(KernelError):  # the observer may just be restarting
                return msgspec.json.decode(await self.desk.tree(), type=Hello)
            await trio.sleep(0.1)

    async def health(self) -> Health:
        return msgspec.json.decode((await self.desk.health())[1], type=Health)


@asynccontextmanager
async def console() -> AsyncIterator[Console]:
    facts = Surroundings("1", 1, 0.0, trio.current_time, lambda: 1)
    runs = supervisor_spec("runs", name=RUNS, max_children=1024)
    specs = [
        leaf("store"),
        supervisor_spec("judge", [leaf("launcher"), leaf("shelf"), runs]),
        supervisor_spec("pair", [leaf("x"), leaf("y")], Strategy.ONE_FOR_ALL),
        supervisor_spec(
            "console", [ChildSpec("observer", lambda: Observer(facts, FACTS, lambda name: None)), viewers_spec()]
        ),
    ]
    async with staged(root=ChildSpec("troupe", lambda: Top(specs))) as house:
        yield Console(house)


STATIC = ["store", "judge/launcher", "judge/shelf", "pair/x", "pair/y"]
BRANCHES = ["judge", "pair", "judge/runs", "console/observer", "console"]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("crash"), st.sampled_from(STATIC)),
        st.tuples(st.just("kill"), st.sampled_from([*STATIC, *BRANCHES])),
        st.tuples(st.just("tell"), st.sampled_from(STATIC)),
        st.tuples(st.just("lease"), st.integers(1, 60)),
        st.tuples(st.just("wait"), st.integers(0, 30).map(lambda tenths: tenths / 10)),
    ),
    max_size=20,
)


@pytest.mark.slow
@settings(deadline=None, max_examples=plenty(20))
@given(seed=st.integers(0, 2**32 - 1), steps=STEPS)
@example(seed=1, steps=[("crash", "judge/launcher"), ("wait", 1.0)] * 5)
@example(seed=1, steps=[("crash", "store"), ("kill", "console/observer"), ("lease", 60), ("lease", 60)])
@example(seed=1, steps=[("tell", "judge/shelf"), ("tell", "pair/x"), ("wait", 1.2)])
def test_what_is_told_of_a_place_is_what_happened_there(seed: int, steps: list[tuple[str, Any]]) -> None:
    async def main() -> None:
        async with console() as told:
            for what, detail in steps:
                await step(told.house, what, detail)
                await wait_all_tasks_blocked()
                check(told.house, await told.hello())
            await trio.sleep(60)
            hello = await told.hello()
            check(told.house, hello)
            assert hello.totals.rate == pytest.approx(sum(node.rate for node in hello.nodes), abs=1e-6)

    run_schedule(seed, main)


async def step(house: House, what: str, detail: Any) -> None:
    if what == "wait":
        await trio.sleep(detail)
        return
    if what == "lease":
        runs = house.stage.registry.find(RUNS)
        with trio.move_on_after(5), suppress(KernelError):
            for number in range(detail):
                if runs is not None:
                    async with runs.lease(leaf(f"run {number}")):
                        pass
        return
    slot = next((slot for slot in house.stage.slots() if slot.path == f"troupe/{detail}"), None)
    if slot is None:
        return
    if what == "kill":
        slot.ref.kill()
    else:
        slot.ref.tell(crash(ValueError("as told")) if what == "crash" else "hello")


def check(house: House, hello: Hello) -> None:
    starts: dict[str, int] = {}
    crashes: list[tuple[str, str]] = []
    for entry in house.trace.log.entries:
        if entry.kind == "spawn":
            starts[entry.path] = starts.get(entry.path, 0) + 1
        if isinstance(entry.detail, Ended) and entry.detail.stop.why.failed:
            crashes.append((entry.path, entry.detail.stop.why.value))
    nodes = {node.path: node for node in hello.nodes}
    for path, node in nodes.items():
        assert (path, node.restarts) == (path, starts.get(path, 1) - 1)
        assert (path, node.crashes) == (path, sum(each == path for each, _ in crashes))
    assert [(note.path, note.why) for note in hello.crashes] == crashes[-REMEMBERED:]
    assert not any(note.why in ("crashed", "killed", "never started") for note in (*hello.stops, *hello.departures))
    assert hello.totals.crashes == len(crashes)
    assert hello.totals.trouble == sum(node.trouble is not None for node in hello.nodes)
    for path, node in nodes.items():
        rows = [each.rate for each in hello.nodes if f"{each.path}/".startswith(f"{path}/")]
        assert node.inside >= sum(rows) - 1e-6, path  # and that of those who have ended since the last tick
    assert nodes["troupe"].inside == hello.totals.rate


async def test_a_branch_that_fell_says_so_for_ten_minutes_and_its_children_keep_their_counts(
    autojump_clock: object,
) -> None:
    async with console() as told:
        for _ in range(4):
            told.house["judge/launcher"].tell(crash(ValueError("as told")))
            await trio.sleep(0.5)
        hello = await told.hello()
        nodes = {node.path: node for node in hello.nodes}
        branch, launcher, shelf = (nodes[f"troupe/{path}"] for path in ("judge", "judge/launcher", "judge/shelf"))
        assert (launcher.restarts, launcher.crashes, launcher.lately) == (4, 4, "crashed")
        assert (branch.restarts, branch.crashes, branch.lately) == (1, 1, "crashed")
        assert (shelf.restarts, shelf.crashes, shelf.lately, shelf.trouble) == (1, 0, "restarted", None)
        assert launcher.error == "crashed: ValueError: as told"
        assert (hello.totals.trouble, hello.totals.crashes) == (2, 5)
        assert {system.name: system.lately for system in (await told.health()).systems} == {
            "judge": "all of it was restarted lately",
            "store": None,
        }
        assert b"troupe_trouble 2.0" in await told.desk.metrics()
        assert b'troupe_actor_restarts_total{actor="troupe/judge/launcher"} 4.0' in await told.desk.metrics()
        await trio.sleep(LATELY)
        hello = await told.hello()
        nodes = {node.path: node for node in hello.nodes}
        assert (hello.totals.trouble, nodes["troupe/judge"].lately) == (0, None)
        assert nodes["troupe/judge/launcher"].restarts == 4
        assert {system.lately for system in (await told.health()).systems} == {None}


async def test_what_crashed_is_named_at_the_card_of_its_system(autojump_clock: object) -> None:
    async with console() as told:
        told.house["judge/launcher"].tell(crash())
        await trio.sleep(0.5)
        assert [system.lately for system in (await told.hello()).systems] == ["restarted lately: launcher", None]


async def test_a_crash_of_the_observer_itself_is_told(autojump_clock: object) -> None:
    async with console() as told:
        told.house["store"].tell(crash(ValueError("first")))
        await trio.sleep(0.5)
        observer: ActorRef[Any] = told.house.stage.registry.get(NAME)
        observer.tell("what is this?")  # no message of its own: no clause takes it
        told.house.stage.registry.get(NAME).kill()
        await trio.sleep(1)
        hello = await told.hello()
        assert [(note.path, note.why) for note in hello.crashes] == [
            ("troupe/store", "crashed"),
            ("troupe/console/observer", "killed"),
        ]


async def test_the_sum_of_a_branch_holds_those_that_are_left_out_too(autojump_clock: object) -> None:
    async with console() as told:
        runs = told.house["judge/runs"]
        refs = [await runs.start_child(Puppet(str(n)).spec(restart=Restart.TEMPORARY)) for n in range(150)]
        await trio.sleep(1.5)
        for ref in refs:
            ref.tell("hello")
            ref.tell("hello")
        await trio.sleep(1)
        hello = await told.hello()
        node = next(node for node in hello.nodes if node.path == "troupe/judge/runs")
        assert (node.folded, node.inside) == (50, 300.0)
        assert hello.history["troupe/judge/runs"][-1] == 300.0
