"""Text search scores few rows, and finds what FTS5 would find if it scored all of them."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from math import log
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from codec.agent.index.identifiers import humps_of, joined_words
from codec.agent.index.ranking import WEIGHTS
from codec.agent.index.wording import words_apart
from transports.agent.index import text_search
from transports.agent.index.schema import SPAN, make_tables
from transports.agent.index.stems import one_of_each_stem, stems_of
from transports.agent.index.text_search import FEW, TextSearch, most_rows, quoted

RARE_AND_USUAL = [f"word{number}" for number in range(40)]
STEMMED = (
    *("tie", "ties", "tied", "tying", "happy", "happiness", "fly", "flies", "flying", "index", "indexes", "indices"),
    *("relate", "related", "relational", "generation", "generate", "day", "days", "eyed", "ying", "a", "is", "élan"),
    *("elan", "Straße", "naïve", "naive", "x2", "2x", "connection", "connected", "日本語", "ﬁle", "ID", "ids"),
)


def index_of(rows: Sequence[tuple[str, str, str]]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    make_tables(connection)
    for number, row in enumerate(rows):
        at = (number // 3 + 1) * SPAN + number % 3
        connection.execute("INSERT INTO chunk VALUES (?, ?, 1, 9, '')", (at, number // 3 + 1))
        connection.execute("INSERT INTO text (rowid, body, names, path) VALUES (?, ?, ?, ?)", (at, *row))
    return connection


def drawn_rows(random: Random, count: int) -> list[tuple[str, str, str]]:
    """Most have the words of low numbers, a few those of high ones."""

    def some(most: int) -> str:
        return " ".join(RARE_AND_USUAL[int(40 * random.random() ** 3)] for _ in range(random.randint(0, most)))

    return [(some(60), some(10), some(3)) for _ in range(count)]


def all_scored(index: sqlite3.Connection, words: Sequence[str]) -> list[tuple[float, int]]:
    weights = WEIGHTS.body, WEIGHTS.names, WEIGHTS.path
    rows = index.execute(
        "SELECT -bm25(text, ?, ?, ?), rowid FROM text WHERE text MATCH ?",
        (*weights, " OR ".join(map(quoted, words))),
    )
    return sorted(((score, number) for score, number in rows), key=lambda each: (-each[0], each[1]))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.lists(st.sampled_from(RARE_AND_USUAL), min_size=1, max_size=9, unique=True),
    st.integers(1, 60),
    st.integers(1, 30),
)
def test_the_best_chunks_are_those_of_scoring_every_row(seed: int, words: list[str], at_once: int, deep: int) -> None:
    with pytest.MonkeyPatch.context() as patch, closing(index_of(drawn_rows(Random(seed), 150))) as index:
        patch.setattr(text_search, "AT_ONCE", at_once)
        patch.setattr(text_search, "DEEP", deep)
        patch.setattr(text_search, "FEW", 150)
        patch.setattr(text_search, "SMALL", 0)
        expected = all_scored(index, words)
        found = next(TextSearch(index, words, 150, WEIGHTS).tries(), [])
        scores = {number: score for score, number in expected}
        assert [chunk.score for chunk in found] == pytest.approx([scores[chunk.id] for chunk in found])
        assert [chunk.score for chunk in found[:deep]] == pytest.approx([score for score, _ in expected[:deep]])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.sampled_from(RARE_AND_USUAL), min_size=1, max_size=9, unique=True))
def test_a_file_is_covered_by_the_words_that_it_has(seed: int, words: list[str]) -> None:
    with closing(index_of(drawn_rows(Random(seed), 60))) as index:
        search = TextSearch(index, words, 60, WEIGHTS)
        chunks = next(search.tries(), [])
        covered = search.covered({chunk.file for chunk in chunks})
        for file, share in covered.items():
            has = {word for word in words if any(number // SPAN == file for _, number in all_scored(index, [word]))}
            there = {word for word in words if all_scored(index, [word])}
            assert (share == pytest.approx(1.0)) == (has == there)
            assert 0 < share <= 1 + 1e-9


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(STEMMED), min_size=1, max_size=3), min_size=1, max_size=6),
    st.lists(st.sampled_from(STEMMED), min_size=1, max_size=8, unique=True),
    st.integers(0, 63),
)
@example([["happy"], ["days"]], ["happiness", "relate"], 63)
def test_a_word_in_a_path_is_worth_how_few_paths_have_it(parts: list[list[str]], words: list[str], which: int) -> None:
    """`which`: the files that are asked for, bit by bit."""
    paths = {number: "/".join(some) for number, some in enumerate(parts, 1)}
    rows = [("everything", "", joined_words(path)) for path in paths.values() for _ in range(3)]
    with closing(index_of(rows)) as index:
        lower = [word.lower() for word in words]
        search = TextSearch(index, lower, len(rows), WEIGHTS)
        list(search.tries())
        asked = {number for number in paths if which >> (number - 1) & 1}
        worth = search.in_paths({number: paths[number] for number in asked}, len(paths))
        having = [{number // SPAN for _, number in all_scored(index, [word])} for word in one_of_each_stem(lower)]
        if not all_scored(index, lower[-1:]):  # a last word that is nowhere is the beginning of one
            having.pop()
            begun = index.execute("SELECT rowid FROM text WHERE text MATCH ?", (f"{quoted(lower[-1])}*",))
            having.append({number // SPAN for (number,) in begun})
        for number in paths:
            expected = sum(log(1 + len(paths) / len(each)) for each in having if number in each)
            assert worth.get(number, 0.0) == pytest.approx(expected if number in asked else 0.0)


@given(st.integers(1, 10**6), st.integers(0, 1_000))
def test_a_word_is_asked_in_a_share_of_the_chunks_that_falls_as_they_grow(chunks: int, more: int) -> None:
    assert most_rows(chunks) <= most_rows(chunks + more)
    assert most_rows(chunks + more) / (chunks + more) <= most_rows(chunks) / chunks + 1e-9
    if chunks > 2 * FEW:
        assert 0.2 - 1e-9 <= most_rows(chunks) / chunks <= 0.5


def test_rare_words_spare_the_rows_of_usual_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_search, "SMALL", 0)
    rows = [("usual " * 3, "", "")] * 2_000 + [(f"usual rare rare{number}", "", "") for number in range(200)]
    with closing(index_of(rows)) as index:
        search = TextSearch(index, ["usual", "rare", "rare7"], 4_000, WEIGHTS)
        chunks = list(search.tries())[-1]
        assert len(chunks) == 200
        assert [chunk.score for chunk in chunks] == pytest.approx(
            [score for score, _ in all_scored(index, ["usual", "rare", "rare7"])[:200]]
        )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(STEMMED), min_size=1, max_size=12),
    st.lists(st.sampled_from(STEMMED), min_size=1, max_size=8, unique=True),
)
def test_of_a_chunk_s_words_those_in_the_lines_that_are_shown_are_told(
    body: list[str], words: list[str]
) -> None:
    with closing(index_of([("\n".join(body), "", "tie"), ("other", "", "")])) as index:
        search = TextSearch(index, words, 2, WEIGHTS)
        list(search.tries())
        whole = search.words_in({SPAN: slice(None)})[SPAN].stems
        each = [search.words_in({SPAN: slice(at, at + 1)})[SPAN].stems for at in range(len(body))]
        assert set().union(*each) == whole
        for line, found in zip(body, each, strict=True):
            assert found <= set(stems_of([*words_apart(line), *words_apart(humps_of(line))]).values())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(STEMMED), min_size=1, max_size=12),
    st.lists(st.sampled_from(STEMMED), min_size=1, max_size=8, unique=True),
)
def test_a_chunk_has_the_words_that_fts5_finds_in_it(body: list[str], words: list[str]) -> None:
    with closing(index_of([(" ".join(body), "", "connection"), ("other Index_of", "", "")])) as index:
        lower = [word.lower() for word in words]
        search = TextSearch(index, lower, 2, WEIGHTS)
        list(search.tries())
        there = [word for word in one_of_each_stem(lower) if all_scored(index, [word])]
        stems = stems_of(there)
        for number in (SPAN, SPAN + 1):
            expected = {
                stems[word]
                for word in there
                if index.execute(
                    "SELECT 1 FROM text WHERE text MATCH ? AND rowid = ?", (f"{{body names}} : {quoted(word)}", number)
                ).fetchone()
            }
            assert search.words_in({number: slice(None)})[number].stems == expected
