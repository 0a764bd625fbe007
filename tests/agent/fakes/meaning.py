"""An embedding model on paper: a text's vector counts its words, each at a place of its own, and words that mean the
same stand at the same place. So it is known which texts are alike."""

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from tests.agent.fakes.script import Asked, Raw, Script

NUMBERS = 256
SAME = {"automobile": "car", "vehicle": "car", "feline": "cat"}
MODEL = "words"


def meaning(text: str, numbers: int = NUMBERS) -> list[float]:
    counts = [0.0] * numbers
    for word in re.findall(r"[a-z]+", text.lower()):
        counts[sha256(SAME.get(word, word).encode()).digest()[0] % numbers] += 1.0
    return counts


def embedded(asked: Asked) -> Script:
    """As the family of the path says it."""
    texts = asked.body["input"]
    return [Raw(json.dumps(answer(asked.path, [meaning(text) for text in texts])).encode())]


def answer(path: str, vectors: Sequence[Sequence[float]]) -> dict[str, Any]:
    if path == "/api/embed":
        return {"model": MODEL, "embeddings": vectors, "total_duration": 1}
    data = [{"object": "embedding", "index": at, "embedding": each} for at, each in enumerate(vectors)]
    return {"object": "list", "data": data[::-1], "model": MODEL}
