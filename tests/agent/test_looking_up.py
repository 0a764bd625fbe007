"""A search finds a word in all its spellings, misses nothing that is there, and puts the best file first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.file_texts import cut_line, parts_of
from codec.agent.files import FileHit
from codec.agent.looking_up import MOST_LINES, MOST_WORDS, FileFind, looked_through, needles, ranked, sought

LETTERS = st.text(st.sampled_from("abAB_-1 \n./"), max_size=30)
WORDS = st.lists(st.text(st.sampled_from("abAB_-1"), max_size=8), max_size=5)


def find(text: str, *words: str, path: str = "a.py") -> FileFind | None:
    return looked_through(path, text, sought(words), lambda: None)


def hits(files: dict[str, str], *words: str, most: int = 50) -> list[FileHit]:
    found = [find(text, *words, path=path) for path, text in files.items()]
    return ranked([each for each in found if each is not None], len(files), most)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getUserName", ["get", "user", "name"]),
        ("get_user_name", ["get", "user", "name"]),
        ("GET-USER-NAME", ["get", "user", "name"]),
        ("HTTPServer2", ["http", "server", "2"]),
        ("parseHTML", ["parse", "html"]),
        ("word", ["word"]),
        ("__init__", ["init"]),
        ("größe_now", ["größe", "now"]),
        ("ÄpfelÖl", ["äpfel", "öl"]),
        ("", []),
        ("_-_", []),
    ],
)
def test_an_identifier_has_parts(word: str, parts: list[str]) -> None:
    assert parts_of(word) == parts


@pytest.mark.parametrize("text", ["getUserName", "get_user_name", "GET_USER_NAME", "get-user-name", "getusername()"])
@pytest.mark.parametrize("word", ["getUserName", "get_user_name", "get-user-name", "GetUserName"])
def test_every_spelling_finds_every_other(word: str, text: str) -> None:
    found = find(text, word)
    assert found is not None
    assert found.count == 1
    assert found.by_word[0] > find_worth("user", word)


def find_worth(text: str, word: str) -> float:
    found = find(text, word)
    return 0.0 if found is None else found.by_word[0]


@given(LETTERS, WORDS)
def test_what_is_found_holds_one_of_the_needles_and_what_holds_one_is_found(text: str, words: list[str]) -> None:
    every = sought(words)
    whole = {needle for each in every for needle in (*each.spellings, *each.parts)}
    there = any(needle in text.lower() or needle in "some/path.py" for needle in whole)
    found = looked_through("some/path.py", text, every, lambda: None)
    assert (found is not None) is there
    assert any(needle in text.lower() or needle in "some/path.py" for needle in needles(every)) is there
    if found is not None:
        lines = text.split("\n")
        assert found.count == sum(any(needle in line.lower() for needle in whole) for line in lines)
        assert [line.text for line in found.lines] == [cut_line(lines[line.number - 1]) for line in found.lines]
        assert [line.number for line in found.lines] == sorted({line.number for line in found.lines})
        assert len(found.lines) == min(5, found.count)


@pytest.mark.parametrize("more", [0, 1, 5])
def test_of_very_many_lines_with_a_word_the_first_are_weighed_and_the_others_only_counted(more: int) -> None:
    text = "word\n" * (MOST_LINES - 1) + "def word():\n" + "def word():\n" * more
    found, short = find(text, "word"), find("word\n" * (MOST_LINES - 1) + "def word():\n", "word")
    assert found is not None
    assert short is not None
    assert found.count == MOST_LINES + more
    assert (found.lines, found.by_word) == (short.lines, short.by_word)
    assert found.lines[-1].number == MOST_LINES


def test_a_definition_comes_before_uses_and_an_exact_word_before_its_parts() -> None:
    files = {
        "uses.py": "x = make_room()\ny = make_room()\n",
        "defines.py": "def make_room():\n    ...\n",
        "parts.py": "room to make\n" * 9,
        "none.py": "nothing\n",
    }
    assert [hit.path for hit in hits(files, "make_room")] == ["defines.py", "uses.py", "parts.py"]
    assert [hit.path for hit in hits(files, "make_room", most=1)] == ["defines.py"]


def test_of_many_lines_the_best_are_shown_in_their_order() -> None:
    text = "room\n" * 10 + "make room\n" + "room\n" * 10 + "def make(room):\n"
    found = find(text, "make", "room")
    assert found is not None
    assert {11, 22} <= {line.number for line in found.lines}
    assert found.count == 22


def test_a_word_that_is_everywhere_counts_less_than_a_rare_one() -> None:
    files = {f"{number}.py": "common\n" * 20 for number in range(20)} | {"rare.py": "rare\n"}
    assert hits(files, "common", "rare")[0].path == "rare.py"


def test_nothing_sought_finds_nothing_and_too_many_words_are_not_all_sought() -> None:
    assert sought(["", "  "]) == ()
    assert find("text", "") is None
    assert len(sought([f"word{number}" for number in range(100)])) == MOST_WORDS
    assert len(sought(["Word", "word", "WORD"])) == 1
