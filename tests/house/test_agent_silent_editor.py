"""An editor on a running server that applies patches itself and tells nobody, as the contract's first client does."""

import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.agent.changing import CLIENT_SECONDS
from tests.house.agent_kit import Agent, Window, agent_server, fake_model
from tests.house.running import Server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

BEFORE = "".join(f"line {number}\n" for number in range(20))
AFTER = BEFORE.replace("line 2\n", "two\n")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with fake_model("--rate", "300") as model, agent_server(tmp_path_factory.mktemp("house"), model) as house:
        yield house


@asynccontextmanager
async def editor(agent: Agent, session: str) -> AsyncIterator[Window]:
    async with agent.visitor.stream(session) as visit:
        window = Window(visit)
        info = {"name": "editor", "version": "0.1.0", "capabilities": ["diff_preview", "git_integration"]}
        await window.say("client.hello", client_info=info)
        await window.until_type("session.state")
        yield window


async def asks(agent: Agent, work: Path) -> str:
    session = await agent.session(work)
    await trio.Path(work / "a.txt").write_text(BEFORE)
    return session


CALL = f"!call write_file {json.dumps({'file_path': 'a.txt', 'content': AFTER})}"


def of(window: Window, kind: str) -> list[dict[str, Any]]:
    return [each for each in window.heard if each["type"] == kind]


@pytest.mark.parametrize("approved", [False, True], ids=["never answered", "approved elsewhere"])
async def test_a_turn_goes_on_when_the_file_is_as_the_patch_makes_it_and_can_be_undone(
    tmp_path: Path, house: Server, approved: bool
) -> None:
    agent, file = Agent(house), trio.Path(tmp_path / "work" / "a.txt")
    session = await asks(agent, tmp_path / "work")
    async with editor(agent, session) as window, agent.attach(session) as page:
        await page.say("client.user_message", message=CALL)
        asked = await window.until_type("patch.proposed")
        if approved:
            await page.say("client.approval_response", request_id=asked["request_id"], approved=True)
            waits = await window.until(lambda message: message.get("until", 0) > 0)
            assert "your editor to apply" in waits["message"]
        began = time.monotonic()
        await file.write_text(AFTER)
        final = await window.until_type("assistant.message_final")
        assert time.monotonic() - began < CLIENT_SECONDS / 3
        assert (final["metadata"]["success"], final["metadata"]["files_modified"]) == (True, 1)
        (resolved,), (applied,) = of(window, "approval.resolved"), of(window, "patch.applied")
        assert (resolved["approved"], resolved["by"]) == (True, "a test" if approved else "editor")
        assert (applied["success"], applied["by"]) == (True, "client")
        assert [each["status"] for each in of(window, "file.changed")] == ["done"]
    report = await agent.ask("POST", f"sessions/{session}/undo", {})
    assert [each["outcome"] for each in report["files"]] == ["done"]
    assert await file.read_text() == BEFORE
