"""Whoever comes to a room that is not there yet begins it; who comes at the same moment finds the same one."""

from typing import Any

import pytest
import trio

from actors.kernel import ActorRef, AnyRef, AnySpec, NameTaken
from tests.sidekick.test_room import house

MANY = 5


@pytest.mark.parametrize("name", ["", "r"])
async def test_those_who_come_to_a_new_room_at_once_are_in_one_room(name: str) -> None:
    async with house() as troupe:
        found: list[AnyRef] = []

        async def come() -> None:
            found.append(await troupe.desk._room(name))

        async with trio.open_nursery() as nursery:
            for _ in range(MANY):
                nursery.start_soon(come)
        assert found == [troupe.room(name or "default")] * MANY
        assert await troupe.desk._room(name) is found[0]


async def test_a_name_that_is_taken_and_has_nobody_behind_it_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    async with house() as troupe:

        async def taken(self: object, spec: object) -> AnyRef:
            raise NameTaken("r")

        monkeypatch.setattr(ActorRef, "start_child", taken)
        with pytest.raises(NameTaken):
            await troupe.desk._room("r")


async def test_who_finds_the_name_taken_gets_whoever_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one was quicker, between our look and our wish."""
    async with house() as troupe:
        start_child = ActorRef.start_child

        async def too_late(self: ActorRef[Any], spec: AnySpec) -> AnyRef:
            await start_child(self, spec)
            raise NameTaken(spec.id)

        monkeypatch.setattr(ActorRef, "start_child", too_late)
        assert await troupe.desk._room("r") is troupe.room("r")
