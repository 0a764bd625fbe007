"""Laws of the ranking: what a file gains, it never loses by."""

import itertools
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from codec.agent.index.explaining import PlaceWords, reasons_of
from codec.agent.index.facts import FileKind
from codec.agent.index.question import question_of
from codec.agent.index.ranking import FoundChunk, FoundFile, FoundSymbol, IndexFound, ranked

QUESTION = question_of("how does `close` free the connection")
FILES: dict[int, FoundFile] = {number: FoundFile(number, f"src/f{number}.py", "code", "d") for number in range(5)}
SCORES = st.floats(0.1, 30)


@st.composite
def founds(draw: st.DrawFn) -> IndexFound:
    chunks = [
        FoundChunk(at, draw(st.integers(0, 4)), 10 * at + 1, 10 * at + 9, "", draw(SCORES))
        for at in range(draw(st.integers(1, 12)))
    ]
    symbols = [
        FoundSymbol(draw(st.integers(0, 4)), "close", "function", 10 * at + 2, 10 * at + 5, "", 1.0, True, 3)
        for at in range(draw(st.integers(0, 3)))
    ]
    covered = {number: draw(st.floats(0, 1)) for number in FILES}
    in_paths = {number: draw(st.floats(0, 9)) for number in FILES if draw(st.booleans())}
    return IndexFound(chunks=chunks, symbols=symbols, files=FILES, total=100, covered=covered, in_paths=in_paths)


def place_of(found: IndexFound, number: int) -> int:
    order = list(dict.fromkeys(place.file.id for place in ranked(QUESTION, found, 100, 1)))
    return order.index(number) if number in order else 99


@given(founds(), st.integers(0, 4), SCORES)
def test_a_file_that_has_one_more_chunk_does_not_fall(found: IndexFound, number: int, score: float) -> None:
    more = replace(found, chunks=[*found.chunks, FoundChunk(99, number, 991, 999, "", score)])
    assert place_of(more, number) <= place_of(found, number)


@given(founds(), st.data())
def test_a_chunk_with_one_more_rare_word_does_not_let_its_file_fall(found: IndexFound, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(found.chunks) - 1))
    chunk = found.chunks[at]
    better = FoundChunk(chunk.id, chunk.file, chunk.first, chunk.last, "", chunk.score + data.draw(SCORES))
    covered = {**found.covered, chunk.file: min(1.0, found.covered[chunk.file] + 0.2)}
    more = replace(found, chunks=[*found.chunks[:at], better, *found.chunks[at + 1 :]], covered=covered)
    assert place_of(more, chunk.file) <= place_of(found, chunk.file)


@given(founds(), st.integers(0, 4))
def test_a_file_that_defines_the_name_does_not_fall(found: IndexFound, number: int) -> None:
    definition = FoundSymbol(number, "close", "function", 995, 998, "", 1.0, True, 3)
    more = replace(found, symbols=[*found.symbols, definition])
    assert place_of(more, number) <= place_of(found, number)


@given(founds(), st.integers(0, 4), SCORES)
def test_a_file_whose_path_has_one_more_word_does_not_fall(found: IndexFound, number: int, rare: float) -> None:
    more = replace(found, in_paths={**found.in_paths, number: found.in_paths.get(number, 0.0) + rare})
    assert place_of(more, number) <= place_of(found, number)


@pytest.mark.parametrize("rarer", [1, 3])
def test_among_equals_the_file_comes_first_whose_path_has_the_rarer_word(rarer: int) -> None:
    chunks = [FoundChunk(number, number, 1, 9, "", 7.0) for number in FILES]
    in_paths = {number: 5.0 if number == rarer else 2.0 for number in FILES}
    found = IndexFound(chunks=chunks, files=FILES, total=50, in_paths=in_paths)
    assert ranked(QUESTION, found, 10, 1)[0].file.id == rarer


@given(founds(), st.integers(1, 10), st.integers(1, 4))
def test_hits_are_as_many_as_were_asked_for_and_do_not_overlap(found: IndexFound, most: int, per_file: int) -> None:
    places = ranked(QUESTION, found, most, per_file)
    assert len(places) <= most
    assert [place.score for place in places] == sorted((place.score for place in places), reverse=True)
    for number in FILES:
        own = sorted((place.first, place.last) for place in places if place.file.id == number)
        assert len(own) <= per_file
        assert all(one[1] < other[0] for one, other in itertools.pairwise(own))


