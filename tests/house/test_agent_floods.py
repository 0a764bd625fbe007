"""Much at once, and much of one thing: tickets that are raced for, hundreds of sessions, large contexts, slow clients,
and a model that never stops sending."""

import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trio

from tests.house.agent_kit import Agent, agent_server, fake_model
from tests.house.running import DEADLINE, Server
from tests.house.test_agent import restarts
from tests.house.test_agent_bad_days import MB, UPGRADE, memory_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with fake_model("--rate", "0") as model, agent_server(tmp_path_factory.mktemp("house"), model) as house:
        yield house
        assert restarts(house) == {}
        assert house.stop() == 0
    assert "Traceback" not in house.said


async def connected(house: Server) -> trio.SocketStream:
    address = urlsplit(house.url_of("agent"))
    return await trio.open_tcp_stream(address.hostname or "", address.port or 0)


async def test_a_hundred_tickets_that_are_raced_for_open_one_stream_each(house: Server, tmp_path: Path) -> None:
    agent = Agent(house)
    session = await agent.session(tmp_path / "work")
    host = urlsplit(house.url_of("agent")).netloc
    opened: Counter[str] = Counter()
    statuses: Counter[int] = Counter()
    tickets: list[str] = []
    go = trio.Event()

    async def fetch() -> None:
        tickets.append((await agent.ask("POST", "tickets"))["ticket"])

    async def race(ticket: str, ready: trio.Event) -> None:
        async with await connected(house) as stream:
            ready.set()
            await go.wait()
            head = f"GET /v1/sessions/{session}/stream?ticket={ticket} HTTP/1.1\r\nHost: {host}\r\n{UPGRADE}\r\n\r\n"
            await stream.send_all(head.encode())
            said = await stream.receive_some(64)
        status = int(said.split(b" ", 2)[1])
        statuses[status] += 1
        opened[ticket] += status == 101

    with trio.fail_after(DEADLINE):
        async with trio.open_nursery() as nursery:
            for _ in range(100):
                nursery.start_soon(fetch)
        assert len({*tickets}) == 100
        async with trio.open_nursery() as nursery:
            for ticket in tickets * 2:
                ready = trio.Event()
                nursery.start_soon(race, ticket, ready)
                await ready.wait()
            go.set()
    assert all(opened[ticket] == 1 for ticket in tickets), statuses
    assert {*statuses} <= {101, 401, 429}


def cpu_of(house: Server) -> float:
    """Seconds of CPU time, of the clock that Linux has for each process (clock_getcpuclockid)."""
    return time.clock_gettime(~house.process.pid << 3 | 2)


async def test_hundreds_of_sessions_are_made_and_listed_in_time_and_for_little_memory(
    house: Server, tmp_path: Path
) -> None:
    agent = Agent(house)
    first = await agent.session(tmp_path / "work")
    place = (await agent.ask("GET", f"sessions/{first}"))["workspace_id"]
    limit = trio.CapacityLimiter(16)
    made: set[str] = set()

    async def make() -> None:
        async with limit:
            made.add((await agent.ask("POST", "sessions", {"workspace_id": place, "title": "one of many"}))["id"])

    async with memory_of(house, 20 * MB):
        with trio.fail_after(DEADLINE):
            async with trio.open_nursery() as nursery:
                for _ in range(600):
                    nursery.start_soon(make)
        began = cpu_of(house)
        listed = await agent.ask("GET", f"sessions?workspace_id={place}")
        took = cpu_of(house) - began
    assert {each["id"] for each in listed} == made | {first}
    assert took < 1, f"{took:.2f} s of CPU time"


async def test_contexts_of_eight_megabytes_are_taken_or_refused_and_never_pile_up(
    house: Server, tmp_path: Path
) -> None:
    agent = Agent(house)
    session = await agent.session(tmp_path / "work")
    async with agent.attach(session, resume_from=None) as window:
        large = {"terminal_output": {"command": "make", "stdout": "x" * (7 * MB)}}
        async with memory_of(house, 80 * MB):
            for _ in range(8):
                await window.say("client.context_update", updates=large)
                await window.say("client.user_message", message="!long 3", context=large)
                refused = await window.until_type("server.error")
                assert "Say less, or less context" in refused["error"]["message"]
        await window.say("client.context_update", updates={"terminal_output": None})
        assert (await window.turn("!long 3"))["metadata"]["success"] is True


async def test_clients_that_send_a_byte_now_and_then_hold_up_nobody_and_are_ended(house: Server) -> None:
    agent = Agent(house)
    ended: list[float] = []

    async def creep() -> None:
        began = trio.current_time()
        async with await connected(house) as stream:
            try:
                for byte in b"GET /v1/health HTTP/1.1\r\nHost: " + b"x" * 1000:
                    await stream.send_all(bytes([byte]))
                    with trio.move_on_after(0.25):
                        if not await stream.receive_some(100):
                            break
                        break
            except trio.BrokenResourceError:
                pass
        ended.append(trio.current_time() - began)

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            for _ in range(200):
                nursery.start_soon(creep)
            slowest = 0.0
            for _ in range(20):
                began = time.perf_counter()
                await agent.ask("GET", "models/current")
                slowest = max(slowest, time.perf_counter() - began)
    assert len(ended) == 200
    assert max(ended) < 25
    assert slowest < 2


@asynccontextmanager
async def flood(piece: bytes) -> AsyncIterator[tuple[str, list[int]]]:
    """A server of models that answers with this again and again, up to 1 GB; and how much of it was taken."""
    taken: list[int] = []

    async def serve(stream: trio.SocketStream) -> None:
        sent = 0
        async with stream:
            head = b""
            while b"\r\n\r\n" not in head:
                head += await stream.receive_some(65536) or b"\r\n\r\n"
            try:
                await stream.send_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\r\n")
                if b"/api/chat" in head:
                    while sent < 1 << 30:
                        await stream.send_all(piece)
                        sent += len(piece)
            except trio.BrokenResourceError:
                pass
        if b"/api/chat" in head:
            taken.append(sent)

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}", taken
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "piece",
    [
        b"x" * MB,
        b"\n" * MB,
        json.dumps({"message": {"content": "word " * 50_000}}).encode() + b"\n",
        json.dumps({"message": {"thinking": "word " * 50_000}}).encode() + b"\n",
        json.dumps({"message": {"content": ""}, "pad": "y" * MB}).encode() + b"\n",
    ],
    ids=["one line", "empty lines", "words", "thoughts", "what is not read"],
)
async def test_a_model_that_sends_a_gigabyte_is_given_up_and_costs_little(
    piece: bytes, house: Server, tmp_path: Path
) -> None:
    agent = Agent(house)
    async with flood(piece) as (url, taken):
        own = {"model_provider": "ollama", "model_name": "flood", "model_url": url}
        session = await agent.session(tmp_path / "work", model=None, **own)
        async with agent.attach(session, resume_from=None) as window, memory_of(house, 120 * MB):
            final = await window.turn("go on")
            assert final["metadata"]["success"] is False
            errors = [each["error"]["message"] for each in window.heard if each["type"] == "server.error"]
            assert any("more than" in said or "too long" in said for said in (*errors, final["message"][-300:])), final
    assert taken
    assert max(taken) < 300 * MB
