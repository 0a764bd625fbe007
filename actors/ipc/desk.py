"""The desk for its port: it reads what is ordered, passes it to the client end, and answers from the ledger.

The transport knows no actors and no messages: it gets bytes from here. A refusal is a BadOrder (the client's mistake)
or a KernelError (nobody is there, or has time), and the text of either can be shown.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TypeVar

import msgspec
import trio

from actors.ipc.editor import EDITOR, StartEditor, StopEditor
from actors.ipc.ends import troubles_of_the_ends
from actors.ipc.figures import Figures
from actors.ipc.messages import (
    CLIENT_END,
    LEDGER,
    Archive,
    CancelRequests,
    ClientOrder,
    DeskTotalsAsked,
    DetailAsked,
    FiguresAsked,
    LedgerMessage,
    LineAsked,
    Requeue,
    SubmitRequests,
    TellLedgerNow,
    WindowAsked,
)
from actors.ipc.viewing import DeskViewer, DeskViewerMessage, Outlet, PageWants, viewer_mailbox
from actors.kernel import (
    ActorRef,
    AnySpec,
    Children,
    ChildSpec,
    KernelError,
    Key,
    Registry,
    Reply,
    TooSlow,
    crowd_spec,
    in_words,
)
from codec.ipc.desk import DeskHealth, DeskNotice, EditorAnswer, Handled, Selection
from codec.ipc.orders import BadOrder, read_editor_order, read_selection, read_submissions, read_wanted, read_window
from codec.words import lasting

VIEWERS = Key[Children[DeskViewerMessage]]("ipc/viewers")
MOST_PAGES = 256
PATIENCE = 5.0
CATCH_UP_SECONDS = 1.0
SUBMIT_SECONDS = 60.0
"""Ten thousand requests have to be on the disk."""
ORDER_SECONDS = 600.0
"""For an order over all requests, of which there may be a million."""
EDITOR_SECONDS = 30.0
"""To look at its processes, and to ask them to end."""
SHOW_SECONDS = 40.0
"""For a page that reads slowly; the wire gives it up before."""
LARGE = 64 << 10
"""An order of more bytes is read in a thread."""
LONELY_SECONDS = 60.0
"""How long nobody may answer before the desk counts as failing."""

ORDERS: dict[str, Callable[[Selection, Reply[Handled]], ClientOrder]] = {
    "requeue": Requeue,
    "cancel": CancelRequests,
    "archive": Archive,
}

encoder = msgspec.json.Encoder()

R = TypeVar("R")


def desk_viewers_spec() -> AnySpec:
    """One actor for each open page of the desk."""
    return crowd_spec("viewers", name=VIEWERS, max_children=MOST_PAGES)


class DeskSeat:
    """A page's end of its viewer."""

    def __init__(self, viewer: ActorRef[DeskViewerMessage], wire: Outlet) -> None:
        self._viewer = viewer
        self._wire = wire

    async def heard(self, text: str | bytes) -> None:
        """The page's next message. Returns when it has been shown what it wants."""
        try:
            wanted = read_wanted(text)
        except BadOrder as error:
            notice = DeskNotice(level="error", text=f"The page has said what cannot be understood: {error}.")
            await self._wire.send(encoder.encode(notice).decode())
        else:
            await self._viewer.ask(partial(PageWants, wanted), timeout=SHOW_SECONDS)


