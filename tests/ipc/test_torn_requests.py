"""Requests that are still being written are looked at again, however many there are and whenever each began."""

from typing import Any

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from actors.ipc import hands
from actors.ipc.given import BothFiles, Tray
from actors.ipc.handlers import CommandContext, KnownCommand
from actors.ipc.steps import Torn
from codec.ipc import Success
from tests.ipc.client_kit import DONE, Desk, in_turn, play, put, request
from tests.ipc.paper import TORN_SECONDS, PaperBase
from tests.ipc.server_kit import asked, serving, state_directory


@pytest.mark.parametrize("apart", [0.0, 0.4, 3.0])
async def test_what_stays_torn_is_answered_though_nothing_more_is_heard_of_it(
    autojump_clock: MockClock, apart: float
) -> None:
    base = PaperBase()
    with state_directory() as directory:
        async with serving(base, directory) as (desk, _):
            await trio.sleep(10)
            for name in ("a", "b", "c"):
                base.foreign_put(Tray.REQUESTS, name, asked(name)[:-5])
                await trio.sleep(apart)
            await trio.sleep(3 * TORN_SECONDS)
            assert desk.answered() == {"a", "b", "c"}
            assert all([(await desk.failure(name)).permanent for name in ("a", "b", "c")])


async def test_what_is_written_to_its_end_is_answered_and_nothing_is_said_of_it(autojump_clock: MockClock) -> None:
    base = PaperBase()
    with state_directory() as directory:
        async with serving(base, directory) as (desk, _):
            for name in ("a", "b"):
                base.foreign_put(Tray.REQUESTS, name, asked(name)[:-5])
                await trio.sleep(TORN_SECONDS / 2)
                base.foreign_put(Tray.REQUESTS, name, asked(name))
                assert isinstance(await desk.outcome(name, seconds=5), Success)
            assert base.quarantined == []


@pytest.mark.parametrize("becomes", ["whole", "spoiled", "gone"])
def test_the_client_end_looks_at_what_was_torn_until_it_is_settled_and_no_longer(becomes: str) -> None:
    async def test(desk: Desk) -> None:
        await trio.sleep(10)
        desk.base.foreign_put(Tray.REQUESTS, "a", asked("a")[:-5])
        await trio.sleep(TORN_SECONDS / 2)
        if becomes == "whole":
            put(desk.base, request("a"))
        elif becomes == "gone":
            desk.base.foreign_drop(Tray.REQUESTS, "a")
        if becomes != "gone":
            (dossier,) = await desk.over("a")
            assert dossier.shown == ("success" if becomes == "whole" else "gave up")
        await trio.sleep(5)
        before = len(desk.base.calls)
        await trio.sleep(60)
        assert "look a" not in desk.base.calls[before:]

    play(test, outcomes=in_turn(DONE))


async def test_what_is_torn_when_its_turn_comes_gives_its_turn_to_the_others(autojump_clock: MockClock) -> None:
    base, go = PaperBase(), trio.Event()

    async def hold(params: Any, context: CommandContext) -> None:
        await go.wait()

    async def dribble() -> None:
        while True:
            base.foreign_put(Tray.REQUESTS, "b", asked("b")[:-5])
            await trio.sleep(TORN_SECONDS / 2)

    with state_directory() as directory:
        async with serving(base, directory, [KnownCommand("hold", hold)], concurrency=1) as (desk, _):
            desk.put("a", "hold")
            desk.put("b")
            await trio.sleep(10)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(dribble)
                await trio.sleep(10)
                desk.put("c")
                await trio.sleep(10)
                go.set()
                assert isinstance(await desk.outcome("c", seconds=5), Success)
                await trio.sleep(60)
                nursery.cancel_scope.cancel()
            assert desk.answered() == {"a", "c"}
            desk.put("b")
            assert isinstance(await desk.outcome("b", seconds=5), Success)


class WithholdingBase(PaperBase):
    """Of some requests, the disk does not give one file."""

    kept_back: frozenset[str] = frozenset()
    of_request = False

    async def look(self, id: str) -> BothFiles:  # noqa: A002 - as in the contract
        both = await super().look(id)
        if id not in self.kept_back:
            return both
        return replace(both, request=Torn()) if self.of_request else replace(both, response=Torn())


@pytest.mark.parametrize("of_request", [False, True])
async def test_however_many_files_are_withheld_after_a_run_others_run_and_each_run_is_answered_in_the_end(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, of_request: bool
) -> None:
    monkeypatch.setattr(hands, "MOST_ENDING", 4)
    base, go, runs = WithholdingBase(), trio.Event(), list[str]()
    base.of_request = of_request
    names = [f"r{number}" for number in range(6)]

    async def hold(params: Any, context: CommandContext) -> str:
        runs.append(context.request.id)
        await go.wait()
        return context.request.id

    with state_directory() as directory:
        async with serving(base, directory, [KnownCommand("hold", hold)], concurrency=6) as (desk, _):
            for name in names:
                desk.put(name, "hold")
            await trio.sleep(1)
            assert sorted(runs) == names
            base.kept_back = frozenset(names)
            for name in names:  # there is news of it
                base.foreign_put(Tray.REQUESTS, name, asked(name, "hold"))
            go.set()
            await trio.sleep(3600)
            assert not desk.answered()
            desk.put("lone")
            assert isinstance(await desk.outcome("lone", seconds=5), Success)
            base.kept_back = frozenset()
            assert [await desk.success(name) for name in names] == names
            assert sorted(runs) == names
