"""Whoever wants a problem's actor gets it, and all get the same one, also those who want it at the same time."""

from typing import Any

import pytest
import trio

from actors.kernel import ActorRef, AnyRef, AnySpec, NameTaken
from actors.store import StateDirectory
from tests.judge.kit import judging

MANY = 5


async def test_those_who_want_a_problem_at_once_get_one_actor(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in("abc1/abc1_a")
        problems, registry = court.desk._problems, court.house.stage.registry
        found: list[AnyRef] = []

        async def want() -> None:
            found.append(await problems.actor(registry, "abc1/abc1_new"))

        async with trio.open_nursery() as nursery:
            for _ in range(MANY):
                nursery.start_soon(want)
        assert len(found) == MANY
        assert set(found) == {court["problems"].child("abc1/abc1_new")}
        assert await problems.actor(registry, "abc1/abc1_new") is found[0]


async def test_a_name_that_is_taken_by_nobody_who_can_be_asked_is_an_error(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with judging(directory) as court:
        crowd = court["problems"]

        async def taken(spec: object) -> AnyRef:
            raise NameTaken("abc1/abc1_b")

        monkeypatch.setattr(type(crowd), "start_child", lambda self, spec: taken(spec))
        with pytest.raises(NameTaken):
            await court.desk._problems.actor(court.house.stage.registry, "abc1/abc1_b")


async def test_who_finds_the_name_taken_gets_whoever_has_it(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one was quicker, between our look and our wish."""
    async with judging(directory) as court:
        start_child = ActorRef.start_child

        async def too_late(self: ActorRef[Any], spec: AnySpec) -> AnyRef:
            await start_child(self, spec)
            raise NameTaken(spec.id)

        monkeypatch.setattr(ActorRef, "start_child", too_late)
        found = await court.desk._problems.actor(court.house.stage.registry, "abc1/abc1_b")
        assert found is court["problems"].child("abc1/abc1_b")
        assert found.alive
