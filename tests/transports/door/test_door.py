"""The door itself: who gets in, how long it waits, how it closes."""

import errno
import os
import resource
import socket
import ssl

import httpx
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock
from trio_websocket import ConnectionClosed

from tests.patience import PATIENCE
from tests.transports.house import (
    TEXT,
    frame,
    open_house,
    read_all,
    read_all_while_trickling,
    read_until,
    reason_of,
)
from transports.door import door as door_module
from transports.door.door import Door
from transports.wire.binding import PortInUse
from transports.wire.limits import DoorLimits, HttpLimits
from transports.wire.policy import HostPolicy

HELLO = b"hello"


# One port, two kinds of client


async def test_one_port_serves_http_and_websockets_on_both_loopback_hosts() -> None:
    async with open_house(hosts=["127.0.0.1", "::1"]) as house:
        statistics = house.door.statistics()
        assert len(statistics.addresses) + len(statistics.unavailable) == 2
        for address in statistics.addresses:
            async with httpx.AsyncClient() as browser:
                assert (await browser.get(address.url)).text == "hello"
            async with house.websocket(address=address) as client:
                await client.send_message("hi")
                assert await client.get_message() == "hi"


async def test_a_port_in_use_is_reported_and_nothing_is_left_open() -> None:
    async with open_house() as house:
        with pytest.raises(PortInUse, match=str(house.port)):
            await Door(app=house.door._app, hosts=["127.0.0.1"], port=house.port).serve()


async def test_requests_of_one_connection_are_counted_as_one_and_by_kind() -> None:
    async with open_house() as house:
        async with httpx.AsyncClient() as client:
            for _ in range(3):
                await client.get(house.url)
        await house.exchange(b"nonsense\r\n\r\n")
        assert await house.is_healthy()
        statistics = house.door.statistics()
        assert (statistics.accepted, statistics.http, statistics.websockets, statistics.refused) == (4, 2, 1, 1)


# Host and Origin; the tables of verdicts are in test_policy


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:{port}", 200), ("evil.example", 421), ("evil.example:{port}", 421), ("localhost:1", 421)],
)
@pytest.mark.parametrize("websocket", [False, True])
async def test_the_host_is_checked_on_requests_and_upgrades(host: str, status: int, websocket: bool) -> None:
    async with open_house() as house:
        data = house.upgrade() + frame(8) if websocket else house.request("GET / HTTP/1.1", "Connection: close")
        data = data.replace(f"Host: {house.host}".encode(), f"Host: {host.format(port=house.port)}".encode())
        answer = await house.exchange(data)
        expected = 101 if websocket and status == 200 else status
        assert answer.startswith(f"HTTP/1.1 {expected} ".encode())


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:{port}", 200),
        ("http://evil.example", 403),
        ("null", 403),
        ("http://localhost:3000", 403),
        ("vscode-webview://abc", 200),
    ],
)
@pytest.mark.parametrize("websocket", [False, True])
async def test_the_origin_is_checked_on_requests_and_upgrades(origin: str, status: int, websocket: bool) -> None:
    async with open_house(policy=HostPolicy(origins=("vscode-webview://*",))) as house:
        header = f"Origin: {origin.format(port=house.port)}"
        if websocket:
            answer = await house.exchange(house.upgrade("/", header) + frame(8))
        else:
            answer = await house.exchange(house.request("GET / HTTP/1.1", "Connection: close", header))
        expected = 101 if websocket and status == 200 else status
        assert answer.startswith(f"HTTP/1.1 {expected} ".encode())


async def test_a_later_request_of_a_connection_is_checked_like_the_first() -> None:
    async with open_house() as house:
        answer = await house.exchange(
            house.request("GET / HTTP/1.1") + house.request("GET / HTTP/1.1", "Origin: http://evil")
        )
        assert answer.count(b"HTTP/1.1 200 ") == 1
        assert answer.count(b"HTTP/1.1 403 ") == 1


# Time


async def test_a_client_that_says_nothing_is_let_go_without_a_word(autojump_clock: MockClock) -> None:
    async with open_house() as house:
        client = house.memory_client()
        assert await read_all(client) == b""
        assert trio.current_time() == pytest.approx(10, abs=2)


