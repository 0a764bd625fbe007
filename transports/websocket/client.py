"""The other end of a WebSocket of ours: a connection as a page or a script makes one.

It is for commands that visit a running server; no system uses it. It does not interpret messages; the visitor does.
Every end is a `Closed`, as on the server's side. If no server answers, the error is `Unreachable`, with a text for the
user.

The library's queue holds only a few messages. If a visitor does not receive, the rest stays with the server, which
bounds what it keeps for each peer.
"""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import trio
from trio_websocket import ConnectionClosed, ConnectionRejected, HandshakeError

from actors.kernel import PeerGone
from transports.websocket.library import Visiting
from transports.websocket.websocket import VANISHED, Closed
from transports.wire.limits import WebSocketLimits

CONNECT_SECONDS = 5.0
GOODBYE_SECONDS = 2.0
LIMITS = WebSocketLimits(message_bytes=64 * 1024 * 1024)
"""Twice the server's own limit, because a message may grow when it is translated into canonical form."""
QUEUED = 16


class Unreachable(PeerGone):
    """Nobody can be visited there. The text says why."""


class Visit:
    """Any task may send; only one at a time may receive."""

    def __init__(self, connection: Visiting) -> None:
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
async def visiting(
    url: str, resource: str, what: str, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Visit]:
    """A connection to this path (with its query) of the server at `url`. `what` is to be found there: "room"."""
    try:
        async with trio.open_nursery() as nursery:
            connection = await _connect(url, resource, what, tls, nursery)
            try:
                yield Visit(connection)
            finally:
                with trio.move_on_after(GOODBYE_SECONDS):  # if it does not say goodbye: we have gone all the same
                    await connection.aclose()
            nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        if len(group.exceptions) > 1:
            raise
        raise group.exceptions[0] from None  # the visitor's own, as if there were no nursery


async def _connect(
    url: str, resource: str, what: str, tls: ssl.SSLContext | None, nursery: trio.Nursery
) -> Visiting:
    """Connects within a deadline. The library itself waits for ever if a server accepts a connection and stays
    silent."""
    parts = urlsplit(url)
    try:
        with trio.fail_after(CONNECT_SECONDS):
            stream: trio.abc.Stream = await trio.open_tcp_stream(parts.hostname or "", parts.port or 80)
            if tls is not None:
                stream = await _encrypted(stream, tls, parts.hostname or "")
            connection = Visiting(stream, parts.netloc, resource, LIMITS, queued=QUEUED)
            await nursery.start(connection.run)
            return connection
    except trio.TooSlowError:
        raise Unreachable(f"the server at {url} did not answer within {CONNECT_SECONDS:g} seconds") from None
    except ConnectionRejected as rejected:
        said = (rejected.body or b"").decode("utf-8", "replace").strip()
        raise Unreachable(f"the server at {url} answered {rejected.status_code}: {said}") from None
    except HandshakeError:
        raise Unreachable(f"what answers at {url} is no {what}: it does not speak WebSocket") from None
    except trio.BrokenResourceError as broken:
        if isinstance(broken.__cause__, ssl.SSLCertVerificationError):
            raise Unreachable(f"the server at {url} is not whom its certificate should name") from None
        raise Unreachable(f"what answers at {url} is no {what}: it does not speak TLS") from None
    except OSError:
        raise Unreachable(f"no server answers at {url}") from None


async def _encrypted(stream: trio.abc.Stream, tls: ssl.SSLContext, host: str) -> trio.SSLStream[trio.abc.Stream]:
    """Shakes hands before the library has the stream: it would tell every failure as one of WebSocket."""
    encrypted = trio.SSLStream(stream, tls, server_hostname=host, https_compatible=True)
    try:
        await encrypted.do_handshake()
    except BaseException:
        await trio.aclose_forcefully(encrypted)
        raise
    return encrypted
