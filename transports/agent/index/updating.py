"""An update of an index, from its beginning to its end: one order of a crew finds what has to be read, and others
beside it read it.

    Scan ── FoundChanged, ... ──> waiting ── ReadPaths, ... (as many at once as there are members)
      └──── Scanned                                               then Relate

Rules
  - The first batches are small, so that something can be found soon. Later ones are large: each is one commit.
  - For a new index a reader is prepared while the folder is listed: both take about as long.
  - If a member ends while it reads a batch, the index is not in trouble. The batch is read again file by file, and a
    file that ends its reader once more is left out until it changes.
  - Nothing is remembered from one update to the next but what is in the index. So an update can be ended anywhere.
  - If the index turns out to be damaged, it has been put aside, and the whole workspace is read into a new one.
"""

import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import trio
from msgspec.structs import replace

from actors.kernel import KernelError, in_words
from codec.agent.index.telling import IndexFacts, IndexTrouble, IndexWish
from transports.agent.index import orders
from transports.agent.index.ordering import OrderTaker
from transports.agent.index.orders import GONE, IndexAnswer, IndexOrder, IndexPlace, IndexTotals
from transports.process.crew import MemberLost, NeverReady

SCAN_SECONDS, READ_SECONDS, ONE_SECONDS, RELATE_SECONDS = 900.0, 120.0, 40.0, 300.0
SAID_SECONDS = 0.05
BATCH_FILES = 400
FIRST_BYTES, BATCH_BYTES = 48 << 10, 1 << 20
FILE_BYTES = 1 << 10
"""What a file costs beside what it holds."""
SCANS = 3
"""Before it is given up, if its member ends each time."""
RELATED_AT_ONCE = 20_000
"""Files of a workspace; in a larger one imports are resolved by the updates that go through all of it."""

S = TypeVar("S", bound=IndexAnswer)
LEFT_OUT = "{} was left out: whatever reads it is ended by it, or takes too long."


class DamagedIndex(Exception):
    """It was put aside. There is another one."""


