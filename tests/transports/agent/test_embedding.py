"""Asking servers for embeddings, over real sockets."""

import json
from array import array
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest
import trio
from msgspec.structs import replace

from codec.agent.embeddings import SHORTENED
from codec.agent.models import ModelTrouble, Provider
from tests.agent.fakes import Asked, Die, FakeOllama, FakeOpenAI, Hang, Leave, Raw, Refuse, Script
from tests.agent.fakes.meaning import answer, embedded, meaning
from tests.agent.fakes.wire import FakeServer
from tests.transports.agent.asked import no_builtin
from transports.agent.asking import PATIENCE, Patience
from transports.agent.embedding import Embedder
from transports.agent.providers import Families, Server

FAMILIES: tuple[Provider, ...] = ("ollama", "openai", "vllm", "llamacpp")
each_family = pytest.mark.parametrize("provider", FAMILIES)
HASTY = replace(PATIENCE, first=0.15, next=0.15)


def unasked(asked: Asked) -> Script:
    raise AssertionError(f"nobody chats: {asked}")


@asynccontextmanager
async def embedding(
    provider: Provider, *, patience: Patience = PATIENCE, key: str = ""
) -> AsyncIterator[tuple[FakeServer, Embedder]]:
    fake: FakeServer = FakeOllama(unasked) if provider == "ollama" else FakeOpenAI(unasked, key=key)
    async with fake.running():
        servers = [Server(provider, fake.url, "EMBEDDING_KEY")]
        families = Families(servers, no_builtin, environment={"EMBEDDING_KEY": key}, patience=patience)
        yield fake, families.embedder(provider, "words")


def always(*steps: Any) -> Any:
    return lambda asked: list(steps)


def sends(vectors: Any) -> Any:
    return lambda asked: [Raw(json.dumps(answer(asked.path, vectors)).encode())]


@each_family
async def test_texts_have_their_vectors_in_their_order_32_at_a_time(provider: Provider) -> None:
    async with embedding(provider, key="" if provider == "ollama" else "sk-1") as (fake, embedder):
        texts = [f"word{chr(97 + number % 26)} {'again ' * number}" for number in range(70)]
        found = await embedder.embed(texts)
        assert [len(asked.body["input"]) for asked in fake.asked] == [32, 32, 6]
        assert {asked.body["model"] for asked in fake.asked} == {"words"}
        for text, vector in zip(texts, found, strict=True):
            counts, numbers = meaning(text), array("f", vector or b"")
            best = max(range(len(counts)), key=lambda at: counts[at])
            assert max(range(len(numbers)), key=lambda at: numbers[at]) == best
        assert await embedder.embed([]) == []


@each_family
async def test_a_server_that_refuses_is_told_in_a_sentence(provider: Provider) -> None:
    async with embedding(provider) as (fake, embedder):
        fake.embed = lambda asked: Refuse(404, b'{"error": "model \\"words\\" not found, try pulling it first"}')
        with pytest.raises(ModelTrouble, match="has no model 'words'"):
            await embedder.embed(["a"])
        fake.embed = lambda asked: Refuse(503, b"busy")
        with pytest.raises(ModelTrouble, match=r"failed \(status 503\)") as raised:
            await embedder.embed(["a"])
        assert raised.value.recoverable


@each_family
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([[1.0]], "was asked for 2 embeddings and sent 1"),
        ([[1.0], [1.0, 2.0]], "of 1 and 2 numbers"),
        ([[1.0], [float("nan")]], "no list of embeddings"),
        ([[1.0], ["x"]], "no list of embeddings"),
    ],
)
async def test_an_answer_that_is_none_is_told_in_a_sentence(provider: Provider, wrong: Any, said: str) -> None:
    async with embedding(provider) as (fake, embedder):
        fake.embed = sends(wrong)
        with pytest.raises(ModelTrouble, match=said):
            await embedder.embed(["a", "b"])


