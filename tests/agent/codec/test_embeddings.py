"""What of a server's answer is a vector, and what is a sentence."""

import json
import math
from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.embeddings import LONGEST_TEXT, MOST_NUMBERS, SHORTENED, embed_body, shortened, vectors_of
from codec.agent.models import ModelTrouble, Provider

WHO = "Ollama at http://127.0.0.1:11434"


def body(provider: Provider, vectors: Any) -> bytes:
    if provider == "ollama":
        return json.dumps({"embeddings": vectors}).encode()
    return json.dumps({"data": [{"index": at, "embedding": each} for at, each in enumerate(vectors)]}).encode()


@given(
    st.sampled_from(["ollama", "openai", "vllm", "llamacpp"]),
    st.lists(st.lists(st.floats(-1e100, 1e100), min_size=3, max_size=3), min_size=1, max_size=5),
)
def test_each_text_has_a_vector_of_length_one_in_its_direction(provider: Provider, vectors: list[list[float]]) -> None:
    found = vectors_of(body(provider, vectors), provider, len(vectors), WHO)
    for given_, packed in zip(vectors, found, strict=True):
        numbers = array("f", packed)
        length = math.hypot(*given_)
        assert len(packed) == 12
        if length > 1e-300:
            assert math.isclose(math.hypot(*numbers), 1.0, rel_tol=1e-5)
            assert all(abs(one - other / length) < 1e-6 for one, other in zip(numbers, given_, strict=True))


def test_vectors_stand_by_their_index_whatever_their_order() -> None:
    data = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [2, 0]}]
    found = vectors_of(json.dumps({"data": data}).encode(), "openai", 2, WHO)
    assert [list(array("f", each)) for each in found] == [[1, 0], [0, 1]]


WRONG: list[tuple[Provider, bytes, str]] = [
    ("ollama", b"", "no list of embeddings"),
    ("ollama", b"<html>", "no list of embeddings"),
    ("ollama", b'{"embedding": [1]}', "no list of embeddings"),
    ("ollama", b'{"embeddings": [[1, NaN], [1, 2]]}', "no list of embeddings"),
    ("ollama", b'{"embeddings": [[1, null], [1, 2]]}', "no list of embeddings"),
    ("ollama", b'{"embeddings": [["1"], ["2"]]}', "no list of embeddings"),
    ("ollama", b'{"embeddings": [[1, 2]]}', "was asked for 2 embeddings and sent 1"),
    ("ollama", b'{"embeddings": [[1], [2], [3]]}', "was asked for 2 embeddings and sent 3"),
    ("ollama", b'{"embeddings": [[1, 2], [1]]}', "embeddings of 1 and 2 numbers"),
    ("ollama", b'{"embeddings": [[], []]}', "embeddings of 0 numbers"),
    ("ollama", body("ollama", [[1.0] * (MOST_NUMBERS + 1)] * 2), "at most 8,192"),
    ("ollama", b'{"embeddings": [[1.7e308, 1.7e308], [1, 2]]}', "not finite"),
    ("openai", b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}', "no list of embeddings"),
    ("openai", b'{"data": [{"index": 1, "embedding": [1]}, {"index": 2, "embedding": [1]}]}', "no list of embeddings"),
    ("openai", b'{"data": [{"embedding": [1]}]}', "was asked for 2 embeddings and sent 1"),
    ("openai", b'{"data": [{"embedding": "AACAPw=="}, {"embedding": "AACAPw=="}]}', "no list of embeddings"),
]


@pytest.mark.parametrize(("provider", "answer", "said"), WRONG)
def test_what_is_no_answer_is_a_sentence(provider: Provider, answer: bytes, said: str) -> None:
    with pytest.raises(ModelTrouble, match=said) as raised:
        vectors_of(answer, provider, 2, WHO)
    assert str(raised.value).startswith(WHO)


@given(st.binary(max_size=200), st.sampled_from(["ollama", "openai"]))
def test_no_bytes_do_anything_else(answer: bytes, provider: Provider) -> None:
    with pytest.raises(ModelTrouble):
        vectors_of(answer, provider, 1, WHO)


def test_a_text_is_cut_and_never_blank() -> None:
    asked = embed_body("m", ["x" * 5_000, "", " \n\t", "ä"])
    assert asked == {"model": "m", "input": ["x" * LONGEST_TEXT, "-", "-", "ä"]}


def test_a_text_is_shortened_once() -> None:
    long = "x" * (SHORTENED + 1)
    assert shortened(long) == "x" * SHORTENED
    assert shortened(long[:-1]) is None
    assert shortened(" " * SHORTENED + "x") == "-", "blanks only are refused by some servers"
