"""A full disk under a running server: what cannot be done is refused in words, nothing that was acknowledged is lost,
the others go on, and when there is room again, so does the agent."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.house.agent_kit import Agent, Window, agent_server, fake_model
from tests.house.running import DEADLINE, Server, server
from tests.house.test_agent import restarts
from tests.sidekick.kit import bystanders
from tests.transports.folder.disks import MAY_MOUNT, small_disk

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

HERE = {"execution_mode": "server_runner", "patch_application": "server"}
FULL, NO_SPACE = "the disk is full", "there is no space left on the disk"
"""In the words of the workspace, and of the store."""
TWENTY = [f"part-{number:02}.txt" for number in range(20)]
PROBLEM = {
    "name": "A. Tiny",
    "group": "Codeforces - Tiny",
    "url": "https://codeforces.com/contest/1/problem/A",
    "interactive": False,
    "memoryLimit": 256,
    "timeLimit": 2000,
    "tests": [{"input": "1\n", "output": "1\n"}],
    "testType": "single",
    "input": {"type": "stdin"},
    "output": {"type": "stdout"},
    "languages": {"java": {"mainClass": "Main", "taskClass": "A"}},
    "batch": {"id": "1", "size": 1},
}


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with fake_model("--rate", "0") as url:
        yield url


def fill(place: Path) -> Path:
    """Leaves no room there. Returns what has to go, to make some."""
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            with suppress(OSError):
                while True:
                    file.write(b"x" * size)
    return ballast


def rounds(*calls: tuple[str, Any]) -> str:
    return f"!rounds {json.dumps([[call] for call in calls])}"


def edits(path: str, number: int) -> dict[str, str]:
    return {"file_path": path, "old": "the first line\n", "new": f"the first line\nadded {number}\n" + "y" * 9000}


async def results(window: Window, text: str) -> list[str]:
    """What the model is told of the calls of this turn."""
    before = len(window.heard)
    final = await window.turn(text)
    assert final["metadata"]["success"], window.heard[before:]
    told = [each for each in window.heard[before:] if each["type"] == "tool.execute" and each["status"] != "started"]
    return [each["result"]["text"] for each in told]


async def acting_session(agent: Agent, work: Path, mode: str) -> str:
    place = await agent.ask("POST", "workspaces/register", {"path": str(work)})
    await agent.ask("PUT", f"workspaces/{place['id']}/policy", HERE)
    return await agent.session(work, mode=mode, context_window=1_000_000)


async def post(house: Server) -> httpx.Response:
    """A problem to the judge."""
    async with httpx.AsyncClient(timeout=DEADLINE) as client:
        return await client.post(house.url_of("judge"), json=PROBLEM)


async def told(window: Window, words: str) -> str:
    """The error that says so."""
    error = await window.until(lambda each: each["type"] == "server.error" and words in each["error"]["message"])
    return str(error["error"]["message"])


def comes_up(house: Server) -> bool:
    """Whether it is ready after a while. Else it has ended."""
    end = time.monotonic() + DEADLINE
    house.patient(0.5)
    while house.process.poll() is None:
        with suppress(TimeoutError):
            house.ready()
            return True
        assert time.monotonic() < end, "it neither comes up nor ends"
    return False


if MAY_MOUNT:  # elsewhere the tests of the store and of the folders with limits on sizes stand in for these

    async def test_a_patch_of_twenty_files_onto_a_full_disk_changes_none_and_is_done_when_there_is_room(
        tmp_path: Path, model: str
    ) -> None:
        with small_disk(tmp_path / "work", 4) as work, agent_server(tmp_path / "house", model) as house:
            for name in TWENTY:
                (work / name).write_text("the first line\n" + "x" * 9000 + "\n")
            agent = Agent(house)
            session = await acting_session(agent, work, "auto")
            before = {name: (work / name).read_bytes() for name in TWENTY}
            async with agent.attach(session) as window:
                ballast = fill(work)
                (told,) = await results(window, rounds(("propose_diff", {"edits": [edits(n, 1) for n in TWENTY]})))
                for name in TWENTY:
                    assert f"{name} was not changed: {name} is not changed: {FULL}. Make room, and try again." in told
                assert sorted(os.listdir(work)) == sorted([*TWENTY, "ballast"])
                assert {name: (work / name).read_bytes() for name in TWENTY} == before
                ballast.unlink()
                (told,) = await results(window, rounds(("propose_diff", {"edits": [edits(n, 2) for n in TWENTY]})))
                after = {name: (work / name).read_bytes() for name in TWENTY}
                assert all(b"added 2" in data for data in after.values()), told
                ballast = fill(work)
                report = await agent.ask("POST", f"sessions/{session}/undo", {})
                assert {each["outcome"] for each in report["files"]} == {"refused"}
                assert all(FULL in each["reason"] for each in report["files"]), report
                assert {name: (work / name).read_bytes() for name in TWENTY} == after
                ballast.unlink()
                report = await agent.ask("POST", f"sessions/{session}/undo", {})
                assert {each["outcome"] for each in report["files"]} == {"done"}
                assert {name: (work / name).read_bytes() for name in TWENTY} == before
                assert sorted(os.listdir(work)) == TWENTY
            assert restarts(house) == {}
            assert house.stop() == 0
            assert "Traceback" not in house.said

    async def test_while_the_state_has_no_room_nothing_is_acknowledged_or_lost_and_the_others_go_on(
        tmp_path: Path, model: str
    ) -> None:
        work = tmp_path / "work"
        work.mkdir()
        (work / "a.txt").write_text("the first line\n")
        with small_disk(tmp_path / "house", 40) as place, agent_server(place, model) as house:
            agent = Agent(house)
            session = await acting_session(agent, work, "ask")
            async with agent.attach(session) as window, bystanders(house, "beside") as others:
                await window.say(
                    "client.user_message", message=rounds(("propose_diff", {"edits": [edits("a.txt", 1)]}))
                )
                asked = await window.until_type("patch.proposed")
                ballast = fill(place)
                await until_in_trouble(window)
                await others.undisturbed()
                await window.say("client.approval_response", request_id=asked["request_id"], approved=True)
                assert NO_SPACE in await told(window, "The answer was not taken, because it cannot be kept")
                await window.say("client.user_message", message="hello", message_id="second")
                assert NO_SPACE in await told(window, "The message was not taken, because it cannot be kept")
                assert (work / "a.txt").read_text() == "the first line\n"
                posted = await post(house)
                assert posted.status_code in (200, 503, 507), posted.text
                await others.undisturbed()

                ballast.unlink()
                await window.until(lambda each: each["type"] == "session.state" and each["state"]["trouble"] is None)
                assert (await post(house)).status_code == 200
                await window.say("client.approval_response", request_id=asked["request_id"], approved=True)
                final = await window.until_type("assistant.message_final")
                assert final["metadata"]["success"]
                assert "added 1" in (work / "a.txt").read_text()
                assert (await window.turn("hello"))["message"] == "hello"
                seen = {each["seq"]: each for each in window.heard if "seq" in each}
                await others.undisturbed()
            async with agent.attach(session) as whole:
                await whole.until(lambda each: each.get("seq") == window.last)
                kept = {each["seq"]: each for each in whole.heard if "seq" in each}
                lost = [fact for seq, fact in seen.items() if fact["type"] != "assistant.token" and kept[seq] != fact]
                assert lost == []
            assert restarts(house) == {}
            assert house.stop() == 0
            assert "Traceback" not in house.said

    async def test_a_server_that_is_killed_on_a_full_disk_comes_back_with_all_that_it_had_acknowledged(
        tmp_path: Path, model: str
    ) -> None:
        work = tmp_path / "work"
        work.mkdir()
        (work / "a.txt").write_text("the first line\n")
        with small_disk(tmp_path / "house", 40) as place:
            with agent_server(place, model) as house:
                agent = Agent(house)
                session = await acting_session(agent, work, "ask")
                async with agent.attach(session) as window:
                    await window.say(
                        "client.user_message", message=rounds(("propose_diff", {"edits": [edits("a.txt", 1)]}))
                    )
                    asked = await window.until_type("patch.proposed")
                    ballast = fill(place)
                    await until_in_trouble(window)
                    house.process.send_signal(signal.SIGKILL)
            with server(place, "--set", f"agent.ollama={model}") as full:
                if comes_up(full):
                    assert full.stop() == 0, full.said
                else:
                    assert full.ended() == 2, full.said
                    assert "No space left on device" in full.said
                assert "Traceback" not in full.said
            ballast.unlink()
            with agent_server(place, model) as house:
                agent = Agent(house)
                async with agent.attach(session, resume_from=window.last) as again:
                    (state,) = [each["state"] for each in again.heard if each["type"] == "session.state"]
                    assert state["suspended"]
                    assert state["pending_approvals"] == [asked["request_id"]]
                    await again.say("client.approval_response", request_id=asked["request_id"], approved=True)
                    assert (await again.until_type("assistant.message_final"))["metadata"]["success"]
                assert "added 1" in (work / "a.txt").read_text()
                assert restarts(house) == {}

    async def until_in_trouble(window: Window) -> None:
        """Says what takes room until nothing can be kept."""
        for number in range(200):
            await window.say("client.user_message", message="x" * 500_000, message_id=f"large-{number}")
            await window.say("client.withdraw", message_id=f"large-{number}")
            await window.say("client.ping", timestamp=number)
            await window.until(lambda each: each["type"] in ("server.pong", "server.error"))
            states = [each["state"] for each in window.heard if each["type"] == "session.state"]
            if states[-1]["trouble"] is not None:
                assert NO_SPACE in states[-1]["trouble"]
                return
        raise AssertionError("the disk does not become full")
