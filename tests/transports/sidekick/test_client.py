"""A visitor at doors of every kind: its error says in words what it found, and it never waits for ever."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest
import trio
import trustme

from tests.patience import PATIENCE
from tests.transports.house import open_house, read_until
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


async def refusal(url: str) -> str:
    with trio.fail_after(PATIENCE), pytest.raises(Unreachable) as refused:
        async with client.visiting(url, "/", "room", tls=ssl.create_default_context()):
            raise AssertionError
    return str(refused.value)


async def test_a_server_that_is_another_is_told_from_one_without_tls_and_from_none() -> None:
    theirs = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("another.example").configure_cert(theirs)

    async def another(stream: trio.SocketStream) -> None:
        await trio.SSLStream(stream, theirs, server_side=True).do_handshake()

    async def plain(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async def hasty(stream: trio.SocketStream) -> None:
        await stream.receive_some()

    async with server(another) as url:
        assert await refusal(url) == f"the server at {url} is not whom its certificate should name"
    for serve in (plain, hasty):
        async with server(serve) as url:
            assert await refusal(url) == f"what answers at {url} is no room: it does not speak TLS"
    assert await refusal(url) == f"no server answers at {url}"


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
