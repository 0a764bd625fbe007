"""Whoever has waited is forgotten, however that ended: a desk that a script keeps for days does not grow."""

import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.store.opened import files_open_in
from tests.troupe.ipc.peer import at_the_desk
from troupe.ipc import Desk, NoSuchRequest, NotYet, folder, tickets
from troupe.ipc.blocking import BlockingDesk
from troupe.ipc.testing import NEVER, FakeDesk
from troupe.ipc.tickets import AnyDesk

ANSWERS = {"echo": {}, "never": NEVER}
THREE = [{"prompt": number} for number in range(3)]


def awaited(desk: AnyDesk) -> int:
    """How many requests, or tasks, the desk has in mind."""
    gc.collect()
    if isinstance(desk, FakeDesk):
        return len(desk._watches)
    assert isinstance(desk, Desk)
    return len(desk._arrivals._by_id) + len(desk._arrivals._following)


@pytest.fixture(params=["real", "fake"])
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], AnyDesk]:
    monkeypatch.setattr(folder, "lies_in_memory", lambda device: True)
    monkeypatch.setattr(tickets, "JUST_NOW_SECONDS", 0.01)
    if request.param == "fake":
        return lambda: FakeDesk(ANSWERS)
    request.getfixturevalue("peer")
    return lambda: Desk(tmp_path / "base", state=tmp_path, history="failed")


@pytest.fixture
def peer(tmp_path: Path) -> Any:
    with at_the_desk(tmp_path / "base") as peer:
        yield peer


@pytest.fixture
async def desk(make: Callable[[], AnyDesk]) -> AsyncIterator[AnyDesk]:
    async with make() as desk:
        yield desk


async def hears(desk: AnyDesk) -> None:
    await desk.run("echo")


async def has_no_time(desk: AnyDesk) -> None:
    with pytest.raises(NotYet):
        await desk.run("never", timeout=0.02)


async def is_cancelled(desk: AnyDesk) -> None:
    with trio.move_on_after(0.02):
        await desk.run("never")


async def asks_for_nothing(desk: AnyDesk) -> None:
    with pytest.raises(NoSuchRequest):
        await desk.wait("nobody", patience=0.02)


async def maps(desk: AnyDesk) -> None:
    assert len([each async for each in desk.map("echo", THREE)]) == 3


async def leaves_a_map(desk: AnyDesk) -> None:
    async for _ in desk.map("echo", THREE, concurrency=2):
        break


async def takes_them_as_they_come(desk: AnyDesk) -> None:
    several = [await desk.submit("echo", params) for params in THREE]
    assert len([each async for each in desk.as_completed(several)]) == 3


async def leaves_as_they_come(desk: AnyDesk) -> None:
    async for _ in desk.as_completed([await desk.submit(command) for command in ("echo", "never")]):
        break


WAYS = [
    hears, has_no_time, is_cancelled, asks_for_nothing,
    maps, leaves_a_map, takes_them_as_they_come, leaves_as_they_come,
]  # fmt: skip


@pytest.fixture
def files_open(request: pytest.FixtureRequest, desk: AnyDesk, tmp_path: Path) -> Callable[[], list[str]]:
    """Of the desk: the peer is a thread of this process, and has files of its own."""
    peer = None if isinstance(desk, FakeDesk) else request.getfixturevalue("peer")

    def look() -> list[str]:
        with nullcontext() if peer is None else peer.looks:
            return [name for name in files_open_in(tmp_path) if not name.endswith(".lock")]

    return look


@pytest.mark.parametrize("way", WAYS)
async def test_whoever_waits_is_forgotten_afterwards(
    desk: AnyDesk, files_open: Callable[[], list[str]], way: Callable[[AnyDesk], Awaitable[None]]
) -> None:
    before = files_open()
    await way(desk)
    assert awaited(desk) == 0
    assert files_open() == before


def blocking_map(desk: BlockingDesk) -> None:
    assert len(list(desk.map("echo", THREE))) == 3


def blocking_left_map(desk: BlockingDesk) -> None:
    for _ in desk.map("echo", THREE, concurrency=2):
        break


def blocking_as_they_come(desk: BlockingDesk) -> None:
    assert len(list(desk.as_completed([desk.submit("echo", params) for params in THREE]))) == 3


def blocking_left_as_they_come(desk: BlockingDesk) -> None:
    for _ in desk.as_completed([desk.submit(command) for command in ("echo", "never")]):
        break


def blocking_that_has_no_time(desk: BlockingDesk) -> None:
    assert list(desk.as_completed([desk.submit("never")], until=0.0)) == []
    with suppress(NotYet):
        desk.run("never", timeout=0.02)


@pytest.mark.parametrize(
    "way",
    [
        blocking_map,
        blocking_left_map,
        blocking_as_they_come,
        blocking_left_as_they_come,
        blocking_that_has_no_time,
    ],
)
def test_whoever_waits_without_trio_is_forgotten_afterwards(
    make: Callable[[], AnyDesk], way: Callable[[BlockingDesk], None]
) -> None:
    with BlockingDesk(make) as desk:
        way(desk)

        async def look() -> int:
            await trio.testing.wait_all_tasks_blocked()
            return awaited(desk.desk)

        assert desk.call(look) == 0
