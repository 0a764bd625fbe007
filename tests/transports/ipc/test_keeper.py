"""News of the folder: by name and at once where the kernel tells of it, and in the end always."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from actors.kernel.testing import Log
from codec.ipc.folder import (
    BaseGone,
    BaseIsBack,
    BaseIsGone,
    FilesChanged,
    News,
    Rescan,
    Spoiled,
    Torn,
    Tray,
    WritingWorks,
)
from tests.transports.ipc.places import answered, asked, heard_that, kept, of, put
from transports.folder.inotify import FolderEvent, Inotify
from transports.ipc import keeper, reading, torns
from transports.ipc.base import FolderBase

WATCHED = Rescan("the folder is watched from now on")


@pytest.fixture
def base(path: Path) -> FolderBase:
    return FolderBase(path, sync=False)


async def watched(heard: Log[News]) -> int:
    """How much has been heard once it is."""
    await heard_that(heard, lambda news: news == WATCHED)
    return len(heard.entries)


async def heard_ids(heard: Log[News], tray: Tray, wanted: frozenset[str], since: int) -> int:
    """Waits until all of these have been told. How many news that were."""
    while True:
        told: set[str] = set()
        for number, news in enumerate(heard.entries[since:]):
            assert isinstance(news, FilesChanged), news
            told |= news.ids.get(tray, frozenset())
            if wanted <= told:
                return number + 1
        await heard.nth(len(heard.entries) + 1, lambda news: True)


def queued_at_most() -> int:
    return int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())


async def test_what_comes_changes_and_goes_is_told_by_name(base: FolderBase, path: Path) -> None:
    async with kept(base) as (_, heard):
        for tray in (Tray.REQUESTS, Tray.RESPONSES):
            since = await watched(heard)
            put(path, tray, "x", b"{")
            await heard_that(heard, of(tray, "x"), since)
            since = len(heard.entries)
            put(path, tray, "x", b"{}")
            await heard_that(heard, of(tray, "x"), since)
            since = len(heard.entries)
            os.unlink(path / tray.value / "x.json")
            await heard_that(heard, of(tray, "x"), since)
        since = len(heard.entries)
        await base.publish({"y": asked("y")})
        await heard_that(heard, of(Tray.REQUESTS, "y"), since)
        await base.answer("y", answered("y"))
        await heard_that(heard, of(Tray.RESPONSES, "y"), since)


@pytest.mark.slow
async def test_of_twenty_thousand_files_at_once_each_is_told_in_few_messages(base: FolderBase, path: Path) -> None:
    wanted = frozenset(f"r{number}" for number in range(20_000))
    async with kept(base, tick=60.0) as (_, heard):
        since = await watched(heard)
        (path / "tmp" / "one").write_bytes(asked("one"))

        def burst() -> None:
            for id in wanted:  # noqa: A001 - as in the contract
                os.link(path / "tmp" / "one", path / "requests" / f"{id}.json")

        await trio.to_thread.run_sync(burst)
        assert await heard_ids(heard, Tray.REQUESTS, wanted, since) < 1_000
        assert await base.ids(Tray.REQUESTS) == wanted


@pytest.mark.slow
async def test_when_the_kernel_loses_events_everybody_looks_at_everything(base: FolderBase, path: Path) -> None:
    async with kept(base, tick=60.0) as (_, heard):
        since = await watched(heard)
        room = os.open(path / "requests", os.O_RDONLY)
        put(path, Tray.REQUESTS, "x", asked("x"))
        for number in range(queued_at_most() // 2 + 10):
            here, there = ("x.json", "y.json") if number % 2 == 0 else ("y.json", "x.json")
            os.rename(here, there, src_dir_fd=room, dst_dir_fd=room)  # the keeper cannot read meanwhile
        os.close(room)
        await heard_that(heard, lambda news: news == Rescan("events were lost"), since)
        assert (await base.health()).overflows == 1
        since = len(heard.entries)
        put(path, Tray.REQUESTS, "z", asked("z"))
        await heard_that(heard, of(Tray.REQUESTS, "z"), since)


@pytest.mark.slow
async def test_what_the_kernel_does_not_tell_of_is_found_at_the_next_tick_and_idleness_costs_nothing(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "SETTLED_SECONDS", 0.02)
    async with kept(base, tick=0.03) as (_, heard):
        await watched(heard)

        def deaf(self: Inotify) -> list[FolderEvent]:
            os.read(self.fileno(), 1 << 16)
            return []

        async def ticks(number: int) -> None:
            trips = base._reads.trips
            while base._reads.trips < trips + number:
                await trio.testing.wait_all_tasks_blocked(0.005)

        await ticks(6)
        monkeypatch.setattr(Inotify, "read", deaf)
        rescans = base.rescans
        await ticks(5)
        assert base.rescans == rescans
        since = len(heard.entries)
        put(path, Tray.RESPONSES, "x", answered("x"))
        await heard_that(heard, lambda news: news == Rescan("it is time to look again"), since)
        await ticks(6)
        rescans = base.rescans
        await ticks(5)
        assert base.rescans == rescans


async def test_between_two_ticks_a_keeper_rests(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says when it looks again: a tick after the last look, or when something is due, and never before."""
    later: list[float] = []
    tell_later = keeper.BaseKeeper.tell_later

    def told(self: keeper.BaseKeeper, seconds: float, message: keeper.KeepWatch) -> Any:
        later.append(seconds)
        return tell_later(self, seconds, message)

    monkeypatch.setattr(keeper.BaseKeeper, "tell_later", told)
    async with kept(base, tick=60.0) as (house, heard):
        since = await watched(heard)
        put(path, Tray.REQUESTS, "x", asked("x"))
        await heard_that(heard, of(Tray.REQUESTS, "x"), since)
        house["base"].tell(keeper.KeepWatch())  # asked before its time, it only says how long it is till then
        await trio.testing.wait_all_tasks_blocked(0.01)
        assert later
        assert len(later) < 10
        assert all(45.0 < seconds <= 60.0 for seconds in later)
        put(path, Tray.RESPONSES, "x", b"{")
        await heard_that(heard, of(Tray.RESPONSES, "x"))
        assert isinstance((await base.look("x")).response, Torn)
        await trio.testing.wait_all_tasks_blocked(0.01)
        assert 0.0 < later[-1] <= torns.TORN_SECONDS + 0.01


