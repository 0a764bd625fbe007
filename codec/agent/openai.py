"""The protocol that OpenAI began and most servers speak: /v1/chat/completions as server-sent events, and /v1/models.

    ANSWERING   chunks with a `delta`                      -> ENDING, OVER
    ENDING      a `finish_reason` has come; usage may follow   -> OVER
    OVER        [DONE] has come, or the stream ended in ENDING

Servers differ, so much is taken that the original never sends: a call of a tool that comes whole, without an index,
with an object of arguments, or with the index of another; thoughts as `reasoning_content`, `reasoning` or inside
<think>; usage in every chunk; events that no empty line divides; a whole completion as JSON, though a stream was asked
for; an error as an object in a stream whose status was 200.

Calls, usage and the end are told last, when nothing can change them any more.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from codec.agent.answering import (
    LIMITS,
    MISTAKES,
    AnswerLimits,
    Ids,
    Tally,
    count,
    excerpt,
    read_json,
    told,
    words_of,
)
from codec.agent.models import (
    Delta,
    Finished,
    ModelFact,
    ModelMessage,
    ModelRequest,
    ModelTrouble,
    Provider,
    ToolCall,
    UsedTokens,
)
from codec.agent.sse import EventStream, ServerSent
from codec.agent.thoughts import Thoughts

CHAT, MODELS = "/chat/completions", "/models"
PROPS = "/props"
"""llama.cpp's own; it tells the window there."""
MOST_MODELS = 1000
LONGEST_NAME = 300
DONE = b"[DONE]"
ANSWERING, ENDING, OVER = "answering", "ending", "over"


