"""An evaluation, as it stands in `eval/ID.json`: how close a successful answer comes to the reference of its request.

    {"request_id", "metrics": {"bleu", "rouge_1", "rouge_2", "rouge_l", "jaccard"}, "compared", "length", "words",
     "reference_words", "duration", "response", "reference", "when", "note"?}

Rules
  - What is compared is the text of the response's `data`: `data` itself if it is a text, else its `content`, `text` or
    `response`, the first of them that is a text; else `data` as a whole, as JSON with sorted names.
  - An answer is evaluated once. `response` and `reference` are digests of what was compared: an answer or a reference
    that has changed is seen, and one that has merely been written again counts as the same.
  - Long texts are cut before they are compared, and `note` says so. Nothing that stands in a folder may take long.
"""

import hashlib
import math
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from codec.ipc.metrics import MOST_WORDS, Scores
from codec.ipc.request import Request
from codec.ipc.response import Success

LONGEST = 100_000
"""Characters of each text that are compared. Prose takes 0.8 s then, and the oddest text 3 s, on one processor."""
WHOLE = "data"
_TEXTS = ("content", "text", "response")
METRICS = ("bleu", "rouge_1", "rouge_2", "rouge_l", "jaccard")
_sorted = msgspec.json.Encoder(order="sorted")


class Metrics(Struct, frozen=True, kw_only=True):
    """Each from 0 to 1."""

    bleu: float
    rouge_1: float
    rouge_2: float
    rouge_l: float
    jaccard: float


class Evaluation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    request_id: str
    metrics: Metrics
    compared: str
    """Which text of the response: `data`, or the name of the field in it."""
    length: int
    """Characters of that text, all of it."""
    words: int
    """Of what was compared of it."""
    reference_words: int
    duration: float | None
    """Seconds from the request to its answer; null where nobody has measured it."""
    response: str
    reference: str
    when: str
    """In the form of ISO 8601."""
    note: str = ""


class Comparison(Struct, frozen=True, kw_only=True):
    """What is to be compared, before anybody has done it."""

    request_id: str
    answer: str
    """Cut."""
    expected: str
    """Cut."""
    compared: str
    length: int
    response: str
    reference: str
    cut: tuple[str, ...] = ()
    """Which of the two was cut."""


def answer_text(data: Any) -> tuple[str, str]:
    """The text of a response's data, and where it stands in it."""
    if isinstance(data, str):
        return data, WHOLE
    if isinstance(data, dict):
        for name in _TEXTS:
            if isinstance(data.get(name), str):
                return data[name], name
    return _sorted.encode(data).decode(), WHOLE


def comparison(request: Request, outcome: Success) -> Comparison | None:
    """None: the request has no reference."""
    expected = request.reference
    if expected is None:
        return None
    answer, compared = answer_text(outcome.data)
    cut = tuple(name for name, text in (("answer", answer), ("reference", expected)) if len(text) > LONGEST)
    return Comparison(
        request_id=request.id,
        answer=answer[:LONGEST],
        expected=expected[:LONGEST],
        compared=compared,
        length=len(answer),
        response=_digest(_sorted.encode(outcome.data)),
        reference=_digest(expected.encode("utf-8", "surrogatepass")),
        cut=cut,
    )


def evaluation(wanted: Comparison, scores: Scores, *, duration: float | None, when: str) -> Evaluation:
    return Evaluation(
        request_id=wanted.request_id,
        metrics=Metrics(**{name: getattr(scores, name) for name in METRICS}),
        compared=wanted.compared,
        length=wanted.length,
        words=scores.words,
        reference_words=scores.reference_words,
        duration=duration,
        response=wanted.response,
        reference=wanted.reference,
        when=when,
        note=_note(wanted.cut, scores.cut),
    )


def is_done(there: Evaluation | None, wanted: Comparison) -> bool:
    """Whether this evaluation is that of the same answer, compared with the same reference."""
    return there is not None and (there.response, there.reference) == (wanted.response, wanted.reference)


def read_evaluation(data: bytes | None) -> Evaluation | None:
    """None: it is no evaluation of ours, and is made anew."""
    if data is None:
        return None
    try:
        found = msgspec.json.decode(data, type=Evaluation)
    except (ValueError, RecursionError):  # DecodeError and ValidationError are ValueErrors
        return None
    return found if all(math.isfinite(getattr(found.metrics, name)) for name in METRICS) else None


def write_evaluation(done: Evaluation) -> bytes:
    return msgspec.json.encode(done)


def iso_8601(seconds: float) -> str:
    """`seconds`: since 1970."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _note(cut: tuple[str, ...], few_words: bool) -> str:
    said = [f"of the {name}, only the first {LONGEST:,} characters were compared" for name in cut]
    if few_words:
        said.append(f"ROUGE-L is that of the first {MOST_WORDS:,} words of each text")
    return "; ".join(said)