class IndexUpdate:
    def __init__(
        self,
        crew: OrderTaker,
        place: IndexPlace,
        wish: IndexWish,
        said: Callable[[IndexFacts], None],
        at_once: int,
        kept: Callable[[IndexTotals], IndexFacts],
    ) -> None:
        self._crew = crew
        self._kept = kept
        """The facts of what is kept."""
        self._place = place
        self._wish = wish
        self._said = said
        self._at_once = at_once
        self._total = IndexTotals()
        self._waiting: deque[tuple[str, int]] = deque()
        """Bounded by the number of files of a workspace."""
        self._reading = 0
        """Files that are being read."""
        self._seen = 0
        self._scanned = False
        self._begun = trio.Event()
        """Set when it is known whether the index is new."""
        self._new = False
        self._related = True
        self._changed = 0
        self._troubles: tuple[str, ...] = ()
        self._next_bytes = FIRST_BYTES
        self._lot = trio.lowlevel.ParkingLot()
        self._said_at = -1.0
        self._failure: Exception | None = None

    async def run(self) -> IndexFacts:
        """Raises IndexTrouble, or DamagedIndex."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._attempt, self._scan, nursery.cancel_scope)
            nursery.start_soon(self._attempt, self._prepare, nursery.cancel_scope)
            for _ in range(self._at_once):
                nursery.start_soon(self._attempt, self._read_all, nursery.cancel_scope)
        if self._failure is None:
            await self._attempt(self._relate, trio.CancelScope())
        if self._failure is not None:
            raise self._failure
        return self.facts()

    def facts(self) -> IndexFacts:
        total, left = self._total, len(self._waiting) + self._reading
        files = total.files
        if self._wish.paths is None:
            files = self._seen if self._scanned else max(self._seen, total.files)
        return replace(
            self._kept(total),
            total_files=files,
            indexed_files=max(0, min(total.files, files - left)),
            changed=self._changed,
        )

    async def _attempt(self, part: Callable[[], Awaitable[None]], scope: trio.CancelScope) -> None:
        try:
            await part()
        except (IndexTrouble, DamagedIndex) as error:
            self._fail(error, scope)
        except NeverReady as error:
            self._fail(IndexTrouble(f"The index's workers cannot be started: {in_words(error)}."), scope)
        except MemberLost:
            self._fail(IndexTrouble("The index's workers end again and again. See the log."), scope)
        except KernelError as error:
            self._fail(IndexTrouble(f"The index cannot be worked on: {in_words(error)}."), scope)

    def _fail(self, error: Exception, scope: trio.CancelScope) -> None:
        if self._failure is None:
            self._failure = error
        scope.cancel()

    # -- the parts

    async def _scan(self) -> None:
        order = orders.Scan(self._place, self._wish.paths, self._wish.anew)
        for tries in range(SCANS):
            self._waiting.clear()
            try:
                found = await self._ask(order, orders.Scanned, SCAN_SECONDS, self._found)
                break
            except NeverReady:
                raise
            except MemberLost:
                if tries == SCANS - 1:
                    raise
        self._seen, self._troubles = found.seen, found.troubles
        self._related = self._related and found.related
        self._take(found.total)
        self._scanned = True
        self._begun.set()
        self._lot.unpark_all()

    def _found(self, part: bytes) -> None:
        found = orders.found_of(part)
        self._new = self._new or found.new
        self._begun.set()
        self._seen = found.seen
        self._waiting += found.changed
        if found.changed:
            self._lot.unpark_all()

    async def _prepare(self) -> None:
        await self._begun.wait()
        if not self._new:
            return
        try:
            await self._ask(orders.Prepare(self._place), orders.Written, READ_SECONDS)
        except NeverReady:
            raise
        except MemberLost:  # whoever reads will see whether that happens again
            pass

    async def _read_all(self) -> None:
        while True:
            while not self._waiting:
                if self._scanned:
                    return
                await self._lot.park()
            batch = self._batch()
            self._reading += len(batch)
            await self._read(batch)
            self._reading -= len(batch)
            self._tell()

    def _batch(self) -> list[tuple[str, int]]:
        batch: list[tuple[str, int]] = []
        left, self._next_bytes = self._next_bytes, min(2 * self._next_bytes, BATCH_BYTES)
        while self._waiting and len(batch) < BATCH_FILES and (left > 0 or not batch):
            batch.append(self._waiting.popleft())
            path, size = batch[-1]
            left -= max(size, 0) + FILE_BYTES + len(path)
        return batch

    async def _read(self, batch: Sequence[tuple[str, int]]) -> None:
        paths = tuple(path for path, size in batch if size != GONE)
        gone = tuple(path for path, size in batch if size == GONE)
        try:
            await self._write(orders.ReadPaths(self._place, paths, gone), READ_SECONDS)
        except NeverReady:
            raise
        except MemberLost:
            for path in paths:
                await self._read_alone(path)
            if gone:
                await self._write(orders.ReadPaths(self._place, (), gone), READ_SECONDS)

    async def _read_alone(self, path: str) -> None:
        try:
            await self._write(orders.ReadPaths(self._place, (path,)), ONE_SECONDS)
        except NeverReady:
            raise
        except MemberLost:
            await self._write(orders.LeaveOut(self._place, path, LEFT_OUT.format(path)), ONE_SECONDS)

    async def _write(self, order: IndexOrder, seconds: float) -> None:
        written = await self._ask(order, orders.Written, seconds)
        self._changed += written.changed
        self._related = self._related and written.related
        self._waiting += ((path, 0) for path in written.again)
        self._take(written.total)

    async def _relate(self) -> None:
        whole = self._wish.paths is None
        if whole or (not self._related and self._total.complete and self._total.files <= RELATED_AT_ONCE):
            self._said(self.facts())  # it can be asked for; this takes a while
            order = orders.Relate(self._place, time.time() if whole else None, self._troubles)
            self._take((await self._ask(order, orders.Written, RELATE_SECONDS)).total)

    # -- asking and telling

    async def _ask(
        self, order: IndexOrder, kind: type[S], seconds: float, heard: Callable[[bytes], object] = lambda part: None
    ) -> S:
        answer = orders.answer_of(await self._crew.do(orders.encode(order), heard, seconds=seconds))
        if isinstance(answer, orders.IndexRefusal):
            raise DamagedIndex(answer.why) if answer.damaged else IndexTrouble(answer.why)
        assert isinstance(answer, kind)
        return answer

    def _take(self, total: IndexTotals) -> None:
        """Answers may come in another order than their commits."""
        if total.generation >= self._total.generation:
            self._total = total

    def _tell(self) -> None:
        now = trio.current_time()
        if now - self._said_at >= SAID_SECONDS:
            self._said_at = now
            self._said(self.facts())