def chat_body(request: ModelRequest) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model.model_name,
        "messages": [_message(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": request.model.temperature,
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in request.tools
        ]
    return body


def _message(message: ModelMessage) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        said["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _text(call)}}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        said["tool_call_id"] = message.tool_call_id or "call"
    return said


def _text(call: ToolCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else msgspec.json.encode(call.arguments).decode()


def without(body: dict[str, Any], words: str) -> str | None:
    """The part of the request that the server refuses with these words, and can be left out."""
    return next((part for part in ("stream_options", "temperature") if part in body and part in words), None)


# -- the answer


class _Function(Struct):
    name: str | None = None
    arguments: Any = None


class _Fragment(Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Said(Struct):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_Fragment] | None = None


class _Choice(Struct):
    delta: _Said | None = None
    message: _Said | None = None
    """In a completion that is no stream."""
    index: int | None = None
    finish_reason: str | None = None


class _Chunk(Struct):
    choices: list[_Choice] | None = None
    usage: Any = None
    error: Any = None
    object: Any = None
    message: Any = None


class _Call:
    """A call as far as its fragments have come."""

    def __init__(self, index: int | None, id_: str, name: str) -> None:
        self.index = index
        self.id = id_
        self.name = name
        self.texts: list[str] = []
        self.size = 0
        self.whole: Any = None
        """Arguments that came as an object."""


class OpenAIAnswer:
    def __init__(self, who: str, ids: Ids, limits: AnswerLimits = LIMITS, *, streamed: bool = True) -> None:
        """`streamed`: whether it comes as server-sent events, and not as one JSON object."""
        self._who = who
        self._ids = ids
        self._limits = limits
        self._events = EventStream(limits.line_bytes)
        self._body: bytearray | None = None if streamed else bytearray()
        self._tally = Tally(who, limits)
        self._thoughts = Thoughts(self._tally)
        self._calls: list[_Call] = []
        self._usage: UsedTokens | None = None
        self._reason = "stop"
        self._state = ANSWERING

    @property
    def over(self) -> bool:
        return self._state == OVER

    @property
    def ending(self) -> bool:
        return self._state != ANSWERING

    def feed(self, data: bytes) -> Iterator[Delta]:
        if self._body is None:
            yield from self._read(self._events.feed(data))
            return
        self._body += data
        if len(self._body) > self._limits.line_bytes:
            raise ModelTrouble(f"{self._who} sent an answer of more than {self._limits.line_bytes:,} bytes at once.")

    def end(self) -> Iterator[Delta]:
        if self._body is None:
            yield from self._read(self._events.end())
        else:
            yield from self._take(self._decoded(bytes(self._body)), bytes(self._body))
        if self._state == ENDING:
            yield from self._finish()

    def _read(self, events: Iterable[ServerSent]) -> Iterator[Delta]:
        if self._state == OVER:
            return
        for event in events:
            if event.event == b"error":
                raise self._failed(event.data)
            for data in self._parts(event.data.strip()):
                if data == DONE:
                    yield from self._finish()
                    return
                yield from self._take(self._decoded(data), data)

    def _parts(self, data: bytes) -> list[bytes]:
        """One, unless several chunks came that no empty line divides."""
        if b"\n" in data:
            try:
                read_json(data, _Chunk)
            except MISTAKES:
                return [part for line in data.split(b"\n") if (part := line.strip())]
        return [data] if data else []

    def _decoded(self, data: bytes) -> _Chunk:
        try:
            return read_json(data, _Chunk)
        except MISTAKES:
            raise ModelTrouble(f"{self._who} sent what is no answer of a model.{told(excerpt(data))}") from None

    def _take(self, chunk: _Chunk, data: bytes) -> Iterator[Delta]:
        if chunk.error or chunk.object == "error":
            raise self._failed(data)
        if isinstance(chunk.usage, dict):
            self._usage = UsedTokens(
                prompt=count(chunk.usage.get("prompt_tokens")), completion=count(chunk.usage.get("completion_tokens"))
            )
        for choice in chunk.choices or ():
            if choice.index:
                continue  # we asked for one
            said = choice.delta or choice.message
            if said is not None:
                yield from self._take_said(said)
            if choice.finish_reason:
                self._reason = choice.finish_reason[:100]
                self._state = ENDING

    def _take_said(self, said: _Said) -> Iterator[Delta]:
        thought = said.reasoning_content or said.reasoning
        if thought:
            yield self._tally.thought(thought)
        for text in (said.content, said.refusal):
            if text:
                yield from self._thoughts.feed(text)
        for fragment in said.tool_calls or ():
            self._take_fragment(fragment)

    def _take_fragment(self, fragment: _Fragment) -> None:
        function = fragment.function or _Function()
        call = self._call_of(fragment, function)
        if isinstance(function.arguments, str):
            call.size += len(function.arguments)
            self._tally.expect_arguments(call.size)
            call.texts.append(function.arguments)
        elif function.arguments is not None:
            call.whole = function.arguments

    def _call_of(self, fragment: _Fragment, function: _Function) -> _Call:
        """The call that it belongs to. One with a name and another id begins a new call, whatever its index says."""
        for call in reversed(self._calls):
            if fragment.index == call.index and (fragment.index is not None or not function.name):
                if function.name and fragment.id and fragment.id != call.id:
                    break
                call.name = call.name or function.name or ""
                return call
        if fragment.index is None and not function.name and self._calls:
            return self._calls[-1]
        self._tally.expect_call(len(self._calls))
        known = {call.id for call in self._calls}
        id_ = fragment.id if fragment.id and fragment.id not in known else self._ids()
        self._calls.append(_Call(fragment.index, id_, function.name or ""))
        return self._calls[-1]

    def _finish(self) -> Iterator[Delta]:
        self._state = OVER
        yield from self._thoughts.end()
        for call in self._calls:
            if not call.name:
                raise ModelTrouble(f"{self._who} called a tool without saying which.")
            arguments = call.whole if call.whole is not None else "".join(call.texts)
            yield self._tally.called(call.id, call.name, arguments)
        if self._usage is not None:
            yield self._usage
        yield Finished("tool_calls" if self._calls and self._reason == "stop" else self._reason)

    def _failed(self, data: bytes) -> ModelTrouble:
        try:
            words = words_of(read_json(data, dict[str, Any]))
        except MISTAKES:
            words = excerpt(data)
        return ModelTrouble(f"{self._who} failed.{told(words) or ' It does not say why.'}")


# -- what there is


class _Model(Struct):
    id: Any = None
    max_model_len: Any = None
    """vLLM's window; the next two are those of gateways."""
    context_length: Any = None
    context_window: Any = None
    meta: Any = None
    """llama.cpp's."""


class _Models(Struct):
    data: list[_Model] | None = None


def listed(body: bytes, provider: Provider, url: str, who: str) -> tuple[ModelFact, ...]:
    """What /v1/models has."""
    try:
        models = read_json(body, _Models)
    except MISTAKES:
        raise ModelTrouble(f"{who} answers {MODELS}, but not with a list of models.{told(excerpt(body))}") from None
    found: dict[str, ModelFact] = {}
    for model in (models.data or ())[:MOST_MODELS]:
        if isinstance(model.id, str) and 0 < len(model.id) <= LONGEST_NAME:
            window = count(model.max_model_len) or count(model.context_length) or count(model.context_window)
            if not window and isinstance(model.meta, dict):
                window = count(model.meta.get("n_ctx"))
            name = model.id.rpartition("/")[2] if provider == "llamacpp" else model.id  # there it is a file's path
            found[model.id] = ModelFact(
                id=model.id, provider=provider, url=url, display_name=name or model.id, context_window=window or None
            )
    return tuple(found.values())


def told_window(body: bytes) -> int | None:
    """Of llama.cpp's /props: the window that it was started with. Its list has only that of the training."""
    try:
        settings = read_json(body, dict[str, Any]).get("default_generation_settings")
    except MISTAKES:
        return None
    return count(settings.get("n_ctx")) or None if isinstance(settings, dict) else None
