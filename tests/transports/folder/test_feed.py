"""Events that are gathered: each name once, the lone one at once, and many together."""

import math
import sys
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.kernel.testing import run_in_virtual_time
from transports.folder.feed import MANY, PACE_SECONDS, READS, EventPace, Gathered, gathered
from transports.folder.inotify import ARRIVALS, FolderEvent, Inotify

events = st.builds(
    FolderEvent,
    number=st.integers(-1, 3),
    name=st.sampled_from(["", "a", "b"]),
    of_folder=st.booleans(),
    over=st.booleans(),
    unfinished=st.booleans(),
)


@settings(max_examples=50)
@given(st.lists(events, max_size=20), st.lists(events, max_size=20))
def test_nothing_that_was_told_is_lost_by_gathering_it(first: list[FolderEvent], second: list[FolderEvent]) -> None:
    found = Gathered()
    found.take(first)
    found.take(second)
    told = [event for event in (*first, *second) if not event.lost]
    assert found.events == len(first) + len(second)
    assert found.lost == (len(told) < found.events)
    assert {(number, name) for number, names in found.names.items() for name in names} == {
        (event.number, event.name) for event in told if event.name
    }
    assert {(number, name) for number, names in found.unfinished.items() for name in names} == {
        (event.number, event.name) for event in told if event.name and event.unfinished
    } - {(event.number, event.name) for event in told if not event.unfinished}
    assert found.itself == {event.number for event in told if not event.name}
    assert found.over == {event.number for event in told if event.over}
    assert found.replaced == {event.number for event in told if event.of_folder or not event.name}


def test_a_lone_event_waits_for_nobody_and_in_a_burst_there_is_an_answer_for_each_hundredth_of_a_second() -> None:
    async def main() -> None:
        pace = EventPace()
        for _ in range(100):  # five in ten milliseconds: a conversation, and no burst
            assert pace.settle(1) == 0.0
            await trio.sleep(PACE_SECONDS / 5)
        began, answers, settle = trio.current_time(), 0, 0.0
        while trio.current_time() < began + 1.0:  # a hundred in ten milliseconds
            settle = pace.settle(1 + int(10_000 * settle))
            answers += 1
            await trio.sleep(settle or 0.0001)
        assert answers < 1.0 / PACE_SECONDS + 2 * MANY

    run_in_virtual_time(main)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no inotify on this system")
async def test_what_has_happened_by_now_is_one_answer(tmp_path: Path) -> None:
    inotify = Inotify()
    try:
        number = inotify.add(tmp_path, ARRIVALS)
        for name in range(2_000):
            (tmp_path / f"{name}").touch()
        found = await gathered(inotify)
        assert found.names == {number: {f"{name}" for name in range(2_000)}}
        assert not found.lost
    finally:
        inotify.close()


def test_how_many_events_are_many_and_in_how_short_a_time() -> None:
    async def main() -> None:
        pace = EventPace()
        assert pace.settle(MANY) == 0.0
        await trio.sleep(PACE_SECONDS)
        assert pace.settle(1) == PACE_SECONDS
        await trio.sleep(PACE_SECONDS * 1.01)
        assert pace.settle(MANY) == 0.0
        assert pace.settle(1) == PACE_SECONDS

    run_in_virtual_time(main)


class Full:
    """An inotify from which so many times something can be read."""

    def __init__(self, inotify: Inotify, times: float) -> None:
        self.times = times
        self.reads = 0
        self.fileno = inotify.fileno

    def read(self) -> list[FolderEvent]:
        self.reads += 1
        event = FolderEvent(number=1, name=f"{self.reads}", of_folder=False, over=False, unfinished=False)
        return [event] if self.reads <= self.times else []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no inotify on this system")
@pytest.mark.parametrize(("times", "reads"), [(0, 1), (3, 4), (READS - 1, READS), (math.inf, READS)])
async def test_what_is_there_is_read_and_no_more_than_that_at_once(tmp_path: Path, times: float, reads: int) -> None:
    inotify = Inotify()
    try:
        inotify.add(tmp_path, ARRIVALS)
        (tmp_path / "x").touch()
        full: Any = Full(inotify, times)
        assert (await gathered(full)).events == min(times, READS)
        assert full.reads == reads
    finally:
        inotify.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no inotify on this system")
@pytest.mark.parametrize("settle", [0.0, 5.0])
async def test_an_answer_waits_for_the_first_event_and_as_long_as_it_is_told_for_more(
    tmp_path: Path, settle: float, autojump_clock: trio.testing.MockClock
) -> None:
    inotify = Inotify()
    try:
        number = inotify.add(tmp_path, ARRIVALS)
        found: list[tuple[float, set[str]]] = []

        async def gather() -> None:
            names = (await gathered(inotify, settle=settle)).names[number]
            found.append((trio.current_time(), names))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(gather)
            await trio.sleep(10.0)
            assert found == []
            (tmp_path / "first").touch()
            began = trio.current_time()
            await trio.sleep(1.0)
            (tmp_path / "second").touch()
        ((at, names),) = found
        assert at == began + settle
        assert names == ({"first", "second"} if settle else {"first"})
    finally:
        inotify.close()
