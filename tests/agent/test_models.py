"""The choice of a model is checked, stored and then answered; slow or strange servers hold up nobody."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.agent.messages import MODELS, ChangeModel, CurrentModelAsked, ModelsAsked
from actors.agent.models import CHECK_SECONDS, DEFAULT, LIST_SECONDS, MOST_CHECKS, OURS, SPACE, models_spec
from actors.kernel import ChildSpec
from actors.kernel.testing import House, staged
from actors.store import STORE, Inline, StateDirectory, Store, StoreClient
from codec.agent.models import Delta, ModelConfig, ModelFact, ModelList, ModelRequest, ModelTrouble

PATIENCE = 60.0
SERVERS = {"ollama": "http://127.0.0.1:11434"}
LLAMA = ModelFact(id="llama", provider="ollama", url=SERVERS["ollama"])


class PaperProviders:
    def __init__(self) -> None:
        self.models = [LLAMA]
        self.unreachable: list[str] = []
        self.looks = self.checks = 0
        self.go = trio.Event()
        self.go.set()
        self.error: Exception | None = None

    def stream(self, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[Delta]]:
        raise NotImplementedError

    def expect(self, model: ModelConfig) -> None:
        if model.provider not in ("builtin", *SERVERS) or "elsewhere" in model.url:
            raise ModelTrouble(f"The server of {model.provider} is not asked.", recoverable=False)

    async def listed(self) -> tuple[Sequence[ModelFact], Sequence[str]]:
        self.looks += 1
        await self.go.wait()
        if self.error is not None:
            raise self.error
        return self.models, self.unreachable

    async def check(self, request: ModelRequest) -> None:
        self.checks += 1
        await self.go.wait()
        if self.error is not None:
            raise self.error
        if request.model.provider != "builtin" and request.model.model_name not in {each.id for each in self.models}:
            raise ModelTrouble(f"There is no model {request.model.model_name}.")


@asynccontextmanager
async def models(
    place: Path, providers: PaperProviders, prepare: Callable[[StoreClient], Any] | None = None
) -> AsyncIterator[House]:
    with StateDirectory.claim(place) as directory:
        store = ChildSpec("store", partial(Store, directory, Inline))
        if prepare is not None:
            async with staged(store) as house:
                await prepare(StoreClient(house.stage.registry.get(STORE)))
        async with staged(store, models_spec(providers)) as house:
            yield house


async def ask(house: House, question: Callable[..., Any]) -> Any:
    return await house.stage.registry.get(MODELS).ask(question, timeout=PATIENCE)


def config(name: str = "llama", provider: Any = "ollama", **more: Any) -> ModelConfig:
    return ModelConfig(provider=provider, model_name=name, **more)


async def test_without_a_choice_it_is_the_builtin_model(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with models(tmp_path, PaperProviders()) as house:
        assert await ask(house, CurrentModelAsked) == DEFAULT
        assert DEFAULT.model_name == "builtin"


async def test_a_choice_is_stored_and_answered_with_what_it_replaced(tmp_path: Path, autojump_clock: MockClock) -> None:
    chosen = config(temperature=0.1, context_window=4096)
    async with models(tmp_path, PaperProviders()) as house:
        assert await ask(house, partial(ChangeModel, chosen)) == DEFAULT
        assert await ask(house, CurrentModelAsked) == chosen
    async with models(tmp_path, PaperProviders()) as house:
        assert await ask(house, CurrentModelAsked) == chosen
        assert await ask(house, partial(ChangeModel, DEFAULT)) == chosen
    async with models(tmp_path, PaperProviders()) as house:
        assert await ask(house, CurrentModelAsked) == DEFAULT


@pytest.mark.parametrize(
    ("wanted", "words", "asked"),
    [
        (config("none"), "There is no model none.", 1),
        (config(provider="vllm"), "The server of vllm is not asked", 0),
        (config(url="http://elsewhere"), "The server of ollama is not asked", 0),
        (config("gpt", "builtin"), "only one model, which is called builtin", 0),
    ],
    ids=["no such model", "not configured", "elsewhere", "no such builtin"],
)
async def test_what_is_not_there_is_refused_in_words_and_the_choice_stays(
    tmp_path: Path, autojump_clock: MockClock, wanted: ModelConfig, words: str, asked: int
) -> None:
    providers = PaperProviders()
    async with models(tmp_path, providers) as house:
        with pytest.raises(ModelTrouble, match=words):
            await ask(house, partial(ChangeModel, wanted))
        assert providers.checks == asked
        assert await ask(house, CurrentModelAsked) == DEFAULT


async def test_all_who_ask_for_the_list_meanwhile_share_one_look(tmp_path: Path, autojump_clock: MockClock) -> None:
    providers = PaperProviders()
    providers.go = trio.Event()
    providers.unreachable = ["vLLM does not answer."]
    async with models(tmp_path, providers) as house:
        got: list[ModelList] = []

        async def look() -> None:
            got.append(await ask(house, ModelsAsked))

        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(look)
            await wait_all_tasks_blocked()
            assert await ask(house, CurrentModelAsked) == DEFAULT, "the mailbox waits for no server"
            providers.go.set()
        assert got == [ModelList(models=(OURS, LLAMA), unreachable=("vLLM does not answer.",))] * 5
        assert providers.looks == 1
        await look()
        assert providers.looks == 2


async def test_one_of_them_may_give_up(tmp_path: Path, autojump_clock: MockClock) -> None:
    providers = PaperProviders()
    providers.go = trio.Event()
    async with models(tmp_path, providers) as house:
        async with trio.open_nursery() as nursery:
            with trio.move_on_after(1):
                await ask(house, ModelsAsked)
            nursery.start_soon(ask, house, ModelsAsked)
            await wait_all_tasks_blocked()
            providers.go.set()
        assert providers.looks == 1


async def test_servers_that_do_not_answer_are_waited_for_only_so_long(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    providers = PaperProviders()
    providers.go = trio.Event()
    async with models(tmp_path, providers) as house:
        before = trio.current_time()
        seen = await ask(house, ModelsAsked)
        assert (seen.models, len(seen.unreachable)) == ((OURS,), 1)
        assert trio.current_time() - before == pytest.approx(LIST_SECONDS)
        before = trio.current_time()
        with pytest.raises(ModelTrouble, match="not answered in time"):
            await ask(house, partial(ChangeModel, config()))
        assert trio.current_time() - before == pytest.approx(CHECK_SECONDS)
        assert await ask(house, CurrentModelAsked) == DEFAULT


@pytest.mark.parametrize("error", [ModelTrouble("It is down."), ValueError("odd"), KeyError("x")], ids=repr)
async def test_whatever_goes_wrong_with_a_server_is_told_and_restarts_nobody(
    tmp_path: Path, autojump_clock: MockClock, error: Exception
) -> None:
    providers = PaperProviders()
    providers.error = error
    async with models(tmp_path, providers) as house:
        seen = await ask(house, ModelsAsked)
        assert seen.models == (OURS,)
        assert len(seen.unreachable) == 1
        with pytest.raises(ModelTrouble):
            await ask(house, partial(ChangeModel, config()))
        assert await ask(house, CurrentModelAsked) == DEFAULT
        assert house.trace.of("stop", "top/models") == []


async def test_only_so_many_are_checked_at_once(tmp_path: Path, autojump_clock: MockClock) -> None:
    providers = PaperProviders()
    providers.go = trio.Event()
    async with models(tmp_path, providers) as house:
        async with trio.open_nursery() as nursery:
            for _ in range(MOST_CHECKS):
                nursery.start_soon(ask, house, partial(ChangeModel, config()))
            await wait_all_tasks_blocked()
            with pytest.raises(ModelTrouble, match="Too many models"):
                await ask(house, partial(ChangeModel, config()))
            providers.go.set()
        assert await ask(house, partial(ChangeModel, DEFAULT)) == config()


async def test_a_choice_whose_asker_has_gone_before_the_check_was_over_is_not_made(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    providers = PaperProviders()
    providers.go = trio.Event()
    async with models(tmp_path, providers) as house:
        with trio.move_on_after(1):
            await ask(house, partial(ChangeModel, config()))
        providers.go.set()
        await wait_all_tasks_blocked()
        assert await ask(house, CurrentModelAsked) == DEFAULT


@pytest.mark.parametrize(
    "odd", [b"", b"{", b"[]", b"\xff", b'{"provider": "new"}', b'{"provider": "ollama", "model_name": ""}']
)
async def test_an_odd_record_counts_as_no_choice(tmp_path: Path, autojump_clock: MockClock, odd: bytes) -> None:
    async def spoil(store: StoreClient) -> None:
        await store.put(SPACE, "current", odd)

    async with models(tmp_path, PaperProviders(), spoil) as house:
        assert await ask(house, CurrentModelAsked) == DEFAULT
        await ask(house, partial(ChangeModel, config()))
    async with models(tmp_path, PaperProviders()) as house:
        assert await ask(house, CurrentModelAsked) == config()
