"""Tasks beside an actor. They run in its supervisor's nursery, and end with the incarnation at the latest.

An incarnation is not over, and nobody is told that it is, before the last of these tasks has ended.
"""

from collections.abc import Awaitable, Callable

import trio

from actors.kernel.failures import parted


class Beside:
    __slots__ = ("_all_gone", "_ending", "_failed", "_scopes")

    def __init__(self, failed: Callable[[Exception | None, BaseException | None], None]) -> None:
        self._failed = failed  # called with the two parts of what a task raised (failures.py); must not raise
        self._scopes: dict[trio.CancelScope, None] = {}  # one for each task, in start order
        self._ending = False  # all tasks are cancelled; so is every task that they still start
        self._all_gone: trio.Event | None = None  # not None once somebody waits for the last task to end

    def start(
        self, nursery: trio.Nursery, name: str, task: Callable[..., Awaitable[object]], args: tuple[object, ...]
    ) -> None:
        scope = trio.CancelScope()
        if self._ending:
            scope.cancel()
        self._scopes[scope] = None
        nursery.start_soon(self._run, scope, task, args, name=name)

    async def _run(
        self, scope: trio.CancelScope, task: Callable[..., Awaitable[object]], args: tuple[object, ...]
    ) -> None:
        foreign = None
        try:
            with scope:
                await task(*args)
        except BaseException as error:
            own, foreign = parted(error)
            self._failed(own, foreign)
        finally:
            del self._scopes[scope]
            if not self._scopes and self._all_gone is not None:
                self._all_gone.set()
        if foreign is not None:
            raise foreign

    def cancel(self) -> None:
        self._ending = True
        for scope in self._scopes:
            scope.cancel()

    async def end(self) -> None:
        self.cancel()
        if self._scopes:
            self._all_gone = trio.Event()
            with trio.CancelScope(shield=True):
                await self._all_gone.wait()
