import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.models import ModelTrouble
from codec.agent.refusals import ServerRefusal, is_about_content, refusal


def refused(status: int, body: Any = b"", **more: Any) -> ModelTrouble:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    known: dict[str, Any] = {"who": "Ollama at http://h", "provider": "ollama", "model": "qwen3:8b", **more}
    return refusal(ServerRefusal(status=status, body=data, **known))


NO_MODEL = {"error": 'model "qwen3:8b" not found, try pulling it first'}
CASES: list[tuple[int, Any, dict[str, Any], str, bool]] = [
    (404, NO_MODEL, {}, "has no model 'qwen3:8b'. Get it with `ollama pull qwen3:8b`, or choose another one.", False),
    (404, NO_MODEL, {"model": "a `rm`"}, "has no model 'a `rm`'. Choose another one.", False),
    (404, {"error": {"message": "The model `x` does not exist"}}, {"provider": "openai", "model": "x"},
     "has no model 'x'. Choose another one.", False),
    (404, b"404 page not found", {}, 'what we ask it. Is the address right? It says: "404 page not found"', False),
    (404, b"<!DOCTYPE html><p>nginx", {}, "does not know what we ask it. Is the address right?", False),
    (405, {"detail": "Method Not Allowed"}, {}, "Method Not Allowed", False),
    (401, {"error": {"message": "bad key"}}, {"key_variable": "MY_KEY", "has_key": True},
     'in MY_KEY. Put a valid key there, and start Troupe again. It says: "bad key"', False),
    (401, b"", {"key_variable": "MY_KEY"}, "wants a key. Put it into the environment as MY_KEY", False),
    (403, b"", {}, "wants a key. Name an environment variable", False),
    (429, {"error": {"message": "slow down"}}, {"retry_after": "20"},
     'too much to do. Try again in 20 seconds. It says: "slow down"', True),
    (429, b"", {"retry_after": "Wed, 21 Oct"}, "has too much to do. Try again in a while.", True),
    (400, {"error": "bad"}, {}, 'refuses the request (status 400). It says: "bad"', False),
    (422, {"detail": [{"msg": "x"}]}, {}, "refuses the request (status 422)", False),
    (500, {"error": "model requires more system memory"}, {},
     'failed (status 500). It says: "model requires more', True),
    (503, {"error": {"message": "Loading model"}}, {}, 'failed (status 503). It says: "Loading model"', True),
    (307, b"", {"location": "https://other/"}, "sends us on to https://other/. We do not follow", False),
    (304, b"", {}, "sends us on. We do not follow", False),
    (500, {"error": 'see "x"\u202e\u001b[1m'}, {}, """It says: "see 'x' [1m\"""", True),
    (204, b"", {}, "odd status 204", True),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "more", "says", "recoverable"), CASES)
def test_a_status_becomes_a_sentence_that_says_what_to_do(
    status: int, body: Any, more: dict[str, Any], says: str, recoverable: bool
) -> None:
    trouble = refused(status, body, **more)
    assert says in str(trouble)
    assert str(trouble).startswith("Ollama at http://h ")
    assert trouble.recoverable is recoverable


@given(st.integers(0, 999), st.binary(max_size=60), st.text(max_size=10), st.text(max_size=10), st.text(max_size=10))
def test_every_refusal_is_one_short_line(status: int, body: bytes, model: str, after: str, location: str) -> None:
    trouble = refused(status, body, model=model, retry_after=after, location=location)
    assert str(trouble).isprintable()
    assert len(str(trouble)) < 1000


@pytest.mark.parametrize(("status", "says", "may_be"), [
    (400, "the input length exceeds the context length", True),
    (413, "", True),
    (422, "", True),
    (500, "input is too large to process. increase the physical batch size", True),
    (500, "the input length exceeds the context length", True),
    (500, "the request exceeds the available context size", True),
    (500, "failed to encode response: json: unsupported value: NaN", True),
    (500, "boom", False),
    (500, "model requires more system memory (5.5 GiB) than is available", False),
    (503, "Loading model", False),
    *((status, "too long", False) for status in (301, 401, 403, 404, 408, 409, 429)),
])  # fmt: skip
def test_what_a_server_refuses_because_of_the_texts_is_told_from_its_other_refusals(
    status: int, says: str, may_be: bool
) -> None:
    body = json.dumps({"error": says}).encode()
    case = ServerRefusal(who="Ollama", provider="ollama", status=status, body=body, model="words")
    assert is_about_content(case) is may_be
    assert is_about_content(case, doubted=True) is (may_be or status >= 500)
