"""A room with peers of every dialect, role and state, each of which may send anything: nothing restarts or crashes, the
board of another room is untouched, and a page that comes afterwards is shown a board."""

import re
from random import Random
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from actors.kernel import Ended, Stop
from actors.kernel.testing import run_in_virtual_time
from codec.sidekick import Dialect, Ear, Mouth
from tests.plenty import plenty
from tests.sidekick import odd
from tests.sidekick.kit import announce
from tests.sidekick.test_room import Client, House, click, house, paint, spawn_grid

GUESTS: list[tuple[Dialect, str | None, str]] = [
    (Dialect.A, None, ""),
    (Dialect.A, None, ""),
    *((Dialect.B, role, "0.0.1") for role in ("hero", "sidekick")),
    *((Dialect.C, "hero", version) for version in ("0.0.1", "0.0.4", "0.0.5")),
    *((Dialect.C, "sidekick", version) for version in ("0.0.1", "0.0.4", "0.0.5")),
    *((dialect, role, version) for dialect, version in ((Dialect.D, "0.1.0"), (Dialect.E, "0.0.7"))
      for role in ("hero", "sidekick", None)),
]  # fmt: skip
"""A dialect, a role (None: it never announces itself) and a version."""


def introduction(dialect: Dialect, role: str, version: str, peer: str) -> Any:
    message = announce(role, peer, version)
    keys = {Dialect.B: ("module", "method"), Dialect.C: ("module", "type")}.get(dialect, ("component", "type"))
    return {keys[0]: message.pop("component"), keys[1]: message.pop("type"), **message}


class Guests:
    """Each comes when it is needed, and can be told to go."""

    def __init__(self, troupe: House, nursery: trio.Nursery) -> None:
        self._troupe = troupe
        self._nursery = nursery
        self._here: dict[int, tuple[Client, trio.Event]] = {}

    async def come(self, number: int) -> Client:
        if number not in self._here:
            await self._nursery.start(self._stay, number)
            dialect, role, version = GUESTS[number]
            if role is not None:
                await self._here[number][0].say(introduction(dialect, role, version, f"guest {number}"))
        return self._here[number][0]

    async def _stay(self, number: int, task_status: trio.TaskStatus[None]) -> None:
        gone = trio.Event()
        async with self._troupe.client("odd") as client:
            self._here[number] = client, gone
            task_status.started()
            await gone.wait()

    async def go(self, number: int) -> None:
        if number in self._here:
            self._here.pop(number)[1].set()
            await trio.testing.wait_all_tasks_blocked()


async def said_by_everyone(seed: int, turns: int) -> None:
    dice = Random(seed)
    async with (
        house() as troupe,
        troupe.client("beside") as hero,
        troupe.client("beside") as screen,
        trio.open_nursery() as nursery,
    ):
        stops: list[Stop] = []

        def watch(kind: str, ref: object, detail: object, at: float) -> None:
            if isinstance(detail, Ended) and not detail.stop.why.normal:
                stops.append(detail.stop)

        troupe.top._slot.stage.watch(watch)
        await hero.announce("hero")
        await hero.say(spawn_grid())
        await screen.announce("sidekick")
        guests = Guests(troupe, nursery)
        for number in range(len(GUESTS)):
            if dice.random() < 0.7:
                await guests.come(number)
        for _ in range(turns):
            number = dice.randrange(len(GUESTS))
            client = await guests.come(number)
            match dice.randrange(20):
                case 0:
                    await guests.go(number)
                case 1:
                    client.line.slow = True
                case 2 if client.line.slow:
                    client.line.drain()
                case 3:
                    await trio.sleep(dice.choice((0.0, 20.0, 40.0)))
                case _:
                    dialect = GUESTS[number][0] if dice.random() < 0.9 else dice.choice(list(Dialect))
                    texts = [odd.drawn(dice, dialect) for _ in range(dice.randrange(1, 12))]
                    await client.hear(texts)
        async with troupe.client("odd") as late:
            await late.announce("sidekick", peer="late")
            assert "global/clearAll" in late.line.kinds()
        screen.line.take()
        await hero.say(paint(1, 1))
        assert screen.line.kinds() == ["grid/update"]
        await screen.say(click())
        assert hero.line.kinds()[-1] == "grid/event"
        assert (stops, troupe.top._slot.stage.restarts) == ([], 0)
        nursery.cancel_scope.cancel()


@pytest.mark.slow
@settings(deadline=None, max_examples=plenty(20), suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), turns=st.integers(1, 60))
@example(seed=1, turns=400)
def test_whatever_everyone_says_nobody_restarts_and_the_board_beside_stands(seed: int, turns: int) -> None:
    run_in_virtual_time(lambda: said_by_everyone(seed, turns))


@pytest.mark.parametrize("fails", [Ear, Mouth])
async def test_should_an_ear_or_a_mouth_fail_that_ends_its_own_conversation_and_no_other(
    fails: type, monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    """What is not to happen at all; should it, it is in the log and in the tree, and it is one peer's end."""
    name = "hear" if fails is Ear else "say_all"
    real = getattr(fails, name)

    def fail(self: Any, said: Any) -> Any:
        raws = [said] if fails is Ear else [one.raw for one in said]
        if self.dialect is Dialect.E and any(re.search(rb"tomato", raw) for raw in raws):
            raise ZeroDivisionError("our mistake")
        return real(self, said)

    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        async with troupe.client() as odd_one:
            await odd_one.announce("hero" if fails is Ear else "sidekick", peer="odd", version="0.0.7")
            await hero.say(spawn_grid())
            monkeypatch.setattr(fails, name, fail)
            await (odd_one if fails is Ear else hero).say(paint(1, 1, "tomato"), paint(2, 2, "tomato"))
            await trio.sleep_forever()
        assert odd_one.line.closed == (1011, "the server failed at a message; its log says why")
        assert troupe.room().statistics().restarts == 0
        screen.line.take()
        await hero.say(paint(1, 1))
        assert screen.line.kinds() == ["grid/update"]
