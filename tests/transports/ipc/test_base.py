"""The base folder on a real disk."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from codec.ipc.folder import (
    Answer,
    Asked,
    BaseGone,
    Identity,
    Occupied,
    Spoiled,
    Torn,
    Tray,
    Unreadable,
)
from tests.transports.ipc.places import Clock, answered, asked, put
from transports.ipc import base as module
from transports.ipc import site
from transports.ipc.base import FolderBase
from transports.ipc.reading import USUAL, Ways


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def test_a_request_and_its_answer_make_their_round(base: FolderBase, path: Path) -> None:
    await base.publish({"a": asked("a"), "b": asked("b")})
    assert await base.ids(Tray.REQUESTS) == {"a", "b"}
    await base.answer("a", answered("a", 1))
    both = await base.look("a")
    assert isinstance(both.request, Asked)
    assert isinstance(both.response, Answer)
    assert both.answer == (path / "responses" / "a.json").read_bytes()
    with pytest.raises(Occupied):
        await base.answer("a", answered("a", 2))
    assert not await base.take_away("a", Identity(0, 0))
    assert await base.take_away("a", both.response.identity)
    assert (await base.look("a")).response is None
    assert await base.withdraw("a")
    assert not await base.withdraw("a")
    assert os.listdir(path / "tmp") == []
    assert (mode(path), mode(path / "requests" / "b.json")) == (0o700, 0o600)


@pytest.mark.parametrize(("later", "took"), [(2.5, 2.5), (0.0, 0.0), (-1.0, None)])
async def test_how_long_an_answer_took_is_told_by_both_files(
    base: FolderBase, path: Path, later: float, took: float | None
) -> None:
    await base.ids(Tray.REQUESTS)
    os.utime(put(path, Tray.REQUESTS, "a", asked("a")), (1_000.0, 1_000.0))
    assert (await base.look("a")).took is None
    os.utime(put(path, Tray.RESPONSES, "a", answered("a", 1)), (1_000.0 + later, 1_000.0 + later))
    assert (await base.look("a")).took == took
    (path / "requests" / "a.json").unlink()
    assert (await base.look("a")).took is None


async def test_what_is_torn_is_spoiled_after_a_second_without_a_change(
    base: FolderBase, path: Path, clock: Clock
) -> None:
    await base.ids(Tray.REQUESTS)
    put(path, Tray.REQUESTS, "a", b'{"request_id": "a", "comm')
    response = put(path, Tray.RESPONSES, "a", b'{"requ')
    assert (await base.look("a")).response == Torn()
    clock.seconds += 0.9
    both = await base.look("a")
    assert (both.request, both.response) == (Torn(), Torn())
    response.write_bytes(b'{"request_id": "a", "st')
    clock.seconds += 0.2
    both = await base.look("a")
    assert isinstance(both.request, Unreadable)
    assert both.response == Torn()
    clock.seconds += 1.0
    both = await base.look("a")
    assert isinstance(both.response, Spoiled)
    await base.set_aside("a", both.response.identity, both.response.why)
    assert (await base.look("a")).response is None
    assert (await base.health()).quarantined == 1
    put(path, Tray.REQUESTS, "a", asked("a"))
    assert isinstance((await base.look("a")).request, Asked)


async def test_calls_made_at_once_share_a_trip_and_a_caller_who_leaves_hurts_nobody(base: FolderBase) -> None:
    await base.ids(Tray.REQUESTS)
    trips = base._writes.trips
    async with trio.open_nursery() as nursery:
        for number in range(50):
            nursery.start_soon(base.answer, f"r{number}", answered(f"r{number}"))
        await trio.testing.wait_all_tasks_blocked(0)
        with trio.move_on_after(0):
            await base.answer("nobody", b"{}")
    assert base._writes.trips - trips <= 3
    assert len(await base.ids(Tray.RESPONSES)) >= 50


def blocked(*_: object, **__: object) -> Any:
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


@pytest.mark.parametrize("way", ["all", "stat", "open", "read"])
async def test_what_would_wait_for_a_disk_is_looked_at_by_a_thread(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(site, "is_local", lambda device: True)
    monkeypatch.setattr(site, "lies_in_memory", lambda device: False)
    ways = dict.fromkeys(Ways._fields, blocked) if way == "all" else {way: blocked}
    monkeypatch.setattr(module, "AT_ONCE", USUAL._replace(**ways))
    base = FolderBase(path, now=clock)
    try:
        await base.publish({"a": asked("a")})
        await base.answer("a", answered("a"))
        trips = base._reads.trips
        both = await base.look("a")
        assert isinstance(both.request, Asked)
        assert isinstance(both.response, Answer)
        assert base._reads.trips == trips + 1
        monkeypatch.setattr(module, "AT_ONCE", USUAL)
        base._reads._spent = 0.0  # on a busy machine, what was tried may have used up the loop's share
        assert await base.look("a") == both
        assert base._reads.trips == trips + 1, "and what would not is looked at in the loop"
    finally:
        base.close()


async def test_a_look_waits_for_no_thread_that_waits_for_the_disk(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "is_local", lambda device: True)
    monkeypatch.setattr(site, "lies_in_memory", lambda device: False)
    monkeypatch.setattr(module, "AT_ONCE", USUAL)
    base = FolderBase(path, now=clock)
    try:
        await base.publish({"a": asked("a")})
        async with trio.open_nursery() as nursery:
            with base._site._lock:  # as a thread that asks a disk which hangs
                nursery.start_soon(base.look, "a")
                await trio.testing.wait_all_tasks_blocked(0.01)
        os.rename(path, path.with_name("other"))
        with pytest.raises(BaseGone):
            await base.look("a")
    finally:
        base.close()
