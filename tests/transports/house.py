"""A door with a small application behind it, and the clients that come to it."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, cast

import httpx
import pytest
import trio
from quart import Response, request
from trio.testing import memory_stream_pair
from trio_websocket import CloseReason, ConnectionClosed, WebSocketConnection, wrap_client_stream

from tests.patience import PATIENCE
from transports.door.door import Door
from transports.http.application import Application, whole_body
from transports.websocket.websocket import Closed, Upgrade, WebSocket
from transports.wire.binding import Address

"""Real time after which a test that waits for a socket has failed."""


@dataclass
class Log:
    """Keeps what the door says."""

    lines: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def error(self, event: str, **fields: Any) -> None:
        self.lines.append((event, fields))

    warning = error

    def contained(self) -> list[str]:
        return [str(fields["error"]) for event, fields in self.lines if event == "contained"]


@dataclass
class Events:
    """What happened inside the handlers."""

    closed: list[Closed] = field(default_factory=list)
    received: list[str | bytes] = field(default_factory=list)
    cancelled: trio.Event = field(default_factory=trio.Event)
    entered: trio.Event = field(default_factory=trio.Event)
    proceed: trio.Event = field(default_factory=trio.Event)


def application(events: Events) -> Application:
    app = Application("house")

    @app.get("/")
    async def index() -> str:
        return "hello"

    @app.post("/whole")
    async def whole() -> str:
        return str(len(await request.get_data()))

    @app.post("/parts")
    async def parts() -> str:
        total = 0
        async for part in request.body:
            total += len(part)
        return str(total)

    @app.post("/early")
    async def early() -> tuple[str, int]:
        return "you may not", 401

    @app.post("/asleep")
    async def asleep() -> str:
        events.entered.set()
        await events.proceed.wait()
        total = 0
        async for part in request.body:
            total += len(part)
        return str(total)

    async def taken(body: bytes) -> tuple[str, int]:
        match body:
            case b"what waits":
                return await waiting(), 200
            case b"what breaks":
                return await broken(), 200
        return str(len(body)), 400 if body.startswith(b"what is wrong") else 200

    app.take("/taken", taken)

    @app.post("/routed")
    async def routed() -> Response:
        """The same, by Quart's way."""
        said, status = await taken(await whole_body())
        return Response(f"{said}\n", status, content_type="text/plain; charset=utf-8")

    @app.get("/waiting")
    async def waiting() -> str:
        events.entered.set()
        try:
            await events.proceed.wait()
        except trio.Cancelled:
            events.cancelled.set()
            raise
        return "done"

    @app.get("/endless")
    async def endless() -> Response:
        async def parts() -> AsyncIterator[bytes]:
            events.entered.set()
            try:
                while True:
                    yield b"x" * 65536
            finally:
                events.cancelled.set()

        return Response(parts())

    @app.get("/broken")
    async def broken() -> str:
        raise ValueError("a handler's mistake")

    @app.get("/broken-midway")
    async def broken_midway() -> Response:
        async def parts() -> AsyncIterator[bytes]:
            yield b"the first part"
            raise ValueError("a handler's mistake, midway")

        return Response(parts())

    return app


def websockets(events: Events) -> Callable[[Upgrade], Awaitable[None]]:
    async def echo(socket: WebSocket) -> None:
        try:
            while True:
                message = await socket.receive()
                events.received.append(message)
                await socket.send(message)
        except Closed as closed:
            events.closed.append(closed)
            raise

    async def handler(upgrade: Upgrade) -> None:
        match upgrade.path:
            case "/":
                await echo(await upgrade.accept())
            case "/chosen":
                await echo(await upgrade.accept(subprotocol="second"))
            case "/broken":
                await upgrade.accept()
                raise ValueError("a handler's mistake")
            case "/broken-before":
                raise ValueError("a handler's mistake, before it answered")
            case "/deaf":
                await upgrade.accept()
                events.entered.set()
                await trio.sleep_forever()
            case "/flood":
                socket = await upgrade.accept()
                try:
                    while True:
                        await socket.send(b"x" * 65536)
                except Closed as closed:
                    events.closed.append(closed)
            case "/slow":
                socket = await upgrade.accept()
                try:
                    while True:
                        events.received.append(await socket.receive())
                        await trio.sleep(0.02)
                except Closed as closed:
                    events.closed.append(closed)
            case "/who":
                socket = await upgrade.accept()
                headers = dict(upgrade.headers)
                await socket.send(f"{upgrade.path} {upgrade.query} {headers['x-name']} {upgrade.remote}")
            case "/forbidden":
                await upgrade.reject(403, "You may not.")

    return handler