async def test_a_head_that_comes_too_slowly_is_answered_with_408(autojump_clock: MockClock) -> None:
    async with open_house() as house:
        client = house.memory_client()

        async def trickle() -> None:
            for byte in house.request("GET / HTTP/1.1", "X: " + "x" * 1000):
                try:
                    await client.send_all(bytes([byte]))
                except trio.BrokenResourceError:
                    return
                await trio.sleep(1)

        house.nursery.start_soon(trickle)
        answer = await read_all(client)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert trio.current_time() < 13


async def test_half_a_head_of_a_second_request_is_cut_off_too(autojump_clock: MockClock) -> None:
    async with open_house(limits=DoorLimits(http=HttpLimits(idle_seconds=60))) as house:
        client = house.memory_client()
        await client.send_all(house.request("GET / HTTP/1.1") + b"GET / HTTP/1.1\r\nX: ")
        assert HELLO in await read_all_while_trickling(client, every=5)
        assert trio.current_time() < 65


async def test_an_idle_connection_is_closed(autojump_clock: MockClock) -> None:
    async with open_house(limits=DoorLimits(http=HttpLimits(idle_seconds=60))) as house:
        client = house.memory_client()
        await client.send_all(house.request("GET / HTTP/1.1"))
        assert HELLO in await read_all(client)
        assert trio.current_time() == pytest.approx(60, abs=2)
        await house.all_gone()


async def test_the_time_of_an_idle_connection_counts_from_its_last_answer(autojump_clock: MockClock) -> None:
    async with open_house(limits=DoorLimits(http=HttpLimits(idle_seconds=60))) as house:
        client = house.memory_client()
        for start in (0, 130):
            house.events.proceed = trio.Event()
            await client.send_all(house.request("GET /waiting HTTP/1.1"))
            await trio.sleep(80)
            house.events.proceed.set()
            assert (await read_until(client, b"done")).startswith(b"HTTP/1.1 200 ")
            assert trio.current_time() == pytest.approx(start + 80, abs=1)
            if not start:
                await trio.sleep(50)
        assert await read_all(client) == b""
        assert trio.current_time() == pytest.approx(130 + 80 + 60, abs=2)
        await house.all_gone()


# Numbers


async def test_above_the_cap_clients_are_turned_away_unread_and_told_about_once() -> None:
    async with open_house(limits=DoorLimits(connections=3)) as house:
        held = [await house.connect() for _ in range(3)]
        for _ in range(20):
            assert await house.exchange(house.request("GET / HTTP/1.1")) == b""
        statistics = house.door.statistics()
        assert (statistics.open, statistics.accepted, statistics.turned_away) == (3, 3, 20)
        assert [event for event, _ in house.log.lines] == ["too many connections"]
        for stream in held:
            await stream.send_all(house.request("GET / HTTP/1.1", "Connection: close"))
            assert HELLO in await read_all(stream)
            await stream.aclose()
        assert await house.is_healthy()


@pytest.mark.slow
async def test_an_accept_storm_is_survived() -> None:
    async with open_house(limits=DoorLimits(connections=20)) as house:

        async def storm() -> None:
            for _ in range(25):
                try:
                    async with await house.connect() as stream:
                        await stream.send_all(b"GET")
                        await stream.receive_some(1)
                except OSError:
                    pass
                except trio.BrokenResourceError:
                    pass

        with trio.move_on_after(3):
            async with trio.open_nursery() as nursery:
                for _ in range(40):
                    nursery.start_soon(storm)
        await house.all_gone()
        assert house.door.statistics().turned_away > 0
        assert await house.is_healthy()


async def test_a_flood_of_idle_connections_passes(autojump_clock: MockClock) -> None:
    async with open_house(limits=DoorLimits(connections=300)) as house:
        clients = [house.memory_client() for _ in range(299)]
        served = house.memory_client()
        await served.send_all(house.request("GET / HTTP/1.1", "Connection: close"))
        assert HELLO in await read_all(served)
        for client in clients:
            assert await read_all(client) == b""
        await house.all_gone()


