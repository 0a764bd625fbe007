"""The connection flow of both specs, step by step, where `test_room.py` has only its main road.

spec v2, section 4      here                                    in test_room.py
1 connect               nobody hears of one who says nothing    a hero is answered at once
2 announce online       a bad one is refused, and is none       -
3 broadcast             as it came, to heroes too               told to all other peers
4 history               only of those who are online, in order  the newcomer is told who is online
5 ready                 the server stays ready without a page   a hero is answered at once
6 announce offline      as it came, and no second one           told once
7 abnormal disconnect   of a page; of one who was silent        of a hero

spec v1: sections 3 and 4 (spawn, update, remove, clearAll by a new script; notify, error)
"""

from contextlib import AsyncExitStack
from typing import Any

import pytest
import trio
import trio.testing

from actors.kernel import TooManyChildren
from actors.sidekick.desk import MOST_PEERS
from actors.sidekick.room import MOST_MEMBERS
from tests.sidekick.test_room import CLEAR, Client, House, Json, Line, house, paint, spawn_grid


def about(client: Client) -> list[tuple[str, str]]:
    """Who, it was told, is now what."""
    told = [one["payload"] for one in client.line.take() if one.get("component", one.get("module")) == "system"]
    return [(one["peerId"], one["status"]) for one in told]


async def test_step_1_of_one_who_only_connects_nobody_hears_and_he_hears_nothing(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        async with troupe.client() as silent:
            await hero.say(spawn_grid())
            await trio.sleep(100)
            assert silent.line.got == []
        assert (about(hero), screen.line.kinds()) == ([], ["grid/spawn"])


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"peerId": None}, "peerId must be a string, not null"),
        ({"role": "director"}, "role must be 'hero' or 'sidekick', not 'director'"),
        ({"status": "asleep"}, "status must be 'online' or 'offline', not 'asleep'"),
        ({"version": 7}, "version must be a string, not a number"),
        ({"timestamp": "now"}, "timestamp must be a number, not a string"),
    ],
)
async def test_step_2_a_bad_announce_is_refused_by_its_field_and_makes_no_peer(
    autojump_clock: object, change: Json, wrong: str
) -> None:
    good = {"peerId": "p", "role": "hero", "status": "online", "version": "1", "timestamp": 1}
    async with house() as troupe, troupe.hero_and_screen() as (_, screen), troupe.client() as newcomer:
        for payload in ({**good, **change}, {key: value for key, value in good.items() if key not in change}):
            await newcomer.say({"id": 0, "component": "system", "type": "announce", "payload": payload})
        first, second = newcomer.line.take()
        assert first["payload"]["message"] == f"system announce: {wrong}"
        assert second["payload"]["message"] == f"system announce: {next(iter(change))} is missing"
        assert screen.line.got == []
        await newcomer.announce("hero", peer="p")
        assert about(screen) == [("p", "online")]


async def test_step_3_an_announce_is_told_to_heroes_and_pages_as_it_came(autojump_clock: object) -> None:
    strange = {"peerId": "new", "role": "hero", "status": "online", "version": "2", "timestamp": 5, "mood": [None]}
    announce = {"id": 0, "component": "system", "type": "announce", "payload": strange, "more": {}}
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen), troupe.client() as new:
        await new.say(announce)
        assert hero.line.got == screen.line.got == [announce]


