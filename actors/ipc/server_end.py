"""The server end: it answers the requests of the base folder, in turn, a few at a time.

    BaseNews       from the base       what has happened to the files
    CommandRan     from a command      its handler has ended: the next one may run
    CommandOver    from a command      there is nothing to do for its request
    LookAtTorn, FillHands, TellLedger  from itself, later

A request waits in the reception (reception.py) until its turn comes, and then it is in hand (hands.py) until its
command (command.py) has ended.

Rules
  - Of two servers on one folder the second keeps down with both its ends, says why, and tries again.
  - It may crash without any command noticing: the commands live in a crowd of their own, and it finds them there.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import trio
from msgspec import Struct

from actors.ipc.command import (
    AGAIN_SECONDS,
    SERVER_REPORTS,
    TORN_SECONDS,
    CommandOver,
    CommandRan,
    CommandReport,
    ServerMeans,
    ServerTerms,
)
from actors.ipc.fairness import WALL_SECONDS
from actors.ipc.given import (
    TROUBLE,
    Base,
    BaseIsBack,
    BaseIsGone,
    FilesChanged,
    News,
    Rescan,
    Tray,
    WritingFails,
    WritingWorks,
)
from actors.ipc.handlers import Handlers
from actors.ipc.hands import COMMANDS, MOST_ENDING, Hands
from actors.ipc.messages import LEDGER, RunningNow
from actors.ipc.reception import Reception
from actors.ipc.server_journal import ServerJournal
from actors.kernel import Actor, AnySpec, ChildSpec, Down, KernelError, Stop, Timer, crowd_spec, supervisor_spec
from codec.ipc import in_turn

CLAIM_SECONDS = 1.0
TELL_SECONDS = 0.25

logger = logging.getLogger("troupe.ipc")


class BaseNews(Struct, frozen=True):
    news: News


class LookAtTorn(Struct, frozen=True):
    pass


class FillHands(Struct, frozen=True):
    """There may be room, or a request whose time has come."""


class TellLedger(Struct, frozen=True):
    pass


ServerEndMessage = BaseNews | CommandReport | LookAtTorn | FillHands | TellLedger


class ServerEnd(Actor[ServerEndMessage]):
    def __init__(
        self, base: Base, folder: str, handlers: Handlers, terms: ServerTerms, wall: Callable[[], float]
    ) -> None:
        self._base = base
        self._folder = folder
        self._handlers = handlers
        self._terms = terms
        self._wall = wall
        self._next_fill: Timer | None = None
        self._is_serving = self._has_to_wait = False
        self._down_because: str | None = None
        self._base_trouble: str | None = None
        self._told: RunningNow | None = None
        self._telling = False

    async def started(self, kept: object | None) -> None:
        registry = self.stage.registry
        journal = ServerJournal(registry, self._folder)
        means = ServerMeans(self._base, journal, self._handlers, self._terms, self._wall)
        self._hands = Hands(means, registry, self.monitor, on_change=self._changed)
        self._reception = Reception(
            means,
            self._hands,
            on_torn=lambda: self.tell_later(TORN_SECONDS, LookAtTorn()),
            on_turn=self._fill,
            on_change=self._changed,
        )
        registry.claim(SERVER_REPORTS, self.ref)
        self._hands.take_up()
        self.run_beside(self._serve)

    @property
    def trouble(self) -> str | None:
        return self._down_because or self._base_trouble

    def at_once(self, message: ServerEndMessage) -> bool:
        match message:
            case BaseNews(news):
                self._heard(news)
            case CommandOver():
                self._hands.heard_over(message)
            case CommandRan():
                if self._hands.heard_ran(message):
                    self._fill()
            case _:
                return False
        return True

    async def handle(self, message: ServerEndMessage) -> None:
        match message:
            case BaseNews() | CommandOver() | CommandRan():
                self.at_once(message)
            case LookAtTorn():
                self._reception.look_at_torn()
            case FillHands():
                self._next_fill, self._has_to_wait = None, False
                self._fill()
            case TellLedger():
                self._telling = False
                self._tell_ledger()
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        ended = self._hands.ended(down.ref)
        if ended is not None:
            self._reception.ended(ended)
            self._fill()
            self._changed()

    async def stopping(self, stop: Stop) -> None:
        self._base.dismiss(self.ref)
        with suppress(*TROUBLE):
            await self._base.release_server()

    def _heard(self, news: News) -> None:
        match news:
            case FilesChanged(ids):
                requests = ids.get(Tray.REQUESTS, frozenset())
                for id in in_turn(requests | ids.get(Tray.RESPONSES, frozenset())):  # noqa: A001 - as in the contract
                    self._reception.noticed(id, of_answer=id not in requests)
            case Rescan():
                self._reception.rescan()
            case BaseIsGone(why):
                self._base_trouble = why
            case BaseIsBack():
                self._base_trouble = None
                self._reception.stir()
                self._fill()
            case WritingWorks():
                self._reception.stir()
            case WritingFails():
                pass  # each command finds out for itself, and rests

    # -- a life

    async def _serve(self) -> None:
        while (why := await self._claim()) is not None:
            if why != self._down_because:
                logger.warning("%s", why)
            self._down_because = self.note = why
            await trio.sleep(CLAIM_SECONDS)
        if self._down_because is not None:
            logger.info("our server end answers the requests in %s from now on", self._folder)
        self._down_because = self.note = None
        self._base.attend(self.ref, BaseNews)
        self.run_beside(self._reception.read)
        self.run_beside(self._reception.look_around)
        self._is_serving = True
        self._fill()

    async def _claim(self) -> str | None:
        try:
            return await self._base.claim_server()
        except TROUBLE as trouble:
            return str(trouble)

    def _fill(self) -> None:
        """Whose turn has come is taken in hand."""
        hands, reception, now = self._hands, self._reception, self._wall()
        if self._next_fill is not None and not self._has_to_wait:
            self._next_fill.cancel()
            self._next_fill = None
        while self._may_begin and (id := reception.take(now)) is not None:  # noqa: A001
            if id in hands:
                hands.stir(id)
            elif not hands.start(id, reception.known(id)):
                reception.put_back(id)
                self._has_to_wait = True
                self._next_fill = self.tell_later(AGAIN_SECONDS, FillHands())
        if self._may_begin and (moment := reception.next_moment(now)) is not None:
            self._next_fill = self.tell_later(min(max(moment - now, 0.01), WALL_SECONDS), FillHands())

    @property
    def _may_begin(self) -> bool:
        can = self._is_serving and not self._has_to_wait and self._base_trouble is None
        return can and self._hands.have_room

    # -- telling

    def _changed(self) -> None:
        if not self._telling:
            self._telling = True
            self.tell_later(TELL_SECONDS, TellLedger())

    def _tell_ledger(self) -> None:
        now = RunningNow(self._hands.running, len(self._reception), self._hands.lost)
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
