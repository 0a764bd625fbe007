"""Whoever reads a session's log on a running server finds each change of what is allowed in it, also after a kill."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.house.agent_kit import Agent, agent_server, fake_model

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

KINDS = ("mode.changed", "policy.changed", "approval.remembered", "approval.forgotten")


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with fake_model("--rate", "300") as url:
        yield url


async def told(agent: Agent, session: str) -> list[dict[str, Any]]:
    page = await agent.ask("GET", f"sessions/{session}/events")
    return [each for each in page["events"] if each["type"] in KINDS]


async def test_every_change_of_what_is_allowed_stands_in_the_log_before_it_is_answered(
    tmp_path: Path, model: str
) -> None:
    with agent_server(tmp_path, model) as house:
        agent = Agent(house)
        session, other = [await agent.session(tmp_path / "work") for _ in range(2)]
        workspace = (await agent.ask("GET", f"sessions/{session}"))["workspace_id"]
        await agent.ask("PUT", f"workspaces/{workspace}/policy", {"patch_application": "server"})
        async with agent.attach(session) as window, agent.attach(other) as beside:
            await window.say("client.user_message", message=call("notes.md"))
            asked = await window.until_type("patch.proposed")
            answer = {"request_id": asked["request_id"], "approved": True, "remember": "workspace"}
            await window.say("client.approval_response", **answer)
            final = await window.until_type("assistant.message_final")
            assert final["metadata"]["files_modified"] == 1
            seen = await beside.until_type("approval.remembered")
            assert (seen["approval"]["path"], seen["approval"]["scope"]) == ("notes.md", "workspace")
            await window.say("client.user_message", message=call("more.md"))
            asked = await window.until_type("patch.proposed")
            answer = {"request_id": asked["request_id"], "approved": True, "remember": "session"}
            await window.say("client.approval_response", **answer)
            await window.until_type("assistant.message_final")
        kept = (await agent.ask("GET", f"workspaces/{workspace}/approvals"))["approvals"]
        await agent.ask("DELETE", f"workspaces/{workspace}/approvals/{kept[0]['id']}")
        kept = (await agent.ask("GET", f"sessions/{session}/approvals"))["approvals"]
        await agent.ask("DELETE", f"sessions/{session}/approvals/{kept[0]['id']}")
        await agent.ask("PATCH", f"sessions/{session}", {"mode": "auto"})
        await agent.ask("PUT", f"workspaces/{workspace}/policy", {"network_enabled": True})
        house.process.send_signal(signal.SIGKILL)
        house.ended()
    with agent_server(tmp_path, model) as house:
        agent = Agent(house)
        events = await told(agent, session)
        assert [(each["type"], *about(each)) for each in events] == [
            ("policy.changed", "patch_application"),
            ("approval.remembered", "workspace", "notes.md"),
            ("approval.remembered", "session", "more.md"),
            ("approval.forgotten", "workspace", "notes.md"),
            ("approval.forgotten", "session", "more.md"),
            ("mode.changed", "ask", "auto"),
            ("policy.changed", "network_enabled"),
        ]
        assert [(each["type"], *about(each)) for each in await told(agent, other)] == [
            ("policy.changed", "patch_application"),
            ("approval.remembered", "workspace", "notes.md"),
            ("approval.forgotten", "workspace", "notes.md"),
            ("policy.changed", "network_enabled"),
        ]
        assert await told(agent, session) == events, "each is told once"


def call(path: str) -> str:
    return f"!call write_file {json.dumps({'file_path': path, 'content': 'one'})}"


def about(event: dict[str, Any]) -> tuple[str, ...]:
    match event["type"]:
        case "policy.changed":
            return tuple(event["change"])
        case "mode.changed":
            return event["before"], event["mode"]
    approval = event["approval"]
    return approval.get("scope", "session"), approval["path"]
