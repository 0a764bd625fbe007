"""Reception: the requests that stand in the folder and are not in hand.

    an id is    until
    unread      its files have been looked at, a batch at a time: whose turn it is stands in the request
    torn        a second has passed: somebody may be writing it
    queued      its turn comes (fairness.py)

Rules
  - What waits is an id with its wishes. Its content is read again when its turn comes, except for the last few read.
  - At a start only what is not answered is read: the names in requests/ without those in responses/, and what the
    journal says was begun. In the dialect of HEAD those with an answer are read, too: a kill has come before they were
    removed, and their client waits for that. After that a request is looked at when there is news of it. A success that
    was taken away asks for nothing, and is not looked at again at each rescan.
  - A look at all names takes seconds in a folder of a hundred thousand. Whatever is noticed meanwhile is read and has
    its turn meanwhile, and is newer than the list of names, which may not have it.
  - A row whose request has gone is forgotten.
"""

import logging
import math
from collections.abc import Callable, Iterable

import trio

from actors.ipc.command import AGAIN_SECONDS, CommandOver, KnownBefore, ServerMeans, Settlement, fingerprint_of
from actors.ipc.fairness import FairQueue
from actors.ipc.given import TROUBLE, Asked, BothFiles, Tray
from actors.ipc.hands import HandEnded, Hands, is_quiet
from actors.ipc.server_steps import Phase
from actors.ipc.steps import Torn
from actors.store import all_of
from codec.ipc import Dialect, Wishes, in_turn

AT_ONCE = 256
"""Requests that are read together."""
FRESH, FRESH_BYTES = 64, 64 << 10
"""So many requests that were just read are kept until their turn, and none that is larger."""
APART_SECONDS, SHARE = 0.5, 20.0
"""Between two rescans so many seconds pass, and so many times as many as the last one took."""
STEP = 5_000
"""After so many ids of a rescan others have their turn."""
FORGOTTEN = 200
"""So many rows are forgotten at a time, and then it is known what has come meanwhile."""

logger = logging.getLogger("troupe.ipc")


