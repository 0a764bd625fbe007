"""Requests and responses in the words of each dialect; and any bytes at all."""

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codec.ipc import (
    BOTH,
    BadRequest,
    BadResponse,
    Dialect,
    Failure,
    Outcome,
    Request,
    Success,
    Wishes,
    read_request,
    read_response,
    write_request,
    write_response,
)

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=8,
)  # fmt: skip
NAMES = [
    "request_id", "command", "params", "prompt", "troupe", "status", "data", "error_message", "final_status",
    "attempts", "success", "response", "permanent",
]  # fmt: skip
VALUES = JSON | st.sampled_from(["r", "success", "error", "failed"])
DOCUMENTS = st.dictionaries(st.sampled_from(NAMES), VALUES).map(lambda fields: {"request_id": "r", **fields})


def read(**fields: Any) -> Request:
    return read_request(json.dumps({"request_id": "r", **fields}).encode(), "r")


def outcome_of(**fields: Any) -> Outcome:
    return read_response(json.dumps({"request_id": "r", **fields}).encode(), "r").outcome


# -- requests


def test_a_request_of_the_contract() -> None:
    request = read(command="ping", params={"a": [1, {"b": None}]})
    assert (request.id, request.command, request.params) == ("r", "ping", {"a": [1, {"b": None}]})
    assert (request.wishes, request.dialect) == (Wishes(), Dialect.SPEC)


def test_a_request_of_the_first_peers_is_a_prompt() -> None:
    request = read(prompt="Hello", model="gpt", mode="ask", timeout=5, timestamp="2025-01-01T00:00:00Z", extra=1)
    assert request.command == "submitPrompt"
    assert request.params == {"prompt": "Hello", "model": "gpt", "mode": "ask", "timeout": 5}
    assert request.dialect is Dialect.PROMPT


def test_a_request_without_params_has_none_and_a_mark_of_the_byte_order_is_no_part_of_it() -> None:
    assert read(command="ping").params == {}
    assert read_request(b'\xef\xbb\xbf{"request_id":"r","command":"ping"}', "r").command == "ping"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "a request is a JSON object, and this is not JSON: "),
        ('{"request_id": "r", "comm', "a request is a JSON object, and this is not JSON: "),
        ("[1]", "a request is a JSON object, and this is an array"),
        ("null", "a request is a JSON object, and this is null"),
        ('"r"', "a request is a JSON object, and this is a text"),
        ("[" * 100_000, "a request is a JSON object, and this cannot be read: it is nested too deeply"),
        ('{"command": "ping"}', "expected request_id to be 'r', as the file is named, but it is missing"),
        ('{"request_id": 7}', "expected request_id to be 'r', as the file is named, but it is a number"),
        ('{"request_id": "s"}', "expected request_id to be 'r', as the file is named, but it is 's'"),
        ('{"request_id": "r"}', "expected command, the name of what is to be done, but it is missing"),
        ('{"request_id": "r", "command": ""}', "expected command, the name of what is to be done, but it is an empty"),
        ('{"request_id": "r", "command": {}}', "expected command, the name of what is to be done, but it is an object"),
        ('{"request_id": "r", "command": "' + "x" * 201 + '"}', "a command has at most 200 characters; this one"),
        ('{"request_id": "r", "command": "c", "params": [1]}', "expected params to be an object, but it is an array"),
        ('{"request_id": "r", "command": "c", "params": null}', "expected params to be an object, but it is null"),
        ('{"request_id": "r", "command": "c", "troupe": {"priority": 101}}', "the troupe object is not right: "),
        ('{"request_id": "r", "command": "c", "troupe": {"prio": 1}}', "the troupe object is not right: "),
        ('{"request_id": "r", "command": "c", "troupe": 1}', "the troupe object is not right: "),
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused_in_words(text: str, sentence: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read_request(text.encode(), "r")
    assert str(refused.value).startswith(sentence)


REQUESTS = st.builds(
    Request,
    id=st.just("r"),
    command=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
    params=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), JSON),
    wishes=st.builds(
        Wishes,
        submitter=st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
        priority=st.integers(-100, 100),
        not_before=st.none() | st.floats(0, 1e10),
        deadline=st.none() | st.floats(0, 1e10),
        reference=st.none() | st.text(st.characters(exclude_categories=["Cs"])),
    ),
)


@given(REQUESTS)
def test_a_request_that_was_written_is_read_as_it_was(request_: Request) -> None:
    written = write_request(request_)
    assert read_request(written, "r") == request_
    assert ("troupe" in msgspec.json.decode(written)) == (request_.wishes != Wishes())


@given(st.sampled_from(["not_before", "deadline"]), st.floats(allow_nan=False, allow_infinity=False))
@example("not_before", 1e308)
@example("deadline", 1.7e12)
@example("deadline", -1e308)
def test_a_moment_that_is_read_is_one_that_a_calendar_knows(which: str, moment: float) -> None:
    written = msgspec.json.encode({"request_id": "r", "command": "c", "troupe": {which: moment}})
    try:
        read = read_request(written, "r")
    except BadRequest:
        assert not 0 <= moment <= 2e11
    else:
        assert datetime.fromtimestamp(getattr(read.wishes, which), UTC).timestamp() == pytest.approx(moment, abs=1e-3)


