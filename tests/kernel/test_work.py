"""The observer is told what was done since it looked: by all who did something, and nobody else is looked at for it."""

from collections.abc import Mapping
from typing import Any

import pytest
from trio.testing import wait_all_tasks_blocked

from actors.kernel import Actor, ChildSpec, Place, Slot
from actors.kernel import stage as kernel_stage
from actors.kernel.testing import House, Puppet, crash, staged


class Prompt(Actor[str]):
    def at_once(self, message: str) -> bool:
        return True


def spec(name: str) -> ChildSpec[Any]:
    return ChildSpec(name, Prompt) if name == "prompt" else Puppet(name).spec()


async def told(house: House) -> dict[str, int]:
    await wait_all_tasks_blocked()
    return by_name(house, house.stage.work())


def by_name(house: House, work: Mapping[Place, int]) -> dict[str, int]:
    names = {slot.place: slot.path.rpartition("/")[2] for slot in house.stage.slots()}
    return {names.get(place, "one that has gone"): count for place, count in work.items()}


@pytest.mark.parametrize("name", ["puppet", "prompt"])
async def test_each_message_is_told_once(name: str) -> None:
    async with staged(spec(name), spec("other")) as house:
        house[name].tell("before the observer came")
        assert await told(house) == {}
        for _ in range(3):
            house[name].tell("hello")
        assert await told(house) == {name: 3}
        assert await told(house) == {}
        house[name].tell("hello")
        await wait_all_tasks_blocked()
        house[name].tell("and again")
        house["other"].tell("hello")
        assert await told(house) == {name: 2, "other": 1}


async def test_what_was_done_by_those_that_have_ended_since_is_told_too() -> None:
    async with staged() as house:
        assert await told(house) == {}
        guest = await house.root.start_child(spec("guest"))
        guest.tell("hello")
        await wait_all_tasks_blocked()
        await guest.stop()
        again = await house.root.start_child(spec("guest"))
        again.tell("hello")
        again.tell("hello")
        work = await told(house)
        assert sum(work.values()) == 3
        assert work["guest"] == 2, "it is another one"


async def test_what_a_restarted_actor_did_before_it_crashed_is_told_with_what_it_did_after() -> None:
    async with staged(Puppet("puppet", backoff=(0.0, 0.0, 0.0)).spec()) as house:
        assert await told(house) == {}
        for message in ("hello", crash(), "hello"):
            house["puppet"].tell(message)
        assert await told(house) == {"puppet": 3}


async def test_who_is_at_rest_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    async with staged(*[spec(str(number)) for number in range(9)]) as house:
        assert await told(house) == {}
        house["3"].tell("hello")
        await wait_all_tasks_blocked()
        with monkeypatch.context() as patch:
            patch.setattr(Slot, "children", pytest.fail)
            work = house.stage.work()
        assert by_name(house, work) == {"3": 1}


async def test_an_observer_that_looks_no_more_lets_nothing_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one begins anew."""
    monkeypatch.setattr(kernel_stage, "MOST_STIRRED", 5)
    async with staged() as house:
        assert await told(house) == {}
        assert house.stage.observed
        for number in range(6):
            guest = await house.root.start_child(spec(str(number)))
            guest.tell("hello")
            await wait_all_tasks_blocked()
            assert house.stage.observed == (number < 5)
        guest.tell("hello")
        assert await told(house) == {}
        guest.tell("hello")
        assert await told(house) == {"5": 1}
