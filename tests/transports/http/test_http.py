"""HTTP behind the door, against the real Hypercorn and Quart: their known faults, contained."""

import os
from collections import Counter
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import cast

import httpx
import pytest
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypothesis import given, settings
from hypothesis import strategies as st
from quart.routing import QuartRule
from quart_trio import QuartTrio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kernel.testing import run_schedule
from tests.patience import PATIENCE
from tests.transports.house import (
    TEXT,
    frame,
    open_house,
    read_all,
    read_all_while_trickling,
    read_until,
)
from transports.http.application import Application
from transports.http.hypercorn import _Idleness
from transports.http.pages import add_pages
from transports.wire.limits import DoorLimits, HttpLimits
from transports.wire.policy import HostPolicy
from transports.wire.wire import Wire

MEGABYTE = 1024 * 1024
LAST = "GET / HTTP/1.1"


# Finding 1: a frame in one packet with an upgrade


async def test_a_frame_with_an_upgrade_kills_a_bare_hypercorn() -> None:
    """The canary: when this fails, Hypercorn has mended it, and the containment may go."""
    app = ASGIWrapper(QuartTrio("bare"))
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener, await trio.open_tcp_stream(*listener.socket.getsockname()[:2]) as client:
        server = TCPServer(app, Config(), WorkerContext(None), {}, await listener.accept())  # type: ignore[arg-type]
        await client.send_all(
            b"GET /nowhere HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" + frame(TEXT, b"hi")
        )
        with pytest.raises(ExceptionGroup), trio.fail_after(PATIENCE):
            await server.run()


async def test_a_frame_with_an_upgrade_on_a_used_connection_is_contained() -> None:
    async with open_house() as house:
        answer = await house.exchange(house.request("GET / HTTP/1.1") + house.upgrade() + frame(TEXT, b"hi"))
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert await house.is_healthy()
        assert house.door.statistics().contained == len(house.log.contained())


async def test_a_frame_with_the_first_upgrade_is_received() -> None:
    async with open_house() as house, await house.connect() as stream:
        await stream.send_all(house.upgrade() + frame(TEXT, b"hi"))
        await read_until(stream, b"\x81\x02hi")


async def test_a_websocket_on_a_used_connection_is_sent_to_a_new_one() -> None:
    async with open_house() as house:
        answer = await house.exchange(house.request("GET / HTTP/1.1") + house.upgrade())
        assert b"HTTP/1.1 400 " in answer
        assert answer.endswith(b"open a new connection for a WebSocket.\n")


# Two who speak on one connection


async def test_what_comes_with_the_last_word_or_after_it_is_sent_into_the_void() -> None:
    """Hypercorn's reader says the last word when the client has gone, and the application may be in its answer."""
    for _ in range(20):  # which of two tasks goes first is chance
        client, server = map(trio.SocketStream, trio.socket.socketpair())
        wire = Wire(server, server.socket.close, send_seconds=PATIENCE)
        async with client, server, trio.open_nursery() as nursery:
            nursery.start_soon(wire.send_eof)
            await trio.lowlevel.cancel_shielded_checkpoint()
            with pytest.raises(trio.ClosedResourceError):
                await wire.send_all(b"more")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_body_that_is_no_body_is_refused_whole_and_no_error_of_ours(method: str) -> None:
    async with open_house() as house:
        for _ in range(20):  # the application's own answer is in the race
            data = house.request(f"{method} / HTTP/1.1", "Transfer-Encoding: chunked", body=b"zz\r\n")
            answer = await house.exchange(data)
            assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 200 "))
            if answer.startswith(b"HTTP/1.1 400 "):
                assert (b"illegal chunk header" in answer) == (method == "GET")
        assert house.log.contained() == []


# HTTP/2 stays out


async def test_an_offer_of_h2c_is_ignored_on_every_request() -> None:
    async with open_house() as house:
        offer = ("Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__")
        data = house.request("GET / HTTP/1.1", *offer)
        last = house.request("GET / HTTP/1.1", "Connection: close")
        answer = await house.exchange(data + data + last)
        assert answer.count(b"HTTP/1.1 200 ") == 3
        assert b"101" not in answer


