"""What an HTTP status of a model's server means for the user, in a sentence that says what to do.

`recoverable` is whether the same request may succeed later: a busy or failing server may, a wrong key or a missing
model does not.
"""

import re
from typing import Any

from msgspec import Struct

from codec.agent.answering import MISTAKES, excerpt, read_json, told, words_of
from codec.agent.models import ModelTrouble, Provider
from codec.words import lasting

PLAIN_NAME = re.compile(r"[\w./:@-]{1,200}")
HTML = re.compile(rb"\s*<(!doctype|html)", re.IGNORECASE)
ABOUT_CONTENT, FAILED = (400, 413, 422), 500
_TOO_LONG = re.compile(
    r"too (?:large|long|many tokens)|(?:exceed|longer than|larger than).*(?:context|length|token|batch)|value: NaN",
    re.IGNORECASE | re.DOTALL,
)
"""How servers say it with a status that is for their own failures: llama.cpp of a text that is longer than its batch,
Ollama of one for which its model computes no numbers."""


class ServerRefusal(Struct, frozen=True, kw_only=True):
    """What is known of a request that was refused."""

    who: str
    provider: Provider
    status: int
    body: bytes = b""
    """Its beginning."""
    model: str = ""
    """Empty: no model was asked."""
    key_variable: str = ""
    """The name of the environment variable with the key, if one is configured."""
    has_key: bool = False
    retry_after: str = ""
    location: str = ""


def words(body: bytes) -> str:
    """What the server says itself, if it says anything that a user can read."""
    if HTML.match(body):
        return ""
    try:
        return words_of(read_json(body, dict[str, Any]))
    except MISTAKES:
        return excerpt(body)


def refusal(case: ServerRefusal) -> ModelTrouble:
    who, said, status = case.who, words(case.body), case.status
    why = told(said)
    match status:
        case 401 | 403:
            return ModelTrouble(_about_the_key(case, why), recoverable=False)
        case 404 if case.model and _is_about_a_model(case.body):
            pull = case.provider == "ollama" and PLAIN_NAME.fullmatch(case.model)
            get = f"Get it with `ollama pull {case.model}`, or choose" if pull else "Choose"
            return ModelTrouble(f"{who} has no model {excerpt(case.model)!r}. {get} another one.", recoverable=False)
        case 404 | 405:
            return ModelTrouble(f"{who} does not know what we ask it. Is the address right?{why}", recoverable=False)
        case 408 | 409 | 425 | 429:
            is_told = re.fullmatch(r"\d{1,5}", case.retry_after) is not None
            wait = f"in {lasting(int(case.retry_after))}" if is_told else "in a while"
            return ModelTrouble(f"{who} has too much to do. Try again {wait}.{why}")
        case _ if 300 <= status < 400:
            where = f" to {excerpt(case.location)}" if case.location else ""
            return ModelTrouble(
                f"{who} sends us on{where}. We do not follow; if that is right, set it as the address.",
                recoverable=False,
            )
        case _ if 400 <= status < 500:
            return ModelTrouble(f"{who} refuses the request (status {status}).{why}", recoverable=False)
        case _ if status >= 500:
            return ModelTrouble(f"{who} failed (status {status}).{why}")
    return ModelTrouble(f"{who} answers with the odd status {status}.{why}")


def is_about_content(case: ServerRefusal, *, doubted: bool = False) -> bool:
    """Whether the server may have refused what stands in the request, so that it would take another one. `doubted`: or
    may have failed by it."""
    if case.status >= FAILED:
        return doubted or bool(_TOO_LONG.search(words(case.body)))
    return case.status in ABOUT_CONTENT


def _about_the_key(case: ServerRefusal, why: str) -> str:
    if case.has_key:
        return f"{case.who} refuses the key in {case.key_variable}. Put a valid key there, and start Troupe again.{why}"
    if case.key_variable:
        return (
            f"{case.who} wants a key. Put it into the environment as {case.key_variable}, and start Troupe again.{why}"
        )
    return f"{case.who} wants a key. Name an environment variable that holds it in the settings of this server.{why}"


def _is_about_a_model(body: bytes) -> bool:
    """A server that does not know the address says so in plain text, or as a page."""
    try:
        return "model" in words_of(read_json(body, dict[str, Any])).lower()
    except MISTAKES:
        return False