EMFILE = OSError(errno.EMFILE, "Too many open files")


@pytest.mark.slow
async def test_running_out_of_file_descriptors_is_waited_out() -> None:
    async with open_house() as house:
        failures = [EMFILE] * 3
        genuine = trio.SocketListener.accept

        async def accept(self: trio.SocketListener) -> trio.SocketStream:
            stream = await genuine(self)
            if failures:
                stream.socket.close()
                raise failures.pop()
            return stream

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trio.SocketListener, "accept", accept)
            while failures:
                await house.exchange(house.request("GET / HTTP/1.1", "Connection: close"))
            assert await house.is_healthy()
        assert house.door.statistics().accept_errors == 3
        (said,) = house.log.lines
        assert said == ("no more connections can be taken; some must end first", {"error": str(EMFILE)})


@pytest.mark.slow
async def test_connections_leave_descriptors_to_the_rest_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """And are taken again when others have ended."""
    free = os.dup(0)
    os.close(free)
    most = free + 12
    monkeypatch.setattr(door_module, "most_files", lambda: most)
    async with open_house() as house:
        clients = [await house.connect() for _ in range(24)]
        with trio.fail_after(PATIENCE):
            assert await clients[-1].receive_some() == b""
        statistics = house.door.statistics()
        assert 0 < statistics.open < 12
        assert statistics.turned_away == 24 - statistics.open
        await house.exchange(house.request("GET / HTTP/1.1", "Connection: close"))
        assert len(house.log.lines) == 1
        for client in clients:
            await client.aclose()
        await house.all_gone()
        assert await house.is_healthy()


@given(st.integers(0, 1 << 30))
def test_a_door_has_most_of_the_descriptors_and_never_all(limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resource, "getrlimit", lambda _: (limit, limit))
        most = door_module.most_files()
    assert 3 * limit <= 4 * most
    assert limit < 4 or limit - door_module.KEPT_FILES <= most < limit


# Closing


async def test_closing_tells_websockets_1001_and_waits_for_nobody() -> None:
    async with open_house() as house:
        async with house.websocket() as client:
            await client.send_message("hi")
            assert await client.get_message() == "hi"
            house.nursery.start_soon(house.door.close)
            with pytest.raises(ConnectionClosed) as closed, trio.fail_after(PATIENCE):
                await client.get_message()
            assert reason_of(closed).code == 1001
            assert reason_of(closed).reason == "the server is stopping"
        with trio.fail_after(PATIENCE):
            await house.door.close()
        assert [each.code for each in house.events.closed] == [1001]
        assert house.door.statistics().open == 0


async def test_closing_lets_a_request_in_flight_finish() -> None:
    async with open_house() as house:
        async with await house.connect() as stream:
            await stream.send_all(house.request("GET /waiting HTTP/1.1"))
            await house.events.entered.wait()
            house.nursery.start_soon(house.door.close)
            await trio.testing.wait_all_tasks_blocked()
            house.events.proceed.set()
            with trio.fail_after(PATIENCE):
                answer = await read_all(stream)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.endswith(b"done")


async def test_closing_cuts_a_request_that_outlasts_the_grace(autojump_clock: MockClock) -> None:
    async with open_house(limits=DoorLimits(grace=5)) as house:
        client = house.memory_client()
        await client.send_all(house.request("GET /waiting HTTP/1.1"))
        await house.events.entered.wait()
        await house.door.close()
        assert trio.current_time() == pytest.approx(5, abs=0.1)
        await house.events.cancelled.wait()
        assert await read_all(client) == b""


async def test_closing_lets_idle_and_silent_clients_go_at_once(autojump_clock: MockClock) -> None:
    async with open_house() as house:
        idle, silent = house.memory_client(), house.memory_client()
        await idle.send_all(house.request("GET / HTTP/1.1"))
        await read_until(idle, HELLO)
        await house.door.close()
        assert trio.current_time() < 0.1
        assert await read_all(idle) == await read_all(silent) == b""


