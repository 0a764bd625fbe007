import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.keywords import MOST, is_name, keywords, last_part, names_or_words

CASES = [
    ("What does login do?", ("login",)),
    ("/explain Where is the session_id validated in src/auth.py?", ("session_id", "src/auth.py", "validated")),
    ("why does `save` call getUser?", ("save", "getUser")),
    ("Session.login and session.Login", ("Session.login",)),
    ("Where is put_nowait defined, and who mentions it?", ("put_nowait",)),
    ("where is check defined?", ("check",)),
    ("Where is the function `run` implemented?", ("run",)),
    ("where do we define get?", ("get",)),
    ("what does make() do, and who calls find?", ("make", "find")),
    ("show me the definition of class Value2", ("Value2",)),
    ("wo ist die Funktion read definiert?", ("read", "Funktion", "definiert")),
    ("where is it defined?", ()),
    ("what does this function do?", ()),
    ("how does the class work?", ()),
    ("where is the error used?", ()),
    ("hello", ()),
    ("What is in here?", ()),
    ("Fix the bug please", ()),
    ("", ()),
    ("???", ()),
    ("Was macht validate_password?", ("validate_password", "macht")),
]


@pytest.mark.parametrize(("question", "words"), CASES, ids=[question for question, _ in CASES])
def test_the_telling_words_come_first_and_those_that_are_everywhere_not_at_all(
    question: str, words: tuple[str, ...]
) -> None:
    assert keywords(question) == words


def test_what_a_question_asks_for_by_its_form_is_searched_for_beside_names_of_code() -> None:
    for question, words in [
        ("where is check defined in src/app.py?", ("check", "src/app.py")),
        ("the check of find_port is slow", ("find_port",)),
    ]:
        assert names_or_words(keywords(question), question) == words


@given(st.text(max_size=500))
def test_words_are_few_and_none_comes_twice(question: str) -> None:
    words = keywords(question)
    assert len(words) <= MOST
    assert len({word.lower() for word in words}) == len(words)
    assert all(word.lower() in question.lower() for word in words)


def test_a_name_of_code_looks_like_one() -> None:
    assert [word for word in ("login", "logIn", "log_in", "a.b", "Login", "UTF8", "a::b") if is_name(word)] == [
        "logIn",
        "log_in",
        "a.b",
        "UTF8",
        "a::b",
    ]
    assert [last_part(word) for word in ("Session.login", "a::b", "src/app", "login")] == ["login", "b", "app", "login"]
