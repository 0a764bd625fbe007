"""The agent on a running server, by the four laws of the house: nobody beside notices, nothing acknowledged is lost,
what is shown is true, and whoever may not, cannot."""

import json
import random
import signal
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from tests.house.agent_kit import Agent, Window, agent_server, fake_model
from tests.house.running import Server, troupe
from transports.websocket.websocket import Closed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with fake_model("--rate", "300") as url:
        yield url


@pytest.fixture(scope="module")
def house(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """For those that leave it as it was: each ends with `restarts(house) == {}`."""
    with agent_server(tmp_path_factory.mktemp("shared"), model) as house:
        yield house


def restarts(house: Server) -> dict[str, int]:
    return {node["path"]: node["restarts"] for node in house.json("/tree.json")["nodes"] if node["restarts"]}


def rising(numbers: list[int]) -> bool:
    return all(one < other for one, other in pairwise(numbers))


async def test_a_turn_streams_and_every_window_sees_the_same(tmp_path: Path, house: Server) -> None:
    agent = Agent(house)
    session = await agent.session(tmp_path / "work")
    async with agent.attach(session) as first, agent.attach(session, delta=False) as second:
        final = await first.turn("!long 60")
        assert final["metadata"]["success"] is True
        assert "word59" in final["message"]
        await second.until_type("assistant.message_final")
        assert first.text.strip() == final["message"].strip()
        assert rising(first.numbers)
        cumulative = [message for message in second.heard if message["type"] == "assistant.token"][-1]
        assert cumulative["cumulative_text"].strip() == final["message"].strip()
    async with agent.attach(session) as later:
        await later.until_type("assistant.message_final")
        assert later.text.strip() == final["message"].strip()
    listed = await agent.ask("GET", f"sessions/{session}/messages")
    assert [message["role"] for message in listed] == ["user", "assistant"]
    assert restarts(house) == {}


async def test_a_client_is_told_whether_commands_are_kept_off_the_network(tmp_path: Path, house: Server) -> None:
    agent = Agent(house)
    session = await agent.session(tmp_path / "work")
    for _ in range(2):
        async with agent.attach(session) as window:
            hello = next(message for message in window.heard if message["type"] == "server.hello")
            assert "offline_commands" in hello["server_info"]["capabilities"]
    assert restarts(house) == {}


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
async def test_a_session_goes_on_where_it_was_after_the_server_has_ended(
    tmp_path: Path, model: str, by: signal.Signals
) -> None:
    with agent_server(tmp_path, model) as house:
        agent = Agent(house)
        session = await agent.session(tmp_path / "work")
        async with agent.attach(session) as window:
            done = await window.turn("!long 20")
            await window.say("client.user_message", message="!endless")
            for _ in range(100):
                await window.until_type("assistant.token")
            house.process.send_signal(by)
            await to_its_end(window)
        house.ended()
    with agent_server(tmp_path, model) as house:
        agent = Agent(house)
        async with agent.attach(session, resume_from=window.last) as again:
            final = await again.until_type("assistant.message_final")
            assert (final["metadata"]["interrupted"], final["metadata"]["success"]) == (True, False)
            assert rising([window.last, *again.numbers])
            spoken = window.text.removeprefix(done["message"])
            kept = final["message"]
            assert kept.startswith(spoken) or spoken.startswith(kept), "what was seen and what is kept are of one text"
        async with agent.attach(session) as whole:
            await whole.until(lambda message: message.get("seq") == final["seq"])
            assert rising(whole.numbers)
            finals = [each["metadata"] for each in whole.heard if each["type"] == "assistant.message_final"]
            assert [each["success"] for each in finals] == [True, False]
            answered = await whole.turn("and now?")
            assert answered["metadata"]["success"] is True
        assert restarts(house) == {}


async def test_cancel_ends_the_turn_and_nothing_comes_after_it(tmp_path: Path, house: Server) -> None:
    agent = Agent(house)
    session = await agent.session(tmp_path / "work")
    async with agent.attach(session) as window:
        for order in ("!endless", "!hang"):
            await window.say("client.user_message", message=order)
            await window.until_type("assistant.token")
            await window.say("client.cancel")
            final = await window.until_type("assistant.message_final")
            assert (final["metadata"]["cancelled"], final["metadata"]["success"]) == (True, False)
            before = len(window.heard)
            with trio.move_on_after(0.3):
                while True:
                    await window.hear()
            assert [each["type"] for each in window.heard[before:] if "seq" in each] == []
    assert restarts(house) == {}


async def test_a_model_that_fails_is_told_and_the_next_turn_is_answered(tmp_path: Path, model: str) -> None:
    with agent_server(tmp_path, model) as house:
        agent = Agent(house)
        for order in ("!die", "!leave", "!garbage", "!error out of memory", "!refuse 500"):
            session = await agent.session(tmp_path / "work")
            async with agent.attach(session) as window:
                final = await window.turn(order)
                assert final["metadata"]["success"] is False, order
                errors = [each["error"] for each in window.heard if each["type"] == "server.error"]
                told = [(error["code"], error["recoverable"], bool(error["message"])) for error in errors]
                assert told == [("MODEL_ERROR", True, True)], order
                assert (await window.turn("hello"))["metadata"]["success"] is True, order
            assert restarts(house) == {}, order
        assert house.stop() == 0
    assert "Traceback" not in house.said


async def to_its_end(window: Window) -> None:
    with suppress(Closed):
        while True:
            await window.hear()


def odd_messages(draw: random.Random) -> list[bytes | str]:
    kinds = ("hello", "user_message", "context_update", "approval_response", "patch_apply_result", "command_result",
             "cancel", "withdraw", "file_changes", "ping", "nothing")  # fmt: skip
    names = ("message", "context", "updates", "request_id", "approved", "patch_id", "command_id", "changes", "reason")
    values: list[Any] = [None, True, [], {}, "", "x" * 5000, 10**400, -1, 1.5, [[]] * 50, {"a": {"b": [None]}}]
    odd: list[bytes | str] = ["", "null", "[]", "{", "[" * 100_000, '"', b"\xff\xfe", b"\x00" * 1000, '{"type": 1}']
    for _ in range(150):
        fields = {name: draw.choice(values) for name in draw.sample(names, draw.randint(0, 5))}
        odd.append(json.dumps({"type": f"client.{draw.choice(kinds)}", **fields}))
    return odd


async def test_no_message_restarts_anything_and_the_neighbours_turn_goes_on(tmp_path: Path, model: str) -> None:
    draw = random.Random(11)
    with agent_server(tmp_path, model) as house:
        agent = Agent(house)
        session = await agent.session(tmp_path / "work")
        beside = await agent.session(tmp_path / "work")
        async with agent.attach(beside) as neighbour, agent.attach(session) as window:
            await neighbour.say("client.user_message", message="!long 400")
            for message in odd_messages(draw):
                data = message if isinstance(message, bytes) else message.encode()
                if isinstance(message, bytes):
                    await window.visit._connection.send_message(data)
                else:
                    await window.visit.send(data)
            await window.say("client.cancel")
            final = await neighbour.until_type("assistant.message_final")
            assert final["metadata"]["success"] is True
            await window.say("client.ping", timestamp="now")
            await window.until(lambda each: each["type"] == "server.pong" and each["timestamp"] == "now")
        assert restarts(house) == {}
        assert house.stop() == 0
    assert "Traceback" not in house.said


async def test_paths_out_of_the_workspace_are_told_to_the_model_as_failures(tmp_path: Path, house: Server) -> None:
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    (work / ".git" / "config").write_text("secret-of-git")
    (work / "out").symlink_to("/etc")
    (work / ".env").write_text("API_KEY=secret-of-env\n")
    (work / "fine.txt").write_text("a fine text\n")
    agent = Agent(house)
    session = await agent.session(work)
    async with agent.attach(session) as window:
        for path in ("../../etc/passwd", "/etc/passwd", ".git/config", "out/passwd", ".env", "\x00", ""):
            final = await window.turn(f"!call read_file {json.dumps({'file_path': path})}")
            assert final["metadata"]["success"] is True, path
            tools = [each["status"] for each in window.heard if each["type"] == "tool.execute"]
            assert tools[-2:] == ["started", "failed"], path
        final = await window.turn('!call read_file {"file_path": "fine.txt"}')
        assert "a fine text" in final["message"]
    told = json.dumps(window.heard)
    assert "secret-of" not in told
    assert "root:" not in told
    assert restarts(house) == {}


async def test_whoever_may_not_cannot(tmp_path: Path, model: str) -> None:
    with agent_server(tmp_path, model) as house:
        agent = Agent(house)
        session = await agent.session(tmp_path / "work")
        url = house.url_of("agent")
        token = (house.state / "agent.token").read_text().strip()
        right = {"authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=f"{url}/v1/") as client:

            async def status(path: str, headers: dict[str, str]) -> int:
                return (await client.get(path, headers=headers)).status_code

            for path in ("workspaces", "sessions", f"sessions/{session}/messages", "models/current", "openapi.json"):
                assert await status(path, {}) in (401, 429)
                assert await status(path, {"authorization": "Bearer no"}) in (401, 429)
                assert await status(path, right | {"origin": "https://evil.example"}) == 403
                assert await status(path, right | {"host": "evil.example"}) == 421
                assert await status(path, right) == 200
        assert (house.state / "agent.token").stat().st_mode & 0o777 == 0o600
        assert house.stop() == 0
    assert token not in house.said


async def test_the_terminal_asks_with_a_server_and_without(tmp_path: Path, model: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "app.py").write_text('def find_port():\n    """Reads the port."""\n    return 3199\n')
    options = ["--state-dir", str(tmp_path / "state"), "--workspace", str(work)]
    alone = await trio.to_thread.run_sync(troupe, tmp_path, "ask", "where is find_port defined?", *options)
    assert (alone.returncode, alone.stderr.count("Traceback")) == (0, 0), alone.stderr
    assert "app.py" in alone.stdout
    with agent_server(tmp_path, model) as house:
        agent = Agent(house)
        (session,) = await agent.ask("GET", "sessions")
        assert session["title"] == "where is find_port defined?"
        await agent.session(work)
        served = await trio.to_thread.run_sync(troupe, tmp_path, "ask", "!long 30", *options)
        assert (served.returncode, "word29" in served.stdout) == (0, True), served.stderr
        failed = await trio.to_thread.run_sync(troupe, tmp_path, "ask", "!die", *options)
        assert failed.returncode == 1
        listed = await trio.to_thread.run_sync(troupe, tmp_path, "sessions", *options)
        assert listed.stdout.count("work") == 4
        link = await trio.to_thread.run_sync(troupe, tmp_path, "sessions", "--link", *options[:2])
        token = (house.state / "agent.token").read_text().strip()
        assert link.stdout.strip() == f"{house.url_of('agent')}/#token={token}"
