"""One id, posted and submitted by a script at the same time, with both of our ends at the desk.

Whatever the order of events: no request is run twice, each gets the answer to what it has asked for, and who makes way
says so. A script leaves a copy where its folder is not of the contract's dialect, and puts nothing over what stands.
"""

from collections import Counter
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.ipc.client_steps import State
from actors.ipc.given import Tray
from actors.ipc.handlers import CommandContext, CommandFailed, KnownCommand
from codec.ipc import Dialect, Request, Success, Wishes
from tests.ipc.both_kit import BothEnds, both_ends
from tests.ipc.client_kit import put, put_with_copy
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import EPOCH, state_directory

DIALECTS = [Dialect.SPEC, Dialect.HEAD]
BOTH = (Tray.RESPONSES, Tray.REQUESTS)
TURNS = range(0, 120, 4)
SOON_SECONDS = 5.0


def counting() -> tuple[Counter[tuple[str, int]], KnownCommand]:
    """Runs, by id and by what is asked for."""
    runs: Counter[tuple[str, int]] = Counter()

    async def work(params: Any, context: CommandContext) -> int:
        runs[context.request.id, params["n"]] += 1
        await trio.sleep(params["seconds"])
        if params.get("fails"):
            raise CommandFailed("no")
        return int(params["n"])

    return runs, KnownCommand("work", work)


@asynccontextmanager
async def at_work(dialect: Dialect) -> AsyncIterator[tuple[BothEnds, Counter[tuple[str, int]]]]:
    runs, command = counting()
    with state_directory() as directory:
        async with both_ends(PaperBase(), directory, [command], dialect=dialect) as ends:
            await trio.sleep(10.0)
            yield ends, runs


def work(id: str, n: int = 1, seconds: float = 0.0, *, fails: bool = False, **wishes: Any) -> Request:  # noqa: A002
    params = {"n": n, "seconds": seconds, **({"fails": True} if fails else {})}
    return Request(id=id, command="work", params=params, wishes=Wishes(**wishes))


def drop(ends: BothEnds, request: Request, dialect: Dialect) -> bool:
    """Whether it is put there."""
    if ends.base.files.keys() & {(tray, request.id) for tray in (Tray.REQUESTS, *BOTH, Tray.FAILED)}:
        return False
    (put if dialect is Dialect.SPEC else put_with_copy)(ends.base, request)
    return True


async def read_and_take(ends: BothEnds, id: str, places: Collection[Tray], read: dict[str, Any]) -> None:  # noqa: A002
    while (Tray.RESPONSES, id) not in ends.base.files:
        await ends.base.change()
    response = ends.desk.response(id)
    assert response is not None
    read[id] = response.outcome
    for place in places:
        ends.base.foreign_drop(place, id)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seconds", [0.01, 0.3])
