"""Bytes in pieces: every way to cut them, as a strategy and as the places where it hurts."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from hypothesis import strategies as st

from codec.agent.answering import AnswerReader
from codec.agent.models import Delta, Finished, ModelTrouble


def pieces(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


CUTS = st.lists(st.integers(0, 1_000_000), max_size=40)


def hostile(data: bytes) -> Iterator[list[bytes]]:
    """As a whole, byte by byte, two by two, and cut at each single place."""
    yield [data]
    for size in (1, 2, 3):
        yield [data[start : start + size] for start in range(0, len(data), size)]
    for place in range(1, len(data)):
        yield [data[:place], data[place:]]


def read(reader: AnswerReader, parts: Iterable[bytes]) -> list[Delta]:
    return [delta for part in parts for delta in reader.feed(part)] + [*reader.end()]


def outcome(reader: AnswerReader, parts: Iterable[bytes]) -> tuple[list[Delta], str]:
    """What came, and the trouble in which it ended, if any. Whatever else is raised goes through."""
    found: list[Delta] = []
    try:
        for part in parts:
            for delta in reader.feed(part):
                found.append(delta)  # noqa: PERF402 - what came before the trouble counts
        for delta in reader.end():
            found.append(delta)  # noqa: PERF402
    except ModelTrouble as trouble:
        return found, str(trouble) or "a trouble without a sentence"
    assert reader.over == any(isinstance(delta, Finished) for delta in found)
    return found, ""
