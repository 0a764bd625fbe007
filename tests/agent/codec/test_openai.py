import json
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent import openai
from codec.agent.answering import LIMITS, AnswerLimits
from codec.agent.models import (
    CalledTool,
    Delta,
    Finished,
    ModelConfig,
    ModelFact,
    ModelMessage,
    ModelRequest,
    ModelTrouble,
    SaidText,
    SaidThought,
    ToolCall,
    ToolSpec,
    UsedTokens,
)
from tests.agent.codec.chunking import CUTS, hostile, outcome, pieces, read

SMALL = AnswerLimits(line_bytes=5000, text=50, calls=2, arguments=40)


def reader(limits: AnswerLimits = LIMITS, *, streamed: bool = True) -> openai.OpenAIAnswer:
    numbers = count(1)
    return openai.OpenAIAnswer("vLLM", lambda: f"made-{next(numbers)}", limits, streamed=streamed)


def wire(*chunks: Any, end: bytes = b"\n", last: bytes = b"[DONE]") -> bytes:
    events = [json.dumps(chunk, ensure_ascii=False).encode() for chunk in chunks] + ([last] if last else [])
    return b"".join(b"data: " + event + end * 2 for event in events)


def said(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        "usage": None,
    }


def usage(prompt: Any, completion: Any) -> dict[str, Any]:
    return {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": 0}}


def part(index: int | None, text: Any = None, *, id_: str | None = None, name: str | None = None) -> dict[str, Any]:
    """A fragment of a call."""
    function = {key: value for key, value in (("name", name), ("arguments", text)) if value is not None}
    whole = {"index": index, "id": id_, "type": "function", "function": function}
    return {key: value for key, value in whole.items() if value is not None}


def call(id_: str, name: str, arguments: Any) -> CalledTool:
    return CalledTool(ToolCall(id=id_, name=name, arguments=arguments))


CHUNKS = (
    said(role="assistant", content=""),
    said(reasoning_content="Hm, ä."),
    said(content="Grüße 🙂"),
    said(content="!"),
    said(tool_calls=[part(0, "", id_="call_a", name="read_file")]),
    said(tool_calls=[part(0, '{"pa')]),
    said(tool_calls=[part(1, "", id_="call_b", name="search_text")]),
    said(tool_calls=[part(0, 'th":"ä.py"}'), part(1, "{}")]),
    said("tool_calls"),
    usage(11, 5),
)
DELTAS: list[Delta] = [
    SaidThought("Hm, ä."),
    SaidText("Grüße 🙂"),
    SaidText("!"),
    call("call_a", "read_file", {"path": "ä.py"}),
    call("call_b", "search_text", {}),
    UsedTokens(prompt=11, completion=5),
    Finished("tool_calls"),
]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_an_answer_is_the_same_at_every_cut(end: bytes) -> None:
    for parts in hostile(b": a comment" + end * 2 + wire(*CHUNKS, end=end)):
        assert read(reader(), parts) == DELTAS


FRAGMENTS = st.builds(
    part,
    st.none() | st.integers(0, 2),
    st.none() | st.sampled_from(["", "{", '"a":1', "}", "{}"]) | st.just({"b": 2}),
    id_=st.none() | st.sampled_from(["", "x", "y"]),
    name=st.none() | st.sampled_from(["", "f", "g"]),
)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "delta", "usage", "error", "content", "tool_calls", "index"]), inner
        )
    ),
    max_leaves=8,
)
SAID = st.one_of(
    st.builds(lambda text: said(content=text), st.text(max_size=8)),
    st.builds(lambda text: said(reasoning=text), st.text(max_size=8)),
    st.builds(lambda parts: said(tool_calls=parts), st.lists(FRAGMENTS, max_size=3)),
    st.sampled_from([said("stop"), said("length"), usage(1, 2), {"error": {"message": "no"}}, said(content=None)]),
)


@given(st.lists(SAID, max_size=12), st.sampled_from([b"", b"[DONE]"]), CUTS)
def test_whatever_chunks_come_the_deltas_are_the_same_however_they_are_cut(
    chunks: list[Any], last: bytes, cuts: list[int]
) -> None:
    assert_alike(wire(*chunks, last=last), cuts)


