"""The server end: it answers the requests of the base folder, in turn, a few at a time.

    BaseNews       from the base       what has happened to the files
    CommandRan     from a command      its handler has ended: the next one may run
    CommandOver    from a command      there is nothing to do for its request
    LookAtTorn, TellLedger             from itself, later

    an id is    until
    unread      its files have been looked at, a batch at a time: whose turn it is stands in the request
    queued      its turn comes (fairness.py)
    in hand     its command (command.py) has ended

Rules
  - What waits is an id with its wishes. Its content is read again when its turn comes, except for the last few read.
  - At a start only what is not answered is read: the names in requests/ without those in responses/, and what the
    journal says was begun. After that a request is looked at when there is news of it. A success that was taken away
    asks for nothing, and is not looked at again at each rescan.
  - News of a request in hand is for its command. If news came as it ended, the request is looked at once more.
  - A row whose request has gone is forgotten.
  - Of two servers on one folder the second keeps down, says why, and tries again.
  - It may crash without any command noticing: the commands live in a crowd of their own, and it finds them there.
"""

import logging
import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import trio

from actors.ipc.command import (
    AGAIN_SECONDS,
    SERVER_REPORTS,
    TORN_SECONDS,
    CommandOver,
    CommandRan,
    CommandReport,
    KnownBefore,
    RunningCommand,
    ServerMeans,
    ServerTerms,
    Settlement,
    StirCommand,
    fingerprint_of,
)
from actors.ipc.fairness import FairQueue
from actors.ipc.given import (
    TROUBLE,
    Asked,
    Base,
    BaseIsBack,
    BaseIsGone,
    BothFiles,
    FilesChanged,
    News,
    Rescan,
    Tray,
)
from actors.ipc.handlers import Handlers
from actors.ipc.messages import LEDGER, RunningNow
from actors.ipc.server_journal import ServerJournal
from actors.ipc.server_steps import Phase
from actors.ipc.steps import Torn
from actors.kernel import (
    Actor,
    ActorRef,
    AnyRef,
    AnySpec,
    Children,
    ChildSpec,
    Down,
    KernelError,
    Key,
    NameTaken,
    Restart,
    Stop,
    crowd_spec,
    supervisor_spec,
)
from codec.ipc import Wishes, in_turn

AT_ONCE = 256
"""Requests that are read together."""
MOST_ENDING = 256
"""Commands that have run, and whose answers are on their way to the disk. They share its syncs."""
FRESH, FRESH_BYTES = 64, 64 << 10
"""So many requests that were just read are kept until their turn, and none that is larger."""
CLAIM_SECONDS = 10.0
APART_SECONDS, SHARE = 0.5, 20.0
"""Between two rescans so many seconds pass, and so many times as many as the last one took."""
TELL_SECONDS = 0.25
FIRST_LOOK_SECONDS = 10.0
"""The longest time until the clock on the wall is looked at again, which may be set meanwhile."""
STEP = 5_000
"""After so many ids of a rescan others have their turn."""

logger = logging.getLogger("troupe.ipc")


@dataclass(frozen=True, slots=True)
class BaseNews:
    news: News


@dataclass(frozen=True, slots=True)
class LookAtTorn:
    pass


@dataclass(frozen=True, slots=True)
class TellLedger:
    pass


ServerEndMessage = BaseNews | CommandReport | LookAtTorn | TellLedger
COMMANDS = Key[Children[StirCommand]]("ipc/commands")


@dataclass(slots=True)
class InHand:
    ref: ActorRef[StirCommand] | None = None
    """None: it is starting."""
    stirs: int = 0
    over: CommandOver | None = None
    look_again: bool = False
    """When it has ended: it may have missed something."""
    ran: bool = False
    """Its handler has ended, so that another one may run."""


