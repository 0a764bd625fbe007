"""The desk for programs without trio: the same calls, which wait.

A trio of its own runs in a thread. A call that is interrupted, by Ctrl-C for example, is cancelled there, and nothing
that was submitted is lost. The requests are taken from their iterable in the caller's thread. A process that is forked
has no such thread, and is told so.

A Ctrl-C that comes just before we begin to wait interrupts no system call, and Python would heed it when the waiting is
over, which may be never. So whoever waits looks up now and then.
"""

import os
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Generic, NoReturn, TypeVar

import trio

from codec.ipc import Request
from troupe.ipc.arrivals import Watch
from troupe.ipc.results import Result
from troupe.ipc.tickets import PATIENCE, AnyDesk, Ids, Ticket
from troupe.ipc.troubles import DeskError
from troupe.ipc.turns import Give, SubmitThese, WaitForOne, turns

T = TypeVar("T")

HEEDED_WITHIN = 0.5
"""Seconds after which a signal is heeded that interrupted nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockingTicket:
    id: str
    command: str
    _desk: "BlockingDesk"

    def wait(self, timeout: float | None = None, *, patience: float | None = PATIENCE) -> Result:
        return self._desk.wait(self.id, timeout, patience=patience)

    def cancel(self) -> bool:
        return bool(self._desk.cancel([self.id]))


class _Reply(Generic[T]):
    """What a call returns or raises, from the desk's thread to the caller's.

    It is no Future: a signal that comes while somebody takes the lock of one, which is done in Python, leaves it taken,
    and the desk's thread waits for ever. This queue is written in C.
    """

    def __init__(self) -> None:
        self._said: queue.SimpleQueue[Callable[[], T]] = queue.SimpleQueue()

    def give(self, value: T) -> None:
        self._said.put(lambda: value)

    def fail(self, error: BaseException) -> None:
        def fail() -> NoReturn:
            raise error

        self._said.put(fail)

    def take(self, life: "_Life") -> T:
        while True:
            is_over = life.is_over
            try:
                said = self._said.get(timeout=HEEDED_WITHIN)
            except queue.Empty:
                if is_over:
                    raise DeskError("This desk was closed") from None
            else:
                return said()


class _Life:
    """Whether the desk's thread lives. (Once `Thread.is_alive` has been interrupted, it says that it does not.)"""

    def __init__(self) -> None:
        self.is_over = False
        self._end: queue.SimpleQueue[None] = queue.SimpleQueue()

    def ends(self) -> None:
        self.is_over = True
        self._end.put(None)

    def wait(self) -> None:
        while not self.is_over:
            with suppress(queue.Empty):
                self._end.get(timeout=HEEDED_WITHIN)


