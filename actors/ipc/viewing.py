"""A desk viewer serves one open page of the desk: what the page wants to see, and what it has been shown.

    the page wants something    it is shown at once
    the ledger has news         what differs is shown, a quarter of a second after the last time at the earliest
    something cannot be asked   it is asked again after that time; the page keeps what it has

Rules
  - The page is only told what differs from what it has.
  - Sending waits while the page does not read, and meanwhile nothing is asked. So a slow page is told less often, and
    what waits for it is one answer of each kind.
  - The ledger has at most one piece of news for a viewer on its way, and the page at most one wish.
  - The detail that a page looks at is read again after every change of its line, and every few seconds: an evaluation
    changes no line.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol, TypeVar

import msgspec
import trio
from msgspec import Struct

from actors.ipc.messages import (
    LEDGER,
    DeskTotalsAsked,
    DetailAsked,
    LedgerMessage,
    LedgerNews,
    LineAsked,
    NewsWanted,
    WindowAsked,
)
from actors.kernel import Actor, ActorRef, Down, KernelError, Mailbox, Reply, Timer
from codec.ipc.desk import DetailGone, DetailWanted, RequestFact, Shown, Wanted, WindowWanted

REST = 0.25
"""Seconds between two times that a page is told of changes."""
DETAIL_REST = 3.0
"""Seconds after which a detail is read again without a change of its line."""
PATIENCE = 5.0

encoder = msgspec.json.Encoder()
viewer_mailbox = partial(Mailbox, 8)

R = TypeVar("R")


class Outlet(Protocol):
    """The connection to the page. Sending waits while the page does not read, and raises PeerGone when it has gone."""

    def send(self, text: str) -> Awaitable[None]: ...


class PageWants(Struct, frozen=True):
    wanted: Wanted
    reply: Reply[None]
    """When it has been shown."""


class ShowNow(Struct, frozen=True):
    """It is time to show what is new."""


DeskViewerMessage = PageWants | ShowNow | LedgerNews


class DeskViewer(Actor[DeskViewerMessage]):
    def __init__(self, wire: Outlet) -> None:
        self._wire = wire
        self._window = WindowWanted()
        self._detail = ""
        self._seen = -1
        self._shown: dict[str, bytes] = {}
        """The last message of each kind."""
        self._line: RequestFact | None = None
        """The line for which the detail was shown..."""
        self._read_at = -DETAIL_REST
        """...and when it was read."""
        self._shown_at = -REST
        self._timer: Timer | None = None
        self._due = 0.0

    @property
    def called(self) -> str:
        return "page"

    async def started(self, kept: object | None) -> None:
        self._ledger: ActorRef[LedgerMessage] = self.stage.registry.get(LEDGER)
        self.monitor(self._ledger, every=True)
        self._soon()

    async def down(self, down: Down) -> None:
        if down.final:
            self.finish()
        else:
            self._seen = -1
            self._soon()

    async def handle(self, message: DeskViewerMessage) -> None:
        match message:
            case LedgerNews(version):
                self._seen = version
                self._soon()
            case ShowNow():
                self._timer = None
                await self._show()
            case PageWants(wanted, reply):
                await self._want(wanted)
                reply.set(None)
            case _:
                self.unknown(message)

    async def _want(self, wanted: Wanted) -> None:
        match wanted:
            case WindowWanted():
                self._window = wanted
                self._shown.pop("window", None)  # it waits for an answer
                await self._at_once(self._show_window)
            case DetailWanted(id=id):
                self._detail, self._line, self._read_at = id, None, -DETAIL_REST
                for kind in ("detail", "gone"):
                    self._shown.pop(kind, None)
                await self._at_once(self._show_detail)
                self._soon()  # and again, for as long as it is looked at

    def _soon(self, rest: float = REST) -> None:
        """Shows what is new when so much time has passed since the last time, or earlier if that is planned."""
        due = self._shown_at + rest
        if self._timer is not None:
            if self._due <= due:
                return
            self._timer.cancel()
        self._due = due
        self._timer = self.tell_later(max(0.0, due - trio.current_time()), ShowNow())

    async def _at_once(self, show: Callable[[], Awaitable[None]]) -> None:
        try:
            await show()
        except KernelError:
            self._soon()

    async def _show(self) -> None:
        self._shown_at = trio.current_time()
        try:
            await self._send("totals", await self._ask(DeskTotalsAsked))
            await self._show_window()
            await self._show_detail()
            await self._ledger.send(NewsWanted(self.ref, self._seen))
        except KernelError:
            self._soon()
            return
        if self._detail:
            self._soon(DETAIL_REST)

    async def _show_window(self) -> None:
        await self._send("window", await self._ask(partial(WindowAsked, self._window)))

    async def _show_detail(self) -> None:
        if not self._detail:
            return
        line = await self._ask(partial(LineAsked, self._detail))
        now = trio.current_time()
        if line == self._line and now < self._read_at + DETAIL_REST:
            return
        detail = await self._ask(partial(DetailAsked, self._detail))
        self._line, self._read_at = line, now
        if detail is None:
            await self._send("gone", DetailGone(id=self._detail))
            self._shown.pop("detail", None)
        else:
            await self._send("detail", detail)
            self._shown.pop("gone", None)

    async def _ask(self, question: Callable[[Reply[R]], LedgerMessage]) -> R:
        return await self._ledger.ask(question, timeout=PATIENCE)

    async def _send(self, kind: str, message: Shown) -> None:
        data = encoder.encode(message)
        if self._shown.get(kind) != data:
            await self._wire.send(data.decode())
            self._shown[kind] = data