@given(founds(), st.randoms(use_true_random=False))
def test_the_order_in_which_things_are_found_does_not_matter(found: IndexFound, random) -> None:  # type: ignore[no-untyped-def]
    chunks, symbols = list(found.chunks), list(found.symbols)
    random.shuffle(chunks)
    random.shuffle(symbols)
    other = replace(found, chunks=chunks, symbols=symbols)
    assert [(place.file.id, place.first) for place in ranked(QUESTION, other, 50, 1)] == [
        (place.file.id, place.first) for place in ranked(QUESTION, found, 50, 1)
    ]


@dataclass
class Case:
    text: str
    first: FileKind


@pytest.mark.parametrize(
    "case",
    [
        Case("how a connection is closed", "code"),
        Case("tests of closing a connection", "test"),
        Case("where is closing a connection documented", "doc"),
        Case("an example of closing a connection", "example"),
        Case("add tests for closing a connection", "code"),
    ],
    ids=lambda case: case.text,
)
def test_of_the_same_words_the_kind_that_was_asked_for_is_first(case: Case) -> None:
    kinds: tuple[FileKind, ...] = ("code", "test", "doc", "example")
    files = {number: FoundFile(number, f"f{number}", kind, "d") for number, kind in enumerate(kinds)}
    found = IndexFound(chunks=[FoundChunk(number, number, 1, 9, "", 7.0) for number in files], files=files, total=50)
    places = ranked(question_of(case.text), found, 10, 1)
    assert places[0].file.kind == case.first
    assert len(places) == len(kinds)  # and the others are found all the same


@pytest.mark.parametrize("favoured", ["active", "opened", "near"])
def test_what_the_editor_shows_comes_first_among_equals(favoured: str) -> None:
    chunks = [FoundChunk(number, number, 1, 9, "", 7.0) for number in FILES]
    of_editor = {"active": 3} if favoured == "active" else {favoured: frozenset({3})}
    found = replace(IndexFound(chunks=chunks, files=FILES, total=50), **of_editor)
    assert ranked(QUESTION, found, 10, 1)[0].file.id == 3


def test_a_reason_says_what_was_found() -> None:
    file = FoundFile(1, "src/pool.py", "code", "d", 0.0, 12)
    found = IndexFound(
        chunks=[FoundChunk(1, 1, 1, 30, "Connection", 7.0)],
        symbols=[FoundSymbol(1, "close", "method", 5, 9, "Connection", 1.0, True, 1)],
        files={1: file},
        total=50,
    )
    (place,) = ranked(QUESTION, found, 10, 3)
    assert (place.first, place.last) == (5, 9)
    reasons = reasons_of(place, QUESTION, found, PlaceWords(had=["close", "connection"], in_path=["pool"]))
    assert [reason.said for reason in reasons] == [
        "defines Connection.close",
        "has 2 of 3 words: close, connection",
        "its path has: pool",
        "is imported by 12 files",
    ]


@pytest.mark.parametrize(
    ("of_editor", "said"),
    [
        ({}, None),
        ({"active": 1, "opened": {1}, "near": {1}}, "the editor shows it"),
        ({"active": 2, "opened": {1}, "near": {1}}, "is open in the editor"),
        ({"active": 2, "opened": {2}, "near": {1}}, "is near to what the editor shows"),
        ({"active": 2, "opened": {2}, "near": {2}}, None),
    ],
)
def test_what_the_editor_has_to_do_with_a_place_is_said_once(of_editor: dict[str, Any], said: str | None) -> None:
    without = IndexFound(chunks=[FoundChunk(1, 1, 1, 30, "", 7.0)], files=FILES, total=50)
    found = replace(without, **of_editor)
    (place,) = ranked(QUESTION, found, 10, 3)
    before, after = ([each.said for each in reasons_of(place, QUESTION, one, PlaceWords())] for one in (without, found))
    assert after == before + ([said] if said else [])
