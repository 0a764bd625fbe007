"""From a tree to an exit code, with a small tree, under the mock clock and with real signals."""

import os
import signal
from collections.abc import Mapping
from mmap import mmap
from types import SimpleNamespace
from typing import cast

import pytest
import structlog
import trio
import trio.testing
from structlog.testing import capture_logs

from actors.kernel import Actor, AnyRef, ChildSpec, Decay, Restart, Stop, Top, Why, run
from codec.console import Listening
from program.gauges import resident_bytes
from program.journal import Journal
from program.notify import Notifier
from program.serving import Listeners, serve
from program.trouble import WENT_WRONG, Trouble

UP = Listening(True, "http://127.0.0.1:1", "listening")
DOWN = Listening(False, None, "console: port 1 is in use")


class Child(Actor[str]):
    """Reports what it is told to, and remembers that it stopped in order."""

    def __init__(self, listeners: Listeners, reports: Mapping[str, Listening], stopped: list[Stop]) -> None:
        self.listeners = listeners
        self.reports = reports
        self.stopped = stopped

    async def started(self, kept: object | None) -> None:
        for name, listening in self.reports.items():
            self.listeners.report(name, listening)

    async def handle(self, message: str) -> None:
        raise ValueError(message)

    async def stopping(self, stop: Stop) -> None:
        self.stopped.append(stop)


class House:
    def __init__(self, **reports: Listening) -> None:
        self.listeners = Listeners(list(reports) or ["console"])
        self.announced: list[Mapping[str, str | None]] = []
        self.told = trio.Event()
        self.stopped: list[Stop] = []
        child = ChildSpec("child", lambda: Child(self.listeners, reports, self.stopped))
        self.top = ChildSpec("troupe", lambda: Top([child]), grace=9.0)

    def announce(self, urls: Mapping[str, str | None]) -> None:
        self.announced.append(urls)
        self.told.set()

    async def serve(self, *, strict: bool = False) -> None:
        await serve(
            self.top, self.listeners, announce=self.announce, strict=strict, tracer=Journal(), notifier=Notifier({})
        )


async def test_it_announces_when_every_listener_is_known_and_again_when_one_changes(autojump_clock: object) -> None:
    house = House(console=UP)
    house.listeners = Listeners(["console", "judge"])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(house.serve)
        await trio.sleep(1)
        assert house.announced == []
        house.listeners.report("judge", DOWN)
        await trio.sleep(1)
        house.listeners.report("judge", Listening(True, "http://127.0.0.1:2", "listening"))
        await trio.sleep(1)
        nursery.cancel_scope.cancel()
    assert house.announced == [
        {"console": "http://127.0.0.1:1", "judge": None},
        {"console": "http://127.0.0.1:1", "judge": "http://127.0.0.1:2"},
    ]
    assert [stop.why for stop in house.stopped] == [Why.SHUTDOWN]


@pytest.mark.parametrize(
    ("report", "url"),
    [(None, None), (UP, UP.url), (DOWN, None), (Listening(False, "http://127.0.0.1:1", "it has just gone"), None)],
)
def test_only_a_listener_that_is_up_has_an_address(report: Listening | None, url: str | None) -> None:
    listeners = Listeners(["console", "judge"])
    listeners.report("judge", UP)
    if report is not None:
        listeners.report("console", report)
    assert listeners.urls() == {"console": url, "judge": UP.url}
    assert listeners.settled == (report is not None)


async def test_a_house_without_listeners_is_ready_at_once(autojump_clock: object) -> None:
    house = House()
    house.listeners = Listeners([])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(house.serve)
        await house.told.wait()
        nursery.cancel_scope.cancel()
    assert house.announced == [{}]


async def test_strict_ends_in_order_with_the_sentence_of_what_is_down(autojump_clock: object) -> None:
    house = House(console=DOWN)
    with pytest.raises(Trouble, match="console: port 1 is in use"):
        await house.serve(strict=True)
    assert [stop.why for stop in house.stopped] == [Why.SHUTDOWN]


async def test_a_ready_file_that_cannot_be_written_ends_it_with_the_sentence(autojump_clock: object) -> None:
    house = House(console=UP)

    def announce(urls: Mapping[str, str | None]) -> None:
        raise Trouble("ready.json cannot be written")

    house.announce = announce  # type: ignore[method-assign]
    with pytest.raises(Trouble, match=r"ready.json cannot be written"):
        await house.serve()
    assert [stop.why for stop in house.stopped] == [Why.SHUTDOWN]


