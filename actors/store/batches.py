"""A desk gathers jobs while the executor works on the last batch, and then sends them together as the next.

This is the group commit. A job never waits for company: if the executor is idle, it goes at once and alone, so a lone
writer has no delay. The longer a batch takes, the more jobs share the next.

    a job is     if its asker gives up
    waiting      it is skipped and never executed
    under way    it is executed, and its answer is dropped: the abandoned change has happened

While the desk is `full`, the actor waits for `room` before it adds jobs, so a flood stays in the mailbox, under the
mailbox's policy.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

import msgspec
import trio

from actors.kernel import Reply
from actors.store.errors import Conflict, Refused, StoreError
from actors.store.executors import Done, Executor

BATCH = 512
WAITING = 2 * BATCH


class Slip(Protocol):
    """A job together with the place for its answer."""

    @property
    def job(self) -> Any: ...
    @property
    def reply(self) -> Reply[Any]: ...


class BatchStatistics(msgspec.Struct, frozen=True):
    waiting: int
    batches: int
    jobs: int
    skipped: int
    """Jobs that were abandoned while they waited."""
    largest_batch: int
    last_batch: int
    last_seconds: float


class Batches:
    def __init__(self, executor: Executor, on_batch: Callable[[], None]) -> None:
        self.trouble: StoreError | None = None
        """The error of the disk or the database in the last batch, if there was one."""
        self._executor = executor
        self._on_batch = on_batch
        self._waiting: deque[Slip] = deque()
        self._under_way: list[Slip] = []
        self._opened = trio.Event()
        self._ended = trio.Event()
        self._room: trio.Event | None = None  # not None if and only if somebody waits for room
        self._closing = False
        self._since = 0.0  # when the batch under way was handed over
        self._batches = self._jobs = self._skipped = self._largest = self._last = 0
        self._seconds = 0.0

    def take(self, slip: Slip) -> None:
        self._waiting.append(slip)
        if not self._under_way:
            self._hand_over()

    @property
    def full(self) -> bool:
        return len(self._waiting) >= WAITING

    async def room(self) -> None:
        while self.full:
            if self._room is None:
                self._room = trio.Event()
            await self._room.wait()

    @property
    def seconds(self) -> float:
        """How long the current batch has been under way; 0 if there is none."""
        return trio.current_time() - self._since if self._under_way else 0.0

    async def opened(self) -> None:
        await self._opened.wait()

    async def serve(self) -> None:
        """Runs beside the actor."""
        try:
            await self._executor.opened()
            self._opened.set()
            while (done := await self._executor.done()) is not None:
                answered, self._under_way = self._under_way, []
                self._hand_over()
                self._answer(answered, done)
        finally:
            self._executor.leave()
            self._ended.set()

    async def finish(self) -> None:
        """Waits until all jobs are answered and the executor has closed."""
        self._closing = True
        if not self._under_way:
            self._executor.close()
        await self._ended.wait()

    def _hand_over(self) -> None:
        batch = self._under_way
        while self._waiting and len(batch) < BATCH:
            slip = self._waiting.popleft()
            if slip.reply.abandoned:
                self._skipped += 1
            else:
                batch.append(slip)
        if self._room is not None:
            self._room.set()
            self._room = None
        if batch:
            self._since = trio.current_time()
            self._executor.submit([slip.job for slip in batch])
        elif self._closing:
            self._executor.close()

    def _answer(self, batch: list[Slip], done: Done) -> None:
        self._batches += 1
        self._jobs += len(batch)
        self._last = len(batch)
        self._largest = max(self._largest, len(batch))
        self._seconds = done.seconds
        self.trouble = None
        for slip, answer in zip(batch, done.answers, strict=True):
            if isinstance(answer, StoreError):
                self._fail(slip.reply, answer)
            elif not slip.reply.abandoned:
                slip.reply.set(answer)
        self._on_batch()

    def _fail(self, reply: Reply[Any], error: StoreError) -> None:
        if not isinstance(error, Refused | Conflict):
            self.trouble = error
        if not reply.abandoned:
            reply.fail(error)

    def statistics(self) -> BatchStatistics:
        return BatchStatistics(
            waiting=len(self._waiting),
            batches=self._batches,
            jobs=self._jobs,
            skipped=self._skipped,
            largest_batch=self._largest,
            last_batch=self._last,
            last_seconds=self._seconds,
        )
