"""The boards' actor after a crash of its own: it knows who is there, and hears when they go."""

from pathlib import Path

import pytest
import trio

from actors.kernel import ActorRef
from actors.sidekick.room import FORSAKEN_AFTER
from tests.sidekick.test_boards import KeptHouse, hero, house, later
from tests.sidekick.test_room import spawn_grid

pytestmark = pytest.mark.slow


def boards_of(troupe: KeptHouse) -> ActorRef[object]:
    found = troupe.top.child("sidekick").child("boards")  # type: ignore[union-attr]
    assert found is not None
    return found


@pytest.mark.parametrize("crashes", [0, 1, 3])
async def test_a_room_that_ends_is_counted_no_more_however_often_the_boards_crashed(
    autojump_clock: object, tmp_path: Path, crashes: int
) -> None:
    async with house(tmp_path) as troupe:
        boards = boards_of(troupe)
        async with hero(troupe, "r") as script:
            await script.say(spawn_grid())
            await later()
            for _ in range(crashes):
                boards.kill()
                await later()
            assert boards.statistics().restarts == crashes
            assert boards.statistics().note == "1 room, 1 board kept"
        await trio.sleep(2 * FORSAKEN_AFTER)
        assert boards.statistics().note == "0 rooms, 1 board kept"
        assert (await troupe.listed())["r"]["scripts"] == 0


async def test_rooms_are_counted_as_they_come_and_go(autojump_clock: object, tmp_path: Path) -> None:
    async with house(tmp_path) as troupe:
        boards = boards_of(troupe)
        assert boards.statistics().note == "0 rooms, 0 boards kept"
        async with hero(troupe, "a"), hero(troupe, "b"):
            assert boards.statistics().note == "2 rooms, 0 boards kept"
        await trio.sleep(2 * FORSAKEN_AFTER)
        assert boards.statistics().note == "0 rooms, 0 boards kept"
