"""The observer, its viewers and the desk, on a stage of their own under the mock clock."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
import trio
from prometheus_client.parser import text_string_to_metric_families
from trio.testing import wait_all_tasks_blocked

from actors.console import ConsoleDesk, Observer, Surroundings, SystemFact, viewers_spec
from actors.console.observer import NAME
from actors.kernel import (
    Actor,
    ActorRef,
    AnySpec,
    ChildSpec,
    KernelError,
    PeerGone,
    Slot,
    Top,
    run,
    supervisor_spec,
)
from codec.console import Change, Health, Hello, Listening

SYSTEMS = [
    SystemFact("console", enabled=True, listens=True, about="this page"),
    SystemFact("judge", enabled=False, listens=True, about="runs solutions"),
]


class Counter(Actor[str]):
    async def handle(self, message: str) -> None:
        if message == "boom":
            raise ValueError("it went off")


class Page:
    """A page's end of the wire."""

    def __init__(self) -> None:
        self.hellos: list[Hello] = []
        self.changes: list[Change] = []
        self.gone = False
        self.stalled: trio.Event | None = None

    async def send(self, text: str) -> None:
        await trio.lowlevel.checkpoint()
        if self.stalled is not None:
            await self.stalled.wait()
        if self.gone:
            raise PeerGone("the page was closed")
        message = msgspec.json.decode(text, type=Hello | Change)
        if isinstance(message, Hello):
            self.hellos.append(message)
        else:
            self.changes.append(message)


class House:
    def __init__(
        self, top: ActorRef[Any], desk: ConsoleDesk, listening: dict[str, Listening], jumps: list[float]
    ) -> None:
        self.top = top
        self.desk = desk
        self.listening = listening
        self.jumps = jumps  # of the wall clock

    def ref(self, path: str) -> ActorRef[Any]:
        ref = self.top
        for name in path.split("/")[1:]:
            ref = next(child for child in ref.children() if child.path.endswith(f"/{name}"))
        return ref

    async def hello(self) -> Hello:
        return msgspec.json.decode(await self.desk.tree(), type=Hello)

    async def hello_when_there(self) -> Hello:
        """From an observer that is being restarted."""
        with trio.fail_after(20):
            while True:
                try:
                    return await self.hello()
                except KernelError:
                    await trio.sleep(0.01)

    async def health(self) -> Health:
        return msgspec.json.decode((await self.desk.health())[1], type=Health)


@asynccontextmanager
async def house() -> AsyncIterator[House]:
    jumps = [0.0]

    def wall() -> float:
        return 1_000_000.0 + trio.current_time() + jumps[-1]

    listening: dict[str, Listening] = {}
    facts = Surroundings("1.2.3", 42, wall(), wall, lambda: 50_000_000)

    def observer() -> Observer:
        return Observer(facts, SYSTEMS, listening.get)

    specs: list[AnySpec] = [
        ChildSpec("worker", Counter),
        supervisor_spec("console", [ChildSpec("observer", observer), viewers_spec()]),
    ]
    async with trio.open_nursery() as nursery:
        top = await nursery.start(run, ChildSpec("troupe", lambda: Top(specs)))
        registry = top._slot.stage.registry
        yield House(top, ConsoleDesk(registry, top._slot.stage.new_id), listening, jumps)
        await top.stop()


async def test_the_tree_is_told_with_rates_of_the_last_second(autojump_clock: object) -> None:
    async with house() as troupe:
        for _ in range(20):
            troupe.ref("troupe/worker").tell("tick")
        await trio.sleep(1.5)
        hello = await troupe.hello()
        rows = {node.path: node for node in hello.nodes}
        assert list(rows) == [
            "troupe",
            "troupe/worker",
            "troupe/console",
            "troupe/console/observer",
            "troupe/console/viewers",
        ]
        assert rows["troupe/worker"].handled == 20
        assert rows["troupe/worker"].rate == 20.0
        assert rows["troupe/worker"].since == 1_000_000.0
        assert hello.history["troupe/worker"] == [0.0, 20.0]
        assert hello.totals.memory == 50_000_000
        assert (hello.version, hello.pid) == ("1.2.3", 42)


async def test_what_was_handled_before_an_observer_came_is_no_rate_of_its_first_moment() -> None:
    async with house() as troupe:
        worker = troupe.ref("troupe/worker")
        for _ in range(1000):
            worker.tell("tick")
        await wait_all_tasks_blocked()
        assert worker.statistics().mailbox.handled == 1000
        troupe.ref("troupe/console/observer").kill()
        hello = await troupe.hello_when_there()
        assert hello.totals.handled >= 1000
        assert max(rate for rates in hello.history.values() for rate in rates) < 1000