@dataclass
class House:
    door: Door
    log: Log
    events: Events
    nursery: trio.Nursery

    @property
    def url(self) -> str:
        return self.door.statistics().addresses[0].url

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://").removeprefix("https://")

    @property
    def port(self) -> int:
        return self.door.statistics().addresses[0].port

    def request(self, line: str, *headers: str, body: bytes = b"") -> bytes:
        """A request as bytes, with the right Host."""
        return "\r\n".join([line, f"Host: {self.host}", *headers, "", ""]).encode("latin-1") + body

    def upgrade(self, path: str = "/", *headers: str) -> bytes:
        return self.request(
            f"GET {path} HTTP/1.1",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            *headers,
        )

    async def connect(self) -> trio.SocketStream:
        return await trio.open_tcp_stream("127.0.0.1", self.port)

    async def exchange(self, data: bytes) -> bytes:
        """Send, and read until the door has closed, also if it closes before everything is sent."""
        answer = b""
        with trio.fail_after(PATIENCE):
            async with await self.connect() as stream, trio.open_nursery() as nursery:

                async def read() -> None:
                    nonlocal answer
                    answer = await read_all(stream)
                    nursery.cancel_scope.cancel()

                nursery.start_soon(read)
                with suppress(trio.BrokenResourceError):
                    await stream.send_all(data)
        return answer

    def post(self, path: str, body: bytes, *, chunked: bool = False) -> bytes:
        """A POST as bytes, with the body in one piece or in chunks."""
        if not chunked:
            return self.request(f"POST {path} HTTP/1.1", f"Content-Length: {len(body)}", body=body)
        parts = [body[at : at + 10_000] for at in range(0, len(body), 10_000)]
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
        return self.request(f"POST {path} HTTP/1.1", "Transfer-Encoding: chunked", body=chunks + b"0\r\n\r\n")

    def memory_client(self) -> trio.StapledStream[Any, Any]:
        """A client without a socket, for virtual time."""
        client, server = memory_stream_pair()

        def cut() -> None:
            server.send_stream.close()
            server.receive_stream.close()

        ends = (("127.0.0.1", 1), ("127.0.0.1", self.port))
        self.nursery.start_soon(self.door.attend, self.door.admit(server, cut), ends)
        return client

    @asynccontextmanager
    async def websocket(
        self,
        path: str = "/",
        *,
        address: Address | None = None,
        tls: ssl.SSLContext | None = None,
        headers: Mapping[str, str] | None = None,
        protocols: Sequence[str] = (),
    ) -> AsyncIterator[WebSocketConnection]:
        """A client of trio-websocket. Its own `open_websocket` leaves the socket open when the server closes first."""
        address = address or self.door.statistics().addresses[0]
        stream: trio.abc.Stream = await trio.open_tcp_stream(address.host, address.port)
        if tls is not None:
            stream = trio.SSLStream(stream, tls, server_hostname="localhost", https_compatible=True)
        try:
            async with trio.open_nursery() as nursery:
                with trio.fail_after(PATIENCE):
                    yield await wrap_client_stream(
                        nursery,
                        cast(trio.SocketStream, stream),
                        address.netloc,
                        path,
                        subprotocols=protocols,
                        extra_headers=[(name.encode(), value.encode()) for name, value in (headers or {}).items()],
                    )
                nursery.cancel_scope.cancel()
        finally:
            await trio.aclose_forcefully(stream)

    async def all_gone(self) -> None:
        """Wait until the door has no connection any more."""
        with trio.fail_after(PATIENCE):
            while self.door.statistics().open:  # noqa: ASYNC110  what is asked is the public figure
                await trio.sleep(0.01)

    async def memory_websocket(self, path: str = "/") -> WebSocketConnection:
        client = cast(trio.SocketStream, self.memory_client())
        return await wrap_client_stream(self.nursery, client, self.host, path)

    async def is_healthy(self) -> bool:
        """A GET and a WebSocket echo, as any client would."""
        with trio.fail_after(PATIENCE):
            async with httpx.AsyncClient() as client:
                answer = await client.get(f"{self.url}/")
            async with self.websocket() as socket:
                await socket.send_message("are you there")
                echo = await socket.get_message()
        return (answer.status_code, answer.text, echo) == (200, "hello", "are you there")


@asynccontextmanager
async def open_house(**settings: Any) -> AsyncIterator[House]:
    """Open a door; at the end cancel whatever is still there."""
    log, events = Log(), Events()
    settings.setdefault("hosts", ["127.0.0.1"])
    settings.setdefault("app", application(events))
    settings.setdefault("on_websocket", websockets(events))
    door = Door(log=log, **settings)
    async with trio.open_nursery() as nursery:
        await nursery.start(door.serve)
        yield House(door, log, events, nursery)
        nursery.cancel_scope.cancel()


async def read_all(stream: trio.abc.ReceiveStream) -> bytes:
    """Until the end of the stream, however it ends."""
    data = b""
    try:
        while part := await stream.receive_some():
            data += part
    except trio.BrokenResourceError:
        pass
    return data


async def read_all_while_trickling(stream: trio.StapledStream[Any, Any], *, every: float) -> bytes:
    """The same of a client that sends a byte now and then meanwhile."""
    async with trio.open_nursery() as nursery:

        async def trickle() -> None:
            while True:
                await stream.send_all(b"x")
                await trio.sleep(every)

        nursery.start_soon(trickle)
        data = await read_all(stream)
        nursery.cancel_scope.cancel()
    return data


async def read_until(stream: trio.abc.ReceiveStream, end: bytes) -> bytes:
    data = b""
    with trio.fail_after(PATIENCE):
        while end not in data:
            part = await stream.receive_some()
            assert part, f"the stream ended after {data!r}"
            data += part
    return data


def reason_of(closed: pytest.ExceptionInfo[ConnectionClosed]) -> CloseReason:
    """How a client of trio-websocket saw its connection end."""
    assert closed.value.reason is not None
    return closed.value.reason


def frame(opcode: int, payload: bytes = b"", *, final: bool = True, masked: bool = True, reserved: int = 0) -> bytes:
    """A WebSocket frame as a client sends it, or should not."""
    first = (0x80 if final else 0) | reserved << 4 | opcode
    mask = 0x80 if masked else 0
    size = len(payload)
    if size < 126:
        head = bytes([first, mask | size])
    elif size < 65536:
        head = bytes([first, mask | 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([first, mask | 127]) + size.to_bytes(8, "big")
    return head + (b"\0\0\0\0" if masked else b"") + payload  # a mask of zeros changes nothing


TEXT, BINARY, CLOSE, PING, PONG, CONTINUATION = 1, 2, 8, 9, 10, 0
