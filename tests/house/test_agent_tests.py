"""Tests of a workspace that need no approval, in the house: whoever has changed what they run, somebody looks."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.house.agent_kit import Agent, Window, agent_server, fake_model
from tests.house.running import Server
from tests.house.test_agent import restarts

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

POLICY = {
    "execution_mode": "server_runner",
    "auto_approve_tests": True,
    "command_approval": "prompt",
    "allowed_commands": ["sed", "cp", "true"],
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with fake_model("--rate", "0") as model, agent_server(tmp_path_factory.mktemp("house"), model) as house:
        yield house
        assert restarts(house) == {}


def runs(*commands: str) -> str:
    return f"!rounds {json.dumps([[['execute_command', {'command': each}]] for each in commands])}"


async def asked(window: Window, text: str) -> list[dict[str, Any]]:
    """The commands that this turn has asked about; all are approved."""
    await window.say("client.user_message", message=text)
    found: list[dict[str, Any]] = []
    while True:
        message = await window.until(
            lambda each: each["type"] in ("command.request_approval", "assistant.message_final")
        )
        if message["type"] == "assistant.message_final":
            assert message["metadata"]["success"]
            return found
        if message["requires_approval"]:
            found.append(message)
            await window.say("client.approval_response", request_id=message["request_id"], approved=True)


@pytest.mark.parametrize(
    "edit",
    [
        "sed -i s/true/false/ tox.ini",
        "cp other.ini tox.ini",
        "sed -i -e s/true/false/ -e s/a/b/ pyproject.toml",
    ],
)
async def test_a_command_of_the_agent_that_has_changed_what_the_tests_run_makes_them_ask(
    house: Server, tmp_path: Path, edit: str
) -> None:
    for name, text in (("tox.ini", "[testenv]\ncommands = true\n"), ("pyproject.toml", "# true a\n")):
        (tmp_path / name).write_text(text)
    (tmp_path / "other.ini").write_text("[testenv]\ncommands = rm -rf .\n")
    agent = Agent(house)
    session = await agent.session(tmp_path, mode="ask", context_window=1_000_000)
    place = (await agent.ask("GET", f"sessions/{session}"))["workspace_id"]
    await agent.ask("PUT", f"workspaces/{place}/policy", POLICY)
    async with agent.attach(session) as window:
        assert await asked(window, runs("tox", "true", "tox")) == []
        questions = await asked(window, runs("tox", edit, "tox", "tox"))
        (question,) = [each for each in questions if each["command"] == "tox"]
        assert "has changed since this turn began, and it says what the tests run." in question["reason"]
        assert await asked(window, runs("tox")) == []
