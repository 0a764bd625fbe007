"""The base folder on a real disk."""

import os
from pathlib import Path

import pytest
import trio

from codec.ipc.folder import (
    Answer,
    Asked,
    Identity,
    Occupied,
    Spoiled,
    Torn,
    Tray,
    Unreadable,
)
from tests.transports.ipc.places import Clock, answered, asked, put
from transports.ipc.base import FolderBase


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
