"""Words in identifiers."""

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codec.agent.index import identifiers
from codec.agent.index.identifiers import LONGEST, _Humps, _Joined, humps_of, joined_words, split, words_of

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


@given(st.from_regex(r"[A-Za-z0-9]{1,12}", fullmatch=True))
@example("1")
@example("a1")
@example("aB")
@example("A")
@example("Ab")
@example("ABc")
def test_an_identifier_has_humps_if_and_only_if_it_has_several_words(name: str) -> None:
    words = [*words_of(name)]
    assert humps_of(name) == (" ".join(words) if len(words) > 1 else "")


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize(
    ("read", "kept", "over"),
    [
        (split, lambda: len(identifiers._known), 0),
        (joined_words, lambda: len(identifiers._joined), 0),
        (humps_of, lambda: len(identifiers._plain) + len(identifiers._humps), 1),
    ],
)
def test_identifiers_are_known_by_heart_until_there_is_no_more_room_and_then_anew(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[str], object], kept: Callable[[], int], over: int, most: int
) -> None:
    """`over`: so many may come before it is looked at how many there are."""
    for name, empty in (("_known", {}), ("_plain", set()), ("_humps", _Humps()), ("_joined", _Joined())):
        monkeypatch.setattr(identifiers, name, empty)
    monkeypatch.setattr(identifiers, "MOST_KNOWN", most)
    sizes = []
    for number in range(10):
        read(("get{}", "G{}et", "word{}")[number % 3].format("AbCdEfGhIj"[number]))
        sizes.append(kept())
    assert sizes == [number % (most + over) + 1 for number in range(10)]
