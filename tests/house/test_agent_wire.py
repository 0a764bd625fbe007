"""What the first client of a new session is told, what the original's ways to an index are answered with, and what the
terminal says when the server goes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.house.agent_kit import MODEL, Agent, agent_server, fake_model
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