@pytest.mark.parametrize("tidies", [False, True])
@pytest.mark.parametrize("script_first", [True, False])
async def test_what_asks_for_the_same_is_one_request_whoever_comes_first_and_whatever_it_wishes(
    autojump_clock: MockClock, dialect: Dialect, seconds: float, tidies: bool, script_first: bool
) -> None:
    """A run takes its time: in SPEC, nothing would be left of one that began, ended, and was read and tidied up, while
    the post was on its way into the folder."""
    read: dict[str, Any] = {}
    async with at_work(dialect) as (ends, runs), trio.open_nursery() as nursery:
        for turns in TURNS:
            id = f"r{turns}"  # noqa: A001 - as in the contract
            ours, theirs = work(id, seconds=seconds), work(id, seconds=seconds, submitter="script", priority=3)
            if tidies:
                nursery.start_soon(read_and_take, ends, id, BOTH, read)
            if not script_first:
                nursery.start_soon(ends.submit, ours)
            for _ in range(turns):
                await trio.lowlevel.checkpoint()
            if id not in read:  # else it is asked for once more
                drop(ends, theirs, dialect)
            if script_first:
                for _ in range(turns):
                    await trio.lowlevel.checkpoint()
                await ends.submit(ours)
            await trio.sleep(SOON_SECONDS)
            dossier = await ends.over(id)
            assert (dossier.state, dossier.begun) == (State.SUCCESS, 1), turns
            assert runs == {(id, 1): 1}, turns
            runs.clear()
        await trio.sleep(2_000.0)
        assert not runs
        assert ends.house.stage.statistics().crashes == 0


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seconds", [0.0, 0.3])
@pytest.mark.parametrize("waits", [False, True])
async def test_what_asks_for_something_else_is_refused_or_makes_way(
    autojump_clock: MockClock, dialect: Dialect, seconds: float, waits: bool
) -> None:
    """A script reads the answer to what it has asked for; the post is told that it was not run."""
    read: dict[str, Any] = {}
    refused: dict[str, str] = {}

    async def post(request: Request) -> None:
        refused.update((await ends.submit(request)).refused)

    async with at_work(dialect) as (ends, runs), trio.open_nursery() as nursery:
        for turns in TURNS:
            id = f"r{turns}"  # noqa: A001 - as in the contract
            later = EPOCH + trio.current_time() + 2.0 if waits else None
            nursery.start_soon(post, work(id, 1, seconds, not_before=later))
            for _ in range(turns):
                await trio.lowlevel.checkpoint()
            is_theirs = drop(ends, work(id, 2, seconds, submitter="script"), dialect)
            await read_and_take(ends, id, (), read)
            await trio.sleep(SOON_SECONDS)
            assert runs == {(id, 2 if is_theirs else 1): 1}, turns
            assert read[id] == Success(2 if is_theirs else 1), turns
            dossier = await ends.over(id)
            assert (dossier.state, dossier.begun) == (State.SUCCESS, 1), turns
            assert dossier.tried[-1].outcome == read[id], turns
            made_way = "made way for this one" in " ".join(dossier.notes)
            assert (id in refused, made_way) in ([(True, False), (False, True)] if is_theirs else [(False, False)])
            runs.clear()


@pytest.mark.parametrize("places", [BOTH[:1], BOTH])
@pytest.mark.parametrize("seconds", [0.0, 0.3])
async def test_an_error_that_its_script_takes_away_at_once_is_no_success_and_one_attempt(
    autojump_clock: MockClock, seconds: float, places: Collection[Tray]
) -> None:
    """In HEAD, where that asks for nothing."""
    read: dict[str, Any] = {}

    async def take_all(ends: BothEnds, id: str) -> None:  # noqa: A002
        while True:
            await read_and_take(ends, id, places, read)

    async with at_work(Dialect.HEAD) as (ends, runs), trio.open_nursery() as nursery:
        for id in ("a", "b", "c"):  # noqa: A001 - as in the contract
            nursery.start_soon(take_all, ends, id)
            drop(ends, work(id, seconds=seconds, fails=True), Dialect.HEAD)
            await trio.sleep(SOON_SECONDS)
            dossier = await ends.over(id)
            assert (dossier.state, dossier.begun, runs[id, 1]) == (State.GAVE_UP, 3, 3)
        await trio.sleep(2_000.0)
        assert set(runs.values()) == {3}
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seconds", [0.0, 0.3])
async def test_another_request_of_an_id_that_is_over_is_run_once(
    autojump_clock: MockClock, dialect: Dialect, seconds: float
) -> None:
    read: dict[str, Any] = {}
    async with at_work(dialect) as (ends, runs):
        for number, turns in enumerate(TURNS):
            with trio.fail_after(SOON_SECONDS):
                drop(ends, work("r", number, seconds), dialect)
                await read_and_take(ends, "r", BOTH, read)
            assert read["r"] == Success(number)
            for _ in range(turns):
                await trio.lowlevel.checkpoint()
        await trio.sleep(2_000.0)
        assert runs == {("r", number): 1 for number in range(len(TURNS))}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_waiting_post_that_is_cancelled_leaves_the_other_request_of_its_id(
    autojump_clock: MockClock, dialect: Dialect
) -> None:
    async with at_work(dialect) as (ends, runs):
        await ends.submit(work("r", 1, not_before=EPOCH + trio.current_time() + 600.0))
        assert drop(ends, work("r", 2, 1.0, submitter="script"), dialect)
        await trio.sleep(0.5)
        assert (await ends.cancel("r")).ids == ("r",)
        assert await ends.desk.success("r") == 2
        await trio.sleep(SOON_SECONDS)
        dossier = await ends.over("r")
        assert (dossier.state, dossier.tried[-1].outcome) == (State.SUCCESS, Success(2))
        await trio.sleep(2_000.0)
        assert runs == {("r", 2): 1}
