"""The boards' actor has no room in its mailbox: what rooms have to tell it waits, and is not lost."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from actors.kernel import MailboxFull
from actors.sidekick import boards
from actors.sidekick.board_messages import BoardsMessage, Unfit
from actors.sidekick.boards import KEEP_AFTER, Boards
from tests.sidekick.test_boards import KeptHouse, hero, house, killed
from tests.sidekick.test_boards_recover import boards_of
from tests.sidekick.test_room import paint, spawn_grid

pytestmark = pytest.mark.slow
LATEST = 5.0
NOTHING = Unfit("nobody's")


class Held(Boards):
    """Handles a message only while the gate is open."""

    gate = trio.Event()

    async def handle(self, message: BoardsMessage) -> None:
        await self.gate.wait()
        await super().handle(message)


@pytest.fixture(autouse=True)
def _held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Held, "gate", trio.Event())
    Held.gate.set()
    monkeypatch.setattr(boards, "Boards", Held)
    monkeypatch.setattr(boards, "CAPACITY", 1)


@asynccontextmanager
async def full(troupe: KeptHouse) -> AsyncIterator[None]:
    Held.gate = trio.Event()
    await boards_of(troupe).send(NOTHING)
    await trio.testing.wait_all_tasks_blocked()
    with suppress(MailboxFull):
        boards_of(troupe).tell(NOTHING)
    yield
    Held.gate.set()


def room_of(troupe: KeptHouse, name: str) -> Any:
    rooms = troupe.top.child("sidekick").child("rooms")  # type: ignore[union-attr]
    assert rooms is not None
    return rooms.child(name)


@pytest.mark.parametrize("seconds", [0.1, 1.0, 6.0, 60.0])
@pytest.mark.parametrize("begins", [0.0, 0.5, 1.0, 1.5, KEEP_AFTER - 0.5, KEEP_AFTER, KEEP_AFTER + 0.5])
async def test_the_last_change_is_kept_in_time_whenever_and_for_however_long_there_was_no_room(
    autojump_clock: object, tmp_path: Path, begins: float, seconds: float
) -> None:
    async with house(tmp_path / "a") as troupe, hero(troupe, "r") as script:
        start = trio.current_time()

        async def fill() -> None:
            await trio.sleep_until(start + begins)
            async with full(troupe):
                await trio.sleep(seconds)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(fill)
            await trio.sleep_until(start + 0.2)
            await script.say(spawn_grid())
            await trio.sleep_until(start + 1.2)
            await script.say(paint(0, 0))
            await trio.sleep_until(start + 1.2 + LATEST + seconds)
            copy = killed(tmp_path / "a", tmp_path / "b")
    async with house(copy) as troupe:
        assert await troupe.seen("r") == [spawn_grid(), paint(0, 0)]


@pytest.mark.parametrize("drawn", [0.0, KEEP_AFTER + 0.5])
async def test_the_last_words_of_a_room_hold_what_waited_for_room(
    autojump_clock: object, tmp_path: Path, drawn: float
) -> None:
    """`drawn`: so long ago. Three seconds later the room has been asked for its picture, which waits."""
    async with house(tmp_path) as troupe:
        async with hero(troupe, "r") as script, full(troupe):
            await script.say(spawn_grid())
            await trio.sleep(drawn)
            room = room_of(troupe, "r")
            room.begin_stop()
            await trio.sleep(1)
        await room.wait_stopped()
        assert await troupe.seen("r") == [spawn_grid()]


async def test_a_board_that_is_dropped_at_once_is_kept_as_it_was(autojump_clock: object, tmp_path: Path) -> None:
    async with house(tmp_path) as troupe:
        async with hero(troupe, "r") as script:
            await script.say(spawn_grid())
            room = room_of(troupe, "r")
        async with full(troupe):
            room._slot.incarnation.actor._give_way()
            await trio.sleep(1)
        await room.wait_stopped()
        assert await troupe.seen("r") == [spawn_grid()]


async def test_rooms_are_counted_right_whatever_came_and_went_while_there_was_no_room(
    autojump_clock: object, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with house(tmp_path) as troupe:
        async with hero(troupe, "r", peer="one"):
            async with full(troupe):
                async with hero(troupe, "r", peer="two"), hero(troupe, "r", peer="three"):
                    await trio.sleep(1)
                await trio.sleep(1)
            await trio.sleep(1)
            assert (await troupe.listed())["r"]["scripts"] == 1
        await trio.sleep(1)
        assert "r" not in await troupe.listed()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
