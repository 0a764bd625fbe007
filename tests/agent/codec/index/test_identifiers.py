"""Words in identifiers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.index import identifiers
from codec.agent.index.identifiers import LONGEST, humps_of, words_of

CASES = {
    "getUserName": "get user name",
    "GetUserName": "get user name",
    "get_user_name": "get user name",
    "get-user-name": "get user name",
    "HTTPServer2": "http server 2",
    "parseHTML": "parse html",
    "utf8": "utf 8",
    "X": "x",
    "__init__": "init",
    "MAX_SIZE": "max size",
    "größeÄndern": "größe ändern",
    "名前": "名前",
    "a1B2": "a 1 b 2",
    "": "",
}


@pytest.mark.parametrize("name", CASES)
def test_an_identifier_has_its_words(name: str) -> None:
    assert " ".join(words_of(name)) == CASES[name]


@given(st.text(max_size=200))
def test_words_are_small_and_have_no_signs_in_them(text: str) -> None:
    for word in words_of(text):
        assert word
        assert word.replace("_", "").isalnum() or not word.isascii()
        assert not any(letter.isascii() and letter.isupper() for letter in word)


@given(st.text(max_size=200))
def test_the_parts_of_humps_are_words_of_the_text(text: str) -> None:
    assert set(humps_of(text).split()) <= set(words_of(text))


def test_humps_are_what_the_tokenizer_of_the_text_leaves_whole() -> None:
    assert humps_of("getUser(get_user, get, HTTPServer2) getUser") == "get user http server 2"


def test_a_run_that_is_too_long_for_a_name_stays_whole_and_is_cut() -> None:
    assert [*words_of("aB" * (LONGEST // 2))] == ["a"] + ["ba"] * (LONGEST // 2 - 1) + ["b"]
    assert humps_of("aB" * (LONGEST // 2)) == " ".join(words_of("aB" * (LONGEST // 2)))
    assert [*words_of("aB" * (LONGEST // 2) + "c")] == ["ab" * (LONGEST // 2)]
    assert humps_of("aB" * (LONGEST // 2) + "c") == ""


def test_no_more_identifiers_are_known_by_heart_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identifiers, "MOST_KNOWN", 3)
    for number in range(10):
        assert [*words_of(f"getUser{number}Name")] == ["get", "user", str(number), "name"]
        assert humps_of(f"getUser{number}Name") == f"get user {number} name"
        assert len(identifiers._known) <= 3
        assert len(identifiers._humps) <= 4
