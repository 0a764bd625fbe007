"""Requests, and the two families with a fake of each."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from actors.agent.given import Providers
from codec.agent.answering import LIMITS, AnswerLimits
from codec.agent.models import Delta, ModelConfig, ModelMessage, ModelRequest, ModelTrouble, Provider, ToolSpec
from tests.agent.fakes import FakeOllama, FakeOpenAI, Script
from tests.agent.fakes.script import Play
from tests.agent.fakes.wire import FakeServer
from transports.agent.asking import PATIENCE, Patience
from transports.agent.providers import Families, Server

FAMILIES: tuple[Provider, ...] = ("ollama", "vllm")
MODEL = "qwen3:8b"
TOOL = ToolSpec(name="read_file", description="Reads.", parameters={"type": "object", "properties": {}})


def no_builtin(request: ModelRequest) -> Iterable[Delta]:
    raise AssertionError(f"nobody asked for it: {request}")


def request(
    provider: Provider, url: str = "", *, model: str = MODEL, says: str = "Hi", tools: Sequence[ToolSpec] = (TOOL,)
) -> ModelRequest:
    return ModelRequest(
        model=ModelConfig(provider=provider, model_name=model, url=url),
        messages=(ModelMessage(role="system", content="Be brief."), ModelMessage(role="user", content=says)),
        tools=tuple(tools),
    )


@dataclass
class Stand:
    """A fake, and the families that have it configured."""

    provider: Provider
    fake: FakeServer
    families: Providers

    @property
    def request(self) -> ModelRequest:
        return request(self.provider, self.fake.url)

    async def answer(self) -> list[Delta]:
        async with self.families.stream(self.request) as deltas:
            return [delta async for delta in deltas]

    async def trouble(self) -> tuple[list[Delta], ModelTrouble]:
        """What came before it, too."""
        found: list[Delta] = []
        try:
            async with self.families.stream(self.request) as deltas:
                async for delta in deltas:
                    found.append(delta)  # noqa: PERF401 - what came before the trouble counts
        except ModelTrouble as trouble:
            return found, trouble
        raise AssertionError(f"no trouble, but {found}")


@asynccontextmanager
async def stand(
    provider: Provider,
    script: Script | Play,
    *,
    patience: Patience = PATIENCE,
    limits: AnswerLimits = LIMITS,
    key: str = "",
    **how: Any,
) -> AsyncIterator[Stand]:
    def play(asked: Any) -> Script:
        return script(asked) if callable(script) else script

    fake = FakeOllama(play, **how) if provider == "ollama" else FakeOpenAI(play, **how)
    async with fake.running():
        server = Server(provider, fake.url, "THE_KEY" if key else "")
        environment = {"THE_KEY": key}
        families = Families([server], no_builtin, environment=environment, patience=patience, limits=limits)
        yield Stand(provider, fake, families)


def hasty(**seconds: float) -> Patience:
    return replace(PATIENCE, **seconds)