async def test_step_3_a_peer_that_does_not_change_sides(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        await hero.announce("sidekick", peer="hero")
        assert [one["payload"]["message"] for one in hero.line.got] == ["this peer is a hero already"]
        assert [kind for kind in screen.line.kinds() if kind != "system/error"] == []


async def test_step_4_a_newcomer_hears_of_those_who_are_online_only_and_before_the_board(
    autojump_clock: object,
) -> None:
    async with house() as troupe, troupe.client() as stays, troupe.client() as left, troupe.client() as silent:
        await stays.announce("hero", peer="stays")
        await left.announce("hero", peer="left")
        await left.announce("hero", "offline", peer="left")
        async with troupe.client() as gone:
            await gone.announce("sidekick", peer="gone")
        await stays.say(spawn_grid())
        async with troupe.client() as page, troupe.client() as hero:
            await page.announce("sidekick", peer="page")
            assert page.line.kinds() == ["system/announce", "global/clearAll", "grid/spawn"]
            assert about(page) == [("stays", "online")]
            await hero.announce("hero", peer="hero")
            assert about(hero) == [("troupe", "online"), ("stays", "online"), ("page", "online")]
        assert silent.line.got == []


async def test_step_5_a_hero_may_draw_before_during_and_after_any_page(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as hero:
        await hero.announce("hero")
        await hero.say(spawn_grid())
        async with troupe.client() as page:
            await page.announce("sidekick", peer="page")
        hero.line.take()
        await hero.say(paint(0, 0))
        assert hero.line.got == []
        async with troupe.client() as next_page:
            await next_page.announce("sidekick", peer="next")
            assert next_page.line.kinds()[-2:] == ["grid/spawn", "grid/update"]


async def test_step_6_a_goodbye_is_told_as_it_came_and_the_end_of_the_connection_adds_none(
    autojump_clock: object,
) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        async with troupe.client() as page:
            await page.announce("sidekick", peer="page")
            await page.announce("sidekick", "offline", peer="page")
        assert hero.line.got[-1]["payload"]["timestamp"] == 1
        assert about(hero) == about(screen) == [("page", "online"), ("page", "offline")]


async def test_step_6_who_said_goodbye_may_announce_itself_again(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        await hero.announce("hero", "offline")
        await hero.announce("hero")
        assert about(screen) == [("hero", "offline"), ("hero", "online")]
        assert about(hero) == [("troupe", "online"), ("sidekick", "online")]


async def test_step_7_a_page_that_vanishes_is_announced_offline_once_by_the_server(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        async with troupe.client() as page:
            await page.announce("sidekick", peer="page", version="0.0.8")
        for witness in (hero, screen):
            payload = witness.line.got[-1]["payload"]
            assert (payload["role"], payload["version"], payload["timestamp"]) == ("sidekick", "0.0.8", 1_000_000)
            assert about(witness) == [("page", "online"), ("page", "offline")]


async def test_step_7_a_page_is_back_before_its_old_connection_has_ended_and_stays_online(
    autojump_clock: object,
) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, _), troupe.client() as again:
        async with troupe.client() as page:
            await page.announce("sidekick", peer="page")
            await again.announce("sidekick", peer="page")
        assert about(hero) == [("page", "online"), ("page", "online")]
        await again.announce("sidekick", "offline", peer="page")
        assert about(hero) == [("page", "offline")]


@pytest.mark.parametrize("version", ["0.0.8", "0.0.5", "0.0.2"])
async def test_a_released_page_that_fell_behind_is_shown_everything_in_its_own_words(
    autojump_clock: object, version: str
) -> None:
    module = "component" if version == "0.0.8" else "module"
    payload = {"peerId": "old", "role": "sidekick", "status": "online", "version": version, "timestamp": 1}
    async with house() as troupe, troupe.client() as hero, troupe.client() as page:
        await hero.announce("hero")
        await page.say({"id": 0, module: "system", "type": "announce", "payload": payload})
        page.line.take()
        page.line.slow = True
        await hero.say(spawn_grid(), paint(0, 0), paint(0, 0, "blue"))
        assert page.line.got == []
        page.line.drain()
        await trio.testing.wait_all_tasks_blocked()
        assert page.line.kinds() == ["global/clearAll", "grid/spawn", "grid/update"]
        assert "blue" in str(page.line.take()[-1])
        await hero.say(paint(1, 1))
        assert page.line.kinds() == ["grid/update"]


async def test_a_hero_that_does_not_read_its_errors_is_told_the_next_one_once_it_reads(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        hero.line.slow = True
        await hero.say(*[paint(9, 9)] * 3, spawn_grid())
        hero.line.drain()
        await trio.testing.wait_all_tasks_blocked()
        assert hero.line.got == []
        await hero.say(paint(9, 9))
        assert hero.line.kinds() == ["grid/error"]
        assert screen.line.kinds().count("grid/spawn") == 1


# -- crowds


@pytest.mark.slow
async def test_the_513th_peer_of_a_room_is_turned_away_in_words_and_the_others_stay(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen), AsyncExitStack() as crowd:
        for _ in range(MOST_MEMBERS - 2):
            await crowd.enter_async_context(troupe.desk.attend("", Line()))
        await trio.testing.wait_all_tasks_blocked()
        async with troupe.client() as late:
            assert late.line.closed == (1013, "this room has 512 peers, which is all it takes")
            await late.announce("hero", peer="late")
            assert late.line.got == []
        await hero.say(spawn_grid())
        assert screen.line.kinds() == ["grid/spawn"]


@pytest.mark.slow
async def test_above_4096_peers_in_all_the_next_is_refused_until_one_has_left(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        async with AsyncExitStack() as crowd:
            for number in range(MOST_PEERS - 2):
                await crowd.enter_async_context(troupe.desk.attend(f"room-{number // MOST_MEMBERS}", Line()))
            with pytest.raises(TooManyChildren, match="4096"):
                await crowd.enter_async_context(troupe.client("elsewhere"))
            await hero.say(spawn_grid())
            assert screen.line.kinds() == ["grid/spawn"]
        async with troupe.client() as next_one:
            await next_one.announce("sidekick", peer="next")
            assert next_one.line.kinds()[-1] == "grid/spawn"


# -- spec v1


def in_v1(method: str, target: str, payload: Any = None, module: str = "grid") -> Json:
    return {"id": 0, "module": module, "method": method, "target": target, "payload": payload}


async def first_hero(troupe: House, hero: Client) -> None:
    await hero.say(in_v1("spawn", "g", {"size": [2, 2]}), in_v1("update", "g", {"x": 1, "y": 0, "color": "red"}))


async def test_v1_what_a_hero_removes_is_gone_for_everyone(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (_, screen), troupe.client() as hero:
        await first_hero(troupe, hero)
        screen.line.take()
        await hero.say(in_v1("remove", "g"))
        assert screen.line.kinds() == ["grid/remove"]
        await hero.say(in_v1("update", "g", {"x": 1, "y": 0, "color": "red"}))
        (fault,) = hero.line.got
        assert (fault["module"], fault["method"], fault["src"]) == ("grid", "error", "g")


async def test_v1_a_page_of_today_can_tell_a_hero_of_then_what_went_wrong(autojump_clock: object) -> None:
    error = {"id": 0, "component": "grid", "type": "error", "src": "g", "payload": {"message": "no room"}}
    async with house() as troupe, troupe.hero_and_screen() as (_, screen), troupe.client() as hero:
        await first_hero(troupe, hero)
        await screen.say(error)
        (told,) = hero.line.got
        assert {key: told[key] for key in ("module", "method", "src", "payload")} == {
            "module": "grid", "method": "error", "src": "g", "payload": {"message": "no room"},
        }  # fmt: skip


async def test_v1_a_hero_is_told_of_nobody_and_leaves_without_a_word(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (other, screen):
        async with troupe.client() as hero:
            await first_hero(troupe, hero)
            async with troupe.client() as page:
                await page.announce("sidekick", peer="page")
            assert hero.line.got == []
        assert about(screen) == about(other) == [("page", "online"), ("page", "offline")]


async def test_what_one_hero_clears_is_still_there_for_another(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen), troupe.client() as other:
        await other.announce("hero", peer="other")
        await hero.say(spawn_grid("g"))
        await other.say(CLEAR, spawn_grid("h"))
        await hero.say(CLEAR, spawn_grid("g"), paint(0, 0, target="h"))
        assert [one["type"] for one in screen.line.got if one["component"] == "grid"] == [
            "spawn", "spawn", "remove", "spawn", "update",
        ]  # fmt: skip
