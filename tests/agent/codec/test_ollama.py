import json
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent import ollama
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


def reader(limits: AnswerLimits = LIMITS) -> ollama.OllamaAnswer:
    numbers = count(1)
    return ollama.OllamaAnswer("Ollama", lambda: f"made-{next(numbers)}", limits)


def wire(*lines: Any) -> bytes:
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def said(**message: Any) -> dict[str, Any]:
    return {"model": "m", "created_at": "2025", "message": {"role": "assistant", **message}, "done": False}


def done(reason: str = "stop", **figures: Any) -> dict[str, Any]:
    return said(content="") | {"done": True, "done_reason": reason, **figures}


def calls(name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **more}


ANSWER = wire(
    said(content="", thinking="Hm, "),
    said(content="", thinking="ä."),
    said(content="Grüße 🙂"),
    said(content="!"),
    said(content="", tool_calls=[calls("read_file", {"path": "ä.py"}), calls("search_text", {}, id="call_7")]),
    done(prompt_eval_count=11, eval_count=5, total_duration=123),
)
DELTAS: list[Delta] = [
    SaidThought("Hm, "),
    SaidThought("ä."),
    SaidText("Grüße 🙂"),
    SaidText("!"),
    CalledTool(ToolCall(id="made-1", name="read_file", arguments={"path": "ä.py"})),
    CalledTool(ToolCall(id="call_7", name="search_text", arguments={})),
    UsedTokens(prompt=11, completion=5),
    Finished("tool_calls"),
]


def test_an_answer_is_the_same_at_every_cut() -> None:
    for parts in hostile(ANSWER):
        assert read(reader(), parts) == DELTAS


@given(
    st.lists(
        st.one_of(
            st.text(max_size=8).map(lambda text: said(content=text)),
            st.text(max_size=8).map(lambda text: said(thinking=text)),
            st.sampled_from([said(tool_calls=[calls("f", {"a": 1})]), said(content=None), done(), {"error": "no"}]),
            st.dictionaries(st.sampled_from(["message", "done", "error", "x"]), st.none() | st.integers() | st.text()),
        ),
        max_size=12,
    ),
    CUTS,
)
def test_whatever_lines_come_the_deltas_are_the_same_however_they_are_cut(lines: list[Any], cuts: list[int]) -> None:
    assert_alike(wire(*lines), cuts)


@given(st.binary(max_size=300), CUTS)
def test_garbage_is_a_trouble_or_an_answer_that_was_cut_off(data: bytes, cuts: list[int]) -> None:
    assert_alike(data, cuts)


@given(st.integers(0, len(ANSWER) - 1), st.integers(0, 255), CUTS)
def test_an_answer_with_one_wrong_byte_is_read_or_is_a_trouble(place: int, byte: int, cuts: list[int]) -> None:
    assert_alike(ANSWER[:place] + bytes([byte]) + ANSWER[place + 1 :], cuts)


def assert_alike(data: bytes, cuts: list[int]) -> None:
    assert outcome(reader(SMALL), pieces(data, cuts)) == outcome(reader(SMALL), [data])


@pytest.mark.parametrize("place", range(1, len(ANSWER), 7))
def test_an_answer_that_is_cut_off_has_no_end(place: int) -> None:
    found, _ = outcome(reader(), [ANSWER[:place]])
    assert not any(isinstance(delta, Finished) for delta in found)


TROUBLES = [
    (b"<html>\n", 'no answer of a model. It says: "<html>"'),
    (b"\x00\xff\n", "no answer of a model"),
    (b"[1]\n", "no answer of a model"),
    (wire({"error": "model runner has unexpectedly stopped"}), "model runner has unexpectedly stopped"),
    (wire({"error": {"message": "deep"}}), "deep"),
    (wire({"error": 7}), "does not say why"),
    (wire(said(content="x" * 51)), "more than 50 characters"),
    (wire(*[said(thinking="x" * 10)] * 6), "more than 50 characters"),
    (wire(said(tool_calls=[calls("f", {})] * 3)), "called more than 2 tools"),
    (wire(said(tool_calls=[calls("f", {"a": "x" * 50})])), "more than 40 characters"),
    (wire(said(tool_calls=[calls("f", "x" * 50)])), "more than 40 characters"),
    (wire(said(tool_calls=[{"function": {}}])), "called a tool without saying which"),
    (wire(said(tool_calls=[{}])), "called a tool without saying which"),
    (b'{"x":"' + b"y" * 6000, "more than 5,000 bytes"),
    (b'{"a":' * 2400 + b"\n", "more than 5,000 bytes"),
    (b"[" * 4900 + b"\n", "no answer of a model"),
]


@pytest.mark.parametrize(("data", "says"), TROUBLES, ids=[f"{case[1]} {n}" for n, case in enumerate(TROUBLES)])
def test_what_is_odd_is_a_trouble_that_says_what_it_is(data: bytes, says: str) -> None:
    with pytest.raises(ModelTrouble, match=says) as trouble:
        read(reader(SMALL), [data])
    assert len(str(trouble.value)) < 500
    assert str(trouble.value).isprintable()


