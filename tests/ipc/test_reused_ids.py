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
from actors.ipc.client_end import client_spec
from actors.ipc.client_steps import State
from actors.ipc.dossier import Dossier
from actors.ipc.errand import ClientTerms
from actors.ipc.given import Tray
from actors.ipc.handlers import CommandContext, KnownCommand
from actors.ipc.journal import ClientJournal
from actors.ipc.messages import EVALUATOR, LEDGER
from actors.kernel.testing import Puppet, staged
from codec.ipc import Failure, Success
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import FOLDER, ServerDesk, specs, state_directory, wall

PAUSES = (0.0, 0.2 * GATHER_SECONDS, 0.9 * GATHER_SECONDS, GATHER_SECONDS, 1.1 * GATHER_SECONDS, 1.0)


class Both:
    """Both ends of a desk."""

    def __init__(self, base: PaperBase, journal: ClientJournal, seconds: float, outcome: Exception | None) -> None:
        self.base = base
        self.desk = ServerDesk(base)
        self.journal = journal
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
        self.desk.put(id)
        with trio.fail_after(10.0):
            while self.desk.response(id) is None:
                await self.base.change()
        if pause:
            await trio.sleep(pause)
        for _ in range(turns):
            await trio.lowlevel.checkpoint()
        if busy:
            self.desk.put(f"busy-{id}", "busy")
        self.desk.put(id, "run")

    async def over(self, id: str) -> Dossier:  # noqa: A002
        found = await self.journal.find_over(id)
        assert found is not None, id
        return found


@asynccontextmanager
async def both(seconds: float = 0.0, outcome: Exception | None = None) -> AsyncIterator[Both]:
    base, ledger, evaluator = PaperBase(), Puppet("ledger"), Puppet("evaluator")
    ledger.on_start.append(lambda puppet: puppet.stage.registry.claim(LEDGER, puppet.ref))
    evaluator.on_start.append(lambda puppet: puppet.stage.registry.claim(EVALUATOR, puppet.ref))
    found: list[Both] = []

    async def run(params: Any, context: CommandContext) -> str:
        return await found[0].run(params, context)

    async def busy(params: Any, context: CommandContext) -> None:
        await trio.sleep(2.0)

    known = [KnownCommand("run", run), KnownCommand("busy", busy)]
    terms = ClientTerms(immediate=True, attempt_seconds=600.0)
    with state_directory() as directory:
        made = [*specs(base, directory, known, concurrency=1), client_spec(base, FOLDER, wall, terms)]
        async with staged(*made, ledger.spec(), evaluator.spec()) as house:
            found.append(Both(base, ClientJournal(house.stage.registry, FOLDER), seconds, outcome))
            await trio.sleep(10.0)
            yield found[0]
            assert house.stage.statistics().dead_letters == 0
            assert house.stage.statistics().crashes == 0


@pytest.mark.drawn(7)
@pytest.mark.slow
@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.parametrize("seconds", [0.0, 0.5])
@pytest.mark.parametrize("pause", PAUSES)
async def test_another_request_of_the_same_id_is_run_once_and_its_answer_is_what_the_journal_says(
    autojump_clock: MockClock, seconds: float, pause: float, busy: bool
) -> None:
    async with both(seconds) as ends:
        ids = [f"r{turns}" for turns in range(40)]
        for turns, id in enumerate(ids):  # noqa: A001
            await ends.reuse(id, pause, turns, busy=busy)
        await trio.sleep(300.0)
        assert ends.runs == dict.fromkeys(ids, 1)
        for id in ids:  # noqa: A001
            dossier = await ends.over(id)
            assert (dossier.command, dossier.state, dossier.tried[-1].outcome) == (
                "run",
                State.SUCCESS,
                Success("second"),
            )
            assert await ends.desk.success(id) == "second"


@pytest.mark.drawn(4)
@pytest.mark.slow
@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.parametrize("pause", PAUSES)
async def test_another_request_of_the_same_id_has_attempts_of_its_own(
    autojump_clock: MockClock, pause: float, busy: bool
) -> None:
    async with both(outcome=RuntimeError("busy")) as ends:
        ids = [f"r{turns}" for turns in range(40)]
        for turns, id in enumerate(ids):  # noqa: A001
            await ends.reuse(id, pause, turns, busy=busy)
        await trio.sleep(300.0)
        for id in ids:  # noqa: A001
            dossier = await ends.over(id)
            assert (dossier.command, dossier.state) == ("run", State.GAVE_UP)
            assert isinstance(await ends.desk.outcome(id), Failure)
            assert (Tray.FAILED, id) in ends.base.files
            assert 3 <= ends.runs[id] <= 6  # where nobody can tell whose error it was, it has three of its own