class ServerEnd(Actor[ServerEndMessage]):
    def __init__(
        self, base: Base, folder: str, handlers: Handlers, terms: ServerTerms, wall: Callable[[], float]
    ) -> None:
        self._base = base
        self._folder = folder
        self._handlers = handlers
        self._terms = terms
        self._wall = wall
        self._unread, self._queue = FairQueue(), FairQueue()
        self._fresh: dict[str, BothFiles] = {}
        self._torn: set[str] = set()
        self._in_hand: dict[str, InHand] = {}
        self._ran = 0
        """Of those in hand, the ones whose handlers have ended."""
        self._lost = 0
        """Handlers that go on, though they were to end."""
        self._ids: dict[AnyRef, str] = {}
        self._rows: dict[str, Settlement | None] = {}
        """What the journal knows. None: it is not settled, or was not looked at."""
        self._knows_rows = False
        self._rescan = False
        self._next_rescan = -math.inf
        self._reader, self._filler = trio.Event(), trio.Event()
        self._down_because: str | None = None
        self._base_trouble: str | None = None
        self._told: RunningNow | None = None
        self._telling = False

    async def started(self, kept: object | None) -> None:
        journal = ServerJournal(self.stage.registry, self._folder)
        self._means = ServerMeans(self._base, journal, self._handlers, self._terms, self._wall)
        self.stage.registry.claim(SERVER_REPORTS, self.ref)
        crowd = self._crowd
        for ref in crowd.children():
            id = ref.path.rpartition("/")[2]  # noqa: A001 - as in the contract
            command = crowd.child(id)
            if command is not None:
                self._take_in_hand(id, InHand(command, look_again=True))
        self.run_beside(self._serve)

    @property
    def trouble(self) -> str | None:
        return self._down_because or self._base_trouble

    async def handle(self, message: ServerEndMessage) -> None:
        match message:
            case BaseNews(news):
                self._heard(news)
            case CommandOver(id):
                if (hand := self._in_hand.get(id)) is not None:
                    hand.over = message
            case CommandRan(id, lost):
                self._lost += lost
                if (hand := self._in_hand.get(id)) is not None and not hand.ran:
                    hand.ran = True
                    self._ran += 1
                    self._filler.set()
            case LookAtTorn():
                torn, self._torn = self._torn, set()
                for each in torn:
                    self._unread.add(each)
                self._reader.set()
            case TellLedger():
                self._telling = False
                self._tell_ledger()
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        id = self._ids.pop(down.ref, None)  # noqa: A001
        hand = None if id is None else self._in_hand.pop(id, None)
        if id is None or hand is None:
            return
        self._ran -= hand.ran
        over = hand.over
        if over is None or hand.look_again or over.heard < hand.stirs:
            self._unread.add(id)
            self._reader.set()
        if over is None:
            self._rows.setdefault(id, None)
        else:
            if over.has_row:
                self._rows[id] = over.settled
            else:
                self._rows.pop(id, None)
            if over.later is not None:
                self._queue.add(id, over.later)
        self._filler.set()
        self._changed()

    async def stopping(self, stop: Stop) -> None:
        self._base.dismiss(self.ref)
        with suppress(*TROUBLE):
            await self._base.release_server()

    # -- news

    def _heard(self, news: News) -> None:
        match news:
            case FilesChanged(ids):
                for id in in_turn(frozenset().union(*ids.values())):  # noqa: A001
                    self._noticed(id)
            case Rescan():
                self._rescan = True
            case BaseIsGone(why):
                self._base_trouble = why
            case BaseIsBack():
                self._base_trouble = None
        self._reader.set()
        self._filler.set()

    def _noticed(self, id: str) -> None:  # noqa: A002
        hand = self._in_hand.get(id)
        if hand is not None:
            self._stir(hand)
        else:
            self._fresh.pop(id, None)
            self._unread.add(id)

    def _stir(self, hand: InHand) -> None:
        hand.stirs += 1
        if hand.ref is not None:
            with suppress(KernelError):  # it is told more than it can take: then it knows
                hand.ref.hand(StirCommand())

    # -- a life

    async def _serve(self) -> None:
        while (why := await self._claim()) is not None:
            if why != self._down_because:
                logger.warning("%s", why)
            self._down_because = self.note = why
            await trio.sleep(CLAIM_SECONDS)
        self._down_because = self.note = None
        self._base.attend(self.ref, BaseNews)
        self.run_beside(self._read)
        self.run_beside(self._fill)

    async def _claim(self) -> str | None:
        try:
            return await self._base.claim_server()
        except TROUBLE as trouble:
            return str(trouble)

    async def _read(self) -> None:
        while True:
            self._reader = trio.Event()
            is_time = self._rescan and trio.current_time() >= self._next_rescan
            some = [] if is_time else self._next_unread()
            if not some and not is_time:
                with trio.move_on_at(self._next_rescan if self._rescan else math.inf):
                    await self._reader.wait()
                continue
            try:
                if is_time:
                    self._rescan = False
                    began = trio.current_time()
                    await self._look_around()
                    self._next_rescan = trio.current_time() + max(APART_SECONDS, SHARE * (trio.current_time() - began))
                else:
                    await self._look_at(some)
            except TROUBLE as trouble:
                logger.info("%s: %s", self.ref.path, trouble)
                for id in some:  # noqa: A001
                    self._unread.add(id)
                self._rescan, self._next_rescan = True, -math.inf
                with trio.move_on_after(AGAIN_SECONDS):
                    await self._reader.wait()

    def _next_unread(self) -> list[str]:
        some: list[str] = []
        while len(some) < AT_ONCE and (id := self._unread.take(0.0)) is not None:  # noqa: A001
            some.append(id)
        return some

    async def _look_around(self) -> None:
        """Everything may have changed."""
        requests = await self._base.ids(Tray.REQUESTS)
        responses = await self._base.ids(Tray.RESPONSES)
        begun = []
        if not self._knows_rows:
            async for id, phase in self._means.journal.all():  # noqa: A001
                self._rows.setdefault(id, None)
                if phase is not Phase.ANSWERED:
                    begun.append(id)
            self._knows_rows = True
        await self._forget(each for each in tuple(self._rows) if each not in requests)
        for id in tuple(self._queue):  # noqa: A001
            if id not in requests:
                self._queue.discard(id)
        for number, id in enumerate((*begun, *in_turn(requests - responses)), 1):  # noqa: A001
            settled = self._rows.get(id)
            quiet = settled is not None and not settled.asks_when_taken
            if id in requests and not quiet and id not in self._queue and id not in self._in_hand:
                self._unread.add(id)
            if number % STEP == 0:
                await trio.lowlevel.checkpoint()
        for id, hand in self._in_hand.items():  # noqa: A001
            hand.look_again = True
            if id not in requests or id in responses:
                self._stir(hand)
        self._changed()

    async def _look_at(self, ids: list[str]) -> None:
        found: dict[str, BothFiles] = {}
        troubles: list[Exception] = []

        async def look(id: str) -> None:  # noqa: A002
            try:
                found[id] = await self._base.look(id)
            except TROUBLE as trouble:
                troubles.append(trouble)

        async with trio.open_nursery() as nursery:
            for id in ids:  # noqa: A001
                nursery.start_soon(look, id)
        if troubles:
            raise troubles[0]
        await self._forget([each for each in ids if self._sorted(each, found[each])])
        self._filler.set()
        self._changed()

    def _sorted(self, id: str, files: BothFiles) -> bool:  # noqa: A002
        """Where it belongs now. Whether there is no such request, and a row to be forgotten."""
        hand = self._in_hand.get(id)
        if hand is not None:
            self._stir(hand)
            return False
        if files.request is None:
            self._queue.discard(id)
            return id in self._rows
        if isinstance(files.request, Torn) or isinstance(files.response, Torn):
            if not self._torn:
                self.tell_later(TORN_SECONDS, LookAtTorn())
            self._torn.add(id)
            return False
        settled = self._rows.get(id)
        same = settled is not None and settled.fingerprint == fingerprint_of(files)
        if same and settled is not None and (files.response is not None or not settled.asks_when_taken):
            self._queue.discard(id)
            return False
        wishes, size = Wishes(), 0
        if isinstance(files.request, Asked):
            wishes, size = files.request.request.wishes, len(files.request.data)
        self._queue.add(id, wishes)
        if len(self._fresh) < FRESH and size <= FRESH_BYTES:
            self._fresh[id] = files
        return False

    async def _forget(self, ids: Iterable[str]) -> None:
        gone = [id for id in ids if id not in self._in_hand]  # noqa: A001
        if gone:
            await self._means.journal.forget(gone)
            for id in gone:  # noqa: A001
                self._rows.pop(id, None)

    # -- turns

    async def _fill(self) -> None:
        while True:
            self._filler = trio.Event()
            id = None  # noqa: A001
            if self._has_room and self._base_trouble is None:
                id = self._queue.take(self._wall())  # noqa: A001
            if id is not None:
                await self._start(id)
                continue
            now = self._wall()
            moment = self._queue.next_moment(now)
            soon = trio.CancelScope()
            if moment is not None and self._has_room:
                soon.deadline = trio.current_time() + min(max(moment - now, 0.01), FIRST_LOOK_SECONDS)
            with soon:
                await self._filler.wait()

    async def _start(self, id: str) -> None:  # noqa: A002
        if id in self._in_hand:
            self._stir(self._in_hand[id])
            return
        fresh = self._fresh.pop(id, None)
        hand = self._in_hand[id] = InHand()
        known_before = KnownBefore(fresh, may_have_row=not self._knows_rows or id in self._rows)
        make = partial(RunningCommand, id, self._means, [known_before])
        try:
            ref = await self._crowd.start_child(ChildSpec(id, make, restart=Restart.TRANSIENT))
        except NameTaken:  # it is still there, from before: it will hear of it
            known = self._crowd.child(id)
            if known is None:
                self._put_back(id)
                return
            hand.look_again, ref = True, known
        except KernelError as error:
            logger.info("the request %s has to wait: %s", id, error)
            self._put_back(id)
            await trio.sleep(AGAIN_SECONDS)
            return
        self._take_in_hand(id, hand, ref)

    def _put_back(self, id: str) -> None:  # noqa: A002
        del self._in_hand[id]
        self._unread.add(id)
        self._reader.set()

    def _take_in_hand(self, id: str, hand: InHand, ref: ActorRef[StirCommand] | None = None) -> None:  # noqa: A002
        hand.ref = hand.ref if ref is None else ref
        assert hand.ref is not None
        self._in_hand[id] = hand
        self._ids[hand.ref] = id
        self.monitor(hand.ref)
        if hand.look_again:
            self._stir(hand)
        self._changed()

    @property
    def _has_room(self) -> bool:
        return len(self._in_hand) - self._ran < self._terms.concurrency and self._ran < MOST_ENDING

    @property
    def _crowd(self) -> ActorRef[Children[StirCommand]]:
        return self.stage.registry.get(COMMANDS)

    # -- telling

    def _changed(self) -> None:
        if not self._telling:
            self._telling = True
            self.tell_later(TELL_SECONDS, TellLedger())

    def _tell_ledger(self) -> None:
        now = RunningNow(len(self._in_hand) - self._ran, len(self._queue) + len(self._unread), self._lost)
        self.note = f"{now.count:,} in hand, {now.waiting:,} wait"
        if now != self._told and (ledger := self.stage.registry.find(LEDGER)) is not None:
            with suppress(KernelError):  # it has no room: it is told again after the next change
                ledger.tell(now)
                self._told = now


def server_spec(
    base: Base,
    folder: str,
    handlers: Handlers,
    terms: ServerTerms = ServerTerms(),  # noqa: B008 - it is frozen
    *,
    wall: Callable[[], float],
) -> AnySpec:
    """A supervisor of the commands and of the server end. `folder`: the base's path, by which its journal is known."""
    return supervisor_spec(
        "server",
        [
            crowd_spec("commands", name=COMMANDS, max_children=2 * terms.concurrency + MOST_ENDING + 8),
            ChildSpec("end", partial(ServerEnd, base, folder, handlers, terms, wall)),
        ],
    )
