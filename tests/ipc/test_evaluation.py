"""What is compared, when once is enough, and what stands in the file."""

from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codec.ipc import Request, Success, Wishes, metrics, scores
from codec.ipc.evaluation import (
    LONGEST,
    METRICS,
    Evaluation,
    answer_text,
    comparison,
    evaluation,
    is_done,
    iso_8601,
    read_evaluation,
    write_evaluation,
)

TEXT = st.text(st.characters(codec="utf-8"))
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)


def asked(reference: str | None, **params: Any) -> Request:
    return Request(id="a", command="submitPrompt", params=params, wishes=Wishes(reference=reference))


def made(request: Request, data: Any) -> Evaluation:
    wanted = comparison(request, Success(data))
    assert wanted is not None
    return evaluation(wanted, scores(wanted.answer, wanted.expected), duration=1.5, when=iso_8601(0.0))


@pytest.mark.parametrize(
    ("data", "text", "where"),
    [
        ("said", "said", "data"),
        ({"content": "said", "text": "no"}, "said", "content"),
        ({"content": None, "text": "said"}, "said", "text"),
        ({"response": "said", "other": 1}, "said", "response"),
        ({"b": 1, "a": [2]}, '{"a":[2],"b":1}', "data"),
        ({}, "{}", "data"),
        (None, "null", "data"),
        (["said"], '["said"]', "data"),
    ],
)
def test_the_text_of_an_answer_is_found_by_one_rule(data: Any, text: str, where: str) -> None:
    assert answer_text(data) == (text, where)


@given(JSON)
def test_every_answer_has_a_text(data: Any) -> None:
    text, where = answer_text(data)
    assert where == "data" or text == data[where]


def test_a_request_without_a_reference_is_not_evaluated() -> None:
    assert comparison(asked(None), Success("x")) is None
    assert comparison(asked(None, expected_response=7), Success("x")) is None
    assert comparison(asked(None, expected_response=""), Success("x")) is not None


@given(JSON, TEXT)
@example({"b": 1, "a": 2}, "the cat")
def test_an_evaluation_is_read_as_it_was_written_and_is_done_for_that_answer_only(data: Any, reference: str) -> None:
    done = made(asked(reference), data)
    read = read_evaluation(write_evaluation(done))
    assert read == done
    again = comparison(asked(reference), Success(msgspec.json.decode(msgspec.json.encode(data))))
    assert again is not None
    assert is_done(read, again)
    for request, other in [(asked(reference + "."), data), (asked(reference), [data])]:
        wanted = comparison(request, Success(other))
        assert wanted is not None
        assert not is_done(read, wanted)


def test_the_file_says_what_the_contract_asks_for() -> None:
    fields = msgspec.json.decode(write_evaluation(made(asked("the cat sat"), {"content": "the cat"})))
    assert fields["request_id"] == "a"
    assert set(fields["metrics"]) == set(METRICS)
    assert (fields["length"], fields["words"], fields["reference_words"], fields["duration"]) == (7, 2, 3, 1.5)
    assert fields["when"] == "1970-01-01T00:00:00.000Z"
    assert "note" not in fields


@pytest.mark.parametrize(
    "data",
    [None, b"", b"{", b"[]", b"{}", b'{"request_id":"a"}', b"[" * 100_000, b"\xff",
     b'{"request_id":"a","run_id":"other","bleu":1}'],
)  # fmt: skip
def test_what_is_no_evaluation_of_ours_is_made_anew(data: bytes | None) -> None:
    assert read_evaluation(data) is None


def test_long_texts_are_cut_and_it_is_said() -> None:
    long = "word " * LONGEST
    done = made(asked(long), {"content": long})
    assert done.length == len(long)
    assert done.words == LONGEST // 5
    assert f"{LONGEST:,}" in done.note
    assert "answer" in done.note
    assert "reference" in done.note
    assert f"{metrics.MOST_WORDS:,} words" in done.note
    assert made(asked("a"), "a").note == ""
