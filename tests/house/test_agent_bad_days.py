"""Bad days of a real agent: clients that say what makes no sense, or read nothing, or come in thousands; models that
never come to an end. Each hurts itself at most."""

import json
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.agent.by_schema import Schemas, anything, malformed, spoilt
from tests.agent.schema_files import FOLDER
from tests.agent.storm import AgentStorm
from tests.house.agent_kit import Agent, Window, agent_server, fake_model
from tests.house.running import DEADLINE, Server
from tests.house.test_agent import restarts
from tests.plenty import plenty

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

MB = 1 << 20
CONTRACT = json.loads((FOLDER / "client_messages.json").read_text())
SCHEMAS = Schemas(CONTRACT)
KINDS = {each["$ref"].rpartition("/")[2]: each for each in CONTRACT["anyOf"]}
TOLD = json.loads((FOLDER / "server_messages.json").read_text())
TOLD_SCHEMAS = Schemas(TOLD)
MESSAGES = st.lists(spoilt(SCHEMAS.drawn(CONTRACT)) | anything, max_size=8)


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with fake_model("--rate", "300") as url:
        yield url


@pytest.fixture(scope="module")
def hasty_model() -> Iterator[str]:
    with fake_model("--rate", "0") as url:
        yield url


@pytest.fixture(scope="module")
def house(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """For tests that leave nothing behind. No test has restarted anything in it."""
    folder = tmp_path_factory.mktemp("house")
    with agent_server(folder, model) as house:
        yield house
        assert restarts(house) == {}
        assert house.stop() == 0
    assert "Traceback" not in house.said


@pytest.mark.parametrize("seed", [1, 2])
def test_whoever_lives_through_kills_has_seen_one_log_without_a_gap_a_loss_or_a_second_end(
    seed: int, tmp_path: Path, model: str
) -> None:
    storm = AgentStorm(tmp_path, model, seed)
    for _ in range(3):
        storm.life()
    storm.settle()
    assert storm.ends


# -- messages


async def answers(window: Window, message: Any, name: str) -> list[dict[str, Any]]:
    """What the server says of this message alone."""
    await window.visit.send(json.dumps(message).encode())
    await window.say("client.ping", timestamp=name)
    before = len(window.heard)
    await window.until(lambda each: each["type"] == "server.pong" and each["timestamp"] == name)
    return [each["error"] for each in window.heard[before:] if each["type"] == "server.error" and "seq" not in each]


@pytest.mark.drawn(4)
@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"ClientHello"}))
async def test_a_message_that_is_malformed_in_any_field_is_refused_with_its_place_and_the_client_stays(
    kind: str, house: Server, tmp_path: Path
) -> None:
    agent = Agent(house)
    session = await agent.session(tmp_path / "work")
    async with agent.attach(session) as window:
        await window.say("client.user_message", message="!hang")  # so that nothing else begins
        await window.until_type("assistant.token")
        refused = 0
        for number, message in enumerate(malformed(SCHEMAS.example(KINDS[kind]))):
            told = await answers(window, message, f"{kind} {number}")
            why_not = SCHEMAS.why_not(CONTRACT, message)
            codes = [error["code"] for error in told]
            if why_not is not None:
                refused += 1
                assert codes == ["INVALID_MESSAGE"], (why_not, message, told)
                assert told[0]["message"].startswith("The message cannot be understood: "), told
                assert told[0]["recoverable"] is True
            else:
                assert not any(error["message"].startswith("The message cannot be") for error in told), (message, told)
        assert refused > 10
        await window.say("client.cancel")
    await agent.ask("DELETE", f"sessions/{session}")


async def test_a_hello_that_is_malformed_in_any_field_is_refused_and_a_right_one_is_taken_after_it(
    house: Server, tmp_path: Path
) -> None:
    agent = Agent(house)
    session = await agent.session(tmp_path / "work")
    odd = [each for each in malformed(SCHEMAS.example(KINDS["ClientHello"])) if SCHEMAS.why_not(CONTRACT, each)]
    assert len(odd) > 30
    async with agent.visitor.stream(session) as visit:
        window = Window(visit)
        for message in odd:
            await window.visit.send(json.dumps(message).encode())
            error = await window.hear()
            assert (error["type"], error["error"]["code"]) == ("server.error", "INVALID_MESSAGE"), (message, error)
        await window.say("client.hello", resume_from=0)
        assert (await window.hear())["type"] == "server.hello"


