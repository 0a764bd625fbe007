"""More boards than may be kept, many at once: some are forgotten, and it costs nobody else anything."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from actors.sidekick import boards, upkeep
from tests.sidekick.test_boards import hero, house, later
from tests.sidekick.test_room import CLEAR, spawn_grid

pytestmark = pytest.mark.slow


async def test_boards_that_are_written_at_the_same_time_forget_each_old_one_once(
    autojump_clock: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(boards, "MOST_BOARDS", 3)
    async with house(tmp_path) as troupe:
        for turn in range(3):
            async with AsyncExitStack() as stack:
                for number in range(12):
                    script = await stack.enter_async_context(hero(troupe, f"{turn}-{number}"))
                    await script.say(CLEAR, spawn_grid())
                await later()
            await later()
        kept = [key for key, _ in await troupe.store.keys("sidekick/board")]
        assert len(kept) == 3
        assert not [record.getMessage() for record in caplog.records if record.levelname in ("WARNING", "ERROR")]
        for name in kept:
            assert await troupe.seen(name) == [spawn_grid()]


async def test_a_board_that_somebody_is_at_outlasts_those_of_whoever_makes_many(
    autojump_clock: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boards, "MOST_BOARDS", 3)
    async with house(tmp_path) as troupe, hero(troupe, "honest") as honest:
        await honest.say(spawn_grid())
        await later()
        for number in range(6):
            async with hero(troupe, f"other-{number}") as script:
                await script.say(spawn_grid())
            await later()
        kept = [key for key, _ in await troupe.store.keys("sidekick/board")]
        assert kept == ["honest", "other-4", "other-5"]


async def test_boards_that_change_within_a_second_are_written_in_one_go_and_all_of_them_again_if_that_failed(
    autojump_clock: object, tmp_path: Path
) -> None:
    many = 3 * boards.IN_ONE_GO
    async with house(tmp_path) as troupe, AsyncExitStack() as stack:
        scripts = [await stack.enter_async_context(hero(troupe, f"r{number}")) for number in range(many)]
        await later()
        before = troupe.disk.writes
        troupe.disk.fails = True
        for script in scripts:
            await script.say(spawn_grid())
        await later()
        assert troupe.trouble() is not None
        troupe.disk.fails = False
        await later(boards.AGAIN_AFTER + boards.TOGETHER)
        assert troupe.trouble() is None
        assert troupe.disk.writes - before <= many / boards.IN_ONE_GO + 2  # and the store's own look at its disk
        assert len(await troupe.store.keys("sidekick/board")) == many


async def test_a_board_that_the_store_refuses_keeps_no_other_from_being_kept(
    autojump_clock: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "HEROES", 10_000_000)
    async with house(tmp_path) as troupe, AsyncExitStack() as stack:
        for number in range(80):  # their names alone are more than a value of the store may be
            await stack.enter_async_context(hero(troupe, "odd", peer=f"{number}-{'x' * 15_000}"))
        drawing = await stack.enter_async_context(hero(troupe, "odd", peer="draws"))
        scripts = [await stack.enter_async_context(hero(troupe, f"r{number}")) for number in range(20)]
        for script in (drawing, *scripts):
            await script.say(spawn_grid())
        await later()
        kept = [key for key, _ in await troupe.store.keys("sidekick/board")]
        assert kept == sorted(f"r{number}" for number in range(20))
