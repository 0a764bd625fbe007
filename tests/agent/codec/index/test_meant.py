"""What a question names exactly, told from paths and lines alone."""

import time

import pytest

from codec.agent.index.meant import meant_by


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("def login(user):", "login"),
        ("    async def login(self):", "login"),
        ("class Login(Base):", "Login"),
        ("func (s *Server) Login(w http.ResponseWriter) {", "Login"),
        ("export default function login() {", "login"),
        ("const login = () => {", "login"),
        ("public int login(String name) {", "login"),
        ("static inline int *login(void)", "login"),
        ("void Session::login(int number)", "login"),
        ("def self.login", "login"),
        ("impl Login {", "Login"),
        ("type Login struct {", "Login"),
        ("login = 5", "login"),
        ("login: Callable = enter", "login"),
        ("login == 5", ""),
        ("x = login(1)", ""),
        ("    return login(user)", ""),
        ("await login(user)", ""),
        ("if login(user):", ""),
        ("    login(user)", ""),
        ("    login,", ""),
        ("self.login(user)", ""),
        ("from auth import login", ""),
        ("int login(int);", ""),
        ("def login_again(user):", ""),
        ("def relogin(user):", ""),
        ("class Entry(Login):", ""),
        ("const entry = login", ""),
        ("", ""),
    ],
)
def test_a_line_that_defines_the_name_is_told_from_one_that_uses_it(line: str, name: str) -> None:
    assert meant_by("login").defined_in(line) == name


@pytest.mark.parametrize(
    ("text", "named", "others"),
    [
        ("base.py", ["base.py", "src/base.py", "src/Base.py"], ["src/database.py", "base.pyc", "base.py/x.md"]),
        ("urls/base.py", ["urls/base.py", "src/urls/base.py"], ["base.py", "src/myurls/base.py"]),
        ("where is urls/base.py read", ["src/urls/base.py"], ["src/base.py"]),
        ("base", ["base.py", "src/base.js", "a/Base"], ["src/database.py", "base/x.py", "a/base.test.py"]),
        ("the base of all", [], ["base.py", "src/base.py"]),
    ],
)
def test_a_path_is_named_whole_or_from_a_folder_on_or_by_the_only_word_there_is(
    text: str, named: list[str], others: list[str]
) -> None:
    meant = meant_by(text)
    assert [path for path in (*named, *others) if meant.is_path(path) or meant.is_called_so(path)] == named


@pytest.mark.parametrize("text", ["", "the parser of all", "where is it", "a"])
def test_words_alone_name_nothing(text: str) -> None:
    meant = meant_by(text)
    assert not meant
    assert meant.defined_in("def parser(all): where = it") == ""
    assert not meant.is_symbol("parser")


def test_a_name_is_meant_with_its_containers_and_whatever_its_case_is() -> None:
    for text in ("Session.login", "login", "LOGIN", "who calls login()?"):
        meant = meant_by(text)
        assert meant
        assert meant.is_symbol("auth.Session.login")
        assert not meant.is_symbol("login.Session")
        assert not meant.is_symbol("")


def test_a_definition_and_a_path_are_nearer_than_a_file_that_is_only_called_so() -> None:
    meant = meant_by("login")
    assert meant.distance("src/auth.py", ["import os", "def login(user):"]) == 0
    assert meant.distance("src/auth.py", [], "auth.login") == 0
    assert meant.distance("docs/login.md", ["Call login."]) == 1
    assert meant.distance("docs/login.md", ["def login(): ..."]) == 0
    assert meant.distance("src/use.py", ["login()"], "use.all") == 2
    assert meant_by("src/use.py").distance("src/use.py", []) == 0


@pytest.mark.parametrize(
    "line", ["a " * 400, "class " * 100, "func (" * 200, "(" * 500, "x::" * 200, "login" * 100, " " * 500]
)
def test_no_line_takes_long(line: str) -> None:
    meant = meant_by("login")
    began = time.process_time()
    for _ in range(20):
        meant.defined_in(line)
    assert time.process_time() - began < 0.5
