"""trio-websocket's connection, for servers and for clients, with workarounds for these faults of the library:

  - It reads the request a second time, and worse than the door: it knows only the last of two Connection headers,
    understands no list in Upgrade, and fails with a traceback if any header contains a letter that is not ASCII. So it
    is given a request that we have written, with the client's key.
  - After our close frame, only the client's close frame matters. The library would answer a ping that comes then, and
    refuse a second long message, although wsproto raises in that state. So an ordinary client whose ping crosses our
    close frame would be cut off before it has read why. Here such frames are ignored.
  - It keeps the pieces of a message as they come, each in an object of fifty bytes or more, and measures a text in
    characters. Two thousand letters, sent in pairs, cost ten times as much as was counted. Here an unfinished message
    is one bytearray, and its bytes are counted. Its fragments are counted too, because each takes as long as many
    peeled messages.
  - It answers a client's close frame, and refuses a message that is too long, in a task of its own. A close at the same
    time would end the stream before the answer is sent. So a close waits for that answer.
  - The first reason for which a connection ended must stay the reason, whatever else comes in the same read.
  - It handles pongs and fragments without a pause, ten thousand in one read, while everybody else waits. Here other
    tasks have their turn after each.

The methods that are overridden here are private ones of trio-websocket 0.12. The tests of this folder fail if one of
them moves.
"""

from collections.abc import Callable
from typing import Any

import h11
import trio
from trio_websocket import CloseReason, HandshakeError, WebSocketConnection, WebSocketRequest
from wsproto import ConnectionType, WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Ping, Pong, TextMessage
from wsproto.utilities import ProtocolError

from transports.websocket.lane import READ_BYTES
from transports.wire.limits import WebSocketLimits

POLICY, TOO_BIG = 1008, 1009


def request_with(key: str, subprotocol: str | None) -> bytes:
    """A request for a WebSocket that the library understands."""
    lines = [
        "GET / HTTP/1.1",
        "Host: localhost",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {key}",
    ]
    if subprotocol is not None:
        lines.append(f"Sec-WebSocket-Protocol: {subprotocol}")
    return "\r\n".join([*lines, "", ""]).encode()


class Mended(WebSocketConnection):
    """The connection of a server or of a client."""

    def __init__(
        self, stream: trio.abc.Stream, protocol: WSConnection, limits: WebSocketLimits, **of_this_end: Any
    ) -> None:
        super().__init__(
            stream, protocol, max_message_size=limits.message_bytes, receive_buffer_size=READ_BYTES, **of_this_end
        )
        self._most_fragments = limits.fragments
        self._message = bytearray()
        """The part of an unfinished message that has come."""
        self._fragments = 0

    async def _aclose(self, code: int, reason: str | None) -> None:
        if self._close_reason is not None and not self._is_open:
            await self._close_handshake.wait()
        await super()._aclose(code, reason)

    async def _close_web_socket(self, code: int, reason: str | None = None) -> None:
        if self._close_reason is None:
            await super()._close_web_socket(code, reason)
        else:
            await self._send_channel.aclose()

    @property
    def _is_open(self) -> bool:
        return self._wsproto.state is ConnectionState.OPEN

    async def _handle_ping_event(self, event: Ping) -> None:
        if self._is_open:
            await super()._handle_ping_event(event)

    async def _handle_pong_event(self, event: Pong) -> None:
        await trio.lowlevel.checkpoint()
        await super()._handle_pong_event(event)

    async def _handle_message_event(self, event: BytesMessage | TextMessage) -> None:
        if not event.message_finished:
            await trio.lowlevel.checkpoint()
        if not self._is_open:
            return
        self._message += event.data.encode() if isinstance(event, TextMessage) else event.data
        self._fragments += event.frame_finished
        if len(self._message) > self._max_message_size:
            await self._refuse(TOO_BIG, f"a message may be {self._max_message_size} bytes long, and this one is longer")
        elif self._fragments > self._most_fragments:
            await self._refuse(POLICY, f"a message may come in {self._most_fragments} fragments; send it in fewer")
        elif event.message_finished:
            whole, self._message, self._fragments = self._message, bytearray(), 0
            message = TextMessage(whole.decode()) if isinstance(event, TextMessage) else BytesMessage(bytes(whole))
            await super()._handle_message_event(message)

    async def _refuse(self, code: int, why: str) -> None:
        """Close the connection because of what the peer has sent, without waiting for its answer."""
        self._message.clear()
        self._close_reason = CloseReason(code, why)
        await self._send(CloseConnection(code=code, reason=why))
        await self._recv_channel.aclose()
        self._reader_running = False
        self._close_handshake.set()


class Connection(Mended):
    """The connection of a server."""

    def __init__(self, stream: trio.abc.Stream, limits: WebSocketLimits) -> None:
        super().__init__(stream, WSConnection(ConnectionType.SERVER), limits)

    async def requested(self, nursery: trio.Nursery) -> WebSocketRequest:
        """Begin to read, in this nursery. Returns the request."""
        nursery.start_soon(self._reader_task)
        return await self._get_request()

    def forget(self) -> None:
        """After the end, free an unfinished message. Tracebacks of the library's end refer to this object until they
        are garbage-collected, and before that many more connections may come, with messages of 32 MiB each."""
        self._message.clear()


class Visiting(Mended):
    """The connection of a client."""

    def __init__(
        self, stream: trio.abc.Stream, host: str, resource: str, limits: WebSocketLimits, *, queued: int
    ) -> None:
        super().__init__(
            stream,
            WSConnection(ConnectionType.CLIENT),
            limits,
            host=host,
            path=resource,
            message_queue_size=queued,
        )
        self._shaken_hands: Callable[[], object]

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Run the connection. It has started when the handshake is done, and closes the stream at the end. If there is
        no handshake, it raises `ConnectionRejected`, or `HandshakeError` if the server speaks no WebSocket."""
        self._shaken_hands = task_status.started
        try:
            await self._reader_task()
        except (ProtocolError, h11.ProtocolError):
            await self._abort_web_socket()
        finally:
            await trio.aclose_forcefully(self._stream)
        if not self._open_handshake.is_set():
            raise HandshakeError

    async def _handle_accept_connection_event(self, event: AcceptConnection) -> None:
        await super()._handle_accept_connection_event(event)
        self._shaken_hands()
