"""A client end in virtual time: the real actors over a folder on paper and a real store, and servers that are models.

The servers are those of test_steps.py, over the folder on paper in place of their own.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import trio

from actors.ipc.client_end import client_spec
from actors.ipc.dossier import Dossier
from actors.ipc.errand import ClientTerms
from actors.ipc.given import Tray
from actors.ipc.journal import ClientJournal
from actors.ipc.messages import CLIENT_END, EVALUATOR, LEDGER, Archive, CancelRequests, Requeue, SubmitRequests
from actors.ipc.steps import Identity, Seen, Torn
from actors.ipc.uptime import Uptime
from actors.kernel import ActorRef, ChildSpec, KernelError
from actors.kernel.testing import House, Puppet, run_in_virtual_time, staged
from actors.store import Inline, StateDirectory, Store
from codec.ipc import Dialect, Failure, Outcome, Request, Success, Wishes, write_request, write_response
from codec.ipc.desk import Handled, Selection
from tests.ipc.paper import PaperBase
from tests.ipc.test_steps import HeadServer, OurServer

EPOCH = 1_800_000_000.0
PATIENCE = 3600.0
IDLE_SECONDS = 0.3


def wall() -> float:
    return EPOCH + trio.current_time()


def request(id: str = "a", command: str = "ping", params: dict[str, Any] | None = None, **wishes: Any) -> Request:  # noqa: A002
    return Request(id=id, command=command, params=params or {}, wishes=Wishes(**wishes))


# -- servers


@dataclass
class PaperFolder:
    """The files of one request, as the models of test_steps.py see them."""

    base: PaperBase
    id: str
    dialect: Dialect
    set_aside: list[Identity] = field(default_factory=list)

    @property
    def fingerprint(self) -> bytes:
        return sha256(self.base.files[Tray.REQUESTS, self.id][1]).digest()

    @property
    def request(self) -> bool:
        return (Tray.REQUESTS, self.id) in self.base.files

    @request.setter
    def request(self, there: bool) -> None:
        assert not there
        self.base.foreign_drop(Tray.REQUESTS, self.id)

    @property
    def response(self) -> Seen:
        return self.base._response(self.id)[0]

    @response.setter
    def response(self, what: Seen) -> None:
        assert isinstance(what, Torn)
        self.base.foreign_put(Tray.RESPONSES, self.id, b'{"half')

    def answer(self, outcome: Outcome) -> None:
        self.base.foreign_put(Tray.RESPONSES, self.id, write_response(self.id, outcome, (self.dialect,)))

    def take(self, identity: Identity) -> None:
        assert self.base._take(self.id, identity)


class PaperServer:
    """Answers whatever comes, in small steps with time between them. `outcomes` is asked for each run."""

    def __init__(
        self,
        base: PaperBase,
        outcomes: Callable[[str], Outcome | None],
        dialect: Dialect = Dialect.SPEC,
        pause: float = 0.01,
    ) -> None:
        """An outcome of None: the run never ends."""
        self.pending: dict[str, Outcome] = {}
        self.base = base
        self.outcomes = outcomes
        self.dialect = dialect
        self.pause = pause
        self.stopped = False
        self.hidden: set[str] = set()
        """Ids that it does not see."""
        self.runs: dict[str, int] = {}
        self.asked: dict[str, bytes] = {}
        self.models: dict[str, OurServer | HeadServer] = {}

    def _model(self, id: str) -> OurServer | HeadServer:  # noqa: A002
        if id not in self.models:
            make = OurServer if self.dialect is Dialect.SPEC else HeadServer
            folder: Any = PaperFolder(self.base, id, self.dialect)
            self.models[id] = make(folder, partial(self._outcome, id))
        return self.models[id]

    def _outcome(self, id: str) -> Outcome:  # noqa: A002
        return self.pending.pop(id)

    def _content(self, id: str) -> bytes:  # noqa: A002
        return self.base.files[Tray.REQUESTS, id][1]

    def crash(self) -> None:
        for model in self.models.values():
            model.crash()
        self.pending.clear()

    async def serve(self) -> None:
        while True:
            moved = not self.stopped and self.step()
            await trio.sleep(self.pause if moved else max(self.pause, IDLE_SECONDS))

    def step(self) -> bool:
        """Whether anything has moved."""
        moved = False
        for id in ({id for _, id in list(self.base.files)} | self.models.keys()) - self.hidden:  # noqa: A001
            model = self._model(id)
            if (Tray.REQUESTS, id) not in self.base.files:
                self.asked.pop(id, None)
            elif self.asked.get(id) != self._content(id):
                model.given.clear()  # another request of that id may be run, whatever was answered before
                self.asked[id] = self._content(id)
            running = model.running if isinstance(model, OurServer) else model.doing == "running"
            if running:
                if id not in self.pending:
                    self.runs[id] = self.runs.get(id, 0) + 1
                    outcome = self.outcomes(id)
                    if outcome is None:
                        continue
                    self.pending[id] = outcome
                moved = model.end()
            moved = model.step() or moved
        return moved


def in_turn(*outcomes: Outcome | None) -> Callable[[str], Outcome | None]:
    """These, for each request; the last one again and again."""
    left: dict[str, Iterator[Outcome | None]] = {}
    return lambda id: next(left.setdefault(id, iter(outcomes)), outcomes[-1])  # noqa: A006


# -- the desk


@dataclass
class Desk:
    house: House
    base: PaperBase
    journal: ClientJournal
    ledger: Puppet
    evaluator: Puppet

    @property
    def client(self) -> ActorRef[Any]:
        return self.house.stage.registry.get(CLIENT_END)

    async def ready(self) -> None:
        """Until it can be told something."""
        while True:
            if self.house.stage.registry.find(CLIENT_END) is not None:
                return
            await trio.sleep(0.1)

    async def submit(self, *requests: Request) -> Handled:
        await self.ready()
        return await self.client.ask(partial(SubmitRequests, requests), timeout=PATIENCE)

    async def requeue(self, **which: Any) -> Handled:
        return await self.client.ask(partial(Requeue, Selection(**which)), timeout=PATIENCE)

    async def cancel(self, **which: Any) -> Handled:
        return await self.client.ask(partial(CancelRequests, Selection(**which)), timeout=PATIENCE)

    async def archive(self, **which: Any) -> Handled:
        return await self.client.ask(partial(Archive, Selection(**which)), timeout=PATIENCE)

    async def over(self, *ids: str) -> list[Dossier]:
        """As soon as all of them are."""
        return [await self._over(id) for id in ids]  # noqa: A001

    async def _over(self, id: str) -> Dossier:  # noqa: A002
        with trio.fail_after(PATIENCE):
            while True:
                try:
                    found = await self.journal.find_over(id)
                except KernelError:
                    found = None
                if found is not None:
                    return found
                await trio.sleep(0.5)

    async def open(self, id: str) -> Dossier:  # noqa: A002
        found = await self.journal.find_open(id)
        assert found is not None
        return found


@contextmanager
def a_state() -> Iterator[StateDirectory]:
    with TemporaryDirectory() as folder, StateDirectory.claim(Path(folder) / "state") as directory:
        yield directory


@asynccontextmanager
async def desk(
    directory: StateDirectory,
    base: PaperBase,
    terms: ClientTerms | None = None,
    servers: Sequence[PaperServer] = (),
    wall: Callable[[], float] = wall,
    uptime: Callable[[], Uptime | None] = lambda: None,
) -> AsyncIterator[Desk]:
    ledger, evaluator = Puppet("ledger"), Puppet("evaluator")
    ledger.on_start.append(lambda puppet: puppet.stage.registry.claim(LEDGER, puppet.ref))
    evaluator.on_start.append(lambda puppet: puppet.stage.registry.claim(EVALUATOR, puppet.ref))
    store = ChildSpec("store", partial(Store, directory, Inline))
    specs = [store, ledger.spec(), evaluator.spec(), client_spec(base, "/paper", wall, terms, uptime)]
    async with trio.open_nursery() as nursery:
        async with staged(*specs, intensity=10_000) as house:
            for server in servers:
                nursery.start_soon(server.serve)
            yield Desk(house, base, ClientJournal(house.stage.registry, "/paper"), ledger, evaluator)
        nursery.cancel_scope.cancel()


def play(
    test: Callable[[Desk], Awaitable[None]],
    *,
    terms: ClientTerms | None = None,
    base: PaperBase | None = None,
    outcomes: Callable[[str], Outcome | None] | None = None,
    dialect: Dialect = Dialect.SPEC,
) -> None:
    """In virtual time. `outcomes`: a server is there and answers with these."""

    async def main() -> None:
        folder = base if base is not None else PaperBase()
        servers = [PaperServer(folder, outcomes, dialect)] if outcomes is not None else []
        with a_state() as directory:
            async with desk(directory, folder, terms or ClientTerms(dialect=dialect), servers) as it:
                await test(it)

    run_in_virtual_time(main)


DONE, BUSY, NEVER = Success("done"), Failure("busy"), Failure("never", permanent=True)

__all__ = ["BUSY", "DONE", "NEVER", "Desk", "PaperServer", "a_state", "desk", "in_turn", "play", "request"]


def put(base: PaperBase, what: Request) -> None:
    """As a script does."""
    base.foreign_put(Tray.REQUESTS, what.id, write_request(what))


def put_with_copy(base: PaperBase, what: Request) -> None:
    """As the library for scripts does in the HEAD dialect."""
    put(base, what)
    base.foreign_put(Tray.SUBMITTED, what.id, write_request(what))
