"""A visitor at doors of every kind: its error says in words what it found, and it never waits for ever."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest
import trio

from tests.transports.house import PATIENCE, open_house, read_until
from tests.transports.websocket.test_fast_lane import Fast
from transports.sidekick.client import visit
from transports.websocket import client
from transports.websocket.client import Unreachable
from transports.websocket.websocket import Closed


@asynccontextmanager
async def server(serve: Callable[[trio.SocketStream], Awaitable[None]]) -> AsyncIterator[str]:
    """Something that takes connections; its address."""

    async def attend(stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):
            async with stream:
                await serve(stream)

    async with trio.open_nursery() as nursery:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, attend, [listener])
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (b"", "does not speak WebSocket"),
        (b"SSH-2.0-OpenSSH_9\r\n", "does not speak WebSocket"),
        (b"\0\1\2\xff" * 100, "does not speak WebSocket"),
        (b"HTTP/1.1 101 Swi", "does not speak WebSocket"),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "does not speak WebSocket"),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: not this\r\n\r\n",
            "does not speak WebSocket",
        ),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 50\r\n\r\nhalf", "does not speak WebSocket"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\n\r\nAway.\n", "answered 404: Away."),
    ],
)
async def test_what_is_no_room_is_said_at_once_and_in_words(answer: bytes, sentence: str) -> None:
    async def serve(stream: trio.SocketStream) -> None:
        await read_until(stream, b"\r\n\r\n")
        await stream.send_all(answer)

    async with server(serve) as url:
        with trio.fail_after(PATIENCE), pytest.raises(Unreachable, match=sentence):
            async with visit(url, "room"):
                raise AssertionError


async def test_a_server_that_takes_a_connection_and_says_nothing_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.05)

    async def serve(stream: trio.SocketStream) -> None:
        await trio.sleep_forever()

    async with server(serve) as url:
        with trio.fail_after(PATIENCE), pytest.raises(Unreachable, match=r"did not answer within 0\.05 seconds"):
            async with visit(url, ""):
                raise AssertionError


async def test_a_visitors_own_error_is_his_own() -> None:
    async def stumble(url: str) -> None:
        async with visit(url, "") as room:
            await room.send("grüß".encode())
            assert await room.receive() == "grüß".encode()
            raise KeyError

    async with open_house(on_websocket=Fast()) as house:
        with trio.fail_after(PATIENCE), pytest.raises(KeyError):
            await stumble(house.url)
        await house.all_gone()


async def test_a_visitor_is_told_that_the_server_stops() -> None:
    async with open_house(on_websocket=Fast()) as house:

        async def stay() -> None:
            async with visit(house.url, "") as room:
                house.nursery.start_soon(house.door.close)
                await room.receive()

        with trio.fail_after(PATIENCE), pytest.raises(Closed, match="1001: the server is stopping"):
            await stay()
