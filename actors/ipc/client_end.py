"""The client end: it sees to it that every request ends, with a success or in failed/.

    SubmitRequests                       accepting.py   journalled before it is answered
    Requeue, CancelRequests, Archive     orders.py        over many requests, in turns
    TellLedgerNow                                         noting.py: somebody asks it
    Hold, Release                          halts.py         nothing is published until the peer is ready
    Vouched                                vouching.py      an answer of our server end, for whoever finds none
    TakeUp                                 adopting.py      journalled before our server end removes it
    ClientNews                             adopting.py      what scripts have dropped; and errands are stirred

What is open is in the journal, and lines up in a fair queue. A bounded number of requests is in flight; each is an
Errand (errand.py) in a crowd. A row is read again when its turn comes, so what waits costs a line in the queue.

Rules
  - Nothing here waits for the disk: whatever does runs beside, and the mailbox is always heard.
  - At a start what scripts have cancelled meanwhile is noted (withdrawn.py); then the open rows are read, and then
    names in the folder. Finished requests are not read, however many there are.
  - Errands do not outlive their end: those that a crash has left are ended, and begin anew from the journal.
  - One client end for each folder. Another one waits until the first has ended. Who has the server end has this, too.
"""

from collections.abc import Awaitable, Callable
from functools import partial

import trio
from msgspec import Struct

from actors.ipc.accepting import Accepting
from actors.ipc.adopting import Adopting
from actors.ipc.books import Books
from actors.ipc.dossier import Dossier
from actors.ipc.doubts import Doubts
from actors.ipc.errand import ClientTerms, ErrandMeans
from actors.ipc.fairness import WALL_SECONDS
from actors.ipc.flights import ERRANDS, Flights
from actors.ipc.given import (
    TROUBLE,
    Base,
    BaseIsBack,
    BaseIsGone,
    BothFiles,
    FilesChanged,
    News,
    Rescan,
    Tray,
    WritingFails,
    WritingWorks,
)
from actors.ipc.halts import Halts
from actors.ipc.journal import ClientJournal
from actors.ipc.late import LateAnswers
from actors.ipc.messages import (
    CLIENT_END,
    Archive,
    CancelRequests,
    ClientOrder,
    Hold,
    Release,
    Requeue,
    SubmitRequests,
    TakeUp,
    TellLedgerNow,
    Vouched,
)
from actors.ipc.missing import Missing
from actors.ipc.noting import Noting
from actors.ipc.orders import DeskOrder, Orders
from actors.ipc.pinging import PING
from actors.ipc.running import TICK, Headway, RunningClock
from actors.ipc.uptime import Uptime
from actors.ipc.vouching import Vouching
from actors.ipc.withdrawn import Withdrawn
from actors.kernel import (
    Actor,
    AnySpec,
    ChildSpec,
    Down,
    KernelError,
    Mailbox,
    Stop,
    Timer,
    crowd_spec,
    supervisor_spec,
)
from codec.ipc import Dialect
from codec.ipc.desk import Selection
from codec.words import counted

AGAIN_SECONDS = 1.0
RETENTION_SECONDS = 3600.0
CAPACITY = 4096
"""Of the mailbox: news comes in bursts."""


class ClientNews(Struct, frozen=True):
    news: News


class FillUp(Struct, frozen=True):
    """There may be room, or a request whose time has come."""


class TickNow(Struct, frozen=True):
    """Look at the clock that counts the time of attempts."""


class TidyUp(Struct, frozen=True):
    """Archive what is older than the setting says."""


ClientMessage = ClientOrder | ClientNews | FillUp | TickNow | TidyUp