async def test_closing_lets_a_request_end_and_then_its_connection_at_once(autojump_clock: MockClock) -> None:
    async with open_house(limits=DoorLimits(grace=30)) as house, trio.open_nursery() as nursery:
        client = house.memory_client()
        await client.send_all(house.request("GET /waiting HTTP/1.1"))
        await house.events.entered.wait()
        nursery.start_soon(house.door.close)
        await trio.sleep(10)
        house.events.proceed.set()
        assert (await read_all(client)).endswith(b"done")
        assert trio.current_time() == pytest.approx(10, abs=1)


async def test_closing_is_bounded_by_a_websocket_client_that_does_not_answer(autojump_clock: MockClock) -> None:
    async with open_house() as house:
        client = house.memory_client()
        await client.send_all(house.upgrade() + frame(TEXT, b"hi"))
        await read_until(client, b"\x02hi")
        await house.door.close()
        assert trio.current_time() <= 5.1
        assert b"\x03\xe9" in await read_all(client)


async def test_a_closed_door_accepts_nobody_and_frees_its_port() -> None:
    async with open_house() as house:
        port = house.port
        await house.door.close()
        with socket.create_server(("127.0.0.1", port)):
            pass


@pytest.mark.parametrize("path", ["/waiting", "/endless"])
async def test_a_cancelled_door_ends_although_hypercorn_sends_under_a_shield(path: str) -> None:
    with trio.fail_after(PATIENCE):
        async with open_house() as house:
            stream = await house.connect()
            await stream.send_all(house.request(f"GET {path} HTTP/1.1"))
            await house.events.entered.wait()
            await trio.sleep(0.05)  # until the send buffers are full of what nobody reads
            house.nursery.cancel_scope.cancel()
    assert house.events.cancelled.is_set()
    await stream.aclose()


# TLS


async def test_https_and_wss_on_one_port(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with open_house(tls=server_tls) as house:
        assert house.url.startswith("https://")
        async with httpx.AsyncClient(verify=client_tls) as browser:
            for _ in range(2):
                answer = await browser.post(f"{house.url}/whole", content=b"x" * 100_000)
                assert answer.text == "100000"
        async with house.websocket(tls=client_tls) as client:
            await client.send_message("hi")
            assert await client.get_message() == "hi"
            house.nursery.start_soon(house.door.close)
            with pytest.raises(ConnectionClosed) as closed, trio.fail_after(PATIENCE):
                await client.get_message()
            assert reason_of(closed).code == 1001


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n\r\n", b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\n\r\n"])
async def test_who_speaks_plain_http_to_a_port_with_tls_is_told_so(data: bytes, server_tls: ssl.SSLContext) -> None:
    async with open_house(tls=server_tls) as house, await house.connect() as stream:
        await stream.send_all(data)
        with trio.fail_after(PATIENCE):
            said = await read_all(stream)
        assert said.startswith(b"HTTP/1.1 400 ")
        assert said.endswith(b"This port speaks HTTPS. Write https:// in place of http://.\n")
        assert house.door.statistics().refused == 1
        assert house.log.contained() == []


@pytest.mark.parametrize("data", [b"", b"SSH-2.0-x\r\n", bytes.fromhex("16030100c8") + b"\0" * 300])
async def test_what_is_no_tls_ends_its_own_connection_only(
    data: bytes, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    async with open_house(tls=server_tls) as house:
        async with await house.connect() as stream:
            await stream.send_all(data)
            await stream.send_eof()
            with trio.fail_after(PATIENCE):
                assert b"HTTP" not in await read_all(stream)
        async with httpx.AsyncClient(verify=client_tls) as client:
            assert (await client.get(house.url)).text == "hello"
        assert house.log.contained() == []


async def test_a_tls_client_is_not_offered_http_2(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    client_tls.set_alpn_protocols(["h2", "http/1.1"])
    async with open_house(tls=server_tls) as house:
        stream = trio.SSLStream(await house.connect(), client_tls, server_hostname="localhost", https_compatible=True)
        await stream.do_handshake()
        assert stream.selected_alpn_protocol() == "http/1.1"
        await stream.aclose()
