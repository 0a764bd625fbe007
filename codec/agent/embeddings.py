"""Embeddings: the question to a server of models for the meaning of texts, and what counts of its answer.

    family   path            asked             answered
    ollama   /api/embed      {model, input}    {embeddings: [[...], ...]}
    others   /v1/embeddings  {model, input}    {data: [{index, embedding: [...]}, ...]}

Rules
  - A text has one vector, or the answer is none: a number too few, one that is not finite, vectors of several lengths,
    all are a ModelTrouble.
  - A vector is kept as float32, little endian, of length 1: then the likeness of two is the sum of their products.
"""

import sys
from array import array
from collections.abc import Sequence
from math import hypot, isfinite
from typing import Any

from msgspec import Struct

from codec.agent.answering import MISTAKES, read_json
from codec.agent.models import ModelTrouble, Provider

OLLAMA_EMBED, EMBEDDINGS = "/api/embed", "/embeddings"
MOST_TEXTS = 32
"""In one request."""
LONGEST_TEXT = 2_000
"""Characters; what comes after them does not count."""
MOST_NUMBERS = 8_192
"""Of one vector."""
SHORTENED = 500
"""Characters of a text that was refused: a model that reads only 512 tokens takes them in any writing."""
BLANK = "-"
"""Stands for a text without a letter, which some servers refuse."""


class _Ollama(Struct, frozen=True):
    embeddings: list[list[float]]


class _Numbered(Struct, frozen=True):
    embedding: list[float]
    index: int | None = None


class _OpenAI(Struct, frozen=True):
    data: list[_Numbered]


def as_asked(text: str) -> str:
    """What of a text is embedded."""
    cut = text[:LONGEST_TEXT]
    return cut if cut.strip() else BLANK


def shortened(text: str) -> str | None:
    """None: it is short enough already."""
    asked = as_asked(text)
    return as_asked(asked[:SHORTENED]) if len(asked) > SHORTENED else None


def embed_body(model: str, texts: Sequence[str]) -> dict[str, Any]:
    return {"model": model, "input": [as_asked(text) for text in texts]}


def vectors_of(body: bytes, provider: Provider, count: int, who: str) -> list[bytes]:
    """One for each text, in their order. Raises ModelTrouble."""
    try:
        found = read_json(body, _Ollama).embeddings if provider == "ollama" else _in_order(read_json(body, _OpenAI))
    except MISTAKES:
        raise ModelTrouble(
            f"{who} answers with something that is no list of embeddings. Is the embedding model one?",
            recoverable=False,
        ) from None
    if len(found) != count:
        raise ModelTrouble(f"{who} was asked for {count} embeddings and sent {len(found)}.", recoverable=False)
    lengths = {len(numbers) for numbers in found}
    if len(lengths) > 1 or not all(0 < length <= MOST_NUMBERS for length in lengths):
        raise ModelTrouble(
            f"{who} sent embeddings of {' and '.join(map(str, sorted(lengths)[:4]))} numbers; all must have the same "
            f"number of them, at most {MOST_NUMBERS:,}.",
            recoverable=False,
        )
    return [_packed(numbers, who) for numbers in found]


def _in_order(answer: _OpenAI) -> list[list[float]]:
    """By their index, if all have one."""
    places = [each.index for each in answer.data]
    if any(place is None for place in places):
        return [each.embedding for each in answer.data]
    if sorted(place for place in places if place is not None) != list(range(len(places))):
        raise ValueError("the indexes are not those of the texts")
    return [each.embedding for each in sorted(answer.data, key=lambda each: each.index or 0)]


def _packed(numbers: Sequence[float], who: str) -> bytes:
    length = hypot(*numbers)
    if not isfinite(length):
        raise ModelTrouble(f"{who} sent an embedding with a number that is not finite.", recoverable=False)
    packed = array("f", [number / length for number in numbers] if length else numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