async def test_while_nobody_watches_no_actor_at_rest_is_looked_at(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house() as troupe:
        worker = troupe.ref("troupe/worker")
        await trio.sleep(1.5)
        with monkeypatch.context() as patch:
            patch.setattr(Slot, "children", pytest.fail)
            await trio.sleep(2)
            worker.tell("tick")
            await trio.sleep(1)
        hello = await troupe.hello()
        assert hello.crashes == []
        assert hello.history["troupe/worker"] == [0.0, 0.0, 0.0, 0.0, 1.0]
        assert "troupe/console/viewers" not in hello.history


async def test_a_page_is_greeted_once_and_then_told_what_changes(autojump_clock: object) -> None:
    page = Page()
    async with house() as troupe, troupe.desk.view(page):
        await trio.sleep(2.5)
        assert len(page.hellos) == 1
        assert len(page.changes) == 2
        troupe.ref("troupe/worker").tell("boom")
        await trio.sleep(1)
        change = page.changes[-1]
        assert [(note.path, note.why, note.error, note.message, note.restarts) for note in change.crashes] == [
            ("troupe/worker", "crashed", "ValueError: it went off", "str", True)
        ]
        assert change.stops == []
        row = next(node for node in change.nodes if node.path == "troupe/worker")
        assert row.restarts == 1
        assert row.error == "crashed: ValueError: it went off"


async def test_a_jump_of_the_wall_clock_changes_no_rate_and_no_row(autojump_clock: object) -> None:
    page = Page()
    async with house() as troupe, troupe.desk.view(page):
        await trio.sleep(3.5)
        quiet = [len(change.nodes) for change in page.changes]
        troupe.jumps.append(-86_400.0)
        for _ in range(5):
            troupe.ref("troupe/worker").tell("tick")
        await trio.sleep(1)
        change = page.changes[-1]
        assert change.at < 1_000_000.0
        worker = next(node for node in change.nodes if node.path == "troupe/worker")
        assert (worker.rate, worker.since) == (5.0, 1_000_000.0)
        assert len(change.nodes) == quiet[-1] + 2, "no row but the worker's, and the sum above it, is told anew"


async def test_a_message_to_a_dead_actor_is_shown_among_the_dead_letters(autojump_clock: object) -> None:
    async with house() as troupe:
        worker = troupe.ref("troupe/worker")
        await worker.stop()
        worker.tell("hello?")
        await trio.sleep(1.5)
        (letter,) = (await troupe.hello()).dead
        assert (letter.path, letter.message) == ("troupe/worker", "str")
        assert "hello?" not in msgspec.json.encode(letter).decode()


async def test_a_stalled_page_is_told_the_newest_when_it_reads_again(autojump_clock: object) -> None:
    page = Page()
    async with house() as troupe, troupe.desk.view(page):
        await trio.sleep(1.5)
        page.stalled = trio.Event()
        before = len(page.changes)
        await trio.sleep(60)
        viewers = troupe.ref("troupe/console/viewers").children()
        assert viewers[0].statistics().mailbox.queued <= 2
        page.stalled.set()
        page.stalled = None
        await trio.sleep(0.1)
        assert len(page.changes) - before <= 3
        assert page.changes[-1].at >= 1_000_060.0


async def test_a_page_that_goes_ends_its_viewer_and_nothing_else(autojump_clock: object) -> None:
    page = Page()
    async with house() as troupe:
        async with troupe.desk.view(page):
            await trio.sleep(1.5)
            page.gone = True
            await trio.sleep_forever()  # cancelled by the lease when the viewer ends
        assert troupe.ref("troupe/console/viewers").children() == []
        await trio.sleep(3)
        hello = await troupe.hello()
        assert hello.totals.restarts == 0
        assert hello.totals.dead_letters == 0


async def test_pages_survive_a_crash_of_the_observer(autojump_clock: object) -> None:
    page = Page()
    async with house() as troupe, troupe.desk.view(page):
        await trio.sleep(1.5)
        troupe.ref("troupe/console/observer").kill()
        await trio.sleep(3)
        assert len(page.hellos) == 2
        assert page.changes[-1].at > 1_000_003.0


async def test_listeners_and_health(autojump_clock: object) -> None:
    async with house() as troupe:
        assert (await troupe.health()).status == "degraded"
        troupe.listening["console"] = Listening(True, "http://127.0.0.1:5160", "listening on it")
        answer = await troupe.health()
        assert answer.status == "ok"
        assert {system.name: system.state for system in answer.systems} == {"console": "up", "judge": "off"}
        troupe.ref("troupe/console/observer").kill()
        await trio.sleep(1)
        assert (await troupe.health()).status == "ok", "a restarted observer knows the listeners still"
        troupe.listening["console"] = Listening(False, None, "port 5160 is in use")
        well, _ = await troupe.desk.health()
        assert not well


async def test_the_desk_refuses_in_words_while_the_observer_is_away(autojump_clock: object) -> None:
    async with house() as troupe:
        await troupe.ref("troupe/console/observer").stop()
        with pytest.raises(KernelError, match="not running at the moment; try again"):
            await troupe.desk.tree()
        with pytest.raises(KernelError, match=NAME.name):
            troupe.desk.view(Page())


async def test_metrics_are_prometheus_text(autojump_clock: object) -> None:
    page = Page()
    async with house() as troupe, troupe.desk.view(page):
        troupe.ref("troupe/worker").tell("tick")
        await trio.sleep(1.5)
        text = (await troupe.desk.metrics()).decode()
        families = {family.name: family for family in text_string_to_metric_families(text)}
        handled = {sample.labels["actor"]: sample.value for sample in families["troupe_actor_messages"].samples}
        assert handled["troupe/worker"] == 1.0
        assert not any(path.startswith("troupe/console/viewers/") for path in handled)
        (dynamic,) = families["troupe_dynamic_actors"].samples
        assert (dynamic.labels, dynamic.value) == ({"supervisor": "troupe/console/viewers"}, 1.0)
        assert {sample.labels["system"] for sample in families["troupe_system_up"].samples} == {"console"}
