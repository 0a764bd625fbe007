"""The other end of Sidekick's port: a connection to a room, as a hero or a screen makes one.

For commands that visit a running server; no system uses it. What is said there is for the visitor to know. Every end is
a `Closed`, as at the server's end, and a server that is not there is `Unreachable`, in words for the person who asked.

The library's queue holds a few messages only: a visitor who does not receive leaves the rest to the server, which
bounds what it keeps for him.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from urllib.parse import urlencode, urlsplit

from trio_websocket import (
    ConnectionClosed,
    ConnectionRejected,
    ConnectionTimeout,
    DisconnectionTimeout,
    HandshakeError,
    WebSocketConnection,
    open_websocket,
)

from actors.kernel import PeerGone
from transports.websocket import VANISHED, Closed

CONNECT_SECONDS = 5.0
GOODBYE_SECONDS = 2.0
LARGEST = 64 * 1024 * 1024
"""Twice the server's own limit: a message may have grown when it was put into canonical words."""
QUEUED = 16
READ_BYTES = 64 * 1024


class Unreachable(PeerGone):
    """There is no room to be had there. The text says why."""


class Visit:
    """Any task may send; one at a time receives."""

    def __init__(self, connection: WebSocketConnection) -> None:
        self._connection = connection

    async def receive(self) -> bytes:
        try:
            message = await self._connection.get_message()
        except ConnectionClosed:
            raise self._closed() from None
        return message if isinstance(message, bytes) else message.encode()

    async def send(self, message: bytes) -> None:
        try:
            await self._connection.send_message(message.decode())
        except ConnectionClosed:
            raise self._closed() from None

    def _closed(self) -> Closed:
        reason = self._connection.closed
        if reason is None:
            return Closed(VANISHED, "the connection broke")
        return Closed(int(reason.code), reason.reason or "")


@asynccontextmanager
async def visit(url: str, room: str) -> AsyncIterator[Visit]:
    """A connection to a room of the server at `url`, such as http://127.0.0.1:5163; "" is the default room."""
    parts = urlsplit(url)
    with suppress(DisconnectionTimeout):  # it does not say goodbye; we have gone all the same
        async with AsyncExitStack() as stack:
            try:
                connection = await stack.enter_async_context(
                    open_websocket(
                        parts.hostname or "",
                        parts.port or 80,
                        f"/?{urlencode({'session': room})}" if room else "/",
                        use_ssl=False,
                        message_queue_size=QUEUED,
                        max_message_size=LARGEST,
                        connect_timeout=CONNECT_SECONDS,
                        disconnect_timeout=GOODBYE_SECONDS,
                        receive_buffer_size=READ_BYTES,
                    )
                )
            except ConnectionTimeout:
                raise Unreachable(f"the server at {url} did not answer within {CONNECT_SECONDS:g} seconds") from None
            except ConnectionRejected as rejected:
                said = (rejected.body or b"").decode("utf-8", "replace").strip()
                raise Unreachable(f"the server at {url} answered {rejected.status_code}: {said}") from None
            except (HandshakeError, ConnectionClosed):
                raise Unreachable(f"no server answers at {url}") from None
            yield Visit(connection)
