"""How a question to the index is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.index.question import LONGEST, MOST_JOINED, MOST_NAMES, MOST_WORDS, AskedName, question_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("How is a connection closed?", ("connection", "closed")),
        ("getUserName", ("getusername", "get", "user", "name")),
        ("move_on_after", ("move", "on", "after")),
        ("the HTTPServer2", ("httpserver2", "http", "server")),
        ("what is it", ("what", "is", "it")),  # nothing else is there
        ("a a A", ("a",)),
        ("Größe ändern", ("größe", "ändern")),
        ("???!", ()),
        ("", ()),
    ],
)
def test_the_words_of_a_question_are_those_that_carry_something(text: str, words: tuple[str, ...]) -> None:
    found = question_of(text).words
    assert set(found) == {word for word in words if word not in {"on", "after"}} or found == words


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("fix `close` of the pool", [AskedName("close", (), True)]),
        ("where is Connection.close", [AskedName("close", ("Connection",), True)]),
        ("use move_on_after here", [AskedName("move_on_after", (), True)]),
        ("the CancelScope leaks", [AskedName("CancelScope", (), True)]),
        ("call close() twice", [AskedName("close", (), True)]),
        ("std::vector grows", [AskedName("vector", ("std",), True)]),
        ("reading from a URL", []),
        ("Reading lines", []),
    ],
)
def test_a_name_that_is_written_as_code_is_certain(text: str, certain: list[AskedName]) -> None:
    assert [name for name in question_of(text).names if name.certain] == certain


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("an LRU cache", ("lrucache", "lru_cache")),
        ("the keep-alive timer", ("keepalive", "keep_alive", "alivetimer", "alive_timer")),
        ("close the pool", ()),  # "the" is no part of a name
        ("cache, pool", ()),
        ("a b", ()),
        ("lru_cache", ()),  # a name already
        ("cache pool cache pool", ("cachepool", "cache_pool", "poolcache", "pool_cache")),
        ("ordered sets", ("orderedsets", "ordered_sets")),
        ("x" * (LONGEST - 3) + " ab", ("x" * (LONGEST - 3) + "ab", "x" * (LONGEST - 3) + "_ab")),
        ("x" * (LONGEST - 2) + " ab", ()),
    ],
)
def test_two_words_in_a_row_may_be_one_name(text: str, joined: tuple[str, ...]) -> None:
    assert question_of(text).joined == joined


def test_only_the_first_pairs_are_taken_for_names() -> None:
    letters = [f"{one}{two}" for one in "bcdfg" for two in "bcdfg"]
    joined = question_of(" ".join(letters)).joined
    assert len(joined) == MOST_JOINED
    assert joined[0] == letters[0] + letters[1]


@pytest.mark.parametrize(
    ("text", "sole"),
    [
        ("open_file", "open_file"),
        ("`Path.open`", "Path.open"),
        ("close()", "close"),
        ("class Connection(", "Connection"),
        ("async def open_file", "open_file"),
        ("export default function close()", "close"),
        ("class of 1999", ""),
        ("open file", ""),
        ("", ""),
    ],
)
def test_a_question_of_one_name_is_about_that_name(text: str, sole: str) -> None:
    assert question_of(text).sole == sole


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("tests of the parser", {"test"}),
        ("which tests cover the parser?", {"test"}),
        ("where is the parser tested", {"test"}),
        ("unit tests for cancel scopes", {"test"}),
        ("parser tests", {"test"}),
        ("docs of the parser", {"doc"}),
        ("where is the parser documented?", {"doc"}),
        ("documentation about cancel scopes", {"doc"}),
        ("cancel scopes in the docs", {"doc"}),
        ("examples of a server", {"example"}),
        ("show me an example of a server", {"example"}),
        ("tests and docs of the parser", {"test", "doc"}),
        ("the parser fails on tabs", set()),
        ("add tests for the parser", set()),
        ("Fix the docs of the parser", set()),
        ("add helper for the parser, add test", set()),
        ("document that the parser raises", set()),
        ("refactor: move parser to tests", set()),
        ("latest parser", set()),
        ("test", set()),  # a name that somebody looks for
    ],
)
def test_a_question_asks_for_tests_or_docs_by_its_form(text: str, kinds: set[str]) -> None:
    assert question_of(text).kinds == kinds


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("what does src/app/main.py do", ("src/app/main.py",)),
        ("setup.cfg", ("setup.cfg",)),
        ("in docs/source/", ("docs/source",)),
        ("nothing here", ()),
    ],
)
def test_what_looks_like_a_path_is_one(text: str, paths: tuple[str, ...]) -> None:
    assert question_of(text).paths == paths


def test_of_too_much_the_middle_is_left_out() -> None:
    """A stack trace ends with what has happened."""
    many = [f"{letter}{other}_x{number}.py" for number in range(9) for letter in "abcdefgh" for other in "klmnop"]
    question = question_of(" ".join(f"src/{name} call_{name[:5]}()" for name in many))
    assert (question.paths[0], question.paths[-1]) == (f"src/{many[0]}", f"src/{many[-1]}")
    assert (question.names[0].containers, question.names[-1].name) == ((many[0][:5],), f"call_{many[-1][:5]}")
    assert (question.words[0], question.words[-1], len(question.words)) == ("src", "x8", MOST_WORDS)


@given(st.text(max_size=300))
def test_any_text_is_a_question(text: str) -> None:
    question = question_of(text)
    assert len(question.words) <= MOST_WORDS
    assert len(question.names) <= MOST_NAMES
    assert all(word.isalnum() and len(word) <= 3 * LONGEST for word in question.words)
    assert question_of(text) == question


@pytest.mark.parametrize(
    "text", ["x" * 1_000_000, "a " * 500_000, "/" * 100_000, "a/" * 50_000, "`" * 100_000, "😀" * 9_999]
)
def test_a_giant_question_is_read_in_no_time(text: str) -> None:
    assert len(question_of(text).words) <= MOST_WORDS