@pytest.mark.parametrize(
    ("arguments", "read_as"),
    [
        ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        (None, {}),
        ("not json", "not json"),
        ("[1]", "[1]"),
        ([1], "[1]"),
        (7, "7"),
    ],
)
def test_arguments_are_an_object_or_a_text(arguments: Any, read_as: Any) -> None:
    (call, _) = read(reader(), [wire(said(tool_calls=[calls("f", arguments)]), done())])
    assert isinstance(call, CalledTool)
    assert call.call.arguments == read_as


@pytest.mark.parametrize("broken", [rb'{"message":{"content":"a\ud83d"}}', b'{"message":{"content":"a\xf0\x9f"}}'])
def test_half_a_character_does_not_end_the_answer(broken: bytes) -> None:
    first, *_ = read(reader(), [broken + b"\n" + wire(done())])
    assert isinstance(first, SaidText)
    assert first.text[0] == "a"
    first.text.encode()


def test_a_thought_inside_the_text_is_a_thought() -> None:
    lines = wire(*(said(content=part) for part in ("<thi", "nk>hm</th", "ink>\n", "\nyes")), done())
    assert read(reader(), [lines]) == [SaidThought("hm"), SaidText("yes"), Finished("stop")]


@pytest.mark.parametrize("reason", ["stop", "length", "load"])
def test_the_reason_of_the_end_is_the_server_s(reason: str) -> None:
    assert read(reader(), [wire(done(reason))]) == [Finished(reason)]


def test_what_comes_after_the_end_is_not_read() -> None:
    assert read(reader(), [wire(done()) + b"garbage\n", b"more"]) == [Finished("stop")]


# -- what is asked


def test_a_request_says_everything_that_ollama_has_to_know() -> None:
    request = ModelRequest(
        model=ModelConfig(provider="ollama", model_name="qwen3", context_window=16384, temperature=0.2),
        messages=(
            ModelMessage(role="system", content="Be brief."),
            ModelMessage(role="user", content="Grüße"),
            ModelMessage(
                role="assistant",
                tool_calls=(
                    ToolCall(id="1", name="f", arguments={"a": 1}),
                    ToolCall(id="2", name="g", arguments="odd"),
                ),
            ),
            ModelMessage(role="tool", content="done", tool_call_id="1", tool_name="f"),
        ),
        tools=(ToolSpec(name="f", description="Does f.", parameters={"type": "object", "properties": {}}),),
        think=True,
    )
    assert ollama.chat_body(request) == {
        "model": "qwen3",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Grüße"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"function": {"name": "f", "arguments": {"a": 1}}},
                    {"function": {"name": "g", "arguments": {"text": "odd"}}},
                ],
            },
            {"role": "tool", "content": "done", "tool_name": "f"},
        ],
        "stream": True,
        "options": {"num_ctx": 16384, "temperature": 0.2},
        "tools": [
            {
                "type": "function",
                "function": {"name": "f", "description": "Does f.", "parameters": {"type": "object", "properties": {}}},
            }
        ],
        "think": True,
    }


def test_what_is_not_asked_for_is_not_in_a_request() -> None:
    body = ollama.chat_body(ModelRequest(model=ModelConfig(provider="ollama"), messages=()))
    assert {"tools", "think"} & body.keys() == set()


# -- what there is


def test_tags_are_models() -> None:
    models = [{"name": "a:latest", "model": "a:latest", "size": 1}, {"model": "b"}, {}, {"name": "x" * 301}]
    assert ollama.listed(json.dumps({"models": models}).encode(), "http://h", "Ollama") == (
        ModelFact(id="a:latest", provider="ollama", url="http://h", display_name="a:latest"),
        ModelFact(id="b", provider="ollama", url="http://h", display_name="b"),
    )


FACT = ModelFact(id="a", provider="ollama", url="http://h")


@pytest.mark.parametrize(
    ("info", "window"),
    [
        ({"general.architecture": "llama", "llama.context_length": 131072}, 131072),
        ({"general.architecture": "mllama", "clip.context_length": 77, "mllama.context_length": 4096}, 4096),
        ({"gemma3.context_length": 8192}, 8192),
        ({"general.architecture": "llama"}, None),
        ({"context_length": 5}, None),
        ({"general.architecture": "llama", "llama.context_length": "many"}, None),
        (None, None),
    ],
)
def test_the_window_stands_under_the_architecture_s_name(info: Any, window: int | None) -> None:
    told = json.dumps({"model_info": info, "capabilities": ["completion", "tools"]}).encode()
    fact = ollama.shown(told, FACT)
    assert fact.context_window == window
    assert fact.capabilities == ("completion", "tools")


@given(st.binary(max_size=100) | st.sampled_from([b"{}", b"[]", b"null", b'{"models":null}', b'{"model_info":{}}']))
def test_odd_lists_are_troubles_and_odd_facts_change_nothing(body: bytes) -> None:
    with suppress(ModelTrouble):
        assert ollama.listed(body, "http://h", "Ollama") == ()
    assert ollama.shown(body, FACT) == FACT


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("registry.ollama.ai/library/gemma:2b does not support tools", "tools"),
        ('"gemma:2b" does not support thinking', "think"),
        ("out of memory", None),
        ("", None),
    ],
)
def test_what_a_model_has_no_use_for_is_left_out(words: str, part: str | None) -> None:
    assert ollama.without({"tools": [], "think": True}, words) == part
    assert ollama.without({}, words) is None
