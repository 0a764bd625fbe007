"""A workspace's disk hangs under a running server while the agent writes: a cancel is said in its time, nobody else
notices, the log says what is known, and the server ends when it is asked to."""

import json
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import trio

from codec.agent.files import digest_of
from tests.house.agent_kit import Agent, Window, fake_model
from tests.house.running import DEADLINE, PROGRAM, Server, server
from tests.house.test_agent import restarts
from tests.transports.agent import hanging
from tests.transports.agent.hanging import AFTER, STEPS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

HERE = {"execution_mode": "server_runner", "patch_application": "server"}
OLD = "the first line\n"
NEW = "another line\n"


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with fake_model("--rate", "0") as url:
        yield url


def hang(folder: Path, step: str) -> None:
    (folder / "hangs").unlink(missing_ok=True)
    (folder / "hang").write_text(step)


def answer(folder: Path) -> None:
    (folder / "hang").unlink(missing_ok=True)


def until_it_hangs(folder: Path) -> None:
    end = time.monotonic() + DEADLINE
    while not (folder / "hangs").exists():
        assert time.monotonic() < end, "it never comes to that"
        time.sleep(0.01)


def make(work: Path) -> None:
    work.mkdir(exist_ok=True)
    (work / "a.txt").write_text(OLD)


def writes(path: str = "a.txt", content: str = NEW) -> str:
    return f"!rounds {json.dumps([[['write_file', {'file_path': path, 'content': content}]]])}"


def statuses(window: Window) -> list[str]:
    return [each["status"] for each in window.heard if each["type"] == "file.changed"]


async def acting_session(agent: Agent, work: Path) -> str:
    make(work)
    place = await agent.ask("POST", "workspaces/register", {"path": str(work)})
    await agent.ask("PUT", f"workspaces/{place['id']}/policy", HERE)
    return await agent.session(work, mode="auto", context_window=1_000_000)


def hung_server(folder: Path, model: str) -> AbstractContextManager[Server]:
    environ = {"TROUPE_TEST_PROGRAM": str(PROGRAM)}
    return server(folder, "--set", f"agent.ollama={model}", environ=environ, program=Path(hanging.__file__))


async def cancelled_while_it_hangs(house: Server, window: Window, step: str) -> None:
    hang(house.folder, step)
    await window.say("client.user_message", message=writes())
    until_it_hangs(house.folder)
    await window.say("client.cancel")
    final = await window.until_type("assistant.message_final")  # though the disk hangs until it is told to answer
    assert final["metadata"]["cancelled"]
    assert statuses(window)[-2:] == ["begun", "unknown"]


async def test_a_cancel_is_said_while_the_disk_hangs_and_the_outcome_when_it_answers(
    tmp_path: Path, model: str
) -> None:
    with hung_server(tmp_path / "house", model) as house:
        house.ready()
        agent, work = Agent(house), tmp_path / "work"
        session, beside = await acting_session(agent, work), await acting_session(agent, tmp_path / "beside")
        same = await agent.session(work, mode="auto", context_window=1_000_000)
        async with agent.attach(session) as window, agent.attach(beside) as other, agent.attach(same) as third:
            for step in STEPS:
                (work / "a.txt").write_text(OLD)
                await cancelled_while_it_hangs(house, window, step)

                report = await agent.ask("POST", f"sessions/{session}/undo", {"preview": True})
                assert "because the disk does not answer" in report["message"]
                await third.turn(writes("b.txt"))
                (told,) = [each for each in third.heard if each["type"] == "tool.execute"][-1:]
                assert "It is not known yet whether a.txt was written" in told["result"]["text"]
                assert not (work / "b.txt").exists()

                answer(house.folder)
                last = await window.until(lambda each: each["type"] == "file.changed")
                done = step in ("rename", *AFTER)
                assert last["status"] == ("done" if done else "failed")
                now = (work / "a.txt").read_bytes()
                assert now.decode() == (NEW if done else OLD)
                assert digest_of(now) == last["after_hash" if done else "before_hash"]
                assert (await other.turn(writes(content=f"{step}\n")))["metadata"]["success"]
                assert (tmp_path / "beside" / "a.txt").read_text() == f"{step}\n"
                report = await agent.ask("POST", f"sessions/{session}/undo", {})
                assert (work / "a.txt").read_text() == OLD, report
                assert sorted(each.name for each in work.iterdir()) == ["a.txt"]
        assert restarts(house) == {}
        assert house.stop() == 0
        assert "Traceback" not in house.said


async def test_a_server_whose_disk_hangs_in_a_write_ends_when_it_is_asked_to_and_the_next_one_tells_what_was_written(
    tmp_path: Path, model: str
) -> None:
    work = tmp_path / "work"
    with hung_server(tmp_path / "house", model) as house:
        agent = Agent(house.ready())
        session = await acting_session(agent, work)
        async with agent.attach(session) as window:
            hang(house.folder, "rename")
            await window.say("client.user_message", message=writes())
            until_it_hangs(house.folder)
            began = time.monotonic()
            assert await trio.to_thread.run_sync(house.stop) == 0
            assert time.monotonic() - began < 10
        assert f"writing in {work}" in house.said.splitlines()[-1]
        assert (work / "a.txt").read_text() == OLD
    answer(house.folder)
    with hung_server(tmp_path / "house", model) as house:
        agent = Agent(house.ready())
        async with agent.attach(session) as window:
            await window.until_type("assistant.message_final")
            assert statuses(window) == ["begun", "failed"]
            assert (await window.turn(writes()))["metadata"]["success"]
        assert [(each.name, each.read_text()) for each in work.iterdir()] == [("a.txt", NEW)]