async def test_texts_that_are_asked_for_together_have_vectors_of_one_length() -> None:
    async with embedding("ollama") as (fake, embedder):
        fake.embed = lambda asked: sends([[1.0] * len(asked.body["input"])] * len(asked.body["input"]))(asked)
        with pytest.raises(ModelTrouble, match="of 1 numbers, and others of 32"):
            await embedder.embed(["a"] * 33)
        assert len(await embedder.embed(["a"] * 2)) == 2


TOO_LONG = (
    Refuse(400, b'{"error": "the input length exceeds the context length"}'),
    Refuse(413, b'{"error": "Input validation error: must have less than 512 tokens", "error_type": "Validation"}'),
    Refuse(422, b"cannot be read"),
    Refuse(500, b'{"error": {"code": 500, "message": "input is too large to process. increase the batch size"}}'),
    Refuse(500, b'{"error": "failed to encode response: json: unsupported value: NaN"}'),
)


def refusing(how: Refuse, takes: Callable[[str], bool]) -> Callable[[Asked], Script]:
    return lambda asked: embedded(asked) if all(map(takes, asked.body["input"])) else how


@each_family
@pytest.mark.parametrize("how", TOO_LONG, ids=lambda how: str(how.status))
async def test_texts_that_a_model_refuses_are_shortened_once_and_then_left_out_and_keep_no_other_from_it(
    provider: Provider, how: Refuse
) -> None:
    random = Random(7)
    async with embedding(provider) as (fake, embedder):
        fake.embed = refusing(how, lambda text: len(text) <= SHORTENED and "odd" not in text)
        texts = [f"word {'odd' if random.random() < 0.1 else 'even'} {'x' * random.randint(0, 900)}" for _ in range(70)]
        fine = [number for number, text in enumerate(texts) if "odd" not in text]
        found = await embedder.embed(texts)
        assert [number for number, vector in enumerate(found) if vector is not None] == fine
        asked = [text[:SHORTENED] for text in texts]
        whole = await embedder.embed([asked[number] for number in fine])
        assert [found[number] for number in fine] == list(whole), "each has its own vector"


FAILURES: dict[str, Callable[[Asked], Script]] = {
    "fails": lambda asked: Refuse(500, b'{"error": "EOF"}'),
    "is away behind a proxy": lambda asked: Refuse(502, b"bad gateway"),
    "leaves": lambda asked: [Die()],
    "leaves in the middle": lambda asked: [Raw(b"{"), Leave()],
    "has no numbers": lambda asked: sends([[None, 1.0]] * len(asked.body["input"]))(asked),
    "has no vector": lambda asked: sends([[]] * len(asked.body["input"]))(asked),
    "says something else": lambda asked: [Raw(b'{"error": "EOF"}')],
}
every_failure = pytest.mark.parametrize("fails", FAILURES.values(), ids=FAILURES)


@pytest.mark.drawn(9)
@each_family
@every_failure
async def test_of_texts_that_are_doubted_those_by_which_a_server_fails_are_left_out_and_no_others(
    provider: Provider, fails: Callable[[Asked], Script]
) -> None:
    async with embedding(provider) as (fake, embedder):
        fake.embed = lambda asked: fails(asked) if "odd" in asked.body["input"] else embedded(asked)
        found = await embedder.embed(["a", "odd", "b", "c"], doubted=True)
        assert [vector is not None for vector in found] == [True, False, True, True]
        fake.embed = fails
        with pytest.raises(ModelTrouble):
            await embedder.embed(["a", "odd", "b", "c"], doubted=True)


@pytest.mark.slow
async def test_of_texts_that_are_doubted_one_by_which_a_server_hangs_is_left_out_and_no_other() -> None:
    async with embedding("ollama", patience=replace(PATIENCE, first=1.0)) as (fake, embedder):
        fake.embed = lambda asked: [Hang()] if "odd" in asked.body["input"] else embedded(asked)
        assert [vector is not None for vector in await embedder.embed(["odd", "a"], doubted=True)] == [False, True]


