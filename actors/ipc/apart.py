"""A handler's run, in a task of its own, for which nobody has to wait longer than it deserves.

    on_end(returned, None)          it has ended
    on_end(None, error)             it has raised that
    on_end(None, RunIsLost)         it still goes on LOST_SECONDS after it was to end: because its time was over, or
                                    because somebody has cancelled it
    on_end(None, None)              it was cancelled, and has ended
    cancel()                        it is to end now
    leave()                         it is to end now, and nobody wants to be told

A handler may swallow its cancellation, or wait for a thread that does not come back. In a task of its command it would
keep that command, its place among those that run, and at the end the whole tree. So it runs beside the tree: a run that
is lost is left behind, and its results are ignored. If the process ends meanwhile, it does not wait for the run either
(program/leaving.py).

Its end is told by a call and not to a task that waits for it: each task less is a switch less on the way of an answer.
"""

import contextvars
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import trio

from actors.kernel import Timers

LOST_SECONDS = 5.0

T = TypeVar("T")


class RunIsLost(Exception):
    """It goes on, though it was to end."""


class RunApart(Generic[T]):
    def __init__(
        self,
        run: Callable[[], Awaitable[T]],
        seconds: float,
        name: str,
        timers: Timers,
        on_end: Callable[[T | None, Exception | None], None],
    ) -> None:
        """`seconds`: after which it ends by itself, unless it is lost. `on_end`: is called once, unless it is left."""
        self._scope = trio.CancelScope()
        self._timers = timers
        self._on_end: Callable[[T | None, Exception | None], None] | None = on_end
        self._patience = timers.after(seconds + LOST_SECONDS, self._lose)
        trio.lowlevel.spawn_system_task(self._run, run, name=name, context=contextvars.copy_context())

    async def _run(self, run: Callable[[], Awaitable[T]]) -> None:
        returned: T | None = None
        raised: Exception | None = None
        try:
            with self._scope:
                returned = await run()
        except Exception as error:  # it is the command's: here it would end everything
            raised = error
        finally:
            self._end(returned, raised)

    def cancel(self) -> None:
        self._scope.cancel()
        if self._on_end is not None and self._patience.due > self._timers.now() + LOST_SECONDS:
            self._patience.cancel()
            self._patience = self._timers.after(LOST_SECONDS, self._lose)

    def leave(self) -> None:
        self._on_end = None
        self._patience.cancel()
        self._scope.cancel()

    def _lose(self) -> None:
        self._scope.cancel()
        self._end(None, RunIsLost())

    def _end(self, returned: T | None, raised: Exception | None) -> None:
        self._patience.cancel()
        on_end, self._on_end = self._on_end, None
        if on_end is not None:
            on_end(returned, raised)
