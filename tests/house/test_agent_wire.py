"""What the first client of a new session is told, what the original's ways to an index are answered with, and what the
terminal says when the server goes."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.house.agent_kit import MODEL, Agent, Window, agent_server, fake_model
from tests.house.running import DEADLINE, Server, troupe

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with fake_model("--rate", "0") as model, agent_server(tmp_path_factory.mktemp("house"), model) as house:
        yield house
        assert house.stop() == 0
    assert "Traceback" not in house.said


async def test_the_first_words_of_a_new_session_name_the_model_that_it_will_use(house: Server, tmp_path: Path) -> None:
    agent = Agent(house)
    for wish, provider, name in [
        ({}, "ollama", MODEL),
        ({"model_provider": "builtin", "model_name": "builtin"}, "builtin", "builtin"),
    ]:
        session = await agent.session(tmp_path / "work", **wish)
        async with agent.attach(session) as window:
            hello, state = window.heard[:2]
            assert (hello["type"], state["type"]) == ("server.hello", "session.state")
            for model in (hello["server_info"]["model"], state["state"]["model"]):
                assert (model["provider"], model["model_name"]) == (provider, name)
            assert state["state"]["context_window"] == 8192


ORIGINALS_POLICY = {
    "command_approval": "prompt",
    "allowed_commands": ["pytest"],
    "blocked_commands": ["rm -rf"],
    "auto_approve_tools": ["read_file", "report_plan"],
    "execution_mode": "server_runner",
}
"""What its settings say, and the one that README names for an editor that claims a terminal and tells nothing of it."""
ORIGINALS_CONTEXT = {
    "include_workspace_rag": True,
    "mentions": [
        {"type": "file", "path": "a.txt", "content": "one\n", "truncated": False},
        {"type": "unknown", "name": "nothing"},
    ],
    "active_editor": {"file_path": "../beside.txt", "language": "plaintext", "visible_range": {"start": 0, "end": 3}},
    "open_editors": [{"file_path": "a.txt", "is_dirty": True, "visible": True}],
    "diagnostics": [
        {"file_path": "a.txt", "severity": "unknown", "message": "odd", "line": 0, "character": 0, "source": "x"}
    ],
    "git_context": {"staged_files": [], "modified_files": ["a.txt"]},
}


async def test_a_client_that_says_what_the_original_s_says_is_served_to_its_end(house: Server, tmp_path: Path) -> None:
    agent, work = Agent(house), tmp_path / "work"
    first = await agent.session(work)  # the user has chosen a model
    for name, text in (("work/a.txt", "one\ntwo\n"), ("work/old.txt", "old\n"), ("beside.txt", "not its business\n")):
        (tmp_path / name).write_text(text)
    wish = {"path": str(work), "name": "work", "module_id": "vscode", "auto_index": True, "auto_watch": True}
    place = (await agent.ask("POST", "workspaces/register", {**wish, "use_polling": False}))["id"]
    await agent.ask("PUT", f"workspaces/{place}/policy", ORIGINALS_POLICY)
    session = (await agent.ask("POST", "sessions", {"workspace_id": place}))["id"]
    async with agent.visitor.stream(session) as visit:
        window = Window(visit)
        info = {"name": "vscode-extension", "version": "0.1.0"}
        can = ["diff_preview", "terminal_exec", "git_integration"]
        await window.say("client.hello", protocol_version="1.0.0", client_info={**info, "capabilities": can})

        async def begin(message: str, **more: str) -> None:
            await window.say("client.user_message", message=message, context={**ORIGINALS_CONTEXT, **more})

        async def approved(kind: str) -> str:
            asked = await window.until_type(kind)
            await window.say("client.approval_response", request_id=asked["request_id"], approved=True)
            return str(asked["message"])

        await begin("/fix", command="fix")  # a command alone is the message, too
        said = (await window.until_type("assistant.message_final"))["message"]
        assert [each["type"] for each in window.heard[:2]] == ["server.hello", "session.state"]
        assert said.startswith("/fix")
        assert "a.txt:1:1: unknown: odd" in said
        assert "not its business" not in json.dumps(window.heard)

        wanted = {"file_path": "a.txt", "content": "one\nthree\n"}
        await begin(f"!call write_file {json.dumps(wanted)}")
        patch = await window.until_type("patch.proposed")
        assert patch["base_hash"] == hashlib.sha256((work / patch["file_path"]).read_bytes()).hexdigest()
        (work / patch["file_path"]).write_text(wanted["content"])  # it tells nobody
        assert (await window.until_type("assistant.message_final"))["metadata"]["files_modified"] == 1

        await begin('!call execute_command {"command": "echo it runs > made.txt"}')
        assert "echo it runs" in await approved("command.request_approval")
        assert (await window.until_type("assistant.message_final"))["metadata"]["success"] is True
        assert (work / "made.txt").read_text() == "it runs\n"

        await begin('!call delete_file {"file_path": "old.txt"}')
        assert "old.txt" in await approved("tool.request_approval")
        assert (await window.until_type("assistant.message_final"))["metadata"]["success"] is True
        assert not (work / "old.txt").exists()
        assert [each for each in window.heard if each["type"] == "server.error"] == []
    assert [each["id"] for each in await agent.ask("GET", f"sessions?workspace_id={place}")] == [session, first]
    roles = [each["role"] for each in await agent.ask("GET", f"sessions/{session}/messages")]
    assert roles == ["user", "assistant", *["user", "tool", "assistant"] * 3]


async def test_the_original_s_ways_to_an_index_and_a_watch_are_answered_as_it_answers(
    house: Server, tmp_path: Path
) -> None:
    agent = Agent(house)
    tmp_path.joinpath("work").mkdir()
    tmp_path.joinpath("work/a.py").write_text("a = 1\n")
    place = await agent.ask("POST", "workspaces/register", {"path": str(tmp_path / "work")})
    made = await agent.ask("POST", f"workspaces/{place['id']}/index")
    assert (made["success"], made["workspace_id"], made["module_id"]) == (True, place["id"], "vscode")
    assert made["stats"]["indexed_files"] == made["stats"]["total_files"] == 1
    for path, watching in (("watch/start", True), ("watch/stop", False)):
        answer = await agent.ask("POST", f"workspaces/{place['id']}/{path}")
        assert (answer["success"], answer["watching"]) == (True, watching)


async def test_whoever_asks_in_a_terminal_while_the_server_is_killed_is_told_where_the_answer_is(
    tmp_path: Path,
) -> None:
    (tmp_path / "work").mkdir()
    options = ["--state-dir", str(tmp_path / "state"), "--workspace", str(tmp_path / "work")]
    with fake_model("--rate", "50") as model, agent_server(tmp_path, model) as house:
        agent = Agent(house)
        await agent.session(tmp_path / "work")
        said = []

        async def ask() -> None:
            said.append(await trio.to_thread.run_sync(troupe, tmp_path, "ask", "!long 5000", *options))

        with trio.fail_after(DEADLINE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ask)
                running: list[Any] = []
                while not running:  # it is another program, which tells us nothing
                    await trio.sleep(0.05)
                    running = [each for each in await agent.ask("GET", "sessions") if each["running"]]
                async with agent.attach(running[0]["id"]) as window:
                    await window.until(lambda _: "word20" in window.text)
                house.process.kill()
        (ended,) = said
        house.ended()
    assert ended.returncode == 1
    assert "1006" not in ended.stderr
    sentence = ended.stderr.splitlines()[-1]
    assert sentence.startswith("troupe: The server has gone before the turn was over.")
    assert f"troupe ask --session {running[0]['id']} QUESTION" in sentence
    with fake_model("--rate", "0") as model, agent_server(tmp_path, model) as house:
        async with Agent(house).attach(running[0]["id"]) as window:
            final = await window.until_type("assistant.message_final")
            assert final["metadata"]["interrupted"] is True
            assert "word1 " in final["message"]
        assert house.stop() == 0


def test_every_wrong_setting_is_a_line_of_its_own_that_names_the_program(tmp_path: Path) -> None:
    wrong = ["--set", "agent.port=x", "--set", "judge.port=-1", "--set", "console.nothing=1"]
    checked = troupe(tmp_path, "check", *wrong)
    lines = checked.stderr.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("troupe: ") for line in lines)
