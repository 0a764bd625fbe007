"""A ping through the folder: whether somebody answers who is ready to.

Its id begins with `PING`, and the ends of the desk treat such a request as nobody's. It is renamed into place anew
every few seconds, because an editor that has just been launched may have missed it. Whatever comes of it, nothing of it
stays in the folder.
"""

from collections.abc import Callable
from contextlib import suppress

from actors.ipc.given import Base, BaseFull, BaseGone
from actors.ipc.steps import Answer, Spoiled
from codec.ipc import Request, Success, write_request

PING = "troupe-ping-"
ANEW_SECONDS = 2.0


class Ping:
    def __init__(self, base: Base, new_id: Callable[[], str], now: Callable[[], float]) -> None:
        self._base = base
        self._new_id = new_id
        self._now = now
        self._id: str | None = None
        self._published_at = 0.0

    async def answered(self) -> bool:
        """Asks, or looks whether what was asked has been answered by a success. Raises BaseGone or BaseFull."""
        if self._id is None or self._now() >= self._published_at + ANEW_SECONDS:
            self._id = self._id or f"{PING}{self._new_id()}"
            asked = write_request(Request(id=self._id, command="ping"))
            await self._base.publish({self._id: asked})
            self._published_at = self._now()
            return False
        response = (await self._base.look(self._id)).response
        if isinstance(response, Answer | Spoiled):
            await self.withdraw()
            return isinstance(response, Answer) and isinstance(response.outcome, Success)
        return False

    async def withdraw(self) -> None:
        """The request goes first, so that nobody takes the missing answer for a wish to be asked again."""
        if self._id is not None:
            id, self._id = self._id, None  # noqa: A001 - as in the contract
            with suppress(BaseGone, BaseFull):  # then nothing of it is there, or what is there is in nobody's way
                await self._base.withdraw(id)
                response = (await self._base.look(id)).response
                if isinstance(response, Answer | Spoiled):
                    await self._base.take_away(id, response.identity)
