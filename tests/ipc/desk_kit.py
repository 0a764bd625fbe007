"""A desk without its ends: a journal on paper, a client end that does what it is told at once, and the ledger, the
viewers and the desk as they are."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import trio
from msgspec.structs import replace

from actors.ipc.desk import IpcDesk, desk_viewers_spec
from actors.ipc.ledger import ledger_spec
from actors.ipc.messages import (
    CLIENT_END,
    LEDGER,
    Archive,
    CancelRequests,
    ClientOrder,
    Forgotten,
    Hold,
    LedgerMessage,
    Noted,
    Release,
    Requeue,
    SubmitRequests,
    TakeUp,
    TellLedgerNow,
    Vouched,
)
from actors.kernel import Actor, ActorRef, AnySpec, ChildSpec, Registry, Reply, Top, run
from actors.store import Refused, StoreError
from codec.ipc import Outcome, Success
from codec.ipc.desk import Attempt, Handled, RequestDetail, RequestFact, RequestState, Selection
from codec.ipc.ids import is_id
from tests.ipc.paper import PaperBase

NOW = 1_700_000_000.0


def fact(id: str, state: RequestState = "success", created: float = NOW, **fields: Any) -> RequestFact:  # noqa: A002
    known: dict[str, Any] = {"command": "ping", "changed": created, "attempts": 0 if state == "waiting" else 1}
    return RequestFact(id=id, state=state, created=created, **(known | fields))


def attempt(number: int, outcome: Outcome | None = None, began: float = NOW, seconds: float = 1.0) -> Attempt:
    if outcome is None:
        return Attempt(number=number, began=began)
    return Attempt(number=number, began=began, ended=began + seconds, seconds=seconds, outcome=outcome)


@dataclass(frozen=True)
class PaperPage:
    facts: Sequence[RequestFact]
    after: str | None


@dataclass
class PaperJournal:
    """Its pages are in the order of ids, which is not that of time."""

    details: dict[str, RequestDetail] = field(default_factory=dict)
    page: int = 3
    broken: bool = False
    closed: trio.Event | None = None
    """Until it is set, no page is read."""
    asked: list[str] = field(default_factory=list)
    other_client: str | None = None
    """Why the client end is down."""
    endless: bool = False
    """Orders take longer than anybody waits."""

    def put(self, *facts: RequestFact, **fields: Any) -> None:
        for each in facts:
            self.details[each.id] = RequestDetail(fact=each, **fields)

    async def facts(self, after: str = "") -> PaperPage:
        await trio.lowlevel.checkpoint()
        self.asked.append(after)
        if self.broken:
            raise StoreError("the disk is full")
        found = sorted(each for each in self.details if each > after)[: self.page]
        page = [self.details[each].fact for each in found]
        if self.closed is not None:
            await self.closed.wait()
        return PaperPage(page, found[-1] if len(found) == self.page else None)

    async def detail(self, id: str) -> RequestDetail | None:  # noqa: A002
        await trio.lowlevel.checkpoint()
        if self.broken:
            raise StoreError("the disk is full")
        if not is_id(id):
            raise Refused("a key must not hold control characters, and has at most 512 bytes")
        return self.details.get(id)


UNDER_WAY = "another request of this id is under way"


class PaperClient(Actor[ClientOrder]):
    """A client end that has no peer: what is submitted waits."""

    def __init__(self, journal: PaperJournal, wall: Callable[[], float]) -> None:
        self._journal = journal
        self._wall = wall
        self._unanswered: list[Reply[Handled]] = []

    @property
    def trouble(self) -> str | None:
        return self._journal.other_client

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(CLIENT_END, self.ref)

    async def handle(self, message: ClientOrder) -> None:
        match message:
            case SubmitRequests(requests, reply):
                ids, refused = [], {}
                for request in requests:
                    known = self._journal.details.get(request.id)
                    if known is not None and known.params != request.params:
                        refused[request.id] = UNDER_WAY
                        continue
                    line = fact(request.id, "waiting", self._wall(), command=request.command)
                    self._keep(RequestDetail(fact=line, params=request.params))
                    ids.append(request.id)
                reply.set(Handled(ids=tuple(ids), refused=refused))
            case Requeue(_, reply) if self._journal.endless:
                self._unanswered.append(reply)
            case Requeue(which, reply):
                self._turn(which, reply, ("gave up", "cancelled"), "waiting", "it has not failed")
            case CancelRequests(which, reply):
                self._turn(which, reply, ("waiting", "polling", "retrying"), "cancelled", "it is over")
            case TellLedgerNow(reply) | TakeUp(reply=reply):
                reply.set(None)
            case Hold() | Release() | Vouched():
                pass
            case Archive(which, reply):
                ids = [each for each in self._of(which) if self._state(each) in ("success", "gave up", "cancelled")]
                for each in ids:
                    del self._journal.details[each]
                self.stage.registry.get(LEDGER).tell(Forgotten(ids))
                reply.set(Handled(ids=tuple(ids)))
            case _:
                self.unknown(message)

    def _turn(self, which: Selection, reply: Reply[Handled], of: Sequence[str], to: RequestState, refusal: str) -> None:
        ids = self._of(which)
        done = [each for each in ids if self._state(each) in of]
        for each in done:
            detail = self._journal.details[each]
            notes = (*detail.notes, f"It was turned to {to} from the page.")
            self._keep(replace(detail, fact=replace(detail.fact, state=to, seconds=None), notes=notes))
        refused = {each: refusal for each in which.ids if each not in done}
        reply.set(Handled(ids=tuple(done), refused=refused))

    def _of(self, which: Selection) -> list[str]:
        known = self._journal.details
        chosen = known if which.all or which.older_than is not None else which.ids
        return [each for each in known if each in chosen or (which.match and fnmatchcase(each, which.match))]

    def _state(self, id: str) -> str:  # noqa: A002
        return self._journal.details[id].fact.state

    def _keep(self, detail: RequestDetail) -> None:
        self._journal.details[detail.fact.id] = detail
        self.stage.registry.get(LEDGER).tell(Noted((detail.fact,)))


@dataclass
class DeskHouse:
    journal: PaperJournal
    base: PaperBase
    registry: Registry
    desk: IpcDesk
    top: ActorRef[Any]

    @property
    def ledger(self) -> ActorRef[LedgerMessage]:
        return self.registry.get(LEDGER)

    async def note(self, *details: RequestDetail | RequestFact) -> None:
        """As the client end does: first the journal, then the ledger."""
        whole = [RequestDetail(fact=each) if isinstance(each, RequestFact) else each for each in details]
        self.journal.details |= {each.fact.id: each for each in whole}
        await self.ledger.send(Noted([each.fact for each in whole]))


@asynccontextmanager
async def desk_house(
    journal: PaperJournal | None = None,
    base: PaperBase | None = None,
    *,
    client: bool = True,
    wall: Callable[[], float] = lambda: NOW,
    beside: Sequence[AnySpec] = (),
) -> AsyncIterator[DeskHouse]:
    journal, base = journal or PaperJournal(), base or PaperBase()
    specs: list[AnySpec] = [ledger_spec(lambda _: journal, base), desk_viewers_spec(), *beside]
    if client:
        specs.append(ChildSpec("client", partial(PaperClient, journal, wall)))
    async with trio.open_nursery() as nursery:
        top = await nursery.start(run, ChildSpec("troupe", lambda: Top(specs)))
        stage = top._slot.stage
        yield DeskHouse(journal, base, stage.registry, IpcDesk(stage.registry, stage.new_id, wall), top)
        await top.stop()


def many(count: int, start: float = NOW - 100_000) -> Iterable[RequestDetail]:
    """An archive of old successes, and a failure here and there."""
    for number in range(count):
        bad = number % 97 == 0
        line = fact(
            f"evaluation-{number:06d}",
            "gave up" if bad else "success",
            start + number * 0.5,
            command="submitPrompt",
            submitter=f"script-{number % 3}",
            attempts=3 if bad else 1 + (number % 23 == 0),
            seconds=0.4 + number % 50 / 10,
            message="The model did not answer within 60 seconds." if bad or number % 23 == 0 else "",
        )
        yield RequestDetail(fact=line, params={"prompt": f"Question {number}"}, tried=(attempt(1, Success("yes")),))