async def test_http_2_by_prior_knowledge_finds_no_way_in_on_a_used_connection() -> None:
    async with open_house() as house:
        answer = await house.exchange(house.request("GET / HTTP/1.1") + b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0" * 9)
        assert answer.count(b"HTTP/1.1 ") >= 1
        assert b"\0\0\0\4" not in answer  # an empty SETTINGS frame


# What no route takes


@pytest.mark.parametrize(
    ("line", "status", "sentence"),
    [
        ("POST / HTTP/1.1", 405, "There is no POST at '/'; it takes GET, HEAD, OPTIONS."),
        ("GET /early HTTP/1.1", 405, "There is no GET at '/early'; it takes OPTIONS, POST."),
        ("GET /taken HTTP/1.1", 405, "There is no GET at '/taken'; it takes OPTIONS, POST."),
        ("GET /nowhere HTTP/1.1", 404, "There is no page '/nowhere' here."),
        ("GET /two%0Alines HTTP/1.1", 404, r"There is no page '/two\nlines' here."),
    ],
)
async def test_what_no_route_takes_is_answered_in_a_sentence(line: str, status: int, sentence: str) -> None:
    async with open_house() as house:
        head, _, body = (await house.exchange(house.request(line, "Connection: close"))).partition(b"\r\n\r\n")
        assert head.startswith(f"HTTP/1.1 {status} ".encode())
        assert b"content-type: text/plain; charset=utf-8" in head
        assert (b"\r\nallow: " in head) == (status == 405)
        assert body.decode() == f"{sentence}\n"


# A request that came before the one before it was answered


async def test_a_client_that_goes_with_two_requests_open_leaves_nothing() -> None:
    """Hypercorn's reader waits for the answer to the first; there will be none."""
    async with open_house() as house:
        async with await house.connect() as stream:
            await stream.send_all(house.request("GET /endless HTTP/1.1") + house.request("GET / HTTP/1.1"))
            await read_until(stream, b"x" * 65536)
        await house.all_gone()
        assert house.door.statistics().contained == 0


# Finding 3: an answer before the body has been read


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("size", [1, 100_000, 5 * MEGABYTE])
@pytest.mark.parametrize(("path", "status"), [("/early", 401), ("/nowhere", 404), ("/", 405)])
async def test_an_early_answer_never_leaves_the_client_waiting(
    path: str, status: int, size: int, chunked: bool
) -> None:
    """It either says that the connection ends, and ends it, or the next request is answered."""
    async with open_house() as house:
        after = house.request("GET / HTTP/1.1", "Connection: close")
        answer = await house.exchange(house.post(path, b"x" * size, chunked=chunked) + after)
        assert answer.startswith(f"HTTP/1.1 {status} ".encode())
        ended = b"connection: close" in answer.partition(b"\r\n\r\n")[0]
        assert answer.count(b"HTTP/1.1 ") == (1 if ended else 2)
        assert await house.is_healthy()


async def test_a_body_that_was_read_keeps_the_connection() -> None:
    async with open_house() as house:
        async with httpx.AsyncClient(timeout=PATIENCE) as client:
            for path in ("/whole", "/parts", "/taken", "/whole"):
                assert (await client.post(house.url + path, content=b"x" * 1000)).text.strip() == "1000"
            assert (await client.get(house.url)).headers.get("connection") is None
        assert house.door.statistics().accepted == 1


async def test_an_early_answer_arrives_although_the_client_is_still_sending() -> None:
    async with open_house() as house:
        answer = await house.exchange(
            house.request("POST /early HTTP/1.1", f"Content-Length: {9 * MEGABYTE}", body=b"x" * 500_000)
        )
        assert answer.startswith(b"HTTP/1.1 401 ")
        assert b"connection: close" in answer
        assert answer.endswith(b"you may not")


BEHIND = {
    "the next request": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "no request": b"\0\xff\r\n" * 10,
    "very much": b"x" * 9 * MEGABYTE,
}


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("size", [10, 1_000, 300_000])
@pytest.mark.parametrize(
    ("line", "headers", "end"),
    [
        ("POST /early HTTP/1.1", ("Origin: http://elsewhere.example",), b".\n"),
        ("POST /whole HTTP/1.1", ("Connection: close",), None),
        ("POST /whole HTTP/1.0", (), None),
        ("POST /taken HTTP/1.1", ("Connection: close",), None),
    ],
)
async def test_the_last_answer_arrives_whole_whatever_comes_behind_its_request(
    line: str, headers: tuple[str, ...], end: bytes | None, size: int, behind: str
) -> None:
    """A client that sends its requests ahead cannot know that the first is refused, and has to read why."""
    async with open_house() as house:
        request = house.request(line, *headers, f"Content-Length: {size}", body=b"x" * size)
        answer = await house.exchange(request + BEHIND[behind])
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 403 " if end else b"HTTP/1.1 200 ")
        assert body.strip() if end else body.strip() == str(size).encode()
        assert body.endswith(end or b"")
        assert answer.count(b"HTTP/1.1 ") == 1
        assert house.log.lines == []
        assert await house.is_healthy()


# Finding 4: uploads


@pytest.mark.parametrize("path", ["/whole", "/parts", "/asleep", "/taken"])
@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_above_the_limit_is_answered_with_413(path: str, chunked: bool) -> None:
    async with open_house(limits=DoorLimits(http=HttpLimits(body_bytes=100_000))) as house:
        house.events.proceed.set()
        answer = await house.exchange(house.post(path, b"x" * 500_000, chunked=chunked))
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"connection: close" in answer
        assert answer.endswith(b"The body of the request is larger than 100000 bytes; send less at once.\n")
        assert await house.is_healthy()


@pytest.mark.parametrize("path", ["/whole", "/parts", "/taken"])
@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_at_the_limit_is_taken(path: str, chunked: bool) -> None:
    limits = DoorLimits(http=HttpLimits(body_bytes=MEGABYTE))
    async with open_house(limits=limits) as house, await house.connect() as stream:
        await stream.send_all(house.post(path, b"x" * MEGABYTE, chunked=chunked))
        assert (await read_until(stream, str(MEGABYTE).encode())).startswith(b"HTTP/1.1 200 ")


async def test_the_body_that_has_been_under_way_longest_gives_way_to_others(autojump_clock: MockClock) -> None:
    limits = DoorLimits(http=HttpLimits(backlog_bytes=250_000))
    async with open_house(limits=limits) as house:
        clients = [house.memory_client() for _ in range(4)]
        for client in clients:
            await client.send_all(house.post("/whole", b"x" * 100_000)[:-1])
            await wait_all_tasks_blocked()
        await clients[2].aclose()
        for client in clients[:2]:
            answer = await read_all(client)
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert answer.endswith(b"; send it again.\n")
        await clients[3].send_all(b"x")
        assert b" 200 " in await read_until(clients[3], b"100000")
        for _ in range(3):  # what has been answered is not kept
            await clients[3].send_all(house.post("/whole", b"x" * 200_000))
            assert b" 200 " in await read_until(clients[3], b"200000")
        await wait_all_tasks_blocked()
        assert house.door._http._guard._backlog.kept_bytes == 0
        assert house.log.contained() == []


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the resident memory is read from /proc")
async def test_a_client_waits_while_its_upload_is_not_read() -> None:
    """What Hypercorn and Quart would keep in memory stays with the client."""
    size = 64 * MEGABYTE
    limits = DoorLimits(http=HttpLimits(body_bytes=size))
    async with open_house(limits=limits) as house, await house.connect() as stream:
        sent = 0

        async def upload() -> None:
            nonlocal sent
            await stream.send_all(house.request("POST /asleep HTTP/1.1", f"Content-Length: {size}"))
            while sent < size:
                await stream.send_all(b"x" * 65536)
                sent += 65536

        before = resident()
        house.nursery.start_soon(upload)
        await house.events.entered.wait()
        last = -1
        while sent != last:  # until nothing moves any more
            last = sent
            await trio.sleep(0.2)
        assert sent < 16 * MEGABYTE  # most of it in the kernel's buffers
        assert resident() - before < 8 * MEGABYTE
        house.events.proceed.set()
        assert (await read_until(stream, str(size).encode())).startswith(b"HTTP/1.1 200 ")
        assert resident() - before < 16 * MEGABYTE


async def test_a_body_that_comes_too_slowly_is_answered_with_408(autojump_clock: MockClock) -> None:
    async with open_house() as house:
        client = house.memory_client()
        await client.send_all(house.request("POST /parts HTTP/1.1", "Content-Length: 1000"))
        answer = await read_all_while_trickling(client, every=1)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert trio.current_time() == pytest.approx(15, abs=2)


async def test_a_slow_but_steady_body_is_taken(autojump_clock: MockClock) -> None:
    async with open_house() as house:
        client = house.memory_client()
        await client.send_all(house.request("POST /parts HTTP/1.1", "Content-Length: 100000"))
        for _ in range(100):
            await trio.sleep(1)
            await client.send_all(b"x" * 1000)
        assert (await read_until(client, b"100000")).startswith(b"HTTP/1.1 200 ")
        assert trio.current_time() >= 100


async def test_a_client_is_not_blamed_for_the_time_in_which_nobody_reads(autojump_clock: MockClock) -> None:
    async with open_house() as house:
        client = house.memory_client()
        size = MEGABYTE
        await client.send_all(house.request("POST /asleep HTTP/1.1", f"Content-Length: {size}") + b"x" * (size - 10))
        await trio.sleep(120)
        house.events.proceed.set()
        await client.send_all(b"x" * 10)
        assert (await read_until(client, str(size).encode())).startswith(b"HTTP/1.1 200 ")


# Finding 5: handlers and clients that leave


async def test_a_client_that_leaves_cancels_its_handler() -> None:
    async with open_house() as house:
        async with await house.connect() as stream:
            await stream.send_all(house.request("GET /waiting HTTP/1.1"))
            await house.events.entered.wait()
        with trio.fail_after(PATIENCE):
            await house.events.cancelled.wait()
        await house.all_gone()


@pytest.mark.parametrize("path", ["/taken", "/routed"])
async def test_a_client_that_leaves_cancels_what_takes_its_post(path: str) -> None:
    async with open_house() as house:
        async with await house.connect() as stream:
            await stream.send_all(house.post(path, b"what waits"))
            await house.events.entered.wait()
        with trio.fail_after(PATIENCE):
            await house.events.cancelled.wait()
        await house.all_gone()


async def test_a_client_that_leaves_closes_the_stream_it_was_sent() -> None:
    async with open_house() as house:
        async with await house.connect() as stream:
            await stream.send_all(house.request("GET /endless HTTP/1.1"))
            await read_until(stream, b"xxx")
        with trio.fail_after(PATIENCE):
            await house.events.cancelled.wait()
        await house.all_gone()


async def test_a_client_that_does_not_read_is_cut_off() -> None:
    async with open_house(limits=DoorLimits(send_seconds=0.1)) as house, await house.connect() as stream:
        await stream.send_all(house.request("GET /endless HTTP/1.1"))
        await house.all_gone()
        assert house.events.cancelled.is_set()


async def test_a_handler_that_raises_is_a_500_with_a_sentence_and_a_line_in_the_log() -> None:
    async with open_house() as house:
        async with httpx.AsyncClient() as client:
            answer = await client.get(f"{house.url}/broken")
            assert (answer.status_code, answer.text) == (500, "The server failed at this request; its log says why.\n")
            assert (await client.get(house.url)).text == "hello"
        assert len(house.log.contained()) == house.door.statistics().contained == 1
        assert "a handler's mistake" in house.log.contained()[0]


async def test_an_answer_that_fails_midway_is_visibly_incomplete() -> None:
    async with open_house() as house:
        async with httpx.AsyncClient() as client:
            with pytest.raises(httpx.RemoteProtocolError, match="incomplete"):
                await client.get(f"{house.url}/broken-midway")
        assert house.door.statistics().contained == 1
        assert await house.is_healthy()


# What every answer carries


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/nowhere", 404), ("/broken", 500)])
async def test_every_answer_carries_the_security_headers(path: str, status: int) -> None:
    async with open_house() as house:
        async with httpx.AsyncClient() as client:
            answer = await client.get(house.url + path)
        assert answer.status_code == status
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe-inline" not in policy
        assert "vscode-webview:" in policy
        assert "server" not in answer.headers


async def test_a_foreign_page_that_was_let_in_may_read_the_answer_and_ask_before() -> None:
    async with open_house(policy=HostPolicy(origins=("https://tools.example",))) as house:
        origin = {"origin": "https://tools.example"}
        async with httpx.AsyncClient() as client:
            asked = await client.options(
                house.url,
                headers={
                    **origin,
                    "access-control-request-method": "POST",
                    "access-control-request-headers": "content-type",
                },
            )
            answer = await client.get(house.url, headers=origin)
            own = await client.get(house.url)
        assert asked.status_code == 204
        assert asked.headers["access-control-allow-headers"] == "content-type"
        assert answer.headers["access-control-allow-origin"] == "https://tools.example"
        assert answer.headers["vary"] == "Origin"
        assert "access-control-allow-origin" not in own.headers


# What is taken past Quart


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("body", [b"", b"1", b"what is wrong", b"what breaks", b"x" * 300_000])
async def test_what_is_taken_past_quart_is_answered_as_by_a_route(body: bytes, chunked: bool) -> None:
    async with open_house() as house:
        add_pages(cast("Application", house.door._app), Path("none"), dict)
        answers = []
        for path in ("/taken", "/taken/", "//taken", "/routed"):
            answer = await house.exchange(
                house.post(path, body, chunked=chunked) + house.request(LAST, "Connection: close")
            )
            answers.append([line for line in answer.split(b"\r\n") if not line.startswith(b"date: ")])
        assert answers == answers[-1:] * 4
        assert house.door.statistics().contained == (4 if body == b"what breaks" else 0)


# Connections that wait for their next request


MOMENTS = st.lists(st.tuples(st.sampled_from([0.0, 1.0, 9.0, 10.0, 11.0]), st.booleans()), max_size=8)


@settings(deadline=None)
@given(MOMENTS, st.sampled_from([None, 0.0, 5.0, 10.0, 20.0, 35.0]), st.integers(0, 1000))
def test_a_connection_is_over_when_it_was_idle_for_long_enough_or_is_idle_while_the_door_winds_up(
    moments: list[tuple[float, bool]], winds_up_at: float | None, seed: int
) -> None:
    """Requests begin and end at these intervals. At one moment either may come first."""

    async def live() -> tuple[float, list[tuple[float, float, bool]]]:
        winding_up = trio.Event()
        idleness = _Idleness(10.0, winding_up)
        stretches, since, idle, ended = list[tuple[float, float, bool]](), 0.0, True, list[float]()

        async def wait() -> None:
            await idleness.over()
            ended.append(trio.current_time() - began)

        began = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            if winds_up_at is not None:
                nursery.start_soon(_after, winds_up_at, winding_up.set)
            for seconds, becomes_idle in moments:
                await trio.sleep(seconds)
                if ended:
                    break
                now = trio.current_time() - began
                if becomes_idle != idle:
                    stretches.append((since, now, idle))
                    since, idle = now, becomes_idle
                idleness.update(becomes_idle)
                if becomes_idle:
                    since = now
            if not idle:
                stretches.append((since, now, idle))
                since, idle = trio.current_time() - began, True
                idleness.update(idle)
        stretches.append((since, inf, True))
        return ended[0], stretches

    ended, stretches = run_schedule(seed, live)
    for start, end, idle in stretches:
        due = min(start + 10.0, inf if winds_up_at is None else max(start, winds_up_at))
        if idle and due < end:
            assert ended == pytest.approx(due)
            return
        if idle and due == end and ended == pytest.approx(end):
            return
        assert ended >= end
    raise AssertionError("it never ends")


class Steps(trio.abc.Instrument):
    """How often each task was at work."""

    def __init__(self) -> None:
        self.of = Counter[str]()

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.of[task.name] += 1


async def test_while_a_request_is_under_way_a_door_that_winds_up_waits_for_it_and_does_not_ask_again_and_again() -> (
    None
):
    winding_up, steps = trio.Event(), Steps()
    idleness = _Idleness(10.0, winding_up)
    for idle in (False, True, False):
        idleness.update(idle)
    winding_up.set()
    trio.lowlevel.add_instrument(steps)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(idleness.over, name="over")
        for _ in range(50):
            await trio.lowlevel.checkpoint()
        assert 0 < steps.of["over"] < 10
        idleness.update(True)
    trio.lowlevel.remove_instrument(steps)


async def _after(seconds: float, call: Callable[[], None]) -> None:
    await trio.sleep(seconds)
    call()


# The routes


def test_a_route_makes_its_address_only_when_it_is_asked_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    usual = QuartRule._compile_builder

    def noted(rule: QuartRule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        made.append(rule.rule)
        return usual(rule, append_unknown)

    monkeypatch.setattr(QuartRule, "_compile_builder", noted)
    app = Application("house")
    for path in ("/plain", "/rooms/<id>/of/<path:rest>"):
        app.add_url_rule(path, path, lambda: "", methods=["GET"])
    at = app.url_map.bind("")
    assert at.match("/rooms/7/of/a/b") == ("/rooms/<id>/of/<path:rest>", {"id": "7", "rest": "a/b"})
    assert made == []
    assert at.build("/plain") == "/plain"
    assert at.build("/rooms/<id>/of/<path:rest>", {"id": "a b", "rest": "c/d", "q": 1}) == "/rooms/a%20b/of/c/d?q=1"
    assert made == ["/plain", "/rooms/<id>/of/<path:rest>"]
