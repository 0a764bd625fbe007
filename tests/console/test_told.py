"""What a page has been told adds up to what a new page is told, whatever happened and however slowly it read. Of an end
is told when it was, whose, and why. And the figures for Prometheus are those of the same picture."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec
import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families
from trio.testing import wait_all_tasks_blocked

from actors.console.messages import LookOnce, Watch
from actors.console.observer import Observer
from actors.console.picture import REMEMBERED
from actors.console.rates import Rates
from actors.console.viewer import Viewer
from actors.kernel import Actor, ActorRef, ChildSpec, KernelError, PeerGone, Restart, Why
from actors.kernel.testing import House, Puppet, block, crash, finish, run_schedule, staged
from codec.console import Change, DeadNote, Hello, Node, StopNote, System
from tests.console.test_counts import RUNS, STEPS, Console, console, leaf, step
from tests.plenty import plenty

OBSERVER = "troupe/console/observer"


class Page:
    """It keeps what it is told, as a page does."""

    def __init__(self) -> None:
        self.hellos = 0
        self.rows: dict[str, Node] = {}
        self.systems: list[System] = []
        self.notes: dict[str, list[StopNote | DeadNote]] = {}
        self.reads = trio.Event()
        self.reads.set()

    def stalls(self) -> None:
        if self.reads.is_set():
            self.reads = trio.Event()

    async def send(self, text: str) -> None:
        await trio.lowlevel.checkpoint()
        await self.reads.wait()
        match msgspec.json.decode(text, type=Hello | Change):
            case Hello() as hello:
                self.hellos += 1
                self.rows = {node.path: node for node in hello.nodes}
                self.systems = hello.systems
                self.notes = notes(hello)
            case Change() as change:
                for path in change.gone:
                    del self.rows[path]
                self.rows |= {node.path: node for node in change.nodes}
                self.systems = self.systems if change.systems is None else change.systems
                for name, told in notes(change).items():
                    self.notes[name] = [*self.notes[name], *told][-REMEMBERED:]


def notes(told: Hello | Change) -> dict[str, list[StopNote | DeadNote]]:
    return {
        "stops": list(told.stops),
        "departures": list(told.departures),
        "dead": list(told.dead),
        "crashes": list(told.crashes),
    }


def plain(rows: Iterable[Node]) -> dict[str, Node]:
    """The console itself goes on counting: asking it is a message, too."""
    return {row.path: replace(row, handled=0) if row.path.startswith("troupe/console") else row for row in rows}


STALLS, LETTERS = st.just(("reads", False)), st.tuples(st.just("bury"), st.integers(1, 3))


def mixed(some: tuple[list[tuple[str, Any]], ...]) -> st.SearchStrategy[list[tuple[str, Any]]]:
    return st.permutations([step for part in some for step in part])


@pytest.mark.slow
@settings(deadline=None, max_examples=plenty(20))
@given(seed=st.integers(0, 2**32 - 1), steps=st.tuples(STEPS, st.lists(STALLS | LETTERS, max_size=3)).flatmap(mixed))
@example(seed=1, steps=[("lease", 3), ("wait", 1.0), ("lease", 60), ("lease", 60), ("wait", 1.0), ("crash", "store")])
@example(seed=1, steps=[("reads", False), ("tell", "store"), ("wait", 3.0), ("lease", 2), ("kill", "console/observer")])
@example(seed=1, steps=[("wait", 1.0), ("bury", 2), ("wait", 1.0), ("bury", 1), ("wait", 1.0), ("tell", "judge/shelf")])
def test_what_a_page_was_told_adds_up_to_what_a_new_one_is_told(seed: int, steps: list[tuple[str, Any]]) -> None:
    async def main() -> None:
        page = Page()
        async with console() as told, trio.open_nursery() as nursery:
            nursery.start_soon(look_again_and_again, told, page)
            for what, detail in steps:
                if what == "reads":
                    page.stalls()
                elif what == "bury":
                    await bury(told.house, detail)
                else:
                    await step(told.house, what, detail)
                await wait_all_tasks_blocked()
            page.reads.set()
            await trio.sleep(60)
            await wait_all_tasks_blocked()
            hello = await told.hello()
            assert plain(page.rows.values()) == plain(hello.nodes)
            assert page.systems == hello.systems
            assert page.notes == notes(hello)
            for node in hello.nodes:
                assert node.path == (node.name if node.parent is None else f"{node.parent}/{node.name}")
            nursery.cancel_scope.cancel()

    run_schedule(seed, main)


async def look_again_and_again(told: Console, page: Page) -> None:
    """As a page does, whose connection is lost when the console falls."""
    while True:
        await told.hello()
        async with told.desk.view(page):
            await trio.sleep_forever()
        await trio.sleep(0.1)


async def bury(house: House, letters: int) -> None:
    """These messages come too late."""
    runs = house.stage.registry.find(RUNS)
    with suppress(KernelError):  # the branch may be down, or just going
        if runs is not None:
            guest = await runs.start_child(Puppet("guest").spec(restart=Restart.TEMPORARY))
            await guest.stop()
            for _ in range(letters):
                guest.tell("hello?")


async def test_of_each_end_is_told_when_it_was_of_whom_and_why(autojump_clock: object) -> None:
    """Also by an observer that came later, of what the kernel remembers."""
    async with console() as told:
        runs = told.house.stage.registry.get(RUNS)
        await trio.sleep(1.25)
        guest = await runs.start_child(Puppet("guest").spec(restart=Restart.TEMPORARY))
        guest.tell(finish())
        await wait_all_tasks_blocked()
        await trio.sleep(1)
        guest.tell("hello?")
        await trio.sleep(1)
        told.house["store"].tell(crash(ValueError("as told")))
        await trio.sleep(2)
        hello = await told.hello()
        assert [(note.at, note.path, note.why, note.error) for note in hello.stops] == [
            (1.25, "troupe/judge/runs/guest", "done", None)
        ]
        assert [(note.at, note.path, note.message) for note in hello.dead] == [(2.25, "troupe/judge/runs/guest", "str")]
        crashes = [(3.25, "troupe/store", "crashed", "ValueError: as told", True)]
        assert [(note.at, note.path, note.why, note.error, note.restarts) for note in hello.crashes] == crashes
        assert (hello.totals.crashes, hello.totals.dead_letters) == (1, 1)
        told.house["console/observer"].tell("nonsense")
        told.house["console/observer"].kill()
        await trio.sleep(5)
        hello = await told.hello()
        assert next(note.at for note in hello.dead) == 2.25
        assert [(note.at, note.path, note.why, note.error, note.restarts) for note in hello.crashes][:1] == crashes


async def test_the_error_of_an_ordinary_end_is_told(autojump_clock: object) -> None:
    """As of an actor whose counterpart has vanished."""
    async with console() as told:
        runs = told.house.stage.registry.get(RUNS)
        guest = await runs.start_child(Puppet("guest").spec(restart=Restart.TEMPORARY))
        guest.tell(crash(PeerGone("the page was closed")))
        await trio.sleep(1)
        hello = await told.hello()
        assert [(note.path, note.why, note.error) for note in hello.stops] == [
            ("troupe/judge/runs/guest", Why.PEER_GONE.value, "PeerGone: the page was closed")
        ]
        assert hello.crashes == []


@pytest.mark.slow
@settings(deadline=None, max_examples=plenty(20))
@given(
    seed=st.integers(0, 2**32 - 1),
    ends=st.permutations([("page", 90), ("run", 60), ("script", 150), ("page", 1), ("run", 40), ("crash", 1)]),
)
def test_however_many_pages_and_scripts_leave_the_other_ends_stay_in_their_list(
    seed: int, ends: list[tuple[str, int]]
) -> None:
    """Whoever serves a connection is leased. A page is closed, and a script is found to have vanished."""

    async def main() -> None:
        async with console() as told:
            runs = told.house.stage.registry.get(RUNS)
            left: list[str] = []
            ended: list[str] = []
            for what, number in ends:
                for _ in range(number):
                    name = f"{what} {len(left) + len(ended)}"
                    spec = Puppet(name).spec(restart=Restart.TEMPORARY)
                    if what == "crash":
                        (await runs.start_child(spec)).tell(crash(ValueError("as told")))
                    elif what == "run":
                        (await runs.start_child(spec)).tell(finish())
                        ended.append(name)
                    else:
                        async with runs.lease(spec) as guest:
                            if what == "script":
                                guest.tell(crash(PeerGone("the script has vanished")))
                                await trio.sleep_forever()
                        left.append(name)
                    await wait_all_tasks_blocked()
            hello = await told.hello()
            assert [note.path.rpartition("/")[2] for note in hello.stops] == ended
            assert [note.path.rpartition("/")[2] for note in hello.departures] == left[-REMEMBERED:]
            assert [note.why for note in hello.crashes] == ["crashed"]

    run_schedule(seed, main)


class Troubled(Actor[None]):
    trouble = "the disk is full"


async def test_an_actors_own_trouble_is_its_rows_trouble(autojump_clock: object) -> None:
    async with console() as told:
        runs = told.house.stage.registry.get(RUNS)
        await runs.start_child(ChildSpec("guest", Troubled))
        hello = await told.hello()
        troubles = {node.path: node.trouble for node in hello.nodes if node.trouble is not None}
        assert troubles == {"troupe/judge/runs/guest": "the disk is full"}
        assert hello.totals.trouble == 1


def observer_of(told: Console) -> Observer:
    incarnation = told.house["console/observer"]._slot.incarnation
    assert incarnation is not None
    assert isinstance(incarnation.actor, Observer)
    return incarnation.actor


async def test_of_pages_that_have_gone_and_observers_that_have_fallen_nothing_is_kept(autojump_clock: object) -> None:
    no_reply: Any = None
    async with console() as told:
        for _ in range(3):
            async with told.desk.view(Page()):
                await trio.sleep(1)
            told.house["console/observer"].tell(LookOnce(reply=no_reply))  # it crashes
            await trio.sleep(5)
        assert (await told.hello()).totals.crashes == 3
        assert observer_of(told).viewers == set()
        tracers = told.house.stage._tracers
        assert sum(getattr(tracer, "__self__", None).__class__ is Observer for tracer in tracers) == 1


async def test_a_page_whose_observer_ends_for_good_is_let_go(autojump_clock: object) -> None:
    async with console() as told:
        with trio.fail_after(60):
            async with told.desk.view(Page()):
                await trio.sleep(1)
                await told.house["console/observer"].stop()
                await trio.sleep_forever()  # cancelled by the lease
        assert told.house["console/viewers"].children() == []


async def test_a_viewer_that_is_told_of_changes_before_it_was_greeted_asks_again(autojump_clock: object) -> None:
    """The greeting may have been pushed out by newer pictures."""
    observer, page = Puppet("observer"), Page()
    async with staged(observer.spec()) as house:
        viewer = await house.root.start_child(ChildSpec("viewer", lambda: Viewer(page, observer.ref)))
        await wait_all_tasks_blocked()
        assert observer.messages == [Watch(viewer)]
        async with console() as told:
            viewer.tell(observer_of(told)._draw())
        await wait_all_tasks_blocked()
        assert observer.messages == [Watch(viewer), Watch(viewer)]
        assert page.hellos == 0


async def test_no_time_has_no_rate(autojump_clock: object) -> None:
    async with staged(leaf("store")) as house:
        rates = Rates(house.stage)
        house["store"].tell("hello")
        await trio.sleep(1)
        rates.measure()
        assert (rates.overall, rates.of(house["store"]._slot)) == (1.0, 1.0)
        rates.measure()
        assert (rates.overall, rates.of(house["store"]._slot), rates.sums) == (0.0, 0.0, {})


async def test_metrics_are_the_figures_of_the_rows(autojump_clock: object) -> None:
    """An actor that comes and goes has no series of its own: they are counted under their supervisor."""
    async with console() as told:
        runs = told.house["judge/runs"]
        guests: list[ActorRef[Any]] = [
            await runs.start_child(Puppet(str(number)).spec(restart=Restart.TEMPORARY)) for number in range(103)
        ]
        guests[0].tell(block())
        for guest in guests[:2]:
            for _ in range(3):
                guest.tell("hello")
        told.house["store"].tell("hello")
        told.house["store"].tell(crash())
        await trio.sleep(5)
        told.house["store"].tell(block())
        told.house["store"].tell("waits")
        await bury(told.house, 2)
        await trio.sleep(1)
        text = (await told.desk.metrics()).decode()
        hello = await told.hello()
    families = {family.name: family for family in text_string_to_metric_families(text)}

    def series(name: str) -> dict[str, float]:
        return {next(iter(sample.labels.values()), ""): sample.value for sample in families[name].samples}

    static = [node for node in hello.nodes if not node.dynamic and node.path != OBSERVER]
    figures = {
        "troupe_mailbox_queued": {node.path: node.queued for node in static},
        "troupe_actor_messages": {node.path: node.handled for node in static},
        "troupe_actor_restarts": {node.path: node.restarts for node in static},
        "troupe_actor_crashes": {node.path: node.crashes for node in static},
        "troupe_dynamic_actors": {"troupe/judge/runs": 103},
        "troupe_dynamic_queued": {"troupe/judge/runs": 3},
        "troupe_actors": {"": hello.totals.actors},
        "troupe_restarts": {"": hello.totals.restarts},
        "troupe_crashes": {"": hello.totals.crashes},
        "troupe_trouble": {"": hello.totals.trouble},
        "troupe_dead_letters": {"": hello.totals.dead_letters},
    }
    for name, figure in figures.items():
        told_of = {path: value for path, value in series(name).items() if path != OBSERVER}
        assert told_of == figure, name
    assert figures["troupe_mailbox_queued"]["troupe/store"] == 1
    assert figures["troupe_actor_crashes"]["troupe/store"] == 1
    assert (hello.totals.dead_letters, hello.totals.trouble) == (2, 1)
