"""The store: the one writer of the database, and readers beside it.

Rules
  - A change is answered after the commit that contains it, never before.
  - Changes are made in the order in which their messages came. A question is answered from everything that was
    acknowledged before it was asked; it neither waits for a commit nor delays one.
  - An operation that fails, fails alone, with a sentence. A full disk is an answer, not a crash: acknowledged changes
    are kept, questions are answered, and changes work again when there is space. Until then the store reports its
    trouble and checks every few seconds whether it has passed, because perhaps no other message would find out.
  - After an orderly stop, or the crash of a handler, the accepted changes are committed and answered, and the database
    is closed. A kill drops the waiting ones. A change that was under way may or may not be stored; it was not
    acknowledged.
  - The next incarnation begins when the last one's thread has closed the database (`directory.writing`).
"""

import logging
import math
from contextlib import nullcontext, suppress
from functools import partial

import trio

from actors.kernel import Actor, ChildSpec, KernelError, Key, Mailbox, Stop
from actors.store.batches import Batches
from actors.store.client import StoreClient
from actors.store.connection import log_of, size
from actors.store.database import Database
from actors.store.directory import StateDirectory
from actors.store.errors import StoreError
from actors.store.executors import Make, Threaded
from actors.store.messages import Ask, StatisticsAsked, StoreMessage, StoreStatistics, Write
from actors.store.reader import Reader

NAME = Key[StoreMessage]("store")
CAPACITY = 4096
START_SECONDS = 60.0
"""The start after a kill reads through the log, which may be large, and waits for the last commit of a predecessor."""
GRACE_SECONDS = 5.0
SLOW_SECONDS = 10.0
"""A disk that needs longer for one batch is reported as not answering. A backup may hold the database for half of
that."""
AGAIN_SECONDS = 5.0
"""Seconds between two checks whether trouble has passed."""
SILENT_SECONDS = 60.0
"""Seconds between two log lines about trouble, because on a full disk every change fails."""

logger = logging.getLogger("troupe.store")


def store_spec(directory: StateDirectory, id: str = "store") -> ChildSpec[StoreMessage]:  # noqa: A002
    return ChildSpec(
        id,
        partial(Store, directory),
        start_timeout=START_SECONDS,
        grace=GRACE_SECONDS,
        mailbox=partial(Mailbox, CAPACITY),
    )


class Store(Actor[StoreMessage]):
    def __init__(self, directory: StateDirectory, executor: Make = Threaded) -> None:
        self._directory = directory
        self._executor = executor
        self._desks: list[Batches] = []
        self._silent_until = -math.inf
        self._trying = False

    async def started(self, kept: object | None) -> None:
        file, turn = self._directory.database, self._directory.writing
        self._writing = Batches(self._executor(partial(Database, file), "store: writer", turn), self._note_trouble)
        self._desks.append(self._writing)
        self.run_beside(self._writing.serve)
        await self._writing.opened()  # first, for it makes the tables
        reader = self._executor(partial(Reader, file), "store: reader", nullcontext())
        self._reading = Batches(reader, self._note_trouble)
        self._desks.append(self._reading)
        self.run_beside(self._reading.serve)
        await self._reading.opened()
        self.stage.registry.claim(NAME, self.ref)

    def at_once(self, message: StoreMessage) -> bool:
        """While there is room, an order or a question goes to its desk in the asker's own step."""
        match message:
            case Write() if not self._writing.full:
                self._writing.take(message)
            case Ask() if not self._reading.full:
                self._reading.take(message)
            case _:
                return False
        return True

    async def handle(self, message: StoreMessage) -> None:
        match message:
            case Write():
                if self._writing.full:
                    await self._writing.room()
                self._writing.take(message)
            case Ask():
                if self._reading.full:
                    await self._reading.room()
                self._reading.take(message)
            case StatisticsAsked(reply):
                reply.set(self.statistics())
            case _:
                self.unknown(message)

    async def stopping(self, stop: Stop) -> None:
        await self._reading.finish()
        await self._writing.finish()

    @property
    def trouble(self) -> str | None:
        for desk in self._desks:
            if desk.trouble is not None:
                return str(desk.trouble)
            if desk.seconds > SLOW_SECONDS:
                return f"the disk has not answered for more than {SLOW_SECONDS:g} s; look at it and at the system log"
        return None

    def _note_trouble(self) -> None:
        trouble = self.trouble
        if trouble is not None and not self._trying:
            self._trying = True
            self.run_beside(self._try_again)
        now = self.stage.now()
        if trouble is not None and now >= self._silent_until:
            self._silent_until = now + SILENT_SECONDS
            logger.error("%s: %s", self.ref.path, trouble)

    async def _try_again(self) -> None:
        store = StoreClient(self.ref)
        while self.trouble is not None:
            await trio.sleep(AGAIN_SECONDS)
            with suppress(StoreError, KernelError):  # as it was
                await store.touch()
            with suppress(StoreError, KernelError):
                await store.streams(limit=1)
        self._trying = False

    def statistics(self) -> StoreStatistics:
        file = self._directory.database
        return StoreStatistics(
            writing=self._writing.statistics(),
            reading=self._reading.statistics(),
            database_bytes=size(file),
            log_bytes=size(log_of(file)),
        )