@given(st.lists(SAID | ODD, max_size=6), CUTS)
def test_odd_json_is_a_trouble_or_an_answer(chunks: list[Any], cuts: list[int]) -> None:
    assert_alike(wire(*chunks), cuts)


@given(st.binary(max_size=300) | st.binary(max_size=60).map(lambda data: b"data: " + data + b"\n\n"), CUTS)
def test_garbage_is_a_trouble_or_an_answer_that_was_cut_off(data: bytes, cuts: list[int]) -> None:
    assert_alike(data, cuts)


ANSWER = wire(*CHUNKS)


@given(st.integers(0, len(ANSWER) - 1), st.integers(0, 255), CUTS)
def test_an_answer_with_one_wrong_byte_is_read_or_is_a_trouble(place: int, byte: int, cuts: list[int]) -> None:
    assert_alike(ANSWER[:place] + bytes([byte]) + ANSWER[place + 1 :], cuts)


@given(st.binary(max_size=100) | ODD.map(lambda value: json.dumps(value).encode()), CUTS)
def test_a_completion_that_is_no_stream_may_be_garbage_too(data: bytes, cuts: list[int]) -> None:
    whole = outcome(reader(SMALL, streamed=False), [data])
    assert outcome(reader(SMALL, streamed=False), pieces(data, cuts)) == whole


def assert_alike(data: bytes, cuts: list[int]) -> None:
    assert outcome(reader(SMALL), pieces(data, cuts)) == outcome(reader(SMALL), [data])


@pytest.mark.parametrize("chunks", range(len(CHUNKS) - 2))
def test_an_answer_that_is_cut_off_before_its_reason_has_no_end(chunks: int) -> None:
    found = read(reader(), [wire(*CHUNKS[:chunks], last=b"")])
    assert not any(isinstance(delta, Finished | CalledTool) for delta in found)


@pytest.mark.parametrize("chunks", [CHUNKS[:-1], CHUNKS])
def test_after_its_reason_an_answer_needs_no_more(chunks: tuple[Any, ...]) -> None:
    answer = reader()
    found = [*answer.feed(wire(*chunks, last=b""))]
    assert (answer.ending, answer.over) == (True, False)
    found += answer.end()
    assert answer.over
    assert [delta for delta in DELTAS if chunks is CHUNKS or not isinstance(delta, UsedTokens)] == found


CALLS: list[tuple[str, list[Any], list[CalledTool]]] = [
    ("whole", [[part(0, '{"a":1}', id_="x", name="f")]], [call("x", "f", {"a": 1})]),
    ("whole, without an index", [[part(None, "{}", id_="x", name="f")], [part(None, "{}", id_="y", name="g")]],
     [call("x", "f", {}), call("y", "g", {})]),
    ("whole, without index and id", [[part(None, '{"a":1}', name="f"), part(None, "{}", name="f")]],
     [call("made-1", "f", {"a": 1}), call("made-2", "f", {})]),
    ("all with the same index", [[part(0, "{", id_="x", name="f")], [part(0, "}")], [part(0, "{}", id_="y", name="g")]],
     [call("x", "f", {}), call("y", "g", {})]),
    ("all with the same id", [[part(0, "{}", id_="x", name="f")], [part(1, "{}", id_="x", name="g")]],
     [call("x", "f", {}), call("made-1", "g", {})]),
    ("the id in every fragment", [[part(0, '{"a"', id_="x", name="f")], [part(0, ":1}", id_="x", name="f")]],
     [call("x", "f", {"a": 1})]),
    ("a new id in every fragment", [[part(0, '{"a"', id_="x", name="f")], [part(0, ":1}", id_="y")]],
     [call("x", "f", {"a": 1})]),
    ("the name after the id", [[part(0, id_="x")], [part(0, name="f")], [part(0, "{}")]], [call("x", "f", {})]),
    ("fragments without an index", [[part(None, '{"a"', id_="x", name="f")], [part(None, ":1}")]],
     [call("x", "f", {"a": 1})]),
    ("an object of arguments", [[part(0, {"a": 1}, id_="x", name="f")]], [call("x", "f", {"a": 1})]),
    ("no arguments", [[part(0, "", id_="x", name="f")]], [call("x", "f", {})]),
    ("arguments that are no JSON", [[part(0, '{"a":', id_="x", name="f")]], [call("x", "f", '{"a":')]),
    ("indices out of order", [[part(3, "{}", id_="x", name="f")], [part(1, "{}", id_="y", name="g")]],
     [call("x", "f", {}), call("y", "g", {})]),
    ("no id", [[part(0, "{}", name="f")]], [call("made-1", "f", {})]),
]  # fmt: skip


