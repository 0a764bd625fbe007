"""What stands in the rooms, and how long a listing may be believed."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codec.ipc.folder import Torn, Tray
from tests.transports.ipc.places import Clock, asked, put
from transports.ipc.base import FolderBase
from transports.ipc.reading import MOST_REMEMBERED, SETTLED_SECONDS, TORN_SECONDS, RoomReader, Torns
from transports.ipc.site import Site

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
            assert reader.ids(opened, Tray.REQUESTS) == wanted
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
    monkeypatch.setattr("transports.ipc.reading.MOST_REMEMBERED", 10)
    await base.ids(Tray.REQUESTS)
    for number in range(30):
        put(path, Tray.RESPONSES, f"r{number}", b"{")
        assert (await base.look(f"r{number}")).response == Torn()
    assert len(base._reading.torns) == 10
    assert MOST_REMEMBERED > 20_000


steps = st.lists(
    st.tuples(st.sampled_from(["look", "change", "forget", "wait", "due"]), st.integers(0, 4), st.floats(0.1, 0.9)),
    max_size=40,
)


@given(steps)
def test_each_torn_file_is_due_once_a_second_after_its_last_change(story: list[tuple[str, int, float]]) -> None:
    clock, sizes = Clock(), [1] * 5
    torns = Torns(clock)
    since: dict[str, float] = {}
    untold: set[str] = set()
    for what, number, seconds in story:
        name = f"r{number}"
        match what:
            case "look" | "change":
                sizes[number] += what == "change"
                is_new = name not in since or what == "change"
                if is_new:
                    since[name] = clock.seconds
                    untold.add(name)
                status = os.stat_result((0o600, 1, 1, 1, 0, 0, sizes[number], 0, 0, 0))
                assert torns.is_still(Tray.REQUESTS, name, status) == (
                    not is_new and clock.seconds - since[name] >= TORN_SECONDS
                )
            case "forget":
                torns.forget(Tray.REQUESTS, name)
                since.pop(name, None)
                untold.discard(name)
            case "wait":
                clock.seconds += seconds
            case "due":
                late = {each for each in untold if clock.seconds - since[each] >= TORN_SECONDS}
                assert torns.due().get(Tray.REQUESTS, frozenset()) == late
                untold -= late
        waiting = [since[each] + TORN_SECONDS - clock.seconds for each in untold]
        assert torns.next_due() == (max(0.0, min(waiting)) if waiting else None)
        assert len(torns) == len(since)
