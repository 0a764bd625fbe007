"""Stores a session: a task beside its actor commits what has gathered, while the actor goes on.

Rules
  - An event that can only be sent when it is kept is committed at once. Tokens alone wait until the first of them is 50
    ms old. While one commit is under way, the next one gathers.
  - The row goes with the events: a commit holds everything up to one moment.
  - A commit that fails is tried again, the same one, until it is done. Meanwhile the session is in trouble, and says
    so. Nothing is sent, shown or answered before it is kept.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.agent.log import SessionLog
from actors.agent.outflow import Outflow, Portion
from actors.kernel import KernelError, Reply, in_words
from actors.store import StoreError
from codec.agent.kept import SessionRow

BATCH_SECONDS = 0.05
AGAIN_SECONDS = (0.25, 5.0)
"""Until a commit that has failed is tried again: the first time, and at most."""

R = TypeVar("R")


class NotStored(KernelError):
    """What was said is not in the store yet. It is tried again, and may be kept later."""

    def __init__(self, why: str) -> None:
        super().__init__(f"this cannot be kept at the moment: {why}; it is tried again until it can")


class SessionCommit(Struct, frozen=True):
    portion: Portion
    row: SessionRow
    changed: bool
    """Whether the row has changed, too."""
    then: list[Callable[[], None]]
    """What is called when it is kept."""
    promises: list[tuple[Reply[Any], Any]]
    """Who is answered, and with what, when it is kept; they are told if it cannot be."""


class Writing:
    def __init__(
        self,
        log: SessionLog,
        outflow: Outflow,
        position: int,
        reserved: int,
        row: Callable[[], SessionRow],
        on_kept: Callable[[SessionCommit], None],
        on_trouble: Callable[[], None],
    ) -> None:
        """`reserved`: as the row in the store has it. `row`: as it is now. The last two are called when a commit is
        kept, and when one fails."""
        self.trouble: str | None = None
        self.resting = False
        """No more tokens are expected: the numbers that are reserved for them are given back."""
        self._log = log
        self._outflow = outflow
        self._position = position
        self._reserved = reserved
        self._row = row
        self._on_kept = on_kept
        self._on_trouble = on_trouble
        self._changed = False
        self._then: list[Callable[[], None]] = []
        self._promises: list[tuple[Reply[Any], Any]] = []
        self._since: float | None = None
        """When the first token that waits was said."""
        self._at_once = False
        self._under_way: SessionCommit | None = None
        self._stir = trio.Event()
        self._closing = False
        self._served = trio.Event()
        self._steps = trio.lowlevel.ParkingLot()

    # -- what is to be kept

    def soon(self) -> None:
        """A token waits."""
        if self._since is None:
            self._since = trio.current_time()
            self._stir.set()
        if not self.resting and self._outflow.needs_numbers():
            self.now()

    def now(self) -> None:
        self._at_once = True
        self._stir.set()

    def changed(self) -> None:
        """The row has changed."""
        self._changed = True
        self.now()

    def then(self, call: Callable[[], None]) -> None:
        """Call this when everything that is said by now is kept."""
        if self.settled:
            call()
        else:
            self._then.append(call)
            self.now()

    def promise(self, reply: Reply[R], value: R) -> None:
        """Answer this then. If it cannot be kept at the moment, the asker is told, and it is kept later."""
        if self.settled:
            answer(reply, value)
        else:
            self._promises.append((reply, value))
            self.now()

    @property
    def settled(self) -> bool:
        """Whether everything is kept."""
        return self._under_way is None and not (self._changed or self._then or self._outflow.unkept)

    # -- the task

    async def serve(self) -> None:
        try:
            while not self._closing:
                if await self._something():
                    await self._commit()
        finally:
            self._served.set()

    async def _something(self) -> bool:
        while not self._at_once:
            if self._closing:
                return False
            self._stir = trio.Event()
            due = float("inf") if self._since is None else self._since + BATCH_SECONDS
            with trio.move_on_at(due) as waiting:
                await self._stir.wait()
            if waiting.cancelled_caught:
                break
        return True

    async def _commit(self) -> None:
        commit = self._under_way = self._take()
        again, most = AGAIN_SECONDS
        while not self._closing:
            try:
                self._position = await self._log.keep(
                    commit.portion.entries, commit.row if commit.changed else None, self._position
                )
            except (StoreError, KernelError) as error:
                self._troubled(error)
                with trio.move_on_after(again):
                    await self._steps.park()
                again = min(2 * again, most)
            else:
                self._done(commit)
                return

    def _take(self) -> SessionCommit:
        row = self._row()
        portion = self._outflow.portion(running=row.turn is not None and not self.resting)
        changed = self._changed or portion.reserved != self._reserved
        row = replace(row, reserved=portion.reserved)
        commit = SessionCommit(portion, row, changed, self._then, self._promises)
        self._then, self._promises = [], []
        self._changed = self._at_once = False
        self._since = None
        return commit

    def _done(self, commit: SessionCommit) -> None:
        self._outflow.done()
        self._reserved = commit.portion.reserved
        self._under_way = None
        self.trouble = None
        self._on_kept(commit)
        for reply, value in commit.promises:
            answer(reply, value)
        for call in commit.then:
            call()
        self._steps.unpark_all()

    def _troubled(self, error: StoreError | KernelError) -> None:
        self.trouble = in_words(error)
        commit = self._under_way
        assert commit is not None
        for reply, _ in (*commit.promises, *self._promises):
            if reply.wanted:
                reply.fail(NotStored(self.trouble))
        commit.promises.clear()
        self._promises.clear()
        self._on_trouble()
        self._steps.unpark_all()

    # -- the end

    async def settle(self) -> None:
        """Keeps everything, and gives the numbers back that are reserved. Returns without that if it is in trouble."""
        self.resting = True
        self.changed()
        while not self.settled and self.trouble is None:
            await self._steps.park()

    async def close(self) -> None:
        """Nothing is kept any more when this returns."""
        self._closing = True
        self._stir.set()
        self._steps.unpark_all()
        await self._served.wait()


def answer(reply: Reply[R], value: R) -> None:
    """If anybody still waits for it."""
    if reply.wanted:
        reply.set(value)
