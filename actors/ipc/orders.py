"""Orders over many requests: Requeue, CancelRequests, Archive. They go on in turns, a hundred requests each, so that
neither an order nor anything else waits for one over a hundred thousand.

    order            of those that                 what is done
    Requeue          gave up or were cancelled     journalled: three fresh attempts; then the old answer goes
    CancelRequests   are open                      the request is withdrawn; journalled
    Archive          are over                      all files move to archive/DAY/ID/; the journal forgets them. What a
                                                   script has written over one of them stays, and so does its answer

A selection of ids hears of each that it could not be done with. A selection by rule takes what it can. Either hears of
each whose files cannot be changed.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from typing import Literal

import trio
from msgspec.structs import replace

from actors.ipc.books import Books
from actors.ipc.client_steps import State
from actors.ipc.dossier import Dossier, another_round, cancelled, is_overwritten, noted
from actors.ipc.errand import ErrandMeans
from actors.ipc.given import TROUBLE, BothFiles, EntryStuck
from actors.ipc.steps import Answer, Spoiled
from actors.ipc.telling_time import day_of, moment_of
from actors.ipc.uptime import passed
from actors.kernel import MailboxFull, Reply, in_words
from actors.store import all_of
from codec.ipc import Dialect, Success
from codec.ipc.desk import NO_SUCH_REQUEST, Handled, RequestFact, Selection
from codec.words import counted

CHUNK = 100
MOST_WAITING = 100

logger = logging.getLogger("troupe.ipc")

UNDER_WAY = "it is still under way"


@dataclass
class DeskOrder:
    what: Literal["requeue", "cancel", "archive"]
    which: Selection
    reply: Reply[Handled] | None = None
    ids: deque[str] = field(init=False)
    """Still to be done."""
    after: str | None = field(init=False)
    """Where the journal is to be read on; None: nowhere."""
    handled: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        which = self.which
        by_rule = which.all or bool(which.match) or which.older_than is not None
        self.ids = deque(dict.fromkeys(which.ids))
        self.after = None if which.ids or not by_rule else "open:" if self.what == "cancel" else "over:"


class Orders:
    def __init__(
        self,
        means: ErrandMeans,
        books: Books,
        stop_errand: Callable[[str], Awaitable[None]],
        consider: Callable[[Iterable[str]], None],
    ) -> None:
        """`stop_errand` takes an open request out of the queue or of its errand's hands. `consider` adopts what stands
        there."""
        self._means = means
        self._books = books
        self._stop_errand = stop_errand
        self._consider = consider
        self._orders: deque[DeskOrder] = deque()
        self._wanted = trio.Event()

    def add(self, order: DeskOrder) -> None:
        if len(self._orders) >= MOST_WAITING:
            if order.reply is not None:
                order.reply.fail(MailboxFull("too many orders are waiting; give this one again later"))
            return
        self._orders.append(order)
        self._wanted.set()

    async def serve(self) -> None:
        """Runs beside the client end."""
        while True:
            await self._wanted.wait()
            self._wanted = trio.Event()
            while self._orders:
                order = self._orders.popleft()
                if await self._turn(order):
                    self._orders.append(order)
                elif order.reply is not None and not order.reply.abandoned:
                    order.reply.set(Handled(ids=tuple(order.handled), refused=order.refused))

    async def _turn(self, order: DeskOrder) -> bool:
        """Whether there is more to do."""
        chunk: list[str] = []
        try:
            if not order.ids and order.after is not None:
                await self._read_on(order)
            chunk = [order.ids.popleft() for _ in range(min(CHUNK, len(order.ids)))]
            if chunk:
                async with self._books.lock:
                    await self._do(order, chunk)
        except TROUBLE as error:
            undone = {*chunk, *order.ids}.difference(order.handled)
            order.refused.update(dict.fromkeys(undone, in_words(error)))
            if order.reply is None:  # of the retention setting
                logger.warning("%s could not be archived: %s", counted(len(undone), "request"), in_words(error))
            return False
        return bool(order.ids) or order.after is not None

    async def _read_on(self, order: DeskOrder) -> None:
        assert order.after is not None
        space = order.after.partition(":")[0]
        page = await self._means.journal.facts(order.after)
        now, up = self._means.wall(), self._means.uptime()
        order.ids.extend(
            fact.id for fact in page.facts if _wanted(order, fact, now, passed(page.accepted.get(fact.id), up))
        )
        order.after = page.after if page.after is not None and page.after.startswith(f"{space}:") else None

    async def _do(self, order: DeskOrder, ids: Sequence[str]) -> None:
        match order.what:
            case "requeue":
                await self._requeue(order, ids)
            case "cancel":
                await self._cancel(order, ids)
            case "archive":
                await self._archive(order, ids)

    # -- what is done

    async def _requeue(self, order: DeskOrder, ids: Sequence[str]) -> None:
        now, again = self._means.wall(), []
        for dossier in await self._over(order, ids):
            if dossier.state is State.SUCCESS:
                self._refuse(order, dossier.id, "it has succeeded")
            elif not dossier.content:
                self._refuse(order, dossier.id, "its file could not be read; correct the file, and it begins anew")
            else:
                again.append(_requeued(dossier, now))
        await self._keep(order, again)

    async def _keep(self, order: DeskOrder, dossiers: Sequence[Dossier]) -> None:
        if dossiers:
            try:
                kept = await self._means.journal.keep(*dossiers)
            except TROUBLE:
                self._books.doubted.want()
                raise
            for dossier in kept:
                order.handled.append(dossier.id)
                if dossier.is_over:
                    self._means.on_over(dossier)
                    self._means.noting.changed(dossier)
                else:
                    self._books.take_in(dossier)

    async def _cancel(self, order: DeskOrder, ids: Sequence[str]) -> None:
        mine = []
        for id in ids:  # noqa: A001
            if id in self._books.open:
                mine.append(id)
            else:
                is_over = await self._means.journal.find_over(id) is not None
                self._refuse(order, id, "it has ended" if is_over else NO_SUCH_REQUEST)
        await all_of(mine, self._stop_errand)
        await self._means.publishing.settled()  # what is on its way arrives, and is withdrawn then
        try:
            await all_of(mine, partial(self._cancel_one, order))
        except TROUBLE:
            await all_of(mine, self._take_up_again)
            raise

    async def _cancel_one(self, order: DeskOrder, id: str) -> None:  # noqa: A002
        dossier = await self._means.journal.find_open(id)
        if dossier is None:  # its errand had just written down how it ended
            self._books.open.pop(id, None)
            self._refuse(order, id, "it has ended")
            return
        files = await self._means.base.look(id)
        if not is_overwritten(dossier, files):  # else it is another one's request and answer
            answer = files.response
            if isinstance(answer, Answer) and isinstance(answer.outcome, Success):
                self._refuse(order, id, "it was answered before it could be cancelled")
                self._books.take_in(dossier)
                return
            try:
                if files.request is not None:
                    await self._means.base.withdraw(id, files.stands_as)
            except EntryStuck as stuck:
                self._is_stuck(order, id, stuck)
                self._books.take_in(dossier)
                return
        now = self._means.wall()
        over = cancelled(dossier, now, self._means.uptime())
        await self._keep(order, [noted(over, f"{moment_of(now)}: it was cancelled.")])

    async def _take_up_again(self, id: str) -> None:  # noqa: A002
        """It could not be cancelled, and goes on."""
        if id in self._books.open and (dossier := await self._means.journal.find_open(id)) is not None:
            self._books.take_in(dossier)

    async def _archive(self, order: DeskOrder, ids: Sequence[str]) -> None:
        dossiers = await self._over(order, ids)
        try:
            await self._put_away(order, dossiers)
        except EntryStuck:
            for dossier in dossiers:
                try:
                    await self._put_away(order, [dossier])
                except EntryStuck as stuck:
                    self._is_stuck(order, dossier.id, stuck)

    async def _put_away(self, order: DeskOrder, dossiers: Sequence[Dossier]) -> None:
        mine = [dossier.id for dossier in dossiers]
        if mine:
            is_head = self._means.terms.dialect is Dialect.HEAD  # its peer removes requests, and so does a cancel
            looks = dict(zip(mine, await all_of(mine, self._means.base.look), strict=True))
            newer = [dossier.id for dossier in dossiers if is_overwritten(dossier, looks[dossier.id])]
            lost = [
                dossier
                for dossier in dossiers
                if dossier.content and (is_head or dossier.cancelled or dossier.id in newer)
            ]
            asked = {dossier.id: dossier.content for dossier in lost}
            seen = {dossier.id: _its_own(dossier, looks[dossier.id]) for dossier in dossiers}
            await self._means.base.archive(mine, day_of(self._means.wall()), asked=asked, seen=seen)
            await self._means.journal.forget(dossiers)
            self._means.noting.forgotten(mine)
            self._consider(newer)
            order.handled.extend(mine)

    async def _over(self, order: DeskOrder, ids: Sequence[str]) -> list[Dossier]:
        """The others are refused."""
        found = []
        for id, dossier in zip(ids, await all_of(ids, self._means.journal.find_over), strict=True):  # noqa: A001
            if dossier is None:
                self._refuse(order, id, UNDER_WAY if id in self._books.open else NO_SUCH_REQUEST)
            else:
                found.append(dossier)
        return found

    def _is_stuck(self, order: DeskOrder, id: str, why: EntryStuck) -> None:  # noqa: A002
        """The others are done with. Who selects by a rule hears of it, too."""
        logger.warning("%s: %s", id, why)
        order.refused[id] = str(why)

    def _refuse(self, order: DeskOrder, id: str, why: str) -> None:  # noqa: A002
        if order.which.ids:
            order.refused[id] = why


def _its_own(dossier: Dossier, files: BothFiles) -> BothFiles:
    """A script may have written the next request of its id over it, and nobody has seen that yet."""
    if not is_overwritten(dossier, files):
        return files
    answer = files.response
    is_its = isinstance(answer, Answer | Spoiled) and answer.identity in (dossier.answered, dossier.read)
    return replace(files, stands_as=None, response=answer if is_its else None)


def _wanted(order: DeskOrder, fact: RequestFact, now: float, oldest: float | None) -> bool:
    """`oldest`: how long ago it was accepted, by a clock that nobody sets; None: that is not known. What the clock on
    the wall makes older than that is not so old."""
    which = order.which
    if which.match and not fnmatchcase(fact.id, which.match):
        return False
    if which.older_than is not None:
        age = now - fact.changed
        if (age if oldest is None else min(age, oldest)) < which.older_than:
            return False
    return order.what != "requeue" or fact.state in ("gave up", "cancelled")


def _requeued(dossier: Dossier, now: float) -> Dossier:
    """Its old answer is still there, and is taken away by the same steps as that of any attempt that has failed: so a
    newer one is never taken in its place."""
    before, identity = dossier.shown, dossier.read
    fresh = replace(another_round(dossier, now), state=State.RETRYING, attempt=0, read=identity)
    after = f"after {counted(dossier.begun, 'attempt')}" if dossier.begun else "before its first attempt"
    ended = f"{_was(before)} at {moment_of(dossier.changed)}, {after}"
    return noted(fresh, f"{moment_of(now)}: it was requeued, for three fresh attempts; it {ended}.")


def _was(state: str) -> str:
    return "had been cancelled" if state == "cancelled" else "had given up"
