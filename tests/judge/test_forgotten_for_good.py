"""There are so many problems and no more: the oldest are forgotten, by the store as well."""

import pytest

from actors.judge.keeping import OFF, PROBLEMS
from actors.store import STORE, StateDirectory, StoreClient
from tests.judge.kit import Court, judging
from tests.judge.test_the_list import told


async def kept(court: Court, space: str) -> list[str]:
    return sorted(key for key, _ in await StoreClient(court.house.stage.registry.get(STORE)).keys(space))


@pytest.mark.parametrize("taken_off", [False, True])
async def test_the_store_keeps_those_that_are_listed(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch, taken_off: bool
) -> None:
    monkeypatch.setattr("actors.judge.shelf.MOST", 3)
    tasks = [f"abc{number}/abc{number}_a" for number in range(1, 8)]
    async with judging(directory) as court:
        page = await court.page()
        for task in tasks:
            await court.take_in(task)
            await court.settled()
            if taken_off and task == tasks[0]:
                await page.say("ui/forget", id=task)
                await court.settled()
        listed = await told(page)
        assert sorted(listed) == tasks[-3:]
        assert await kept(court, PROBLEMS) == tasks[-3:]
        assert await kept(court, OFF) == []
