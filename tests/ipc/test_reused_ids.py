"""A script that drops another request under an id as soon as the first one is answered: it is another request.

Both real ends are there, over a folder on paper, and the clock is virtual. The second request comes any number of turns
of the loop, or any time, after the first answer: before the client end has adopted the first request, while its errand
ends, and after that.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.ipc.adopting import GATHER_SECONDS
from actors.ipc.client_steps import State
from actors.ipc.given import Tray
from actors.ipc.handlers import CommandContext, KnownCommand
from codec.ipc import Failure, Success
from tests.ipc.both_kit import BothEnds, both_ends
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import state_directory

PAUSES = (0.0, 0.2 * GATHER_SECONDS, 0.9 * GATHER_SECONDS, GATHER_SECONDS, 1.1 * GATHER_SECONDS, 1.0)


class Reuse:
    """Reuses ids, and counts the runs of the second requests."""

    def __init__(self, ends: BothEnds, seconds: float, outcome: Exception | None) -> None:
        self.ends = ends
        self.seconds = seconds
        self.outcome = outcome
        self.runs: dict[str, int] = {}

    async def run(self, params: Any, context: CommandContext) -> str:
        self.runs[context.request.id] = self.runs.get(context.request.id, 0) + 1
        await trio.sleep(self.seconds)
        if self.outcome is not None:
            raise self.outcome
        return "second"

    async def reuse(self, id: str, pause: float, turns: int, *, busy: bool = False) -> None:  # noqa: A002
        """`busy`: the server end runs something else meanwhile, so the first answer still lies there for a while."""
        desk = self.ends.desk
        desk.put(id)
        with trio.fail_after(10.0):
            while desk.response(id) is None:
                await self.ends.base.change()
        if pause:
            await trio.sleep(pause)
        for _ in range(turns):
            await trio.lowlevel.checkpoint()
        if busy:
            desk.put(f"busy-{id}", "busy")
        desk.put(id, "run")


@asynccontextmanager
async def reusing(seconds: float = 0.0, outcome: Exception | None = None) -> AsyncIterator[Reuse]:
    found: list[Reuse] = []

    async def run(params: Any, context: CommandContext) -> str:
        return await found[0].run(params, context)

    async def busy(params: Any, context: CommandContext) -> None:
        await trio.sleep(2.0)

    known = [KnownCommand("run", run), KnownCommand("busy", busy)]
    with state_directory() as directory:
        async with both_ends(PaperBase(), directory, known, concurrency=1) as ends:
            found.append(Reuse(ends, seconds, outcome))
            await trio.sleep(10.0)
            yield found[0]
            assert ends.house.stage.statistics().crashes == 0


@pytest.mark.drawn(7)
@pytest.mark.slow
@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.parametrize("seconds", [0.0, 0.5])
@pytest.mark.parametrize("pause", PAUSES)
async def test_another_request_of_the_same_id_is_run_once_and_its_answer_is_what_the_journal_says(
    autojump_clock: MockClock, seconds: float, pause: float, busy: bool
) -> None:
    async with reusing(seconds) as it:
        ids = [f"r{turns}" for turns in range(40)]
        for turns, id in enumerate(ids):  # noqa: A001
            await it.reuse(id, pause, turns, busy=busy)
        await trio.sleep(300.0)
        assert it.runs == dict.fromkeys(ids, 1)
        for id in ids:  # noqa: A001
            dossier = await it.ends.over(id)
            assert (dossier.command, dossier.state, dossier.tried[-1].outcome) == (
                "run",
                State.SUCCESS,
                Success("second"),
            )
            assert await it.ends.desk.success(id) == "second"


@pytest.mark.drawn(4)
@pytest.mark.slow
@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.parametrize("pause", PAUSES)
async def test_another_request_of_the_same_id_has_attempts_of_its_own(
    autojump_clock: MockClock, pause: float, busy: bool
) -> None:
    async with reusing(outcome=RuntimeError("busy")) as it:
        ids = [f"r{turns}" for turns in range(40)]
        for turns, id in enumerate(ids):  # noqa: A001
            await it.reuse(id, pause, turns, busy=busy)
        await trio.sleep(300.0)
        for id in ids:  # noqa: A001
            dossier = await it.ends.over(id)
            assert (dossier.command, dossier.state) == ("run", State.GAVE_UP)
            assert isinstance(await it.ends.desk.outcome(id), Failure)
            assert (Tray.FAILED, id) in it.ends.base.files
            assert 3 <= it.runs[id] <= 6  # where nobody can tell whose error it was, it has three of its own
