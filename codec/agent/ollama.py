"""Ollama's own protocol: what /api/chat is asked, and the lines that it answers; /api/tags and /api/show.

What it does differently from everybody else: `options.num_ctx` has to be set, or a long conversation loses its
beginning without a word. Calls of tools come whole, with an object of arguments, and usually without an id. An error in
the middle of an answer is a line of a stream whose status was 200. An answer ends with the line that says `done`.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from codec.agent.answering import LIMITS, MISTAKES, AnswerLimits, Ids, Tally, count, excerpt, read_json, told, words_of
from codec.agent.models import Delta, Finished, ModelFact, ModelMessage, ModelRequest, ModelTrouble, UsedTokens
from codec.agent.ndjson import JsonLines
from codec.agent.thoughts import Thoughts

CHAT, TAGS, SHOW = "/api/chat", "/api/tags", "/api/show"
MOST_MODELS = 1000
LONGEST_NAME = 300
"""Of a model. A longer one could not be chosen."""


def chat_body(request: ModelRequest) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model.model_name,
        "messages": [_message(message) for message in request.messages],
        "stream": True,
        "options": {"num_ctx": request.model.context_window, "temperature": request.model.temperature},
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in request.tools
        ]
    if request.think is not None:
        body["think"] = request.think
    return body


def _message(message: ModelMessage) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        said["tool_calls"] = [
            {
                "function": {
                    "name": call.name,
                    # it refuses whatever is no object
                    "arguments": call.arguments if isinstance(call.arguments, dict) else {"text": call.arguments},
                }
            }
            for call in message.tool_calls
        ]
    if message.role == "tool" and message.tool_name:
        said["tool_name"] = message.tool_name
    return said


def without(body: dict[str, Any], words: str) -> str | None:
    """The part of the request that this model has no use for, as the server says. It answers without it."""
    for part, refusal in (("tools", "does not support tools"), ("think", "does not support thinking")):
        if part in body and refusal in words:
            return part
    return None


# -- the answer


class _Function(Struct):
    name: str | None = None
    arguments: Any = None


class _Call(Struct):
    function: _Function | None = None
    id: str | None = None


class _Message(Struct):
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[_Call] | None = None


class _Line(Struct):
    message: _Message | None = None
    done: bool | None = None
    done_reason: str | None = None
    prompt_eval_count: Any = None
    eval_count: Any = None
    error: Any = None


class OllamaAnswer:
    def __init__(self, who: str, ids: Ids, limits: AnswerLimits = LIMITS) -> None:
        self._who = who
        self._ids = ids
        self._lines = JsonLines(limits.line_bytes)
        self._tally = Tally(who, limits)
        self._thoughts = Thoughts(self._tally)
        self._called = False
        self.over = False

    @property
    def ending(self) -> bool:
        return self.over

    def feed(self, data: bytes) -> Iterator[Delta]:
        return self._read(self._lines.feed(data))

    def end(self) -> Iterator[Delta]:
        return self._read(self._lines.end())

    def _read(self, lines: Iterable[bytes]) -> Iterator[Delta]:
        if self.over:
            return
        for line in lines:
            yield from self._take(line)
            if self.over:
                return

    def _take(self, line: bytes) -> Iterator[Delta]:
        try:
            said = read_json(line, _Line)
        except MISTAKES:
            raise ModelTrouble(f"{self._who} sent a line that is no answer of a model.{told(excerpt(line))}") from None
        if said.error:
            raise ModelTrouble(f"{self._who} failed.{told(words_of(said.error)) or ' It does not say why.'}")
        if said.message is not None:
            yield from self._take_message(said.message)
        if said.done:
            self.over = True
            yield from self._thoughts.end()
            if said.prompt_eval_count is not None or said.eval_count is not None:
                yield UsedTokens(prompt=count(said.prompt_eval_count), completion=count(said.eval_count))
            reason = (said.done_reason or "stop")[:100]
            yield Finished("tool_calls" if self._called and reason == "stop" else reason)

    def _take_message(self, message: _Message) -> Iterator[Delta]:
        if message.thinking:
            yield self._tally.thought(message.thinking)
        if message.content:
            yield from self._thoughts.feed(message.content)
        for call in message.tool_calls or ():
            if call.function is None or not call.function.name:
                raise ModelTrouble(f"{self._who} called a tool without saying which.")
            self._called = True
            yield from self._thoughts.end()
            yield self._tally.called(call.id or self._ids(), call.function.name, call.function.arguments)


# -- what there is


class _Model(Struct):
    name: str | None = None
    model: str | None = None
    digest: str | None = None


class _Tags(Struct):
    models: list[_Model] | None = None


class _Shown(Struct):
    model_info: dict[str, Any] | None = None
    capabilities: list[str] | None = None
    error: Any = None


def listed(body: bytes, url: str, who: str) -> tuple[ModelFact, ...]:
    """What /api/tags has."""
    try:
        tags = read_json(body, _Tags)
    except MISTAKES:
        raise ModelTrouble(f"{who} answers {TAGS}, but not with a list of models.{told(excerpt(body))}") from None
    names = dict.fromkeys(model.name or model.model or "" for model in tags.models or ())
    return tuple(
        ModelFact(id=name, provider="ollama", url=url, display_name=name)
        for name in list(names)[:MOST_MODELS]
        if 0 < len(name) <= LONGEST_NAME
    )


def shown(body: bytes, fact: ModelFact) -> ModelFact:
    """The fact with what /api/show tells of it. The window stands under the architecture's name:
    `model_info["llama.context_length"]`."""
    try:
        told = read_json(body, _Shown)
    except MISTAKES:
        return fact
    info = told.model_info or {}
    window = count(info.get(f"{info.get('general.architecture')}.context_length")) or next(
        (count(value) for key, value in info.items() if key.endswith(".context_length")), 0
    )
    capabilities = tuple(word[:100] for word in (told.capabilities or ())[:20])
    return msgspec.structs.replace(fact, context_window=window or None, capabilities=capabilities)