@pytest.fixture(scope="module")
def session(house: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    return trio.run(Agent(house).session, tmp_path_factory.mktemp("drawn"))


@given(MESSAGES, MESSAGES)
@settings(max_examples=plenty(40), deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_is_said_before_and_after_hello_all_that_the_server_says_is_of_the_contract(
    house: Server, session: str, before: list[Any], after: list[Any]
) -> None:
    async def talk() -> None:
        async with Agent(house).visitor.stream(session) as visit:
            window = Window(visit)
            for message in (*before, {"type": "client.hello"}, *after, {"type": "client.cancel"}):
                await window.visit.send(json.dumps(message).encode())
            await window.say("client.ping", timestamp="the end")
            await window.until(lambda each: each["type"] == "server.pong" and each["timestamp"] == "the end")
        for each in window.heard:
            assert TOLD_SCHEMAS.why_not(TOLD, each) is None, (TOLD_SCHEMAS.why_not(TOLD, each), each)

    trio.run(talk)


# -- clients that do not read


@asynccontextmanager
async def memory_of(house: Server, most: int) -> AsyncIterator[None]:
    """The server grows by so many bytes at most, as long as this lasts."""
    status = Path(f"/proc/{house.process.pid}/status")

    def now() -> int:
        (kilobytes,) = (line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(kilobytes) << 10

    before = peak = now()

    async def look() -> None:
        nonlocal peak
        while True:
            peak = max(peak, now())
            await trio.sleep(0.02)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        yield
        nursery.cancel_scope.cancel()
    assert peak - before < most, f"it has grown by {(peak - before) / MB:.0f} MB"


@pytest.mark.parametrize("delta", [True, False])
async def test_a_client_that_never_reads_costs_little_and_catches_up_exactly(
    delta: bool, tmp_path: Path, hasty_model: str
) -> None:
    with agent_server(tmp_path, hasty_model) as house:
        agent = Agent(house)
        session = await agent.session(tmp_path / "work")
        async with agent.attach(session) as reads, agent.attach(session, delta=delta) as stuck:
            async with memory_of(house, 100 * MB):
                final = await reads.turn("!long 10000")
                for _ in range(3):
                    assert (await reads.turn("!long 3000"))["metadata"]["success"] is True
            assert final["message"].endswith("word9999")
            texts: list[str] = []
            text = ""
            while stuck.last < reads.last:
                message = await stuck.hear()
                if message["type"] == "assistant.token":
                    text = text + message["token"] if delta else message["cumulative_text"]
                elif message["type"] == "assistant.message_final":
                    assert text == message["message"]
                    texts.append(text)
                    text = ""
            assert texts[0] == final["message"]
            assert len(texts) == 4
            assert all(one < other for one, other in zip(stuck.numbers, stuck.numbers[1:], strict=False))
        assert restarts(house) == {}


# -- large messages


async def sent_raw(house: Server, head: str, pieces: Iterator[bytes]) -> bytes:
    """What the server answers, until it closes or all is sent and it is silent."""
    address = urlsplit(house.url_of("agent"))
    token = (house.state / "agent.token").read_text().strip()
    stream = await trio.open_tcp_stream(address.hostname or "", address.port or 0)
    said = b""
    with trio.fail_after(DEADLINE):
        async with stream:
            await stream.send_all(f"{head}\r\nHost: {address.netloc}\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
            async with trio.open_nursery() as nursery:

                async def send() -> None:
                    with suppress(trio.BrokenResourceError):
                        for piece in pieces:
                            await stream.send_all(piece)

                nursery.start_soon(send)
                with suppress(trio.BrokenResourceError):
                    while more := await stream.receive_some():
                        said += more
                nursery.cancel_scope.cancel()
    return said


UPGRADE = "\r\n".join(
    (
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    )
)


def in_one_frame() -> Iterator[bytes]:
    yield bytes([0x81, 0x80 | 127]) + struct.pack(">Q", 100 * MB) + b"\0\0\0\0"
    for _ in range(100):
        yield b"x" * MB


def in_fragments() -> Iterator[bytes]:
    for number in range(100):
        yield bytes([0x01 if number == 0 else 0x00, 0x80 | 127]) + struct.pack(">Q", MB) + b"\0\0\0\0" + b"x" * MB
    yield bytes([0x80, 0x80]) + b"\0\0\0\0"


@pytest.mark.parametrize("pieces", [in_one_frame, in_fragments])
async def test_a_message_of_100_mb_ends_its_own_connection_only(pieces: Any, house: Server, tmp_path: Path) -> None:
    agent = Agent(house)
    session = await agent.session(tmp_path / "work")
    async with agent.attach(session) as neighbour:
        await neighbour.say("client.user_message", message="!long 200")
        await neighbour.until_type("assistant.token")
        async with memory_of(house, 60 * MB):
            said = await sent_raw(house, f"GET /v1/sessions/{session}/stream HTTP/1.1\r\n{UPGRADE}", pieces())
        assert said.startswith(b"HTTP/1.1 101")
        assert struct.pack(">H", 1009) in said
        assert (await neighbour.until_type("assistant.message_final"))["metadata"]["success"] is True


@pytest.mark.parametrize("framing", ["Content-Length: 104857600", "Transfer-Encoding: chunked"])
async def test_a_body_of_100_mb_is_refused(framing: str, house: Server) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            yield b"100000\r\n" + b"x" * MB + b"\r\n" if "chunked" in framing else b"x" * MB

    async with memory_of(house, 60 * MB):
        said = await sent_raw(house, f"POST /v1/sessions HTTP/1.1\r\n{framing}", pieces())
    assert said.startswith(b"HTTP/1.1 413"), said[:200]


# -- models


@pytest.mark.parametrize(
    "call",
    [
        "read_file []",
        'read_file "a text"',
        "read_file null",
        "read_file 7",
        'read_file {"file_path": 7}',
        'read_file {"file_path": null}',
        'read_file {"file_path": ["a"]}',
        'read_file {"file_path": "a.txt", "start_line": -5, "end_line": "x"}',
        'read_file {"file_path": "a.txt", "start_line": 1e300}',
        "search_text {}",
        'search_text {"query": ""}',
        'search_text {"query": "(((((", "regex": true}',
        'search_text {"query": "(a+)+$", "regex": true}',
        'update_plan {"steps": "none"}',
        'update_plan {"steps": [{"step_number": "first"}], "current_step": []}',
        'no_such_tool {"a": 1}',
        "../../read_file {}",
    ],
)
async def test_a_tool_that_is_called_wrongly_tells_the_model_and_the_turn_goes_on(
    call: str, house: Server, tmp_path: Path
) -> None:
    agent = Agent(house)
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("a" * 40 + "!\n")
    session = await agent.session(work)
    async with agent.attach(session) as window:
        final = await window.turn(f"!call {call}")
        assert final["metadata"]["success"] is True, (call, window.heard[-3:])
        statuses = [each["status"] for each in window.heard if each["type"] == "tool.execute"]
        assert statuses[:1] == ["started"], call
        assert statuses[-1] in ("failed", "completed")
        assert "The tool says:" in final["message"]


async def test_a_model_that_never_stops_calling_tools_is_brought_to_an_end(tmp_path: Path, hasty_model: str) -> None:
    with agent_server(tmp_path, hasty_model) as house:
        agent = Agent(house)
        (tmp_path / "work").mkdir()
        (tmp_path / "work" / "a.txt").write_text("some text\n" * 100)
        session = await agent.session(tmp_path / "work")
        async with agent.attach(session) as window:
            final = await window.turn('!again read_file {"file_path": "a.txt"}')
            calls = [each for each in window.heard if each["type"] == "tool.execute" and each["status"] == "started"]
            assert 1 < len(calls) < 200
            assert "limit" in json.dumps(window.heard[-4:]) or final["metadata"]["success"] is True
            assert (await window.turn("hello"))["metadata"]["success"] is True
        assert restarts(house) == {}