@pytest.mark.parametrize(("chunks", "expected"), [case[1:] for case in CALLS], ids=[case[0] for case in CALLS])
def test_calls_are_put_together_whatever_a_server_makes_of_them(chunks: list[Any], expected: list[CalledTool]) -> None:
    found = read(reader(), [wire(*(said(tool_calls=parts) for parts in chunks), said("tool_calls"))])
    assert found == [*expected, Finished("tool_calls")]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thoughts_have_one_of_two_names(field: str) -> None:
    assert read(reader(), [wire(said(**{field: "hm"}), said("stop"))]) == [SaidThought("hm"), Finished("stop")]


def test_chunks_that_no_empty_line_divides_are_taken() -> None:
    data = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n" for chunk in CHUNKS) + b"data: [DONE]\n"
    assert read(reader(), [data]) == DELTAS


def test_a_whole_completion_is_taken_though_a_stream_was_asked_for() -> None:
    message = {"role": "assistant", "content": "Hi", "tool_calls": [part(None, '{"a":1}', id_="x", name="f")]}
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    data = json.dumps(body | {"usage": {"prompt_tokens": 1, "completion_tokens": 2}}).encode()
    expected = [SaidText("Hi"), call("x", "f", {"a": 1}), UsedTokens(prompt=1, completion=2), Finished("tool_calls")]
    for parts in hostile(data):
        assert read(reader(streamed=False), parts) == expected


def test_only_the_first_of_several_choices_is_told() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]}
    assert read(reader(), [wire(said(content="a"), other, said("stop"))]) == [SaidText("a"), Finished("stop")]


def test_usage_in_every_chunk_is_told_once() -> None:
    chunks = [said(content="a") | {"usage": usage(7, n)["usage"]} for n in (1, 2)]
    found = read(reader(), [wire(*chunks, said("stop"))])
    assert found == [SaidText("a"), SaidText("a"), UsedTokens(prompt=7, completion=2), Finished("stop")]


def test_what_comes_after_the_end_is_not_read() -> None:
    assert read(reader(), [wire(said("stop")) + b"data: garbage\n\n", b"data: more\n\n"]) == [Finished("stop")]


TROUBLES = [
    (b"data: <html>\n\n", 'no answer of a model. It says: "<html>"'),
    (b"data: \x00\xff\n\n", "no answer of a model"),
    (b"data: [1]\n\n", "no answer of a model"),
    (wire({"error": {"message": "out of memory", "code": 500}}), 'failed. It says: "out of memory"'),
    (wire({"error": "plain"}), 'failed. It says: "plain"'),
    (wire({"object": "error", "message": "old vLLM", "code": 40001}), 'failed. It says: "old vLLM"'),
    (wire({"error": {"code": 7}}), "does not say why"),
    (b'event: error\ndata: {"message": "by name"}\n\n', 'failed. It says: "by name"'),
    (b"event: error\ndata: no JSON\n\n", 'failed. It says: "no JSON"'),
    (wire(said(content="x" * 51)), "more than 50 characters"),
    (wire(*[said(reasoning="x" * 10)] * 6), "more than 50 characters"),
    (wire(said(tool_calls=[part(n, "{}", name="f") for n in range(3)])), "called more than 2 tools"),
    (wire(*[said(tool_calls=[part(0, "x" * 10, name="f")])] * 5), "more than 40 characters"),
    (wire(said(tool_calls=[part(0, {"a": "x" * 50}, name="f")])), "more than 40 characters"),
    (wire(said(tool_calls=[part(0, "{}", id_="x")]), said("stop")), "called a tool without saying which"),
    (b"data: " + b"y" * 6000, "more than 5,000 bytes"),
    (b": " + b"y" * 6000, "more than 5,000 bytes"),
    (b"data: " + b"[" * 4900 + b"\n\n", "no answer of a model"),
]