class BlockingDesk:
    """Several threads may use it at once."""

    def __init__(self, make: Callable[[], AnyDesk]) -> None:
        self._desk: AnyDesk
        self._token: trio.lowlevel.TrioToken
        self._nursery: trio.Nursery
        self._is_open = True
        self._process = os.getpid()
        self._life = _Life()
        ready: _Reply[None] = _Reply()
        self._thread = threading.Thread(target=self._live, args=(make, ready), name="troupe desk", daemon=True)
        self._thread.start()
        ready.take(self._life)

    def __enter__(self) -> "BlockingDesk":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> NoReturn:
        raise TypeError("This desk is not for trio: `with Desk.blocking() as desk`. In trio: `async with Desk()`.")

    async def __aexit__(self, *_: object) -> NoReturn:
        raise AssertionError  # never entered: Python only looks whether there is one

    def close(self) -> None:
        """What was submitted goes on. In a forked process there is nothing to be closed."""
        if self._is_here:
            self._is_open = False
            with suppress(trio.RunFinishedError):
                self._token.run_sync_soon(lambda: self._nursery.cancel_scope.cancel())
            self._life.wait()
            self._thread.join()

    # -- as AnyDesk

    def submit(self, command: str, params: dict[str, Any] | None = None, **wishes: Any) -> BlockingTicket:
        return self._ticket(self.call(partial(self._desk.submit, command, params, **wishes)))

    def submit_many(self, requests: Sequence[Request]) -> list[BlockingTicket]:
        return [self._ticket(each) for each in self.call(partial(self._desk.submit_many, requests))]

    def ticket(self, id: str, command: str = "") -> BlockingTicket:  # noqa: A002 - as in the contract
        return self._ticket(self._desk.ticket(id, command))

    def run(
        self,
        command: str,
        params: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        patience: float | None = PATIENCE,
        **wishes: Any,
    ) -> Result:
        return self.call(partial(self._desk.run, command, params, timeout=timeout, patience=patience, **wishes))

    def wait(self, id: str, timeout: float | None = None, *, patience: float | None = PATIENCE) -> Result:  # noqa: A002
        return self.call(partial(self._desk.wait, id, timeout, patience=patience))

    def cancel(self, ids: Sequence[str]) -> list[str]:
        return self.call(partial(self._desk.cancel, ids))

    def map(
        self,
        command: str,
        params: Iterable[dict[str, Any]],
        *,
        concurrency: int = 16,
        ids: Ids | None = None,
        patience: float | None = PATIENCE,
        **wishes: Any,
    ) -> Iterator[Result]:
        make = self._desk.maker(command, ids, wishes)
        plan = turns(params, concurrency)
        watch = self.call(self._new_watch)
        answer: Any = None
        try:
            while True:
                try:
                    turn = plan.send(answer)
                except StopIteration:
                    return
                answer = None
                match turn:
                    case SubmitThese(some):
                        answer = self.call(partial(self._submit_and_add, [make(each) for each in some], watch))
                    case WaitForOne():
                        answer = self.call(partial(watch.next, patience))
                    case Give(result):
                        yield result
        finally:
            self._forget(watch)

    def as_completed(
        self,
        tickets: Iterable[BlockingTicket],
        *,
        patience: float | None = PATIENCE,
        until: float | None = None,
    ) -> Iterator[Result]:
        """`until`: no more are given after this time, by time.monotonic()."""
        ids = [each.id for each in tickets]
        watch = self.call(partial(self._new_watch, ids))
        try:
            for _ in set(ids):
                found = self.call(partial(_next_until, watch, patience, until))
                if found is None:
                    return
                yield found
        finally:
            self._forget(watch)

    # --

    def call(self, work: Callable[[], Awaitable[T]]) -> T:
        """Runs it in the desk's thread, and returns what it returns. Cancels it, if we are interrupted."""
        if not self._is_open:
            raise DeskError("This desk was closed")
        if not self._is_here:
            raise DeskError(
                f"This desk was opened by process {self._process}, and this is process {os.getpid()}, which was forked "
                "from it; open a desk in each process"
            )
        scope = trio.CancelScope()
        reply: _Reply[T] = _Reply()
        try:
            self._token.run_sync_soon(self._begin, work, scope, reply)
            return reply.take(self._life)
        except trio.RunFinishedError:
            raise DeskError("This desk was closed") from None
        except BaseException:
            with suppress(trio.RunFinishedError):
                self._token.run_sync_soon(scope.cancel)
            raise

    @property
    def _is_here(self) -> bool:
        return self._process == os.getpid()

    @property
    def desk(self) -> AnyDesk:
        """To be used by `call` only."""
        return self._desk

    def _begin(self, work: Callable[[], Awaitable[T]], scope: trio.CancelScope, reply: _Reply[T]) -> None:
        if self._is_open:
            self._nursery.start_soon(self._run, work, scope, reply)
        else:  # another thread has closed it meanwhile
            reply.fail(DeskError("This desk was closed"))

    async def _run(self, work: Callable[[], Awaitable[T]], scope: trio.CancelScope, reply: _Reply[T]) -> None:
        try:
            with scope:
                reply.give(await work())
            if scope.cancelled_caught:
                reply.fail(DeskError("This call was cancelled"))
        except trio.Cancelled:
            reply.fail(DeskError("This desk was closed"))
            raise
        except BaseException as error:
            reply.fail(error)
            if not isinstance(error, Exception):
                raise

    def _live(self, make: Callable[[], AnyDesk], ready: _Reply[None]) -> None:
        is_ready = False

        async def live() -> None:
            nonlocal is_ready
            async with trio.open_nursery() as nursery:
                self._token = trio.lowlevel.current_trio_token()
                self._nursery = nursery
                self._desk = make()
                try:
                    is_ready = True
                    ready.give(None)
                    await trio.sleep_forever()
                finally:
                    self._desk.close()

        try:
            trio.run(live)
        except BaseException as error:
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            if is_ready:
                raise
            ready.fail(error)
        finally:
            self._life.ends()

    async def _new_watch(self, ids: Sequence[str] = ()) -> Watch:
        watch = self._desk.new_watch()
        watch.add(ids)
        return watch

    async def _submit_and_add(self, requests: list[Request], watch: Watch) -> list[str]:
        await self._desk.submit_many(requests)
        ids = [each.id for each in requests]
        watch.add(ids)
        return ids

    def _forget(self, watch: Watch) -> None:
        if self._is_open and self._is_here:
            with suppress(trio.RunFinishedError):
                self._token.run_sync_soon(watch.close)

    def _ticket(self, ticket: Ticket) -> BlockingTicket:
        return BlockingTicket(ticket.id, ticket.command, self)


async def _next_until(watch: Watch, patience: float | None, until: float | None) -> Result | None:
    with trio.move_on_after(float("inf") if until is None else max(0.0, until - time.monotonic())):
        return await watch.next(patience)
    return None


def call(command: str, params: dict[str, Any] | None = None, *, base: str | None = None, **wishes: Any) -> Result:
    """Submits one request and waits for its result: a desk for one call."""
    from troupe.ipc.desk import Desk

    with Desk.blocking(base) as desk:
        return desk.run(command, params, **wishes)
