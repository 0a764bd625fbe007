"""A client that says all it has to say, shuts down its sending side and waits (`nc -N`) is answered, as long as it is
there."""

import re
import socket
import ssl
import struct
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
import trio

from tests.patience import PATIENCE
from tests.transports.house import House, open_house, read_all
from transports.wire.presence import LONGEST_SECONDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whether a client is still there")

WAITS = b"what waits"
KINDS: dict[str, tuple[Callable[[House], bytes], list[bytes]]] = {
    "no body": (lambda house: house.request("GET /waiting HTTP/1.1"), [b"200"]),
    "the last one": (lambda house: house.request("GET /waiting HTTP/1.1", "Connection: close"), [b"200"]),
    "of HTTP/1.0": (lambda house: house.request("GET /waiting HTTP/1.0"), [b"200"]),
    "a body": (lambda house: house.post("/routed", WAITS), [b"200"]),
    "a body in chunks": (lambda house: house.post("/routed", WAITS, chunked=True), [b"200"]),
    "a post past Quart": (lambda house: house.post("/taken", WAITS), [b"200"]),
    "three in a row": (
        lambda house: house.request("GET / HTTP/1.1") + house.post("/routed", WAITS) + house.request("GET / HTTP/1.1"),
        [b"200", b"200", b"200"],
    ),
    "two and a half": (
        lambda house: house.request("GET / HTTP/1.1") + house.request("GET /waiting HTTP/1.1") + b"GET / HT",
        [b"200", b"200", b"400"],
    ),
}
FORMS = ("IPv4", "IPv6", "TLS")


@asynccontextmanager
async def a_client(house: House, form: str, tls: ssl.SSLContext) -> AsyncIterator[tuple[Any, trio.SocketStream]]:
    """With the socket below it."""
    address = house.door.statistics().addresses[0]
    stream = await trio.open_tcp_stream(address.host, address.port)
    async with stream:
        if form != "TLS":
            yield stream, stream
        else:
            yield trio.SSLStream(stream, tls, server_hostname="localhost", https_compatible=True), stream


def opened(form: str, server_tls: ssl.SSLContext) -> AbstractAsyncContextManager[House]:
    return open_house(hosts=["::1" if form == "IPv6" else "127.0.0.1"], tls=server_tls if form == "TLS" else None)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("moment", ["with the request", "during the answer"])
async def test_what_has_come_whole_is_answered(host: str, moment: str) -> None:
    async with open_house(hosts=[host]) as house:
        for kind, (data, answers) in KINDS.items():
            house.events.entered, house.events.proceed = trio.Event(), trio.Event()
            async with await trio.open_tcp_stream(host, house.port) as stream:
                with trio.fail_after(PATIENCE):
                    await stream.send_all(data(house))
                    if moment == "with the request":
                        await stream.send_eof()
                    await house.events.entered.wait()
                    if moment != "with the request":
                        await stream.send_eof()
                    await trio.testing.wait_all_tasks_blocked(0.002)
                    house.events.proceed.set()
                    said = await read_all(stream)
                    await house.all_gone()  # the connection of one that says no more is over with its answer
            assert re.findall(rb"HTTP/1.1 (\d+) ", said) == answers, kind
            assert b"done" in said, kind
        assert not house.events.cancelled.is_set()
        assert house.log.contained() == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("end", ["closes its socket", "resets the connection"])
@pytest.mark.parametrize("half", [False, True])
async def test_who_goes_after_that_frees_its_place_at_once(
    form: str, end: str, half: bool, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    async with opened(form, server_tls) as house, a_client(house, form, client_tls) as (stream, bare):
        await stream.send_all(house.request("GET /waiting HTTP/1.1"))
        await house.events.entered.wait()
        if half:
            await bare.send_eof()
            if form == "TLS":  # nothing can be said to it any more
                await house.all_gone()
                assert house.events.cancelled.is_set()
            else:
                await trio.testing.wait_all_tasks_blocked(0.002)
                assert house.door.statistics().open == 1
        if end == "resets the connection":
            bare.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        bare.socket.close()
        began = trio.current_time()
        await house.all_gone()
        assert house.events.cancelled.is_set()
        assert trio.current_time() - began < 10 * LONGEST_SECONDS
        assert house.log.contained() == []


@pytest.mark.parametrize(
    ("form", "path"),
    [
        ("IPv4", "/whole"),
        ("IPv4", "/parts"),
        ("IPv4", "/asleep"),
        ("IPv6", "/early"),
        ("IPv6", "/taken"),
        ("TLS", "/whole"),
    ],
)
async def test_who_owes_a_body_and_says_no_more_frees_its_place_at_once(
    form: str, path: str, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    async with opened(form, server_tls) as house, a_client(house, form, client_tls) as (stream, bare):
        await stream.send_all(house.post(path, b"x" * 9)[:-1])
        await bare.send_eof()
        said = await read_all(stream)
        assert b" 200 " not in said
        await house.all_gone()
        assert house.log.contained() == []


async def test_a_streamed_answer_goes_on_until_the_client_goes() -> None:
    async with open_house() as house, await house.connect() as stream:
        await stream.send_all(house.request("GET /endless HTTP/1.1"))
        await house.events.entered.wait()
        await stream.send_eof()
        size = 0
        while size < 16 << 20:
            part = await stream.receive_some()
            assert part
            size += len(part)
        stream.socket.close()
        await house.all_gone()
        assert house.events.cancelled.is_set()