@pytest.mark.parametrize(("data", "says"), TROUBLES, ids=[f"{case[1]} {n}" for n, case in enumerate(TROUBLES)])
def test_what_is_odd_is_a_trouble_that_says_what_it_is(data: bytes, says: str) -> None:
    with pytest.raises(ModelTrouble, match=says) as trouble:
        read(reader(SMALL), [data])
    assert len(str(trouble.value)) < 500
    assert str(trouble.value).isprintable()


# -- what is asked


def test_a_request_says_what_these_servers_have_to_know() -> None:
    request = ModelRequest(
        model=ModelConfig(provider="vllm", model_name="qwen", context_window=16384, temperature=0.2),
        messages=(
            ModelMessage(role="system", content="Be brief."),
            ModelMessage(
                role="assistant",
                content="I look.",
                tool_calls=(
                    ToolCall(id="1", name="f", arguments={"a": "ä"}),
                    ToolCall(id="2", name="g", arguments="odd"),
                ),
            ),
            ModelMessage(role="tool", content="done", tool_call_id="1", tool_name="f"),
        ),
        tools=(ToolSpec(name="f", description="Does f.", parameters={"type": "object"}),),
    )
    assert openai.chat_body(request) == {
        "model": "qwen",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a":"ä"}'}},
                    {"id": "2", "type": "function", "function": {"name": "g", "arguments": "odd"}},
                ],
            },
            {"role": "tool", "content": "done", "tool_call_id": "1"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.2,
        "tools": [
            {"type": "function", "function": {"name": "f", "description": "Does f.", "parameters": {"type": "object"}}}
        ],
    }


# -- what there is


def test_what_a_server_lists_are_models_with_their_windows() -> None:
    data = [
        {"id": "vllm", "object": "model", "max_model_len": 32768},
        {"id": "gateway", "context_length": 8192},
        {"id": "groq", "context_window": 4096},
        {"id": "plain"},
        {"id": 7},
        {"id": ""},
        {"id": "plain"},
    ]
    facts = openai.listed(json.dumps({"object": "list", "data": data}).encode(), "openai", "http://h", "It")
    assert [(fact.id, fact.context_window) for fact in facts] == [
        ("vllm", 32768),
        ("gateway", 8192),
        ("groq", 4096),
        ("plain", None),
    ]


@given(st.binary(max_size=60) | ODD.map(lambda value: json.dumps({"default_generation_settings": value}).encode()))
def test_odd_properties_tell_no_window(body: bytes) -> None:
    assert openai.told_window(body) is None
    assert openai.told_window(b'{"default_generation_settings":{"n_ctx":4096}}') == 4096


def test_a_model_of_llama_cpp_is_shown_without_its_folder() -> None:
    body = json.dumps({"data": [{"id": "/models/q4.gguf", "meta": {"n_ctx_train": 131072}}]}).encode()
    fact = ModelFact(id="/models/q4.gguf", provider="llamacpp", url="http://h", display_name="q4.gguf")
    assert openai.listed(body, "llamacpp", "http://h", "It") == (fact,)


@given(st.binary(max_size=100) | ODD.map(lambda value: json.dumps(value).encode()))
def test_odd_lists_are_troubles_or_empty(body: bytes) -> None:
    with suppress(ModelTrouble):
        assert openai.listed(body, "openai", "http://h", "It") == ()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("Unsupported value: 'temperature' does not support 0.7 with this model.", "temperature"),
        ("Unrecognized request argument supplied: stream_options", "stream_options"),
        ("messages is too long", None),
    ],
)
def test_what_a_server_refuses_and_can_do_without_is_left_out(words: str, part: str | None) -> None:
    assert openai.without({"temperature": 1, "stream_options": {}}, words) == part
    assert openai.without({}, words) is None
