"""When the limit of rooms or of memory is reached, the room that has been empty longest makes way, and never one that
is in use."""

from contextlib import AsyncExitStack
from typing import Any

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.kernel import TooManyChildren
from actors.kernel.testing import run_in_virtual_time
from actors.sidekick.messages import PictureWanted
from actors.sidekick.room import ARRIVAL
from actors.sidekick.scene import Reserve
from tests.sidekick.test_room import House, house, paint, spawn_grid


def names(troupe: House) -> list[str]:
    rooms = troupe.top.child("rooms")
    assert rooms is not None
    return sorted(room.path.rpartition("/")[2] for room in rooms.children())


async def look_into(troupe: House, *rooms: str) -> None:
    for room in rooms:
        async with troupe.client(room) as hero:
            await hero.say(spawn_grid())
        await trio.sleep(1)


async def test_the_longest_forsaken_room_gives_way_to_a_new_one(autojump_clock: object) -> None:
    async with house(most_rooms=3) as troupe:
        await look_into(troupe, "a", "b", "c", "a")
        async with troupe.client("d"):
            assert names(troupe) == ["a", "c", "d"]


async def test_one_client_that_makes_a_thousand_rooms_keeps_nobody_from_one(autojump_clock: object) -> None:
    async with house(most_rooms=20) as troupe:
        for number in range(1_000):
            async with troupe.client(f"r{number}"):
                pass
        async with troupe.client("mine") as hero, troupe.client("mine") as screen:
            await screen.announce("sidekick")
            await hero.say(spawn_grid(), paint(1, 1))
            assert screen.line.kinds()[-1] == "grid/update"
        assert len(names(troupe)) == 20


async def test_what_a_room_has_not_read_when_it_makes_way_is_no_dead_letter(autojump_clock: object) -> None:
    """The boards may ask it for a picture while it ends. It has given its last one."""
    async with house(most_rooms=1) as troupe:
        await look_into(troupe, "a")
        old = troupe.room("a")
        old.begin_stop()
        old.hand(PictureWanted(True), urgent=True)
        await old.wait_stopped()
        old.hand(PictureWanted(True), urgent=True)
        assert troupe.top._slot.stage.statistics().dead_letters == 0
        async with troupe.client("b"):
            assert names(troupe) == ["b"]


async def test_where_somebody_is_in_each_room_there_is_no_other(autojump_clock: object) -> None:
    async with house(most_rooms=2) as troupe, troupe.client("a"), troupe.client("b"):
        with pytest.raises(TooManyChildren):
            async with troupe.client("c"):
                raise AssertionError("never entered")
        assert names(troupe) == ["a", "b"]


async def test_a_room_waits_for_the_peer_for_which_it_was_made_but_not_for_long(autojump_clock: object) -> None:
    async with house(most_rooms=1) as troupe:
        await troupe.desk._room("a")  # and then its peer arrives, but another comes before
        with pytest.raises(TooManyChildren):
            await troupe.desk._room("b")
        assert names(troupe) == ["a"]
        await trio.sleep(ARRIVAL + 1)
        async with troupe.client("b"):
            assert names(troupe) == ["b"]


async def test_a_forsaken_board_gives_way_to_what_is_drawn_on_another(autojump_clock: object) -> None:
    async with house(Reserve(2 * 1024 * 1024)) as troupe:
        text = "x" * 900_000
        label = {"id": 0, "component": "label", "type": "spawn", "target": "l", "payload": {"text": text}}
        for room in ("a", "b"):
            async with troupe.client(room) as hero:
                await hero.say(label)
        async with troupe.client("c") as hero:
            await hero.say(label, {**label, "target": "m"})
            assert "label/error" not in hero.line.kinds()
            await hero.say({**label, "target": "n"})
            assert hero.line.kinds()[-1] == "label/error"  # it alone has them all by now
        assert names(troupe) == ["c"]


@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.booleans()), max_size=30))
@pytest.mark.slow
def test_whoever_is_in_a_room_keeps_it_whoever_comes_and_goes(visits: list[tuple[str, bool]]) -> None:
    async def main() -> None:
        async with house(most_rooms=4) as troupe, AsyncExitStack() as stays:
            held: dict[str, Any] = {}
            for name, stay in visits:
                if stay and name not in held and len(held) < 3:
                    held[name] = client = await stays.enter_async_context(troupe.client(name))
                    await client.announce("sidekick")
                    client.line.take()
                elif name not in held:
                    async with troupe.client(name) as hero:
                        await hero.say(spawn_grid())
                assert set(held) <= set(names(troupe))
                assert len(names(troupe)) <= 4
            for name, client in held.items():
                async with troupe.client(name) as hero:
                    await hero.say(spawn_grid(name))
                assert "grid/spawn" in client.line.kinds()
                assert client.line.closed is None

    run_in_virtual_time(main)
