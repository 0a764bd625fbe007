"""The stream under trio-websocket.

A lane lies between the wire and the library, and sees every byte of a WebSocket. It notices signs of life, works around
three faults of trio-websocket 0.12, and is the base of lanes that process frames before the library does.

  - If a frame comes in one packet with the upgrade, the library loses it by feeding it to the parser of the handshake.
    So the lane gives it a request (see library.py), and nothing more until the handshake is done.
  - On a violation of the protocol, the library closes the stream without a close frame. The lane sends one, so the
    client learns what it did wrong (1002, 1007).
  - The library accepts pings and pongs without end, and each costs as much as many messages. So the lane bounds the
    number of bytes that may come without a message.
"""

import struct
from contextlib import suppress

import trio
from trio_websocket import WebSocketConnection

from transports.wire.wire import GONE, Wire

CLOSE_FRAME = 0x88
VIOLATIONS = (1002, 1007)
POLICY = 1008
READ_BYTES = 64 * 1024
IDLE_BYTES_PER_SECOND = 256
"""A client that sends no messages may send pings and pongs at this rate for ever."""


class Lane(trio.abc.Stream):
    __slots__ = (
        "_connection", "_ending", "_fruitless", "_most", "_request", "_said_goodbye", "_sending", "_shaken_hands",
        "_torn", "_wire", "listening", "reads",
    )  # fmt: skip

    def __init__(self, wire: Wire, request: bytes, *, most_without_message: int) -> None:
        self._wire = wire
        self._request = request
        self._most = most_without_message
        self._fruitless = 0
        self.reads = 0
        """How often something was read from the client."""
        self.listening = False
        """A task is waiting for the client's next bytes."""
        self._said_goodbye = False
        self._ending = trio.Lock()
        self._sending = trio.Lock()
        self._torn = b""
        """What `send_now` could not send. It goes before all else."""
        self._connection: WebSocketConnection | None = None
        self._shaken_hands = trio.Event()

    def shaken_hands(self, connection: WebSocketConnection) -> None:
        self._connection = connection
        self._shaken_hands.set()

    def forget(self) -> None:
        """After the end, forget the library's connection, which knows this lane: the collector alone would find that
        circle."""
        self._connection = None

    def bore_fruit(self) -> None:
        """A message was received."""
        self._fruitless = 0

    def forgive(self, seconds: float) -> None:
        """To be called now and then while the connection is open, with the time that has passed since the last call. It
        forgives the bytes that are allowed in this time."""
        self._fruitless = max(0, self._fruitless - int(IDLE_BYTES_PER_SECOND * seconds))

    def library_failed(self) -> None:
        self._wire.cut()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        if self._request:
            await trio.lowlevel.checkpoint()
            request, self._request = self._request, b""
            return request
        await self._shaken_hands.wait()
        return await self._for_library(max_bytes)

    async def _for_library(self, max_bytes: int | None) -> bytes:
        return await self._read(max_bytes)

    async def _read(self, max_bytes: int | None) -> bytes:
        self.listening = True
        try:
            data = await self._wire.receive_directly(max_bytes or READ_BYTES)
        finally:
            self.listening = False
        self._count(data)
        if self._fruitless > self._most:
            await self._has_nothing_to_say()
        return data

    def _count(self, data: bytes) -> None:
        self.reads += 1
        self._fruitless += len(data)

    async def _has_nothing_to_say(self) -> None:
        self._wire.fault = f"{self._fruitless} bytes came and no message among them"
        await self._say_goodbye(POLICY, self._wire.fault)
        await self._wire.aclose()
        raise trio.ClosedResourceError

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if data and data[0] == CLOSE_FRAME:
            self._said_goodbye = True
        async with self._sending:  # the library sends in turn, but our close frame may come at any time
            torn, self._torn = self._torn, b""
            try:
                await self._wire.send_all(torn + bytes(data) if torn else data)
            except BaseException:
                self._torn = torn + self._torn  # it may be that not a byte was sent, and others are
                raise

    def send_now(self, data: bytes) -> bool:
        """Send whole frames without waiting for anything. False: some of it could not be sent; what is sent next sends
        it first."""
        sent = 0
        if not (self._sending.locked() or self._torn or self._said_goodbye):
            with suppress(*GONE):  # whoever sends the rest is told
                sent = self._wire.write_now(data)
        self._torn += data[sent:]
        return not self._torn

    async def wait_send_all_might_not_block(self) -> None:
        await self._wire.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        async with self._ending:
            reason = self._connection.closed if self._connection is not None else None
            if reason is not None and reason.code in VIOLATIONS:
                await self._say_goodbye(int(reason.code), reason.reason or "")
            await self._wire.aclose()

    async def _say_goodbye(self, code: int, reason: str) -> None:
        if self._said_goodbye:
            return
        payload = struct.pack("!H", code) + reason.encode("ascii", "replace")[:120]
        with suppress(*GONE):
            await self.send_all(bytes([CLOSE_FRAME, len(payload)]) + payload)
