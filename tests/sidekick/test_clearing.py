"""The messages to our own page about the board as a whole, and the state of a board after a reader has cleared it."""

from typing import Any

import pytest
import trio

from actors.sidekick.room import GRACE
from tests.sidekick.test_room import CLEAR, Client, Json, house, paint, spawn_grid

FOLLOW = {"id": 0, "component": "board", "type": "follow"}
CLEAR_BOARD = {"id": 0, "component": "board", "type": "clear"}


def states(page: Client) -> list[Any]:
    return [one["payload"] for one in page.line.take() if (one["component"], one["type"]) == ("board", "state")]


def label(text: str, target: str = "l") -> Json:
    return {"id": 0, "component": "label", "type": "spawn", "target": target, "payload": {"text": text}}


async def test_a_page_that_follows_is_told_how_many_scripts_there_are_and_from_when_the_picture_is(
    autojump_clock: object,
) -> None:
    async with house() as troupe, troupe.client() as page:
        await page.announce("sidekick")
        await page.say(FOLLOW)
        assert states(page) == [{"scripts": 0, "drawnAt": None}]
        async with troupe.client() as hero:
            await hero.announce("hero")
            assert states(page) == [{"scripts": 1, "drawnAt": None}]
            await hero.say(spawn_grid())
        (*_, last) = states(page)
        assert last["scripts"] == 0


async def test_a_script_that_announces_nothing_counts_when_it_draws(autojump_clock: object) -> None:
    spawn = {"id": 0, "module": "grid", "method": "spawn", "target": "g", "payload": {"size": [2, 2]}}
    async with house() as troupe, troupe.client() as page:
        await page.announce("sidekick")
        await page.say(FOLLOW)
        states(page)
        async with troupe.client() as hero:
            await hero.say(spawn)
            assert {state["scripts"] for state in states(page)} == {1}
        assert {state["scripts"] for state in states(page)} == {0}


async def test_whoever_does_not_follow_is_told_nothing_of_it(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen), troupe.client() as page:
        await page.announce("sidekick", peer="page")
        await page.say(FOLLOW)
        await hero.say(spawn_grid())
        assert "board/state" in page.line.kinds()
        assert "board/state" not in screen.line.kinds() + hero.line.kinds()


@pytest.mark.parametrize("count", [1, 40])
async def test_a_page_is_told_whether_the_board_is_still_to_come_and_again_behind_the_board(
    autojump_clock: object, count: int
) -> None:
    """A small one is there at once."""
    async with house() as troupe, troupe.client() as hero, troupe.client() as page:
        await hero.announce("hero")
        for number in range(count):
            await hero.say(label("x" * 8_000, f"l{number}"))
        payload = {"peerId": "page", "role": "sidekick", "status": "online", "version": "0.1.0", "timestamp": 1}
        online = {"id": 0, "component": "system", "type": "announce", "payload": payload}
        await page.say(online, FOLLOW)  # as a page does, in one go
        got = page.line.take()
        told = [at for at, one in enumerate(got) if one["component"] == "board"]
        drawn = [at for at, one in enumerate(got) if one["component"] == "label"]
        assert len(drawn) == count
        showing = [got[at]["payload"].get("showing", False) for at in told]
        assert showing == ([True, False] if count > 1 else [False])
        assert told[-1] > max(drawn)
        assert (told[0] < min(drawn)) is (count > 1)


async def test_a_page_that_fell_behind_is_told_again(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as page:
        await page.announce("sidekick")
        await page.say(FOLLOW)
        states(page)
        page.line.slow = True
        async with troupe.client() as hero:
            await hero.announce("hero")
            page.line.drain()
            await trio.testing.wait_all_tasks_blocked()
            assert states(page)[-1]["scripts"] == 1


async def test_a_reader_clears_the_board_for_all_and_each_script_is_told_of_its_own(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen), troupe.client() as other:
        await other.announce("hero", peer="other")
        await hero.say(spawn_grid("g"), label("mine", "l"))
        await other.say(spawn_grid("h"))
        for client in (hero, other, screen):
            client.line.take()
        await screen.say(CLEAR_BOARD)
        assert screen.line.kinds() == ["global/clearAll"]
        assert [(one["type"], one["src"]) for one in hero.line.got] == [("error", "g"), ("error", "l")]
        assert [(one["type"], one["src"]) for one in other.line.got] == [("error", "h")]
        words = "grid 'h' removed: a reader has cleared the board; spawn it again to go on with it"
        assert other.line.got[0]["payload"] == {"message": words}
        async with troupe.client() as late:
            await late.announce("sidekick", peer="late")
            assert "grid/spawn" not in late.line.kinds()


async def test_a_script_that_goes_on_with_what_was_cleared_is_told_once_and_no_page_is(autojump_clock: object) -> None:
    many = [spawn_grid(f"g{n}") for n in range(70)]
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        await hero.say(*many)
        await screen.say(CLEAR_BOARD)
        assert len(hero.line.take()) == 64
        screen.line.take()
        await hero.say(*[paint(0, 0, target="g0")] * 5)
        assert hero.line.take() == []
        await hero.say(*[paint(0, 0, target="g69")] * 5)
        assert [one["src"] for one in hero.line.take()] == ["g69"]
        assert screen.line.take() == []
        await hero.say(spawn_grid("g0"), paint(0, 0, target="g0"), paint(99, 0, target="g0"))
        assert screen.line.kinds() == ["grid/spawn", "grid/update", "grid/error"]
        assert hero.line.kinds() == ["grid/error"]


@pytest.mark.parametrize("mistakes", [0, 1])
async def test_of_a_component_that_was_spawned_again_every_mistake_is_told_as_if_nobody_had_cleared_it(
    autojump_clock: object, mistakes: int
) -> None:
    remove = {"id": 0, "component": "grid", "type": "remove", "target": "g"}
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        await hero.say(spawn_grid("g"))
        await screen.say(CLEAR_BOARD)
        hero.line.take()
        await hero.say(spawn_grid("g"), *[paint(99, 0, target="g")] * mistakes, remove, paint(0, 0, target="g"))
        said = [one["payload"]["message"] for one in hero.line.take()]
        assert len(said) == mistakes + 1
        assert "cleared" not in "".join(said)


async def test_only_a_page_clears_the_board_so(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen), troupe.client() as silent:
        await hero.say(spawn_grid())
        screen.line.take()
        await silent.say({**CLEAR_BOARD, "type": "follow"})
        await hero.say(CLEAR_BOARD, FOLLOW)
        await hero.say(paint(0, 0))
        assert "global/clearAll" not in screen.line.kinds()
        assert screen.line.kinds()[-1] == "grid/update"


async def test_what_is_cleared_while_its_script_is_away_is_gone_when_it_comes_back(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as page:
        await page.announce("sidekick")
        async with troupe.client() as hero:
            await hero.announce("hero")
            await hero.say(spawn_grid())
        await page.say(CLEAR_BOARD)
        await trio.sleep(GRACE / 2)
        async with troupe.client() as hero:
            await hero.announce("hero")
            await hero.say(CLEAR, paint(0, 0))
            assert hero.line.kinds()[-1] == "grid/error"
