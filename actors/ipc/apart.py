"""A handler's run, in a task of its own, for which nobody has to wait longer than it deserves.

    result()   what the run returned; None: it was cancelled. Raises RunIsLost if it still goes on LOST_SECONDS after it
               was to end: because its time was over, or because somebody has cancelled it
    cancel()   it is to end now

A handler may swallow its cancellation, or wait for a thread that does not come back. In a task of its command it would
keep that command, its place among those that run, and at the end the whole tree. So it runs beside the tree: a run that
is lost is left behind, and whatever it does later is nobody's any more. If the process ends meanwhile, it does not wait
for it either (program/leaving.py).
"""

import contextvars
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import trio

LOST_SECONDS = 5.0

T = TypeVar("T")


class RunIsLost(Exception):
    """It goes on, though it was to end."""


class RunApart(Generic[T]):
    def __init__(self, run: Callable[[], Awaitable[T]], seconds: float, name: str) -> None:
        """`seconds`: after which it ends by itself, unless it is lost."""
        self._scope = trio.CancelScope()
        self._patience = trio.CancelScope(deadline=trio.current_time() + seconds + LOST_SECONDS)
        self._over = trio.Event()
        self._returned: T | None = None
        self._raised: Exception | None = None
        trio.lowlevel.spawn_system_task(self._run, run, name=name, context=contextvars.copy_context())

    async def _run(self, run: Callable[[], Awaitable[T]]) -> None:
        try:
            with self._scope:
                self._returned = await run()
        except Exception as error:  # it is raised where it is waited for: here it would end everything
            self._raised = error
        finally:
            self._over.set()

    def cancel(self) -> None:
        self._scope.cancel()
        self._patience.deadline = min(self._patience.deadline, trio.current_time() + LOST_SECONDS)

    async def result(self) -> T | None:
        try:
            with self._patience:
                await self._over.wait()
        finally:
            self._scope.cancel()
        if not self._over.is_set():
            raise RunIsLost
        if self._raised is not None:
            raise self._raised
        return self._returned
