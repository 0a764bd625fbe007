"""An agent on a running server, a fake model beside it, and a client as an editor makes one."""

import json
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import trio

from tests.house.forking import Forked
from tests.house.running import DEADLINE, ROOT, Server, server
from transports.agent.client import AgentVisitor
from transports.websocket.client import Visit

MODEL = "qwen3:8b"


@contextmanager
def fake_model(*options: str) -> Iterator[str]:
    """The address of a fake Ollama, in a process of its own."""
    command = ["-m", "tests.agent.fakes", "ollama", "--port", "0", *options]
    process = Forked(command, cwd=ROOT, env=os.environ, stdin=subprocess.PIPE, stderr=None)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
    finally:
        process.kill()
        process.communicate()


@contextmanager
def agent_server(folder: Path, model: str, *options: str) -> Iterator[Server]:
    with server(folder, "--set", f"agent.ollama={model}", *options) as house:
        yield house.ready()


@dataclass
class Agent:
    """A client of the agent, over HTTP and WebSocket."""

    house: Server

    @property
    def visitor(self) -> AgentVisitor:
        return AgentVisitor.of(self.house.url_of("agent"), self.house.state)

    async def ask(self, method: str, path: str, body: object = None) -> Any:
        return msgspec.json.decode(await self.visitor.ask(method, path, body))

    async def session(self, workspace: Path, *, model: str | None = MODEL, **wish: Any) -> str:
        """A new session in this folder, which is asked with the fake model; None: with the one that is built in."""
        await trio.Path(workspace).mkdir(parents=True, exist_ok=True)
        place = await self.ask("POST", "workspaces/register", {"path": str(workspace)})
        if model is not None:
            listed = await self.ask("GET", "models")
            known = next(each for each in listed["models"] if each["id"] == model)
            chosen = {"provider": known["provider"], "model_name": known["id"], "url": known["url"]}
            await self.ask("PUT", "models/current", chosen)
        made = await self.ask("POST", "sessions", {"workspace_id": place["id"], **wish})
        return str(made["id"])

    @asynccontextmanager
    async def attach(self, session: str, *, resume_from: int | None = 0, delta: bool = True) -> AsyncIterator["Window"]:
        async with self.visitor.stream(session) as visit:
            window = Window(visit)
            capabilities = ["token_delta"] if delta else []
            hello: dict[str, Any] = {"client_info": {"name": "a test", "capabilities": capabilities}}
            await window.say("client.hello", resume_from=resume_from, **hello)
            await window.until(lambda message: message["type"] == "session.state")
            yield window


@dataclass
class Window:
    """A client's end of a session's stream, and all that it was told."""

    visit: Visit
    heard: list[dict[str, Any]] = field(default_factory=list)

    async def say(self, kind: str, **fields: Any) -> None:
        await self.visit.send(json.dumps({"type": kind, **fields}).encode())

    async def hear(self) -> dict[str, Any]:
        with trio.fail_after(DEADLINE):
            message: dict[str, Any] = json.loads(await self.visit.receive())
        self.heard.append(message)
        return message

    async def until(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while not is_it(message := await self.hear()):
            pass
        return message

    async def until_type(self, kind: str) -> dict[str, Any]:
        return await self.until(lambda message: message["type"] == kind)

    async def turn(self, text: str) -> dict[str, Any]:
        """Says it, and hears the turn to its end."""
        await self.say("client.user_message", message=text)
        return await self.until_type("assistant.message_final")

    @property
    def numbers(self) -> list[int]:
        return [message["seq"] for message in self.heard if "seq" in message]

    @property
    def last(self) -> int:
        return max(self.numbers, default=0)

    @property
    def text(self) -> str:
        return "".join(message["token"] for message in self.heard if message["type"] == "assistant.token")
