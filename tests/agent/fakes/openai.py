"""A server that speaks OpenAI's protocol: /v1/chat/completions, as a stream and as a whole, and /v1/models."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.agent.fakes.script import (
    MODELS,
    Asked,
    Call,
    Done,
    Fail,
    FakeModel,
    Forever,
    Play,
    Raw,
    Refuse,
    Say,
    Script,
    Step,
    Think,
    Usage,
)
from tests.agent.fakes.wire import FakeServer

STARTED = 1_735_689_600


class FakeOpenAI(FakeServer):
    """`key`: without it a question is refused. `end`: how lines of an event end. `thoughts`: the field's name."""

    def __init__(
        self,
        play: Play,
        *,
        models: Sequence[FakeModel] = MODELS,
        cut: int = 0,
        torn: int = 0,
        early_head: bool = True,
        key: str = "",
        end: bytes = b"\n",
        thoughts: str = "reasoning_content",
        like_llama_cpp: bool = False,
    ) -> None:
        super().__init__(play, models=models, cut=cut, torn=torn, early_head=early_head)
        self._key = key
        self._end = end
        self._thoughts = thoughts
        self._like_llama_cpp = like_llama_cpp
        """The window is in /props."""

    def answer(self, asked: Asked) -> tuple[str, Script] | None:
        if self._key and asked.headers.get("authorization") != f"Bearer {self._key}":
            sent = asked.headers.get("authorization", "no key").removeprefix("Bearer ")
            return "application/json", _refuse(401, f"Incorrect API key provided: {sent}.", "invalid_api_key")
        match asked.method, asked.path:
            case "POST", "/v1/chat/completions":
                model = asked.body.get("model", "")
                if not any(each.name == model for each in self.models):
                    return "application/json", _refuse(404, f"The model `{model}` does not exist.", "model_not_found")
                script = self.play(asked)
                if isinstance(script, Refuse):
                    return "application/json", script
                if not asked.body.get("stream"):
                    return "application/json", [Raw(_completion(asked, script))]
                return "text/event-stream", _numbered(script, asked)
            case "POST", "/v1/embeddings":
                return "application/json", self.embed(asked)
            case "GET", "/v1/models":
                common = {"object": "model", "created": STARTED, "owned_by": "us"}
                models = [common | {"id": each.name} | self._window(each) for each in self.models]
                return "application/json", [Raw(json.dumps({"object": "list", "data": models}).encode())]
            case "GET", "/props" if self._like_llama_cpp:
                props = {"default_generation_settings": {"n_ctx": self.models[0].window}, "total_slots": 1}
                return "application/json", [Raw(json.dumps(props).encode())]
        return None

    def _window(self, model: FakeModel) -> dict[str, Any]:
        if self._like_llama_cpp:
            return {"meta": {"n_ctx_train": 2 * model.window}}
        return {"max_model_len": model.window}

    def wire(self, step: Step, asked: Asked) -> Iterator[bytes]:
        match step:
            case Say(text) | Forever(text):
                yield self._event(_chunk(asked, {"content": text}))
            case Think(text):
                yield self._event(_chunk(asked, {self._thoughts: text}))
            case _Numbered(name, arguments, id_, index):
                first = {"index": index, "id": id_, "type": "function", "function": {"name": name, "arguments": ""}}
                yield self._event(_chunk(asked, {"tool_calls": [first]}))
                text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
                for start in range(0, len(text), 5):
                    part = {"index": index, "function": {"arguments": text[start : start + 5]}}
                    yield self._event(_chunk(asked, {"tool_calls": [part]}))
            case Fail(message):
                yield self._event({"error": {"message": message, "type": "server_error", "code": 500}})
            case _Ended(reason, usage):
                yield self._event(_chunk(asked, {}, reason))
                if usage is not None and (asked.body.get("stream_options") or {}).get("include_usage"):
                    yield self._event(_chunk(asked, None) | {"usage": _usage(usage)})
                yield b"data: [DONE]" + self._end * 2

    def _event(self, chunk: dict[str, Any]) -> bytes:
        return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + self._end * 2


@dataclass(frozen=True)
class _Numbered(Call):
    index: int = 0


@dataclass(frozen=True)
class _Ended(Done):
    usage: Usage | None = None


def _numbered(script: Iterable[Step], asked: Asked) -> Iterator[Step]:
    calls = 0
    usage: Usage | None = None
    for step in script:
        match step:
            case Call():
                yield _Numbered(step.name, step.arguments, step.id, calls)
                calls += 1
            case Usage():
                usage = step
            case Done(reason):
                yield _Ended("tool_calls" if calls and reason == "stop" else reason, usage)
            case _:
                yield step


def _chunk(asked: Asked, delta: dict[str, Any] | None, reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": STARTED,
        "model": asked.body["model"],
        "choices": [] if delta is None else [choice],
    }


def _completion(asked: Asked, script: Iterable[Step]) -> bytes:
    said = [*script]
    calls = [
        {"id": step.id, "type": "function", "function": {"name": step.name, "arguments": json.dumps(step.arguments)}}
        for step in said
        if isinstance(step, Call)
    ]
    text = "".join(step.text for step in said if isinstance(step, Say))
    message: dict[str, Any] = {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})
    reason = "tool_calls" if calls else "stop"
    usage = next((step for step in said if isinstance(step, Usage)), Usage(0, 0))
    whole = _chunk(asked, {}) | {
        "object": "chat.completion",
        "choices": [
            {"index": 0, "message": message | ({"tool_calls": calls} if calls else {}), "finish_reason": reason}
        ],
        "usage": _usage(usage),
    }
    return json.dumps(whole, ensure_ascii=False).encode()


def _usage(usage: Usage) -> dict[str, int]:
    total = usage.prompt + usage.completion
    return {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion, "total_tokens": total}


def _refuse(status: int, message: str, code: str) -> Refuse:
    return Refuse(status, json.dumps({"error": {"message": message, "type": "invalid_request", "code": code}}).encode())
