"""The desk for programs without trio: the same calls, which wait.

A trio of its own runs in a thread. A call that is interrupted, by Ctrl-C for example, is cancelled there, and nothing
that was submitted is lost. The requests are taken from their iterable in the caller's thread. A process that is forked
has no such thread, and is told so.
"""

import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, NoReturn, TypeVar

import trio

from codec.ipc import Request
from troupe.ipc.arrivals import Watch
from troupe.ipc.results import Result
from troupe.ipc.tickets import PATIENCE, AnyDesk, Ids, Ticket
from troupe.ipc.troubles import DeskError
from troupe.ipc.turns import Give, SubmitThese, WaitForOne, turns

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class BlockingTicket:
    id: str
    command: str
    _desk: "BlockingDesk"

    def wait(self, timeout: float | None = None, *, patience: float | None = PATIENCE) -> Result:
        return self._desk.wait(self.id, timeout, patience=patience)

    def cancel(self) -> bool:
        return bool(self._desk.cancel([self.id]))


class BlockingDesk:
    """Several threads may use it at once."""

    def __init__(self, make: Callable[[], AnyDesk]) -> None:
        self._desk: AnyDesk
        self._token: trio.lowlevel.TrioToken
        self._nursery: trio.Nursery
        self._is_open = True
        self._process = os.getpid()
        ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._live, args=(make, ready), name="troupe desk", daemon=True)
        self._thread.start()
        ready.result()

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
        if self._is_open and self._is_here:
            self._is_open = False
            self._token.run_sync_soon(lambda: self._nursery.cancel_scope.cancel())
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
        future: Future[T] = Future()
        self._token.run_sync_soon(lambda: self._nursery.start_soon(self._run, work, scope, future))
        try:
            return future.result()
        except BaseException:
            if not future.done():
                self._token.run_sync_soon(scope.cancel)
            raise

    @property
    def _is_here(self) -> bool:
        return self._process == os.getpid()

    @property
    def desk(self) -> AnyDesk:
        """To be used by `call` only."""
        return self._desk

    async def _run(self, work: Callable[[], Awaitable[T]], scope: trio.CancelScope, future: "Future[T]") -> None:
        try:
            with scope:
                future.set_result(await work())
        except trio.Cancelled:
            future.set_exception(DeskError("This desk was closed"))
            raise
        except BaseException as error:
            future.set_exception(error)
            if not isinstance(error, Exception):
                raise
        if not future.done():
            future.set_exception(DeskError("This call was cancelled"))

    def _live(self, make: Callable[[], AnyDesk], ready: "Future[None]") -> None:
        async def live() -> None:
            async with trio.open_nursery() as nursery:
                self._token = trio.lowlevel.current_trio_token()
                self._nursery = nursery
                self._desk = make()
                try:
                    ready.set_result(None)
                    await trio.sleep_forever()
                finally:
                    self._desk.close()

        try:
            trio.run(live)
        except BaseException as error:
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            if ready.done():
                raise
            ready.set_exception(error)

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
