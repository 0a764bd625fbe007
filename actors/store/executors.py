"""An executor runs the blocking work of an engine (the Database, the Reader): in a separate thread, or inline for
tests.

An executor has at most one batch under way. It opens its engine, executes batches in order, lets the engine rest in
between, and closes it. Nothing else ever touches the engine.

Results are announced by a byte on a socket pair instead of `TrioToken.run_sync_soon`. A round trip from the thread to
the waiting task takes 45 µs instead of 75, and a lone writer waits for each of them.

A thread that is told to close finishes its batch first. Nobody needs to wait for it: a writing thread holds its `turn`
until its engine is closed, and only then does the next one open its own. Threads are daemons, because a disk that hangs
must not keep the process from ending, and uncommitted changes were never acknowledged.
"""

import queue
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, Protocol

import trio

IDLE_SECONDS = 0.25
"""After this time without work, an engine may rest for longer."""


class Engine(Protocol):
    def execute(self, jobs: Sequence[Any], /) -> list[object]:
        """Returns for each job its answer, or a StoreError."""

    def rest(self, *, idle: bool) -> bool:
        """Called between batches. True: some work is left that can wait until nobody does."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Done:
    answers: list[object]
    seconds: float


class Executor(Protocol):
    async def opened(self) -> None:
        """Waits until the engine is open. Raises its error."""

    def submit(self, jobs: Sequence[Any], /) -> None:
        """Executes this batch. The last one must be `done`."""

    async def done(self) -> Done | None:
        """The result of a batch, or None when the executor has closed. Raises the engine's error."""

    def close(self) -> None:
        """Closes after the current batch."""

    def leave(self) -> None:
        """Closes without waiting for results."""


class Make(Protocol):
    """`Threaded`, `Inline`, or a test's own."""

    def __call__(self, open: Callable[[], Engine], name: str, turn: AbstractContextManager[Any]) -> Executor: ...  # noqa: A002


class Threaded:
    def __init__(
        self,
        open: Callable[[], Engine],  # noqa: A002
        name: str,
        turn: AbstractContextManager[Any] = nullcontext(),  # noqa: B008
    ) -> None:
        self._open = open
        self._turn = turn
        self._work: queue.SimpleQueue[Sequence[Any] | None] = queue.SimpleQueue()
        self._results: deque[Done | Exception | None] = deque()  # None: the engine is open
        self._bell, self._ear = socket.socketpair()
        self._ear.setblocking(False)
        self._closing = False
        threading.Thread(target=self._run, name=name, daemon=True).start()

    # -- in the loop

    async def opened(self) -> None:
        await self._result()

    def submit(self, jobs: Sequence[Any]) -> None:
        self._work.put(jobs)

    async def done(self) -> Done | None:
        return await self._result()

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._work.put(None)

    def leave(self) -> None:
        self.close()
        self._ear.close()

    async def _result(self) -> Done | None:
        await trio.lowlevel.wait_readable(self._ear)
        result = self._results.popleft() if self._ear.recv(1) else None
        if isinstance(result, Exception):
            raise result
        return result

    # -- in the thread

    def _run(self) -> None:
        with self._bell:
            try:
                with self._turn:
                    engine = self._open()
                    try:
                        self._tell(None)
                        self._serve(engine)
                    finally:
                        engine.close()
            except Exception as error:  # raised again in the loop, where the result is awaited
                self._tell(error)

    def _serve(self, engine: Engine) -> None:
        while (jobs := self._next(engine)) is not None:
            start = time.perf_counter()
            answers = engine.execute(jobs)
            self._tell(Done(answers, time.perf_counter() - start))

    def _next(self, engine: Engine) -> Sequence[Any] | None:
        if engine.rest(idle=False):
            try:
                return self._work.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                engine.rest(idle=True)
        return self._work.get()

    def _tell(self, result: Done | Exception | None) -> None:
        self._results.append(result)
        with suppress(BrokenPipeError):  # the actor was killed, and nobody listens any more
            self._bell.send(b"!")


class Inline:
    """The same in the loop itself, which it blocks. It is for deterministic tests, where a thread would seem idle.

    A batch takes `seconds` of the loop's own clock.
    """

    def __init__(
        self,
        open: Callable[[], Engine],  # noqa: A002
        name: str = "",
        turn: AbstractContextManager[Any] = nullcontext(),  # noqa: B008
        *,
        seconds: float = 0.0,
    ) -> None:
        self._open = open
        self._seconds = seconds
        self._engine: Engine | None = None
        self._jobs: deque[Sequence[Any]] = deque()
        self._changed = trio.Event()
        self._closing = False

    async def opened(self) -> None:
        await trio.lowlevel.checkpoint()
        self._engine = self._open()

    def submit(self, jobs: Sequence[Any]) -> None:
        self._jobs.append(jobs)
        self._changed.set()

    async def done(self) -> Done | None:
        while not self._jobs:
            if self._closing:
                return None
            await self._changed.wait()
            self._changed = trio.Event()
        await trio.sleep(self._seconds)
        assert self._engine is not None
        answers = self._engine.execute(self._jobs.popleft())
        self._engine.rest(idle=False)
        return Done(answers, self._seconds)

    def close(self) -> None:
        self._closing = True
        self._changed.set()

    def leave(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None