@given(REQUESTS, REQUESTS)
def test_two_requests_have_the_same_fingerprint_when_they_ask_for_the_same(one: Request, other: Request) -> None:
    turned = msgspec.structs.replace(one, id="s", params=dict(reversed(one.params.items())))
    assert turned.fingerprint == one.fingerprint
    same = (one.command, one.params, one.wishes) == (other.command, other.params, other.wishes)
    assert same or one.fingerprint != other.fingerprint


def test_the_reference_is_a_wish_or_stands_where_the_evaluation_of_old_looks() -> None:
    assert read(command="c").reference is None
    assert read(command="c", params={"expected_response": 7}).reference is None
    assert read(command="c", params={"expected_response": "x"}).reference == "x"
    assert read(command="c", params={"expected_response": "x"}, troupe={"reference": "y"}).reference == "y"


# -- responses


def test_responses_of_the_contract() -> None:
    assert outcome_of(status="success", data={"message": "pong"}) == Success({"message": "pong"})
    assert outcome_of(status="error", error_message="no") == Failure("no")
    assert outcome_of(status="error", error_message="no", permanent=True) == Failure("no", permanent=True)
    assert outcome_of(status="error") == Failure("the peer did not say why")


def test_responses_of_the_newest_peers() -> None:
    tried = [
        {"attempt": 1, "success": False, "error": "busy", "timestamp": "t"},
        {"attempt": 2, "success": True, "data": 7, "timestamp": "t"},
    ]
    assert outcome_of(final_status="success", attempts=tried) == Success(7)
    assert outcome_of(final_status="failed", attempts=tried[:1]) == Failure("busy")
    assert outcome_of(final_status="failed", attempts="?") == Failure("the peer did not say why")
    assert outcome_of(final_status="error", error_message="Unknown command", attempts=[]) == Failure("Unknown command")


def test_responses_of_the_first_peers() -> None:
    assert outcome_of(success=True, response="Hi", retry_count=0) == Success({"content": "Hi"})
    assert outcome_of(success=False, response=None, error_message="no model") == Failure("no model")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "a response is a JSON object, and this is not JSON: "),
        ('{"request_id": "s", "status": "success"}', "expected request_id to be 'r', as the file is named, but it is"),
        ('{"request_id": "r"}', "expected status, final_status or success, which say how it went, and there is none"),
        ('{"request_id": "r", "status": "done"}', 'expected status to be success or error, not "done"'),
        ('{"request_id": "r", "final_status": 1}', "expected final_status to be success, failed or error, not 1"),
        ('{"request_id": "r", "success": 1}', "expected success to be true or false, not 1"),
        ('{"request_id": "r", "success": "' + "y" * 99 + '"}', f'expected success to be true or false, not "{"y" * 9}'),
    ],
)  # fmt: skip
def test_what_is_no_response_is_refused_in_words(text: str, sentence: str) -> None:
    with pytest.raises(BadResponse) as refused:
        read_response(text.encode(), "r")
    assert str(refused.value).startswith(sentence)


OUTCOMES = st.builds(Success, JSON) | st.builds(
    Failure, st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.booleans()
)


@given(OUTCOMES, st.sampled_from([(Dialect.SPEC,), (Dialect.HEAD,), BOTH]), st.integers(1, 3))
def test_a_response_that_was_written_is_read_as_it_was(
    outcome: Outcome, dialects: tuple[Dialect, ...], attempt: int
) -> None:
    written = write_response("r", outcome, dialects, attempt=attempt, at="2026-01-01T00:00:00Z")
    response = read_response(written, "r")
    assert response.outcome == outcome
    assert response.dialect is dialects[0]


@given(OUTCOMES)
def test_a_response_in_both_dialects_is_a_response_in_each(outcome: Outcome) -> None:
    fields = msgspec.json.decode(write_response("r", outcome, BOTH))
    for mine in ("status", "final_status"):
        alone = {name: value for name, value in fields.items() if name == mine or "status" not in name}
        assert read_response(msgspec.json.encode(alone), "r").outcome == outcome


@given(OUTCOMES)
def test_the_first_peers_are_answered_with_a_text(outcome: Outcome) -> None:
    fields = msgspec.json.decode(write_response("r", outcome, (Dialect.PROMPT,), attempt=2))
    assert fields["success"] is isinstance(outcome, Success)
    assert isinstance(fields["response"], str) is fields["success"]
    assert fields["retry_count"] == 1
    understood = Failure(outcome.message) if isinstance(outcome, Failure) else Success({"content": fields["response"]})
    assert read_response(msgspec.json.encode(fields), "r").outcome == understood


# -- any bytes


@given(st.binary() | JSON.map(msgspec.json.encode) | DOCUMENTS.map(msgspec.json.encode))
@example(b'{"request_id":"r","success":true}')
@example(b'{"request_id":"r","command":"\\ud800"}')
@example(b'{"request_id":"r","command":"c","params":{"n":1e999}}')
@example(b'{"request_id":"r","command":"c","params":{"n":' + b"9" * 5000 + b"}}")
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    sentences = []
    try:
        request_ = read_request(data, "r")
    except BadRequest as error:
        sentences.append(str(error))
    else:
        assert read_request(write_request(request_), "r").command == request_.command
    try:
        assert read_response(data, "r").id == "r"
    except BadResponse as error:
        sentences.append(str(error))
    assert all(sentence and not sentence.endswith(".") for sentence in sentences)
