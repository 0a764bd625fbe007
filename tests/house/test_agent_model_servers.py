"""Whoever has the token can have no server asked that the settings do not name, whichever way its address came in."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.house.agent_kit import MODEL, Agent, agent_server, fake_model
from tests.house.running import Server
from transports.agent.client import AgentRefused

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with (
        fake_model("--rate", "0") as model,
        agent_server(tmp_path_factory.mktemp("house"), model, "--set", "agent.model_addresses=[]") as house,
    ):
        yield house
        assert house.stop() == 0
    assert "Traceback" not in house.said


async def listener(nursery: trio.Nursery, visits: list[object]) -> str:
    """The address of a server on this machine that nobody has named."""

    async def serve(stream: trio.SocketStream) -> None:
        visits.append(stream)
        await stream.aclose()

    (listening,) = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
    return f"http://127.0.0.1:{listening.socket.getsockname()[1]}"


async def test_no_way_in_makes_the_server_ask_an_address_that_no_setting_names(house: Server, tmp_path: Path) -> None:
    agent = Agent(house)
    session = await agent.session(tmp_path / "work")
    place = (await agent.ask("GET", "workspaces"))[0]["id"]
    visits: list[object] = []
    async with trio.open_nursery() as nursery:
        url = await listener(nursery, visits)
        for evil in (url, f"{url}/v1", "http://169.254.169.254"):
            chosen = {"provider": "ollama", "model_name": MODEL, "url": evil}
            own = {"model_provider": "ollama", "model_name": MODEL, "model_url": evil}
            ways: list[tuple[str, str, Any]] = [
                ("PUT", "models/current", chosen),
                ("POST", "models/switch", chosen),
                ("POST", "sessions", {"workspace_id": place, **own}),
                ("POST", "sessions", {"workspace_id": place, "model_url": evil}),
                ("PATCH", f"sessions/{session}", own),
                ("PATCH", f"sessions/{session}", {"model_url": evil}),
            ]
            for method, path, body in ways:
                with pytest.raises(AgentRefused, match="is not asked") as refused:
                    await agent.ask(method, path, body)
                assert refused.value.status == 422
        assert await agent.ask("POST", "sessions", {"workspace_id": place, "model_provider": "ollama"})
        with pytest.raises(AgentRefused, match="No server of openai is configured"):
            await agent.ask("POST", "sessions", {"workspace_id": place, "model_provider": "openai", "model_name": "x"})
        nursery.cancel_scope.cancel()
    assert visits == []
    async with agent.attach(session) as window:
        assert (await window.turn("!long 3"))["metadata"]["success"] is True


async def test_a_session_that_was_stored_with_such_an_address_is_answered_with_a_sentence(
    tmp_path: Path,
) -> None:
    """It was made when the settings still named it."""
    with fake_model("--rate", "0") as model:
        with agent_server(tmp_path / "house", model) as house:
            agent = Agent(house)
            with fake_model("--rate", "0") as other:
                own = {"model_provider": "ollama", "model_name": MODEL, "model_url": other}
                session = await agent.session(tmp_path / "work", **own)
                async with agent.attach(session) as window:
                    assert (await window.turn("!long 3"))["metadata"]["success"] is True
            assert house.stop() == 0
        with agent_server(tmp_path / "house", model, "--set", "agent.model_addresses=[]") as house:
            async with Agent(house).attach(session, resume_from=None) as window:
                assert (await window.turn("!long 3"))["metadata"]["success"] is False
                error = next(message for message in window.heard if message["type"] == "server.error")["error"]
                assert error["code"] == "MODEL_ERROR"
                assert f"The server at {other} is not asked, because the settings do not name it." in error["message"]
            assert house.stop() == 0
