"""The messages of screens: they become part of the room's state, and a hero gets each once, however many tabs are
open."""

from typing import Any

from tests.sidekick.test_room import Client, Json, house

TEXTBOX: Json = {"id": 0, "component": "textbox", "type": "spawn", "target": "t", "payload": {}}
CANVAS: Json = {"id": 0, "component": "canvas", "type": "spawn", "target": "c", "payload": {"width": 9, "height": 9}}


def submit(value: str) -> Json:
    payload = {"event": "submit", "value": value}
    return {"id": 0, "component": "textbox", "type": "event", "src": "t", "payload": payload}


def fault(message: str) -> Json:
    return {"id": 0, "component": "canvas", "type": "error", "src": "c", "payload": {"message": message}}


def values(client: Client) -> list[Any]:
    payloads = [one["payload"] for one in client.line.got if one["type"] == "update"]
    return [payload["options"]["value"] for payload in payloads]


async def test_a_submitted_text_is_there_after_a_reload_and_in_every_tab(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen), troupe.client() as other:
        await hero.say(TEXTBOX)
        await other.announce("sidekick", peer="other")
        await screen.say(submit("written"))
        assert [one["type"] for one in hero.line.got].count("event") == 1
        assert values(hero) == []
        assert (values(screen), values(other)) == (["written"], ["written"])
        async with troupe.client() as later:
            await later.announce("sidekick", peer="later")
            assert values(later) == ["written"]


async def test_tabs_that_submit_at_the_same_time_show_the_same(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen), troupe.client() as other:
        await hero.say(TEXTBOX)
        await other.announce("sidekick", peer="other")
        await screen.say(submit("one"))
        await other.say(submit("two"))
        assert values(screen) == values(other) == ["one", "two"]


async def test_a_hero_hears_of_an_error_from_one_tab_each_time_and_from_another_when_that_has_gone(
    autojump_clock: object,
) -> None:
    def heard(hero: Client) -> list[str]:
        return [one["payload"]["message"] for one in hero.line.take() if one["type"] == "error"]

    async with house() as troupe, troupe.client() as hero:
        await hero.announce("hero")
        await hero.say(CANVAS)
        async with troupe.client() as other:
            await other.announce("sidekick", peer="other")
            async with troupe.client() as first:
                await first.announce("sidekick", peer="first")
                for screen in (first, other, first, other):
                    await screen.say(fault("no buffer"))
                await other.say(fault("no points"))
                assert heard(hero) == ["no buffer", "no buffer", "no points"]
            await other.say(fault("no buffer"))
            assert heard(hero) == ["no buffer"]


async def test_a_page_that_takes_bundles_is_told_the_same_as_any_other(autojump_clock: object) -> None:
    """At once, later, after a fault, and when it comes late."""
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        async with troupe.client(takes_bundles=True) as other:
            await other.announce("sidekick", peer="other")
            other.line.take(), screen.line.take()
            await hero.say(TEXTBOX, CANVAS, CANVAS, {"id": 0, "component": "grid", "type": "update", "target": "g"})
            await screen.say(submit("written"))
            assert other.line.got == screen.line.got
            assert len(other.line.got) > 3
        screen.line.take()
        async with troupe.client(takes_bundles=True) as late, troupe.client() as later:
            for each in (late, later):
                await each.announce("sidekick", peer=str(id(each)))
            assert [one for one in late.line.got if one["component"] != "system"] == [
                one for one in later.line.got if one["component"] != "system"
            ]
            assert [one["type"] for one in late.line.got if one["component"] != "system"][:2] == ["clearAll", "spawn"]
