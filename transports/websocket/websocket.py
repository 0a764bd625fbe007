"""WebSocket connections as the systems see them: `receive`, `send`, `close`, and one exception for all ends.

    async def on_websocket(upgrade: Upgrade) -> None:
        if upgrade.path != "/":
            await upgrade.reject(404, "There is a WebSocket at '/' only.")
            return
        socket = await upgrade.accept()
        while True:
            await socket.send(await socket.receive())      # until Closed is raised; it need not be caught

Rules
  - However a connection ends, `receive` and `send` raise `Closed(code, reason)`. Messages that came before a clean
    close are received first.
  - If a handler raises, its own connection ends with code 1011. After a fault of the library it ends with 1006.
  - A message has at most `message_bytes` bytes (more: 1009) and at most `fragments` fragments (more: 1008).
  - A client that does not read is cut off by the wire's deadline. A client that vanishes is detected by the ping. One
    that reads slowly has not vanished: its answer comes when it has read all that was sent before the ping.
  - A cancelled `send` may have left half a frame on the wire, and therefore ends the connection.

A connection accepted with `accept_fast` is a `FastSocket`, for very many small messages. It receives them in batches,
or has them taken where they are read, and sends by an outbox, so no sender waits.

A handler should receive without delay: a pong waits in the same queue, behind the messages that were not received yet.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar

import trio
from trio_websocket import ConnectionClosed

from actors.kernel import PeerGone
from transports.websocket.fast_lane import AtOnce, FastLane
from transports.websocket.lane import READ_BYTES, Lane
from transports.websocket.library import Connection, request_with
from transports.websocket.outbox import Outbox, frame
from transports.wire.backlog import Backlog
from transports.wire.head import Head
from transports.wire.limits import WebSocketLimits
from transports.wire.load import Load
from transports.wire.refusal import Contain, Refusal, Wording
from transports.wire.wire import GONE, Wire

GOING_AWAY, VANISHED, SERVER_FAULT = 1001, 1006, 1011
PING = b"\x89\0"


class Closed(PeerGone):
    """The connection has ended. 1000 and 1001 are ordinary; 1006 is an end without a close frame."""

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(f"WebSocket closed with {code}" + (f": {reason}" if reason else ""))
        self.code = code
        self.reason = reason


class WebSocket:
    """An accepted connection. Any task may send; only one at a time may receive."""

    def __init__(self, connection: Connection, lane: Lane, wire: Wire, limits: WebSocketLimits) -> None:
        self._connection = connection
        self._lane = lane
        self._wire = wire
        self._limits = limits
        self._end: Closed | None = None
        """The code and reason with which we closed the connection. (The library would report the client's answer.)"""
        self._closing = trio.Lock()

    @property
    def subprotocol(self) -> str | None:
        return self._connection.subprotocol

    async def receive(self) -> str | bytes:
        try:
            message = await self._connection.get_message()
        except ConnectionClosed:
            raise self._closed() from None
        self._lane.bore_fruit()
        return message

    async def send(self, message: str | bytes) -> None:
        try:
            await self._connection.send_message(message)
        except ConnectionClosed:
            raise self._closed() from None

    async def send_all(self, texts: Sequence[str]) -> None:
        """Messages that are sent in one go. The library would take each by itself, at ten times the cost."""
        if self._end is not None or self._connection.closed is not None:
            raise self._closed()
        try:
            await self._lane.send_all(b"".join([frame(text.encode()) for text in texts]))
        except GONE:
            raise self._closed() from None

    def send_now(self, texts: Sequence[str]) -> bool:
        """The same without a step of the scheduler, as far as the socket takes it. False: the rest is to be sent, by
        `send_all`, which needs no further texts for that. (A FastSocket has its outbox.)"""
        return self._lane.send_now(b"".join([frame(text.encode()) for text in texts]))

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Send a close frame and wait, for a bounded time, for the client's answer. Closing twice is no error."""
        if self._end is None and self._connection.closed is None:
            self._end = Closed(code, reason)
        async with self._closing:
            with trio.move_on_after(self._limits.close_seconds) as patience:
                await self._connection.aclose(code, reason or None)
                await self._lane.aclose()  # the library would do so, but may be stopped before
            if patience.cancelled_caught:
                self._wire.cut()

    def forget(self) -> None:
        """After the end, free an unfinished message, and whatever only the collector would find."""
        self._connection.forget()
        self._lane.forget()

    async def keep_alive(self, nursery: trio.Nursery) -> None:
        """Ping the client now and then. Anything that it sends is a sign of life, and so is anything that it reads.

        While no task receives, the client's bytes are not read, so its silence proves nothing.
        """
        lane, limits = self._lane, self._limits
        await trio.sleep(limits.ping_seconds)
        while True:
            lane.forgive(limits.ping_seconds)
            reads, taken = lane.reads, self._wire.taken
            if self._connection.closed is None and not lane.send_now(PING):  # the library would keep a task waiting
                nursery.start_soon(self._send_rest)
            await trio.sleep(limits.pong_seconds)
            if lane.listening and lane.reads == reads and self._wire.taken == taken:
                self._wire.fault = f"no sign of life for {limits.pong_seconds:g} seconds after a ping"
                self._wire.cut()
                return
            await trio.sleep(max(0.0, limits.ping_seconds - limits.pong_seconds))

    async def _send_rest(self) -> None:
        with suppress(*GONE):
            await self._lane.send_all(b"")

    def _closed(self) -> Closed:
        reason = self._connection.closed
        if self._wire.fault is not None:
            return Closed(VANISHED, self._wire.fault)
        if self._end is not None:
            return self._end
        if reason is None:
            return Closed(VANISHED, "the connection broke")
        return Closed(int(reason.code), reason.reason or "")


class FastSocket(WebSocket):
    """A connection for very many small messages. Use `receive_batch` instead of `receive`, and `send` only for messages
    that need not be fast."""

    def __init__(
        self, connection: Connection, lane: FastLane, wire: Wire, limits: WebSocketLimits, outbox: Outbox
    ) -> None:
        super().__init__(connection, lane, wire, limits)
        self._fast_lane = lane
        self.outbox = outbox

    async def receive_batch(self, at_once: AtOnce | None = None) -> list[bytes]:
        """The messages that have come, at least one, texts as UTF-8. The socket is read only while this is waiting.
        With `at_once`, texts that come while this waits may be given to it instead. What it refuses is returned."""
        batch = await self._fast_lane.receive_batch(at_once)
        if batch is not None:
            return batch
        message = await self.receive()
        return [message if isinstance(message, bytes) else message.encode()]


class Upgrade:
    """A client's request for a WebSocket. The handler accepts or rejects it; if it does neither, the answer is 404."""

    def __init__(self, head: Head, remote: str, wire: Wire, nursery: trio.Nursery, door: "WebSockets") -> None:
        self.path = head.path
        self.query = head.query
        self.headers = head.headers
        self.subprotocols = tuple(head.tokens("sec-websocket-protocol"))
        self.remote = remote
        self.socket: WebSocket | None = None
        self.answered = False
        self._head = head
        self._wire = wire
        self._nursery = nursery
        self._door = door

    async def accept(self, *, subprotocol: str | None = None) -> WebSocket:
        """Accept the request. The subprotocol must be one of those that the client proposed."""
        if subprotocol is not None and subprotocol not in self.subprotocols:
            raise ValueError(f"the client proposed {self.subprotocols}, not {subprotocol!r}")
        self._answer()
        self.socket = await self._door.shake_hands(self._head, self._wire, self._nursery, subprotocol)
        return self.socket

    async def accept_fast(self) -> FastSocket:
        """Accept the request of a client that may send very many small messages."""
        self._answer()
        self.socket = socket = await self._door.shake_hands_fast(self._head, self._wire, self._nursery)
        return socket

    async def reject(self, status: int, sentence: str) -> None:
        self._answer()
        try:
            await self._wire.send_all(Refusal(status, sentence).response(self._door.wording))
        except GONE:
            raise Closed(VANISHED, "the client left before the answer") from None

    def _answer(self) -> None:
        if self.answered:
            raise RuntimeError("this upgrade has already been accepted or rejected")
        self.answered = True


Handler = Callable[[Upgrade], Awaitable[None]]
Socket = TypeVar("Socket", bound=WebSocket)


class WebSockets:
    """All WebSocket connections of one door."""

    def __init__(
        self,
        handler: Handler,
        limits: WebSocketLimits,
        *,
        handshake_seconds: float,
        wording: Wording,
        contain: Contain,
    ) -> None:
        self._handler = handler
        self.wording = wording
        self._limits = limits
        self._handshake_seconds = handshake_seconds
        self._contain = contain
        self._backlog = Backlog(limits.backlog_bytes)
        self._load = Load(limits.outboxes_bytes)
        self._open: set[WebSocket] = set()
        self._winding_up = False

    async def serve(self, wire: Wire, head: Head, remote: str) -> None:
        """Run the handler for one request, and then close the connection with the code for how the handler ended."""
        async with trio.open_nursery() as nursery:
            upgrade = Upgrade(head, remote, wire, nursery, self)
            code = 1000
            try:
                await self._handler(upgrade)
            except* Closed:
                pass
            except* Exception as errors:
                self._contain(f"the WebSocket handler of {head.path}", errors)
                code = SERVER_FAULT
            try:
                await self._end(upgrade, code)
            finally:
                self._open.discard(upgrade.socket)
                if upgrade.socket is not None:
                    upgrade.socket.forget()
            nursery.cancel_scope.cancel()

    async def shake_hands(self, head: Head, wire: Wire, nursery: trio.Nursery, subprotocol: str | None) -> WebSocket:
        lane = Lane(wire, _request(head, subprotocol), most_without_message=2 * self._limits.message_bytes + READ_BYTES)
        connection = await self._connect(lane, wire, nursery, subprotocol)
        return await self._opened(WebSocket(connection, lane, wire, self._limits), nursery)

    async def shake_hands_fast(self, head: Head, wire: Wire, nursery: trio.Nursery) -> FastSocket:
        outbox = Outbox(wire, self._limits.outbox_bytes, self._load)
        request = _request(head, None)
        lane = FastLane(wire, request, outbox, self._backlog, nursery, message_bytes=self._limits.message_bytes)
        connection = await self._connect(lane, wire, nursery, None)
        nursery.start_soon(outbox.run)
        return await self._opened(FastSocket(connection, lane, wire, self._limits, outbox), nursery)

    async def _connect(self, lane: Lane, wire: Wire, nursery: trio.Nursery, subprotocol: str | None) -> Connection:
        library: trio.Nursery = await nursery.start(self._library, lane)
        connection = Connection(lane, self._limits)
        try:
            with trio.fail_after(self._handshake_seconds):
                request = await connection.requested(library)
                await request.accept(subprotocol=subprotocol)
        except (trio.TooSlowError, ConnectionClosed, *GONE):
            wire.cut()
            raise Closed(VANISHED, "the connection broke during the handshake") from None
        lane.shaken_hands(connection)
        return connection

    async def _opened(self, socket: Socket, nursery: trio.Nursery) -> Socket:
        nursery.start_soon(socket.keep_alive, nursery)
        self._open.add(socket)
        if self._winding_up:
            await socket.close(GOING_AWAY, STOPPING)
        return socket

    async def wind_up(self) -> None:
        """Tell all clients that the server is going away, and wait, for a bounded time, for their answers."""
        self._winding_up = True
        async with trio.open_nursery() as nursery:
            for socket in self._open:
                nursery.start_soon(socket.close, GOING_AWAY, STOPPING)

    async def _end(self, upgrade: Upgrade, code: int) -> None:
        if upgrade.socket is not None:
            await upgrade.socket.close(code)
        elif not upgrade.answered:
            with suppress(Closed):
                await upgrade.reject(*UNANSWERED[code])

    async def _library(self, lane: Lane, *, task_status: trio.TaskStatus[trio.Nursery]) -> None:
        """The nursery of trio-websocket's reader. It is separate, so that a failure of the reader only closes this
        connection."""
        try:
            async with trio.open_nursery() as nursery:
                task_status.started(nursery)
                await trio.sleep_forever()
        except* Exception as errors:
            self._contain("trio-websocket", errors)
            lane.library_failed()


STOPPING = "the server is stopping"
UNANSWERED = {
    1000: (404, "There is no WebSocket at this path."),
    SERVER_FAULT: (500, "The server failed at this request; its log says why."),
}


def check_upgrade(head: Head) -> None:
    """Refuse requests that trio-websocket would reject without saying why, or after whose rejection it would wait."""
    if head.method != "GET" or head.version != "1.1":
        raise Refusal(400, "A WebSocket begins with a GET request in HTTP/1.1.")
    if "upgrade" not in map(str.lower, head.tokens("connection")):
        raise Refusal(400, "The request has 'Upgrade: websocket' but not 'Connection: Upgrade'.")
    if head.values("content-length") not in ([], ["0"]) or head.values("transfer-encoding"):
        raise Refusal(400, "A request for a WebSocket has no body.")
    if head.values("sec-websocket-version") != ["13"]:
        raise Refusal(
            426,
            "This server speaks version 13 of WebSocket; ask for it with 'Sec-WebSocket-Version: 13'.",
            headers=(("sec-websocket-version", "13"), ("upgrade", "websocket"), ("connection", "upgrade")),
        )
    match head.values("sec-websocket-key"):
        case [key] if _KEY.fullmatch(key):
            return
        case [_]:
            raise Refusal(400, "The Sec-WebSocket-Key is malformed; it must be 16 random bytes in Base64.")
        case _:
            raise Refusal(400, "A WebSocket needs one Sec-WebSocket-Key header.")


_KEY = re.compile(r"[A-Za-z0-9+/]{22}==")


def _request(head: Head, subprotocol: str | None) -> bytes:
    return request_with(head.values("sec-websocket-key")[0], subprotocol)