class IpcDesk:
    def __init__(self, registry: Registry, new_id: Callable[[], str], wall: Callable[[], float]) -> None:
        """`new_id`: for requests that have none, and for viewers. `wall`: seconds since 1970."""
        self._registry = registry
        self._new_id = new_id
        self._wall = wall
        self._readers = trio.CapacityLimiter(2)

    # -- questions

    async def window(self, query: dict[str, list[str]]) -> bytes:
        wanted = read_window(query)
        await self._catch_up()
        if wanted.at and await self._ask(partial(LineAsked, wanted.at)) is None:
            raise BadOrder(f"there is no request {wanted.at!r} any more to go on after; begin again without `after`")
        return encoder.encode(await self._ask(partial(WindowAsked, wanted)))

    async def detail(self, id: str) -> bytes | None:  # noqa: A002 - as in the contract
        """None: there is no such request. A desk that another server has does not know."""
        detail = await self._ask(partial(DetailAsked, id))
        if detail is not None:
            return encoder.encode(detail)
        if trouble := troubles_of_the_ends(self._registry):
            raise KernelError(f"this server does not know whether there is a request {id[:128]!r}: {' '.join(trouble)}")
        return None

    async def totals(self) -> bytes:
        await self._catch_up()
        return encoder.encode(await self._ask(DeskTotalsAsked))

    async def metrics(self) -> bytes:
        from actors.ipc.exposition import desk_exposition  # takes a while to load, and few ask

        return desk_exposition(await self._ask(FiguresAsked), self._wall())

    async def health(self) -> tuple[bool, bytes]:
        """Whether all is well, and what is not."""
        try:
            trouble = troubles(await self._ask(FiguresAsked)) or troubles_of_the_ends(self._registry)
            trouble += self._trouble_of_the_editor()
        except KernelError as error:
            trouble = (f"The desk cannot be asked: {in_words(error)}.",)
        return not trouble, encoder.encode(DeskHealth(status="failing" if trouble else "ok", trouble=trouble))

    def _trouble_of_the_editor(self) -> tuple[str, ...]:
        editor = self._registry.find(EDITOR)
        why = None if editor is None else editor.statistics().trouble
        return (why,) if why else ()

    # -- orders

    async def submit(self, body: bytes) -> tuple[bool, bytes]:
        """Whether any is taken, or there was none."""
        read = partial(read_submissions, body, self._new_id)
        large = len(body) > LARGE
        requests = await trio.to_thread.run_sync(read, limiter=self._readers) if large else read()
        handled = await self._order(partial(SubmitRequests, requests), SUBMIT_SECONDS)
        return bool(handled.ids) or not handled.refused, encoder.encode(handled)

    async def order(self, what: str, body: bytes) -> bytes:
        """`what`: requeue, cancel or archive."""
        try:
            return encoder.encode(await self._order(partial(ORDERS[what], read_selection(body)), ORDER_SECONDS))
        except TooSlow:
            raise KernelError(
                f"this takes more than {ORDER_SECONDS / 60:g} minutes and goes on; the list shows how far it is"
            ) from None

    async def editor(self, body: bytes) -> bytes:
        order = read_editor_order(body)
        editor = self._registry.find(EDITOR)
        if editor is None:
            raise KernelError("no editor is managed here; name the command that starts one in ipc.editor")
        sentence = await editor.ask(StopEditor if order == "stop" else StartEditor, timeout=EDITOR_SECONDS)
        return encoder.encode(EditorAnswer(editor=sentence))

    # -- pages

    @asynccontextmanager
    async def view(self, wire: Outlet) -> AsyncIterator[DeskSeat]:
        """Keeps the page on this wire up to date until the block or the viewer ends."""
        spec = ChildSpec(self._new_id(), lambda: DeskViewer(wire), mailbox=viewer_mailbox, grace=1.0)
        async with self._registry.get(VIEWERS).lease(spec) as viewer:
            yield DeskSeat(viewer, wire)

    async def _ask(self, question: Callable[[Reply[R]], LedgerMessage]) -> R:
        return await self._registry.get(LEDGER).ask(question, timeout=PATIENCE)

    async def _catch_up(self) -> None:
        """The ledger hears of changes a few times a second. Who asks by HTTP may have seen more in the files."""
        with suppress(KernelError):  # nobody is there who could have more to tell, or who has time
            await self._registry.get(CLIENT_END).ask(TellLedgerNow, timeout=CATCH_UP_SECONDS)

    async def _order(self, order: Callable[[Reply[Handled]], ClientOrder], seconds: float) -> Handled:
        return await self._registry.get(CLIENT_END).ask(order, timeout=seconds)


def troubles(figures: Figures) -> tuple[str, ...]:
    """A sentence for each thing for which the desk counts as failing."""
    found = [figures.totals.trouble] if figures.totals.trouble else []
    if figures.lonely_seconds >= LONELY_SECONDS:
        found.append(f"Nobody has answered for {lasting(round(figures.lonely_seconds))}. {figures.totals.peer}".strip())
    return tuple(found)