class ClientEnd(Actor[ClientMessage]):
    def __init__(
        self,
        base: Base,
        path: str,
        terms: ClientTerms,
        wall: Callable[[], float],
        uptime: Callable[[], Uptime | None],
    ) -> None:
        """`path`: of the folder, by which the journal knows it."""
        self._base = base
        self._path = path
        self._terms = terms
        self._wall = wall
        self._uptime = uptime
        self._touched: set[str] = set()
        self._stale: set[str] = set()
        self._next_fill: Timer | None = None
        self._ticking = False

    async def started(self, kept: object | None) -> None:
        registry = self.stage.registry
        noting = Noting(registry)
        self._clock = RunningClock(self.stage.now)
        self._headway = Headway()
        self._halts = Halts(
            self._base,
            self._clock,
            lambda seconds: self.tell_later(seconds, Release()),
            by_turns=self._terms.dialect is Dialect.HEAD,
        )
        self._noting = noting
        self._vouching = Vouching()
        self._journal = ClientJournal(registry, self._path)
        self._means = ErrandMeans(
            self._base,
            self._journal,
            self._halts.publishing,
            noting,
            self._vouching,
            self._clock,
            self._headway,
            self._terms,
            self._wall,
            self._uptime,
            self._is_over,
            self._touched,
            self._stale,
        )
        self._books = Books(self._line_up)
        self._flights = Flights(
            self._means,
            registry,
            self.run_beside,
            self.monitor,
            on_room=lambda: self.ref.tell(FillUp()),
            on_none=self._is_not_open,
        )
        self._accepting = Accepting(self._means, self._books)
        self._adopting = Adopting(self._means, self._books)
        self._late = LateAnswers(self._means, self._adopting.consider)
        self._doubts = Doubts(self._means, self._books)
        self._missing = Missing(self._means, self._books)
        self._orders = Orders(self._means, self._books, self._flights.stop, self._adopting.consider)
        if isinstance(kept, Hold):
            self._halts.hold(kept)
        registry.claim(CLIENT_END, self.ref)
        self.run_beside(self._begin)

    def keep(self) -> object:
        return self._halts.held

    async def _begin(self) -> None:
        """Beside the actor, for the folder and the journal may take their time."""
        for child in self.stage.registry.get(ERRANDS).children():
            await child.stop()
        await _until(self._halts.claim)
        await _until(Withdrawn(self._means).note)
        await _until(self._has_read_what_is_open)
        for serve in (self._halts.publishing.serve, self._noting.serve, self._accepting.serve):
            self.run_beside(serve)
        self.run_beside(self._adopting.adopt)
        self.run_beside(self._adopting.look_around)
        self.run_beside(self._orders.serve)
        self.run_beside(self._missing.serve)
        self.run_beside(self._doubts.serve)
        self.run_beside(self._late.serve)
        self._base.attend(self.ref, ClientNews)
        self.ref.tell(FillUp())
        if self._terms.retention_days is not None:
            self.tell_later(RETENTION_SECONDS / 60, TidyUp())

    async def _has_read_what_is_open(self) -> bool:
        after: str | None = ""
        try:
            while after is not None:
                page = await self._journal.open_page(after)
                for dossier in page.dossiers:
                    self._books.open[dossier.id] = dossier.fingerprint
                    self._note_whether_stale(dossier)
                    self._flights.lineup.add_row(dossier)
                after = page.after
        except TROUBLE:
            return False
        return True

    async def stopping(self, stop: Stop) -> None:
        self._base.dismiss(self.ref)
        self._noting.flush()
        await self._base.release_client()

    @property
    def trouble(self) -> str | None:
        return self._halts.trouble

    # -- messages

    def at_once(self, message: ClientMessage) -> bool:
        match message:
            case ClientNews(news):
                self._heard(news)
            case TellLedgerNow(reply):
                self._noting.flush()
                reply.set(None)
            case SubmitRequests() if self._halts.down is None:
                self._accepting.add(message)
            case TakeUp(reply=reply) if self._halts.down is not None:
                reply.set(None)  # the requests of this folder are another client end's
            case TakeUp():
                self._adopting.take_up(message)
            case Vouched():
                self._hear_of_answer(message)
            case _:
                return False
        return True

    async def handle(self, message: ClientMessage) -> None:
        match message:
            case SubmitRequests() | Requeue() | CancelRequests() | Archive() if self._halts.down is not None:
                message.reply.fail(KernelError(self._halts.down))
            case SubmitRequests():
                self._accepting.add(message)
            case Requeue(which, reply):
                self._orders.add(DeskOrder("requeue", which, reply))
            case CancelRequests(which, reply):
                self._orders.add(DeskOrder("cancel", which, reply))
            case Archive(which, reply):
                self._orders.add(DeskOrder("archive", which, reply))
            case TellLedgerNow() | TakeUp() | Vouched():
                self.at_once(message)
            case Hold():
                self._halts.hold(message)
            case Release():
                self._halts.go_on()
            case ClientNews(news):
                self._heard(news)
            case FillUp():
                self._next_fill = None
                self._fill_up()
            case TickNow():
                self._ticking = False
                self._tick()
            case TidyUp():
                self._tidy_up()
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        self._flights.ended(down.ref)
        self._fill_up()

    # -- news of the folder

    def _heard(self, news: News) -> None:
        match news:
            case FilesChanged(ids):
                changed = ids.get(Tray.REQUESTS, frozenset()), ids.get(Tray.RESPONSES, frozenset())
                for id in changed[0] | changed[1] if self._terms.dialect is Dialect.HEAD else changed[1]:  # noqa: A001
                    self._flights.news(id)  # in SPEC, nobody takes a request away to say something by that
                if any(id in self._flights.lineup for id in changed[1]):  # noqa: A001
                    self._headway.answered(0.0, self._clock.read())  # what scripts dropped, and waits here only
                self._touched.update(changed[0] & self._books.open.keys())
                self._adopting.consider(changed[0] - self._books.open.keys())
                self._adopting.consider_copies(ids.get(Tray.SUBMITTED, frozenset()))
                self._late.news(changed[1])
                self._adopting.consider_answers(changed[1])
            case Rescan():
                self._touched.intersection_update(self._books.open)
                self._flights.news_of_all()
                self._adopting.rescan()
                self._late.rescan()
            case BaseIsGone(why):
                self._halts.gone(why)
            case BaseIsBack():
                self._halts.back()
                self._adopting.reopened()
                self._late.reopened()
                self._missing.look()
                self._flights.news_of_all()
            case WritingFails(why):
                self._halts.full(why)
            case WritingWorks():
                self._halts.has_room()

    def _hear_of_answer(self, vouched: Vouched) -> None:
        request = vouched.asked.request
        if self._halts.down is not None or request.id.startswith(PING):
            return
        under_way = self._books.open.get(request.id)
        is_open = under_way == request.fingerprint
        if not self._vouching.keep(vouched, is_open=is_open):
            return
        if is_open:
            self._flights.news(request.id)
        elif under_way is None:
            self._adopting.consider([request.id])
        else:
            self._touched.add(request.id)  # it has its turn when the other one is over,
            self._flights.news(request.id)  # or is the same, with other wishes

    # -- requests in flight

    def _line_up(self, dossier: Dossier, files: BothFiles | None) -> None:
        self._noting.changed(dossier)
        self._note_whether_stale(dossier)
        self._flights.lineup.add(dossier, files)
        self._fill_up()
        self._flights.lineup.is_later(dossier.id)

    def _note_whether_stale(self, dossier: Dossier) -> None:
        if dossier.stale:
            self._stale.add(dossier.id)
        else:
            self._stale.discard(dossier.id)

    def _fill_up(self) -> None:
        seconds = self._flights.fill_up()
        if self._next_fill is not None:
            self._next_fill.cancel()
            self._next_fill = None
        if seconds is not None:
            self._next_fill = self.tell_later(min(WALL_SECONDS, max(0.01, seconds)), FillUp())
        self.note = f"{counted(len(self._flights), 'request')} in flight, {len(self._flights.lineup):,} waiting"
        self._tick()

    def _is_not_open(self, id: str) -> None:  # noqa: A002 - as in the contract
        self._books.open.pop(id, None)

    def _is_over(self, dossier: Dossier) -> None:
        """Told by the errand, before it ends."""
        self._vouching.over(dossier)
        self._stale.discard(dossier.id)
        self._books.open.pop(dossier.id, None)
        if self._adopting.waits(dossier.id):
            self._touched.discard(dossier.id)
            self._adopting.consider([dossier.id])
        if dossier.shown == "gave up":
            self._late.add(dossier.id)

    # -- time

    def _tick(self) -> None:
        self._clock.read()
        if len(self._flights) and not self._ticking:
            self._ticking = True
            self.run_beside(self._halts.look_at_server)
            self.tell_later(TICK, TickNow())
        elif not len(self._flights):
            self._halts.stopped(None)

    def _tidy_up(self) -> None:
        days = self._terms.retention_days
        assert days is not None
        self._orders.add(DeskOrder("archive", Selection(all=True, older_than=days * 86400.0)))
        self.tell_later(RETENTION_SECONDS, TidyUp())


async def _until(done: Callable[[], Awaitable[bool]]) -> None:
    """For what nobody tells of when it could be done."""
    while True:
        if await done():
            return
        await trio.sleep(AGAIN_SECONDS)


def client_spec(
    base: Base,
    path: str,
    wall: Callable[[], float],
    terms: ClientTerms | None = None,
    uptime: Callable[[], Uptime | None] = lambda: None,
) -> AnySpec:
    """The client end of a folder, with its crowd of errands. `uptime`: None, where the machine does not tell."""
    known = terms if terms is not None else ClientTerms()
    end = ChildSpec("end", partial(ClientEnd, base, path, known, wall, uptime), mailbox=partial(Mailbox, CAPACITY))
    crowd = crowd_spec("requests", name=ERRANDS, max_children=2 * known.most_in_flight)
    return supervisor_spec("client", [crowd, end])
