"""A script writes its next request over the one that was just answered, at any moment after the answer, and may take
files away before. Each of them is run once, has its own answer, and stands in the journal.

Both real ends are there, over a folder on paper, and the clock is virtual.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.ipc.client_steps import MOST_ATTEMPTS, State
from actors.ipc.given import Tray
from actors.ipc.handlers import CommandContext, KnownCommand
from codec.ipc import Dialect, Request, Success
from tests.ipc.both_kit import both_ends
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import state_directory

IDS = ("r0", "r1", "r2", "r3")
MANY = 12


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
@pytest.mark.parametrize(
    "takes",
    [(), (Tray.RESPONSES,), (Tray.REQUESTS,), (Tray.RESPONSES, Tray.REQUESTS)],
    ids=["nothing", "response", "request", "both"],
)
@pytest.mark.parametrize("places", [1, 8])
@pytest.mark.parametrize("turns", range(0, 60, 2))
async def test_each_is_run_once_and_has_its_own_answer(
    autojump_clock: MockClock, turns: int, places: int, takes: Sequence[Tray], dialect: Dialect
) -> None:
    runs: Counter[tuple[str, int]] = Counter()

    async def work(params: Any, context: CommandContext) -> int:
        runs[context.request.id, params["n"]] += 1
        await trio.sleep(params["seconds"])
        return int(params["n"])

    base, known = PaperBase(), [KnownCommand("work", work)]
    with state_directory() as directory:
        terms = {"in_flight": places, "concurrency": places}
        async with both_ends(base, directory, known, dialect=dialect, **terms) as ends:
            await trio.sleep(10.0)
            for id in IDS:  # noqa: A001 - as in the contract
                ends.desk.put(id, "work", {"n": 1, "seconds": 0.0}, reference="1")
            for id in IDS:  # noqa: A001
                while (Tray.RESPONSES, id) not in base.files:
                    await base.change()
                for _ in range(turns):
                    await trio.lowlevel.checkpoint()
                for tray in takes:
                    base.foreign_drop(tray, id)
                ends.desk.put(id, "work", {"n": 2, "seconds": 0.5}, reference="2")
            await trio.sleep(60.0)
            evaluated = Counter((each.request.id, each.outcome.data) for each in ends.evaluator.messages)
            assert evaluated == {(id, n): 1 for id in IDS for n in (1, 2)}  # noqa: A001
            for id in IDS:  # noqa: A001
                dossier = await ends.over(id)
                assert (dossier.begun, dossier.tried[-1].outcome) == (1, Success(2)), id
                assert "another request of this id had ended before (success, 1 attempt)" in dossier.notes[0]
            assert runs == {(id, n): 1 for id in IDS for n in (1, 2)}  # noqa: A001
            assert ends.house.stage.statistics().crashes == 0


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
@pytest.mark.parametrize("takes", [(), (Tray.RESPONSES,)], ids=["nothing", "response"])
@pytest.mark.parametrize("turns", range(0, 40, 2))
async def test_so_it_is_with_many_in_a_row(
    autojump_clock: MockClock, turns: int, takes: Sequence[Tray], dialect: Dialect
) -> None:
    """No answer comes later than the run takes, whatever the ends have to tell each other."""
    runs: Counter[tuple[str, int]] = Counter()
    late: list[tuple[str, int]] = []

    async def work(params: Any, context: CommandContext) -> int:
        runs[context.request.id, params["n"]] += 1
        return int(params["n"])

    async def script(id: str) -> None:  # noqa: A002 - as in the contract
        for n in range(MANY):
            ends.desk.put(id, "work", {"n": n})
            with trio.move_on_after(0.5) as scope:
                while (answer := ends.desk.response(id)) is None or answer.outcome != Success(n):
                    await base.change()
            if scope.cancelled_caught:
                late.append((id, n))
            for _ in range(turns):
                await trio.lowlevel.checkpoint()
            for tray in takes:
                base.foreign_drop(tray, id)

    base = PaperBase()
    with state_directory() as directory:
        async with both_ends(base, directory, [KnownCommand("work", work)], dialect=dialect) as ends:
            await trio.sleep(10.0)
            async with trio.open_nursery() as nursery:
                for id in IDS:  # noqa: A001
                    nursery.start_soon(script, id)
            await trio.sleep(60.0)
            assert late == []
            assert runs == {(id, n): 1 for id in IDS for n in range(MANY)}  # noqa: A001
            for id in IDS:  # noqa: A001
                assert (await ends.over(id)).tried[-1].outcome == Success(MANY - 1), id
            assert ends.house.stage.statistics().crashes == 0


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
@pytest.mark.parametrize("turns", range(60))
async def test_a_script_writes_its_request_while_the_files_of_an_older_one_are_put_away_for_a_post(
    autojump_clock: MockClock, turns: int, dialect: Dialect
) -> None:
    runs: Counter[int] = Counter()

    async def work(params: Any, context: CommandContext) -> int:
        runs[params["n"]] += 1
        return int(params["n"])

    async def post(n: int) -> None:
        await ends.submit(Request(id="a", command="work", params={"n": n}))

    base = PaperBase()
    with state_directory() as directory:
        async with both_ends(base, directory, [KnownCommand("work", work)], dialect=dialect) as ends:
            await trio.sleep(10.0)
            await post(1)
            await trio.sleep(10.0)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(post, 2)
                for _ in range(turns):
                    await trio.lowlevel.checkpoint()
                ends.desk.put("a", "work", {"n": 3})
            await trio.sleep(60.0)
            assert (await ends.over("a")).tried[-1].outcome == Success(3)
            assert (runs[1], runs[3]) == (1, 1)
            assert runs[2] <= 1
            assert ends.house.stage.statistics().crashes == 0


@pytest.mark.parametrize("turns", range(90))
@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
async def test_an_error_that_is_written_over_is_not_tried_again(
    autojump_clock: MockClock, turns: int, dialect: Dialect
) -> None:
    runs: Counter[int] = Counter()

    async def work(params: Any, context: CommandContext) -> int:
        runs[params["n"]] += 1
        if params["n"] == 1:
            raise RuntimeError("busy")
        return int(params["n"])

    base = PaperBase()
    with state_directory() as directory:
        async with both_ends(base, directory, [KnownCommand("work", work)], dialect=dialect) as ends:
            await trio.sleep(10.0)
            ends.desk.put("a", "work", {"n": 1})
            while (Tray.RESPONSES, "a") not in base.files:
                await base.change()
            for _ in range(turns):
                await trio.lowlevel.checkpoint()
            before = runs[1]
            ends.desk.put("a", "work", {"n": 2})
            await trio.sleep(30.0)
            dossier = await ends.over("a")
            assert (dossier.state, dossier.tried[-1].outcome, runs[2]) == (State.SUCCESS, Success(2), 1)
            assert runs[1] <= min(before + 1, MOST_ATTEMPTS)
            if dialect is Dialect.HEAD:  # in SPEC nobody is told of an error that nobody has seen
                assert "another request of this id had ended before (gave up, " in dossier.notes[0]
            assert ends.house.stage.statistics().crashes == 0