@every_failure
async def test_a_doubted_text_by_which_a_server_did_not_fail_always_is_not_left_out(
    fails: Callable[[Asked], Script]
) -> None:
    async with embedding("ollama") as (fake, embedder):
        fake.embed = lambda asked: embedded(asked) if len(fake.asked) in (2, 3) else fails(asked)
        assert await embedder.embed(["a"], doubted=True) != [None]


@pytest.mark.parametrize("status", [401, 403, 404, 408, 429])
async def test_a_server_that_does_not_let_us_in_is_not_asked_for_each_text_though_they_are_doubted(status: int) -> None:
    async with embedding("ollama") as (fake, embedder):
        fake.embed = lambda asked: Refuse(status, b"no")
        with pytest.raises(ModelTrouble):
            await embedder.embed(["a", "b"], doubted=True)
        assert len(fake.asked) == 1


async def test_one_text_that_is_refused_costs_a_few_requests() -> None:
    async with embedding("ollama") as (fake, embedder):
        fake.embed = refusing(TOO_LONG[0], lambda text: "odd" not in text)
        await embedder.embed([*["word"] * 31, "odd"])
        assert len(fake.asked) == 2 * 5 + 1 + 1, "five halvings, and the plain text"


@each_family
async def test_a_model_that_refuses_a_plain_text_is_a_trouble_and_no_text_is_left_out(provider: Provider) -> None:
    async with embedding(provider) as (fake, embedder):
        fake.embed = lambda asked: Refuse(400, b'{"error": "this model does not support embeddings"}')
        with pytest.raises(ModelTrouble, match="does not support embeddings"):
            await embedder.embed(["x" * 900] * 32)
        assert len(fake.asked) < 10


@each_family
@pytest.mark.parametrize("status", [401, 403, 404, 408, 429, 500, 503])
async def test_a_server_that_fails_or_does_not_let_us_in_is_not_asked_for_each_text(
    provider: Provider, status: int
) -> None:
    async with embedding(provider) as (fake, embedder):
        fake.embed = refusing(Refuse(status, b"no"), lambda text: "odd" not in text)
        with pytest.raises(ModelTrouble):
            await embedder.embed(["a", "odd"])
        assert len(fake.asked) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ([Hang()], "sent no embeddings for 0.15 seconds"),
        ([Raw(b"{"), Hang()], "sent no embeddings for 0.15 seconds"),
        ([Die()], "Ollama at"),
        ([Raw(b"{"), Leave()], "Ollama at"),
    ],
)
async def test_a_server_that_hangs_or_leaves_is_given_up(steps: list[Any], says: str) -> None:
    async with embedding("ollama", patience=HASTY) as (fake, embedder):
        fake.embed = always(*steps)
        with trio.fail_after(30), pytest.raises(ModelTrouble, match=says):
            await embedder.embed(["a"])


async def test_who_gives_up_closes_the_connection() -> None:
    async with embedding("ollama") as (fake, embedder):
        fake.embed = always(Raw(b"{"), Hang())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(embedder.embed, ["a"])
            with trio.fail_after(30):
                while not fake.asked:
                    await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        with trio.fail_after(30):
            await fake.visits[0].gone.wait()


async def test_a_key_is_sent_to_its_server_only() -> None:
    async with embedding("openai", key="sk-1") as (fake, embedder):
        await embedder.embed(["a"])
        assert fake.asked[0].headers["authorization"] == "Bearer sk-1"
        families = Families([Server("vllm", fake.url)], no_builtin, environment={"EMBEDDING_KEY": "sk-1"})
        with pytest.raises(ModelTrouble, match="wants a key"):
            await families.embedder("vllm", "words").embed(["a"])
        assert "authorization" not in fake.asked[1].headers


async def test_a_server_that_is_not_configured_or_not_there_is_told_in_a_sentence() -> None:
    families = Families([Server("ollama", "http://127.0.0.1:1")], no_builtin)
    with pytest.raises(ModelTrouble, match="No server of openai is configured"):
        await families.embedder("openai", "words").embed(["a"])
    with pytest.raises(ModelTrouble, match="Ollama at"):
        await families.embedder("ollama", "words").embed(["a"])
