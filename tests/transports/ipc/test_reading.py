"""What stands in the rooms, and how long a listing may be believed."""

import errno
import os
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from codec.ipc import id_of
from codec.ipc.folder import Answer, Asked, BaseGone, Torn, Tray
from tests.transports.ipc.places import Clock, answered, asked, put
from transports.ipc import reading
from transports.ipc.base import FolderBase
from transports.ipc.reading import _PLAIN_ID, SETTLED_SECONDS, RoomReader
from transports.ipc.site import OpenedBase, Site
from transports.ipc.torns import MOST_REMEMBERED
from transports.ipc.writing import LARGEST

changes = st.lists(
    st.tuples(
        st.sampled_from(["put", "drop", "wait"]),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from([0.0, SETTLED_SECONDS / 2, SETTLED_SECONDS]),
    ),
    max_size=30,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(changes)
def test_a_listing_is_never_older_than_the_room(
    tmp_path_factory: pytest.TempPathFactory, story: list[tuple[str, str, float]]
) -> None:
    """Though changes may follow each other faster than the disk's clock goes on."""
    path, clock = tmp_path_factory.mktemp("place") / "base", Clock()
    site, reader = Site(path), RoomReader(clock, 1000)
    for what, id, seconds in story:  # noqa: A001 - as in the contract
        with site.entered() as opened:
            match what:
                case "put":
                    put(path, Tray.REQUESTS, id, b"{}")
                case "drop":
                    (path / "requests" / f"{id}.json").unlink(missing_ok=True)
                case "wait":
                    clock.seconds += seconds
            wanted = {name.removesuffix(".json") for name in os.listdir(path / "requests")}
            listing = reader.listing(opened, Tray.REQUESTS)
            while listing.ids is None:
                listing.go_on(reader, opened)
            assert listing.ids == wanted
    site.close()


async def test_a_room_that_does_not_change_is_listed_once(
    base: FolderBase, path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[int] = []
    scandir = os.scandir

    def counted(folder: int) -> Any:
        listed.append(folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", counted)
    await base.publish({"x": asked("x")})
    for _ in range(3):
        clock.seconds += SETTLED_SECONDS
        assert await base.ids(Tray.REQUESTS) == {"x"}
    many = len(listed)
    for _ in range(10):
        assert await base.ids(Tray.REQUESTS) == {"x"}
    assert len(listed) == many
    put(path, Tray.REQUESTS, "y", b"{}")
    assert await base.ids(Tray.REQUESTS) == {"x", "y"}


async def test_of_torn_files_only_so_many_are_remembered(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transports.ipc.torns.MOST_REMEMBERED", 10)
    await base.ids(Tray.REQUESTS)
    for number in range(30):
        put(path, Tray.RESPONSES, f"r{number}", b"{")
        assert (await base.look(f"r{number}")).response == Torn()
    assert len(base._reading.torns) == 10
    assert MOST_REMEMBERED > 20_000


async def test_who_asks_for_a_listing_in_the_same_trip_is_given_the_same(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await base.ids(Tray.FAILED)
    put(path, Tray.REQUESTS, "a", b"{}")
    listed: list[int] = []
    scandir = os.scandir

    def counted(folder: int) -> Any:
        listed.append(folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", counted)
    found: list[frozenset[str]] = []

    async def ask(tray: Tray) -> None:
        found.append(await base.ids(tray))

    async with trio.open_nursery() as nursery:
        for tray in (Tray.RESPONSES, *[Tray.REQUESTS] * 5):  # the first one leaves alone
            nursery.start_soon(ask, tray)
    assert sorted(map(sorted, found)) == [[], *[["a"]] * 5]
    assert len(listed) <= 3  # whoever was first
    put(path, Tray.REQUESTS, "b", b"{}")
    assert await base.ids(Tray.REQUESTS) == {"a", "b"}


async def a_look_is_over_before(base: FolderBase, id: str, work: Callable[[], Awaitable[None]]) -> None:  # noqa: A002
    """It begins when the work has had its first trip."""
    ended: list[str] = []

    async def works() -> None:
        await work()
        ended.append("work")

    async with trio.open_nursery() as nursery:
        trips = base._reads.trips
        nursery.start_soon(works)
        while base._reads.trips == trips:
            await trio.lowlevel.checkpoint()
        assert isinstance((await base.look(id)).request, Asked)
        ended.append("look")
    assert ended == ["look", "work"]


async def test_nobody_waits_for_the_end_of_a_long_listing(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await base.ids(Tray.FAILED)
    for number in range(50):
        put(path, Tray.REQUESTS, f"r{number}", asked(f"r{number}"))
    monkeypatch.setattr(reading, "STEP", 10)

    async def list_names() -> None:
        assert len(await base.ids(Tray.REQUESTS)) == 50

    await a_look_is_over_before(base, "r7", list_names)


async def test_nobody_waits_until_very_much_that_may_not_stay_has_been_set_aside(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await base.ids(Tray.FAILED)
    put(path, Tray.REQUESTS, "x", asked("x"))
    for number in range(50):
        (path / "requests" / f"d{number}.json").mkdir()
    monkeypatch.setattr(reading, "STEP_ASIDE", 10)
    assert await base.ids(Tray.REQUESTS) == {"x"}
    assert (await base.health()).quarantined == 10
    await a_look_is_over_before(base, "x", lambda: base.set_strays_aside(Tray.REQUESTS))
    assert os.listdir(path / "requests") == ["x.json"]
    assert (await base.health()).quarantined == 50


async def test_a_listing_under_way_is_of_the_folder_that_stands_there_when_it_ends(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await base.ids(Tray.FAILED)
    for number in range(50):
        put(path, Tray.REQUESTS, f"r{number}", asked(f"r{number}"))
    monkeypatch.setattr(reading, "STEP", 10)
    listing = await base.visit(lambda reader, opened: reader.listing(opened, Tray.REQUESTS))
    os.rename(path, path.with_name("before"))
    for folder in (path, path / "requests"):
        os.mkdir(folder, 0o700)
    put(path, Tray.REQUESTS, "new", asked("new"))
    while listing.ids is None:
        await base.visit(listing.go_on)
    assert listing.ids == {"new"}


async def test_a_listing_that_fails_on_its_way_is_made_anew_by_who_shares_it(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await base.ids(Tray.FAILED)
    for number in range(50):
        put(path, Tray.REQUESTS, f"r{number}", asked(f"r{number}"))
    monkeypatch.setattr(reading, "STEP", 10)
    steps, fails = RoomReader.steps, [False, True]

    def failing(self: RoomReader, opened: OpenedBase, tray: Tray) -> Iterator[frozenset[str] | None]:
        for step in steps(self, opened, tray):
            if fails and fails.pop(0):
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            yield step

    monkeypatch.setattr(RoomReader, "steps", failing)
    listing = await base.visit(lambda reader, opened: reader.listing(opened, Tray.REQUESTS))
    with pytest.raises(BaseGone):
        await base.visit(listing.go_on)
    while listing.ids is None:
        await base.visit(listing.go_on)
    assert len(listing.ids) == 50


def test_to_read_a_file_takes_no_more_memory_than_it_has(path: Path, clock: Clock) -> None:
    site, reader = Site(path), RoomReader(clock, LARGEST)
    with site.entered() as opened:
        put(path, Tray.REQUESTS, "x", asked("x"))
        tracemalloc.start()
        try:
            assert reader.read(opened, Tray.REQUESTS, "x") == asked("x")
            assert tracemalloc.get_traced_memory()[1] < 64 << 10
        finally:
            tracemalloc.stop()
    site.close()


@given(st.from_regex(r"[A-Za-z0-9._-]{0,8}(\.json)?\n?", fullmatch=True) | st.text(max_size=8))
def test_the_short_way_to_an_id_tells_what_the_long_one_does(name: str) -> None:
    short = _PLAIN_ID.fullmatch(name)
    assert short is None or short[1] == id_of(name)


@pytest.mark.parametrize("tray", [Tray.REQUESTS, Tray.RESPONSES])
async def test_the_times_of_many_files_are_asked_for_in_steps(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch, tray: Tray
) -> None:
    monkeypatch.setattr("transports.ipc.base.STEP", 3)
    await base.ids(tray)
    for number in range(8):
        put(path, tray, f"new-{number}", b"{}")
        put(path, tray, f"old-{number}", b"{}")
        os.utime(path / tray.value / f"old-{number}.json", (1.0, 1.0))
    there = await base.ids(tray)
    assert await base.missed({*there, "gone"}, tray) == {f"new-{number}" for number in range(8)}


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
@pytest.mark.parametrize("tray", [Tray.REQUESTS, Tray.RESPONSES])
async def test_what_cannot_be_opened_for_want_of_means_is_not_held_against_it(
    base: FolderBase, path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, number: int, tray: Tray
) -> None:
    """However often, and for however long: it says nothing about the document."""

    def refused(name: str, *_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number), name)

    await base.ids(Tray.REQUESTS)
    put(path, tray, "a", asked("a") if tray is Tray.REQUESTS else answered("a", 1))
    with monkeypatch.context() as patch:
        patch.setattr(reading, "USUAL", reading.USUAL._replace(open=refused))
        for _ in range(3):
            with pytest.raises(BaseGone, match=os.strerror(number)):
                await base.visit(lambda reader, opened: reader.look(opened, "a"))
            clock.seconds += 60.0
    both = await base.look("a")
    assert isinstance(both.request if tray is Tray.REQUESTS else both.response, Asked | Answer)