async def test_a_signal_stops_the_tree_in_order(autojump_clock: object) -> None:
    house = House(console=UP)
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(house.serve)
            await house.told.wait()
            os.kill(os.getpid(), signal.SIGTERM)
    assert [stop.why for stop in house.stopped] == [Why.SHUTDOWN]


async def test_a_tree_that_crashes_at_its_top_is_an_error_of_ours(autojump_clock: object) -> None:
    class Broken(Top):
        async def handle(self, message: object) -> None:
            raise ValueError("the top itself")

    house = House(console=UP)

    async def break_it() -> None:
        await house.told.wait()
        house.broken.ref.tell("x")  # type: ignore[attr-defined]

    house.broken = Broken([])  # type: ignore[attr-defined]
    house.top = ChildSpec("troupe", lambda: house.broken)  # type: ignore[attr-defined]
    house.listeners.report("console", UP)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(break_it)
        with pytest.raises(Trouble, match="has crashed") as trouble:
            await house.serve()
        assert trouble.value.code == WENT_WRONG


async def test_the_journal_tells_failures_pauses_and_dead_letters(autojump_clock: object) -> None:
    class Fragile(Actor[str]):
        async def handle(self, message: str) -> None:
            raise ValueError("it broke")

    fragile = ChildSpec("fragile", Fragile)
    brief = ChildSpec("brief", Fragile, restart=Restart.TEMPORARY)

    with capture_logs() as entries:
        structlog.get_logger()
        async with trio.open_nursery() as nursery:
            spec = ChildSpec("top", lambda: Top([fragile, brief], meter=Decay(threshold=1)))
            top = await nursery.start(lambda task_status: run(spec, tracer=Journal(), task_status=task_status))
            first, second = top.children()
            first.tell("secret")
            first.tell("secret")
            await trio.sleep(2)
            second.begin_stop()
            await trio.sleep(1)
            second.tell("secret")
            await top.stop()
    events = [entry["event"] for entry in entries if entry["log_level"] != "debug"]
    assert events == [
        "an actor failed",
        "an actor failed",
        "an actor failed too often and is paused",
        "a message reached nobody",
    ]
    assert entries[0]["log_level"] == "debug"
    assert "secret" not in str([{**entry, "exc_info": None} for entry in entries])


async def test_what_waits_in_a_mailbox_when_the_server_is_stopped_is_no_warning(autojump_clock: object) -> None:
    class Slow(Actor[str]):
        async def handle(self, message: str) -> None:
            await trio.sleep(60)

    stopped_alone = ChildSpec("stopped_alone", Slow, restart=Restart.TEMPORARY)
    with capture_logs() as entries:
        async with trio.open_nursery() as nursery:
            spec = ChildSpec("top", lambda: Top([stopped_alone, ChildSpec("busy", Slow)]))
            top = await nursery.start(lambda task_status: run(spec, tracer=Journal(), task_status=task_status))
            first, second = top.children()
            for ref in (first, second):
                for _ in range(3):
                    ref.tell("a word")
            await trio.testing.wait_all_tasks_blocked()
            await first.stop()
            await top.stop()
    letters = [entry for entry in entries if entry["event"] == "a message reached nobody"]
    told = [(letter["actor"], letter["log_level"]) for letter in letters]
    assert told == [("top/stopped_alone", "warning")] * 2 + [("top/busy", "debug")] * 2


def test_the_journal_makes_one_logger_and_not_one_for_each_event() -> None:
    made = []

    def factory(*names: str) -> structlog.testing.ReturnLogger:
        made.append(names)
        return structlog.testing.ReturnLogger()

    before = structlog.get_config()
    structlog.configure(**{**before, "logger_factory": factory, "cache_logger_on_first_use": False})
    try:
        journal, ref = Journal(), cast(AnyRef, SimpleNamespace(path="top/a"))
        for _ in range(3):
            journal("spawn", ref, "permanent", 0.0)
    finally:
        structlog.configure(**before)
    assert made == [("tree",)]


def test_memory_in_use_is_that_of_this_process() -> None:
    before = resident_bytes()
    with mmap(-1, 64 * 1024 * 1024) as ballast:  # what malloc gives may have been resident before
        for _ in range(64):
            ballast.write(bytes(1024 * 1024))
        assert resident_bytes() - before > 32 * 1024 * 1024