async def test_a_base_that_is_back_is_looked_at_no_more_often_than_before(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "GONE_SECONDS", 0.02)
    async with kept(base, tick=60.0) as (_, heard):
        since = await watched(heard)
        os.rename(path, path.with_name("away"))
        await heard_that(heard, lambda news: isinstance(news, BaseIsGone), since)
        os.mkdir(path, 0o700)
        await heard_that(heard, lambda news: news == WATCHED, since)
        trips = base._reads.trips
        await trio.testing.wait_all_tasks_blocked(0.1)
        assert base._reads.trips <= trips + 2


async def test_rooms_that_change_all_the_time_are_not_listed_all_the_time(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the kernel tells by name needs no listing, and in a folder of a hundred thousand one takes its time."""
    monkeypatch.setattr(keeper, "SHARE", 1e9)
    listed: list[Tray] = []
    ids = base.ids

    async def counted(tray: Tray) -> frozenset[str]:
        listed.append(tray)
        return await ids(tray)

    monkeypatch.setattr(base, "ids", counted)
    async with kept(base, tick=0.01) as (_, heard):
        await watched(heard)
        for number in range(5):
            put(path, Tray.REQUESTS, f"r{number}", asked(f"r{number}"))
            since = len(heard.entries)
            await heard_that(heard, lambda news: isinstance(news, Rescan), since)
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOSYS])
async def test_where_there_is_no_inotify_it_is_looked_at_intervals(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(self: Inotify) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Inotify, "__init__", refuse)
    monkeypatch.setattr(keeper, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(keeper, "SHARE", 1)
    await _is_polled(base, path, os.strerror(number))


async def test_where_the_system_allows_no_more_watches_it_is_looked_at_intervals(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Inotify, folder: int, wanted: int = 0) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Inotify, "add_opened", refuse)
    monkeypatch.setattr(keeper, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(keeper, "SHARE", 1)
    await _is_polled(base, path, os.strerror(errno.ENOSPC))


async def _is_polled(base: FolderBase, path: Path, why: str) -> None:
    async with kept(base) as (house, heard):
        await heard_that(heard, lambda news: news == WATCHED)
        assert not (await base.health()).watched
        put(path, Tray.REQUESTS, "x", b"{")
        await heard_that(heard, of(Tray.REQUESTS, "x"))
        since = len(heard.entries)
        put(path, Tray.REQUESTS, "x", b"{}")
        await heard_that(heard, of(Tray.REQUESTS, "x"), since)
        since = len(heard.entries)
        os.unlink(path / "requests" / "x.json")
        await heard_that(heard, of(Tray.REQUESTS, "x"), since)
        assert house["base"].statistics().note == f"looks at intervals: {why}"


async def test_what_was_torn_is_told_again_when_it_may_be_known_to_be_spoiled(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torns, "TORN_SECONDS", 0.05)
    async with kept(base, tick=60.0) as (_, heard):
        since = await watched(heard)
        put(path, Tray.RESPONSES, "x", b"{")
        put(path, Tray.REQUESTS, ".x", asked("x"))
        await heard_that(heard, of(Tray.RESPONSES, "x"), since)
        assert isinstance((await base.look("x")).response, Torn)
        since = len(heard.entries)
        await heard_that(heard, of(Tray.RESPONSES, "x"), since)
        assert isinstance((await base.look("x")).response, Spoiled)
        while (await base.health()).quarantined == 0:  # the name that is no id
            await trio.testing.wait_all_tasks_blocked(0.005)
        assert not [name for name in os.listdir(path / "requests") if name.endswith(".json")]


async def test_who_has_no_room_for_news_is_told_to_look_at_everything_when_they_have(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "BEHIND_SECONDS", 0.01)
    gate = trio.Event()
    async with kept(base, gate=gate, room=3, tick=60.0) as (_, heard):
        while not base.watched:
            await trio.testing.wait_all_tasks_blocked(0.005)
        for number in range(20):
            put(path, Tray.REQUESTS, f"x{number}", asked(f"x{number}"))
            await trio.testing.wait_all_tasks_blocked(0.002)
        gate.set()
        await heard_that(heard, lambda news: news == Rescan("news had no room in the mailbox"))
        assert WritingWorks() in heard.entries, "they may have missed that as well"
        since = len(heard.entries)
        put(path, Tray.REQUESTS, "y", asked("y"))
        await heard_that(heard, of(Tray.REQUESTS, "y"), since)


async def test_a_base_that_is_lost_is_told_once_and_found_again_by_itself(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "GONE_SECONDS", 0.02)
    async with kept(base, tick=60.0) as (house, heard):
        for change in (os.rename, _linked):
            since = await watched(heard)
            change(path, path.with_name(f"away-{change.__name__}"))
            await heard_that(heard, lambda news: isinstance(news, BaseIsGone), since)
            assert house["base"].statistics().trouble == (await base.health()).trouble
            if path.is_symlink():  # noqa: ASYNC240
                os.unlink(path)
            os.mkdir(path, 0o700)
            await heard_that(heard, lambda news: isinstance(news, BaseIsBack), since)
            await heard_that(heard, lambda news: news == WATCHED, since)
            assert sum(isinstance(news, BaseIsGone) for news in heard.entries[since:]) == 1
            put(path, Tray.REQUESTS, "x", asked("x"))
            await heard_that(heard, of(Tray.REQUESTS, "x"), since)


def _linked(path: Path, away: Path) -> None:
    os.rename(path, away)
    os.symlink(away, path)


async def test_who_attends_a_lost_base_is_told_why(base: FolderBase, path: Path) -> None:
    os.symlink("nowhere", path)
    with pytest.raises(BaseGone):
        await base.ids(Tray.REQUESTS)
    async with kept(base) as (_, heard):
        news = await heard.nth(1, lambda news: True)
        assert isinstance(news, BaseIsGone)
        assert "move it away" in news.why


async def test_after_a_crash_of_the_keeper_everybody_looks_and_hears_again(base: FolderBase, path: Path) -> None:
    async with kept(base) as (house, heard):
        since = await watched(heard)
        house["base"].kill()
        put(path, Tray.REQUESTS, "x", asked("x"))
        await heard_that(heard, lambda news: news == WATCHED, since)
        since = len(heard.entries)
        put(path, Tray.REQUESTS, "y", asked("y"))
        await heard_that(heard, of(Tray.REQUESTS, "y"), since)


async def test_who_has_ended_or_is_dismissed_is_told_nothing(base: FolderBase, path: Path) -> None:
    async with kept(base) as (house, heard):
        await watched(heard)
        await house["attendant"].stop()
        base.tell(Rescan("for nobody"))
        assert base._listeners == {}
        base.attend(house["base"], lambda news: keeper.KeepWatch())
        base.dismiss(house["base"])
        assert base._listeners == {}


async def test_after_an_orderly_stop_nothing_is_left_open(base: FolderBase, path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        async with kept(base) as (_, heard):
            await watched(heard)
            assert await base.claim_server() is None
    assert len(os.listdir("/proc/self/fd")) <= before


async def test_the_keeper_sets_aside_all_that_may_not_stay_however_much_it_is(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "STEP_ASIDE", 3)
    async with kept(base, tick=0.05) as (_, heard):
        await watched(heard)
        for tray in (Tray.REQUESTS, Tray.RESPONSES):
            for number in range(20):
                (path / tray.value / f"d{number}.json").mkdir()
        while (await base.health()).quarantined < 40:
            await trio.testing.wait_all_tasks_blocked(0.005)
        assert not os.listdir(path / "requests")
        assert not os.listdir(path / "responses")


@pytest.mark.parametrize("what", ["__init__", "add_opened"])
async def test_a_system_that_allows_inotify_again_is_asked_for_it_again(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    allowed, usual = False, getattr(Inotify, what)

    def limited(self: Inotify, *arguments: Any) -> Any:
        if not allowed:
            raise OSError(errno.EMFILE if what == "__init__" else errno.ENOSPC, "no more of it")
        return usual(self, *arguments)

    monkeypatch.setattr(Inotify, what, limited)
    monkeypatch.setattr(keeper, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(keeper, "TRY_SECONDS", 0.05)
    async with kept(base, tick=0.05) as (_, heard):
        await watched(heard)
        put(path, Tray.REQUESTS, "before", asked("before"))
        await heard_that(heard, of(Tray.REQUESTS, "before"))
        assert not (await base.health()).watched
        since, allowed = len(heard.entries), True
        await heard_that(heard, lambda news: news == WATCHED, since)
        assert (await base.health()).watched
        since = len(heard.entries)
        events = base.events
        put(path, Tray.REQUESTS, "after", asked("after"))
        await heard_that(heard, of(Tray.REQUESTS, "after"), since)
        assert base.events > events
