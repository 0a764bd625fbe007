"""Both ends of a desk, as they are in one house, over a folder on paper and in virtual time."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from actors.ipc.client_end import client_spec
from actors.ipc.dossier import Dossier
from actors.ipc.errand import ClientTerms
from actors.ipc.handlers import KnownCommand
from actors.ipc.journal import ClientJournal
from actors.ipc.messages import CLIENT_END, EVALUATOR, LEDGER, CancelRequests, SubmitRequests
from actors.kernel.testing import House, Puppet, staged
from actors.store import StateDirectory
from codec.ipc import Dialect, Request
from codec.ipc.desk import Handled, Selection
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import FOLDER, ServerDesk, specs, wall


class BothEnds:
    def __init__(self, base: PaperBase, house: House, evaluator: Puppet) -> None:
        self.base = base
        self.evaluator = evaluator
        self.house = house
        self.desk = ServerDesk(base)
        self.journal = ClientJournal(house.stage.registry, FOLDER)

    async def submit(self, request: Request) -> Handled:
        return await self.house.stage.registry.get(CLIENT_END).ask(partial(SubmitRequests, [request]), timeout=60.0)

    async def cancel(self, id: str) -> Handled:  # noqa: A002 - as in the contract
        client = self.house.stage.registry.get(CLIENT_END)
        return await client.ask(partial(CancelRequests, Selection(ids=(id,))), timeout=60.0)

    async def over(self, id: str) -> Dossier:  # noqa: A002 - as in the contract
        found = await self.journal.find_over(id)
        assert found is not None, id
        return found


@asynccontextmanager
async def both_ends(
    base: PaperBase,
    directory: StateDirectory,
    handlers: Iterable[KnownCommand] = (),
    *,
    dialect: Dialect = Dialect.SPEC,
    attempt_seconds: float = 600.0,
    in_flight: int | None = None,
    **server_terms: Any,
) -> AsyncIterator[BothEnds]:
    ledger, evaluator = Puppet("ledger"), Puppet("evaluator")
    ledger.on_start.append(lambda puppet: puppet.stage.registry.claim(LEDGER, puppet.ref))
    evaluator.on_start.append(lambda puppet: puppet.stage.registry.claim(EVALUATOR, puppet.ref))
    terms = ClientTerms(dialect, in_flight, attempt_seconds, immediate=True)
    server = specs(base, directory, handlers, dialect=dialect, with_client=True, **server_terms)
    made = [*server, client_spec(base, FOLDER, wall, terms)]
    async with staged(*made, ledger.spec(), evaluator.spec()) as house:
        yield BothEnds(base, house, evaluator)
        assert house.stage.statistics().dead_letters == 0