class Reception:
    def __init__(
        self,
        means: ServerMeans,
        hands: Hands,
        on_torn: Callable[[], object],
        on_turn: Callable[[], None],
        on_change: Callable[[], None],
    ) -> None:
        """`on_torn` is told when something is to be looked at again in a second; `on_turn` when there may be a turn."""
        self._means = means
        self._hands = hands
        self._on_torn = on_torn
        self._on_turn = on_turn
        self._on_change = on_change
        self._unread, self._queue = FairQueue(), FairQueue()
        self._fresh: dict[str, BothFiles] = {}
        self._torn: set[str] = set()
        self._rows: dict[str, Settlement | None] = {}
        """What the journal knows. None: it is not settled, or was not looked at."""
        self._knows_rows = False
        self._newer: set[str] = set()
        """Noticed since a list of all names was begun."""
        self._is_listing = False
        self._rescan = False
        self._next_rescan = -math.inf
        self._wanted = trio.Event()
        self._rescan_wanted = trio.Event()

    def __len__(self) -> int:
        return len(self._queue) + len(self._unread)

    # -- news

    def noticed(self, id: str, *, of_answer: bool = False) -> None:  # noqa: A002 - as in the contract
        if self._is_listing:
            self._newer.add(id)
        if id in self._hands:
            self._hands.stir(id, of_answer=of_answer)
        elif not (of_answer and self._asks_for_nothing(id)):
            self._fresh.pop(id, None)
            self._unread.add(id)
            self._wanted.set()

    def _asks_for_nothing(self, id: str) -> bool:  # noqa: A002
        """Whatever happens to its answer."""
        return is_quiet(self._rows.get(id)) and not (id in self._queue or id in self._unread or id in self._torn)

    def rescan(self) -> None:
        """Everything may have changed."""
        self._rescan = True
        self._rescan_wanted.set()

    def stir(self) -> None:
        """A trouble is over: whatever rests because of it goes on, in hand or not."""
        self._wanted.set()
        self._rescan_wanted.set()
        for id in self._hands:  # noqa: A001
            self._hands.stir(id)

    def look_at_torn(self) -> None:
        torn, self._torn = self._torn, set()
        for each in torn:
            self._unread.add(each)
        self._wanted.set()

    def put_back(self, id: str) -> None:  # noqa: A002
        self._unread.add(id)
        self._wanted.set()

    def ended(self, hand: HandEnded) -> None:
        if hand.look_again:
            self.put_back(hand.id)
        if hand.over is None:
            self._rows.setdefault(hand.id, None)
        else:
            self._note(hand.over)

    def _note(self, over: CommandOver) -> None:
        if over.has_row:
            self._rows[over.id] = over.settled
        else:
            self._rows.pop(over.id, None)
        if over.later is not None:
            self._queue.add(over.id, over.later)

    # -- turns

    def take(self, now: float) -> str | None:
        return self._queue.take(now)

    def next_moment(self, now: float) -> float | None:
        return self._queue.next_moment(now)

    def known(self, id: str) -> KnownBefore:  # noqa: A002
        """What is known of it, and is not kept any more."""
        return KnownBefore(self._fresh.pop(id, None), may_have_row=not self._knows_rows or id in self._rows)

    # -- reading

    async def read(self) -> None:
        """Runs beside the server end."""
        while True:
            self._wanted = trio.Event()
            some = self._unread.take_some(0.0, AT_ONCE)
            if not some:
                await self._wanted.wait()
                continue
            try:
                await self._look_at(some)
            except TROUBLE as trouble:
                logger.info("the server end: %s", trouble)
                for id in some:  # noqa: A001
                    self._unread.add(id)
                self._next_rescan = -math.inf
                self.rescan()
                with trio.move_on_after(AGAIN_SECONDS):
                    await self._wanted.wait()

    async def look_around(self) -> None:
        """Runs beside the server end, and beside the reading."""
        while True:
            self._rescan_wanted = trio.Event()
            if not self._rescan or trio.current_time() < self._next_rescan:
                with trio.move_on_at(self._next_rescan if self._rescan else math.inf):
                    await self._rescan_wanted.wait()
                continue
            self._rescan, began = False, trio.current_time()
            try:
                await self._look_at_all_names()
            except TROUBLE as trouble:
                logger.info("the server end: %s", trouble)
                self._rescan, self._next_rescan = True, -math.inf
                with trio.move_on_after(AGAIN_SECONDS):
                    await self._rescan_wanted.wait()
            else:
                took = trio.current_time() - began
                self._next_rescan = trio.current_time() + max(APART_SECONDS, SHARE * took)

    async def _look_at_all_names(self) -> None:
        self._newer, self._is_listing = set(), True
        try:
            await self._compare(await self._means.base.ids(Tray.REQUESTS), await self._means.base.ids(Tray.RESPONSES))
        finally:
            self._newer, self._is_listing = set(), False

    async def _compare(self, requests: frozenset[str], responses: frozenset[str]) -> None:
        begun = []
        if not self._knows_rows:
            async for id, phase in self._means.journal.all():  # noqa: A001
                self._rows.setdefault(id, None)
                if phase is not Phase.ANSWERED:
                    begun.append(id)
            self._knows_rows = True
        gone = [id for id in self._rows if id not in requests]  # noqa: A001
        for at in range(0, len(gone), FORGOTTEN):
            await self._forget(id for id in gone[at : at + FORGOTTEN] if id not in self._newer)  # noqa: A001
        for id in tuple(self._queue):  # noqa: A001
            if id not in requests and id not in self._newer:
                self._queue.discard(id)
        is_head = self._means.terms.dialect is Dialect.HEAD
        unanswered = requests if is_head else requests - responses
        for number, id in enumerate((*begun, *in_turn(unanswered)), 1):  # noqa: A001
            known = is_quiet(self._rows.get(id)) or id in self._queue or id in self._hands
            if id in requests and not known:
                self._unread.add(id)
                self._wanted.set()
            if number % STEP == 0:
                await trio.lowlevel.checkpoint()
        for id in self._hands:  # noqa: A001
            self._hands.look_again(id)
            if id not in requests or id in responses:
                self._hands.stir(id)
        self._on_change()

    async def _look_at(self, ids: list[str]) -> None:
        found = await all_of(ids, self._means.base.look, AT_ONCE)
        await self._forget([id for id, files in zip(ids, found, strict=True) if self._sorted(id, files)])  # noqa: A001
        self._on_turn()
        self._on_change()

    def _sorted(self, id: str, files: BothFiles) -> bool:  # noqa: A002
        """Where it belongs now. Whether there is no such request, and a row to be forgotten."""
        if id in self._hands:
            self._hands.stir(id)
            return False
        if files.request is None:
            self._queue.discard(id)
            return id in self._rows
        if isinstance(files.request, Torn) or isinstance(files.response, Torn):
            if not self._torn:
                self._on_torn()
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
        gone = [id for id in ids if id not in self._hands]  # noqa: A001
        if not gone:
            return
        for id in gone:  # noqa: A001 - first: if it comes again meanwhile, it is another request
            self._rows.pop(id, None)
        try:
            await self._means.journal.forget(gone)
        except TROUBLE:
            for id in gone:  # noqa: A001
                self._rows.setdefault(id, None)
            raise
