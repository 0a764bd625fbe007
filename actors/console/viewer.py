"""A viewer serves one open console page: it knows the page's last picture, and sends the difference to the next.

It outlives the observer. When the observer was restarted, the page is sent the whole state again.
"""

from collections.abc import Awaitable
from functools import partial
from typing import Protocol

import msgspec

from actors.console.messages import FirstPicture, ViewerMessage, Watch
from actors.console.picture import Picture, difference
from actors.kernel import Actor, ActorRef, Down, Mailbox, Overflow

encoder = msgspec.json.Encoder()

viewer_mailbox = partial(Mailbox, 2, Overflow.DROP_OLDEST)
"""It holds the newest picture, and the welcome that comes before the first."""


class Outlet(Protocol):
    """The connection to the page. Sending waits while the page does not read, and raises PeerGone when it has gone."""

    def send(self, text: str) -> Awaitable[None]: ...


class Viewer(Actor[ViewerMessage]):
    def __init__(self, wire: Outlet, observer: ActorRef[Watch]) -> None:
        self.wire = wire
        self.observer = observer
        self.told: Picture | None = None

    @property
    def called(self) -> str:
        return "page"

    async def started(self, kept: object | None) -> None:
        self.monitor(self.observer, every=True)
        await self.observer.send(Watch(self.ref))

    async def down(self, down: Down) -> None:
        if down.final:
            self.finish()
        else:
            self.told = None
            await self.observer.send(Watch(self.ref))

    async def handle(self, message: ViewerMessage) -> None:
        match message:
            case FirstPicture(hello, picture):
                self.told = picture
                await self.wire.send(encoder.encode(hello).decode())
            case Picture():
                if self.told is None:  # of before the observer's restart, or the welcome was pushed out by pictures
                    await self.observer.send(Watch(self.ref))
                    return
                change = difference(self.told, message)
                self.told = message
                await self.wire.send(encoder.encode(change).decode())
            case _:
                self.unknown(message)
