"""The fakes speak the real wire formats: the released clients of both families say so.

They are asked in threads, as their users use them; the fakes run here, under trio.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
import ollama
import openai
import pytest
import trio

from tests.agent.fakes import Call, Done, Fail, FakeOllama, FakeOpenAI, Say, Think, Usage
from tests.agent.fakes.script import MODELS, Step
from tests.agent.fakes.wire import FakeServer
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow
T = TypeVar("T")
ROOT = Path(__file__).parent.parent.parent
MODEL = MODELS[0].name
TOOL: Any = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Reads.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}
SCRIPT: list[Step] = [
    Think("Hm."),
    Say("Grüße "),
    Say("🙂"),
    Call("read_file", {"path": "ä.py"}, "call_a"),
    Call("search_text", {"words": "x"}, "call_b"),
    Usage(11, 5),
    Done(),
]
CALLS = [("read_file", {"path": "ä.py"}), ("search_text", {"words": "x"})]
USER: Any = {"role": "user", "content": "Hi"}


async def within(fake: FakeServer, ask: Callable[[str], T]) -> T:
    async with fake.running():
        return await trio.to_thread.run_sync(ask, fake.url)


@pytest.mark.parametrize("cut", [0, 1, 2])
async def test_the_released_client_of_ollama_understands_a_stream_with_tools(cut: int) -> None:
    def ask(url: str) -> list[ollama.ChatResponse]:
        with ollama.Client(url) as client:
            return list(client.chat(MODEL, [USER], tools=[TOOL], stream=True, think=True))

    fake = FakeOllama(lambda _: SCRIPT, cut=cut)
    parts = await within(fake, ask)
    assert "".join(part.message.thinking or "" for part in parts) == "Hm."
    assert "".join(part.message.content or "" for part in parts) == "Grüße 🙂"
    calls = [call.function for part in parts for call in part.message.tool_calls or ()]
    assert [(call.name, call.arguments) for call in calls] == CALLS
    last = parts[-1]
    assert (last.done, last.done_reason, last.prompt_eval_count, last.eval_count) == (True, "stop", 11, 5)
    (asked,) = fake.asked
    assert asked.body["tools"][0]["function"]["name"] == "read_file"


async def test_the_released_client_of_ollama_understands_lists_facts_and_errors() -> None:
    def ask(url: str) -> None:
        with ollama.Client(url) as client:
            assert [model.model for model in client.list().models] == [model.name for model in MODELS]
            shown = client.show(MODEL)
            assert (shown.modelinfo or {})["qwen3.context_length"] == MODELS[0].window
            assert shown.capabilities == list(MODELS[0].capabilities)
            with pytest.raises(ollama.ResponseError, match="not found") as missing:
                client.show("none")
            assert missing.value.status_code == 404
            with pytest.raises(ollama.ResponseError, match="out of memory"):
                list(client.chat(MODEL, [USER], stream=True))

    await within(FakeOllama(lambda _: [Say("a"), Fail("out of memory")]), ask)


@pytest.mark.parametrize("cut", [0, 1, 2])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
async def test_the_released_client_of_openai_understands_a_stream_with_tools(cut: int, end: bytes) -> None:
    def ask(url: str) -> list[Any]:
        with openai.OpenAI(api_key="sk-1", base_url=f"{url}/v1", max_retries=0) as client:
            stream: Any = client.chat.completions.create(
                model=MODEL,
                messages=[USER],
                tools=[TOOL],
                stream=True,
                stream_options={"include_usage": True},
            )
            return list(stream)

    parts = await within(FakeOpenAI(lambda _: SCRIPT, cut=cut, end=end, key="sk-1"), ask)
    choices = [part.choices[0] for part in parts if part.choices]
    assert "".join(choice.delta.content or "" for choice in choices) == "Grüße 🙂"
    assert "".join(getattr(choice.delta, "reasoning_content", None) or "" for choice in choices) == "Hm."
    arguments: dict[int, str] = {}
    names: list[tuple[str, str]] = []
    for choice in choices:
        for call in choice.delta.tool_calls or ():
            arguments[call.index] = arguments.get(call.index, "") + (call.function.arguments or "")
            names += [(call.id, call.function.name)] if call.id else []
    assert names == [("call_a", "read_file"), ("call_b", "search_text")]
    assert [json.loads(text) for text in arguments.values()] == [call[1] for call in CALLS]
    assert choices[-1].finish_reason == "tool_calls"
    assert parts[-1].choices == []
    assert (parts[-1].usage.prompt_tokens, parts[-1].usage.completion_tokens) == (11, 5)


async def test_the_released_client_of_openai_understands_a_whole_answer_lists_and_errors() -> None:
    def ask(url: str) -> None:
        with openai.OpenAI(api_key="sk-1", base_url=f"{url}/v1", max_retries=0) as client:
            whole: Any = client.chat.completions.create(model=MODEL, messages=[USER])
            assert whole.choices[0].message.content == "Grüße 🙂"
            call = whole.choices[0].message.tool_calls[0]
            assert (call.id, call.function.name, json.loads(call.function.arguments)) == ("call_a", *CALLS[0])
            assert [model.id for model in client.models.list()] == [model.name for model in MODELS]
            with pytest.raises(openai.NotFoundError, match="does not exist"):
                client.chat.completions.create(model="none", messages=[USER])
        stranger = openai.OpenAI(api_key="wrong", base_url=f"{url}/v1", max_retries=0)
        with stranger, pytest.raises(openai.AuthenticationError, match="Incorrect API key"):
            stranger.models.list()

    await within(FakeOpenAI(lambda _: SCRIPT, key="sk-1"), ask)


async def test_the_released_client_of_openai_understands_an_error_in_a_stream() -> None:
    def ask(url: str) -> None:
        with openai.OpenAI(api_key="sk-1", base_url=f"{url}/v1", max_retries=0) as client:
            stream: Any = client.chat.completions.create(model=MODEL, messages=[USER], stream=True)
            with pytest.raises(openai.APIError, match="out of memory"):
                list(stream)

    await within(FakeOpenAI(lambda _: [Say("a"), Fail("out of memory")]), ask)


# -- as processes


@contextmanager
def process(*arguments: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    command = [sys.executable, "-m", "tests.agent.fakes", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            yield running.stdout.readline().removeprefix("listening on ").strip(), running
        finally:
            running.kill()


def asked(url: str, words: str, *earlier: dict[str, Any]) -> list[dict[str, Any]]:
    body = {"model": MODEL, "messages": [*earlier, {"role": "user", "content": words}]}
    text = httpx.post(f"{url}/api/chat", json=body, timeout=PATIENCE).text
    return [json.loads(line) for line in text.splitlines()]


def test_as_a_process_it_does_what_the_user_s_words_say_until_its_input_ends() -> None:
    with process("ollama", "--rate", "0", "--model", MODEL) as (url, running):
        assert [line["message"]["content"] for line in asked(url, "one two")] == ["one", " two", ""]
        (call, _) = asked(url, '!call read_file {"path": "a"}')
        assert call["message"]["tool_calls"] == [{"function": {"name": "read_file", "arguments": {"path": "a"}}}]
        assert "".join(line["message"].get("thinking", "") for line in asked(url, "!think")) == "Let me see."
        assert len(asked(url, "!long 500")) == 501
        assert asked(url, "!error no memory")[-1] == {"error": "no memory"}
        assert (
            httpx.post(f"{url}/api/chat", json={"model": MODEL, "messages": [{"content": "!refuse 503"}]}).status_code
            == 503
        )
        for words in ("!die", "!leave"):
            with pytest.raises(httpx.TransportError):
                asked(url, words)
        running.communicate(timeout=PATIENCE)
        assert running.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_as_a_process_it_ends_by_a_signal(number: signal.Signals) -> None:
    with process("openai", "--key", "sk-1") as (url, running):
        assert httpx.get(f"{url}/v1/models").status_code == 401
        assert httpx.get(f"{url}/v1/models", headers={"authorization": "Bearer sk-1"}).status_code == 200
        running.send_signal(number)
        assert running.wait(PATIENCE) in (0, -number)
