"""Again: work that is done beside an end as soon as somebody wants it, and once more a while after a trouble."""

from collections.abc import Awaitable, Callable

import trio

from actors.ipc.given import TROUBLE

AGAIN_SECONDS = 1.0


class WantedWork:
    def __init__(self) -> None:
        self._wanted = trio.Event()

    def want(self) -> None:
        """While it is being done, this means: once more."""
        self._wanted.set()

    async def serve(self, work: Callable[[], Awaitable[None]]) -> None:
        """Runs beside an actor."""
        while True:
            await self._wanted.wait()
            self._wanted = trio.Event()
            try:
                await work()
            except TROUBLE:
                self.want()
                await trio.sleep(AGAIN_SECONDS)
