import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.symbols import LONGEST_LINE, around, definitions, language_of

CASES = [
    ("a.py", "class Login(Base):", ("Login", "class")),
    ("a.py", "    async def login(self) -> None:", ("login", "function")),
    ("a.py", "LIMIT: int = 3", ("LIMIT", "constant")),
    ("a.py", "x == 3", None),
    ("a.py", "    return login(user)", None),
    ("a.ts", "export default async function login(a: string) {", ("login", "function")),
    ("a.ts", "export const login = async (a) => {", ("login", "function")),
    ("a.ts", "export interface Login {", ("Login", "interface")),
    ("a.ts", "type Login = {", ("Login", "type")),
    ("a.tsx", "  private async login(a: string): Promise<void> {", ("login", "method")),
    ("a.js", "  if (login(a)) {", None),
    ("a.js", "const limit = 3", ("limit", "variable")),
    ("a.go", "func (s *Server) Login(w Writer) error {", ("Login", "function")),
    ("a.go", "type Server struct {", ("Server", "type")),
    ("a.rs", "    pub(crate) async fn login(&self) -> Result<()> {", ("login", "function")),
    ("a.rs", "pub struct Login<'a> {", ("Login", "type")),
    ("a.rs", "impl Login {", None),
    ("A.java", "    public static List<String> login(String a) {", ("login", "method")),
    ("A.java", "public final class Login {", ("Login", "class")),
    ("a.kt", "    suspend fun login(a: String) {", ("login", "function")),
    ("a.c", "static int login(const char *name)", ("login", "function")),
    ("a.c", "    return login(name);", None),
    ("a.h", "#define LOGIN(x) 1", ("LOGIN", "macro")),
    ("a.cpp", "void Server::login(int a) {", ("login", "function")),
    ("a.rb", "  def self.login!(a)", ("login!", "function")),
    ("a.php", "    public function login($a)", ("login", "function")),
    ("a.sh", "login() {", ("login", "function")),
    ("a.sql", "CREATE TABLE IF NOT EXISTS users (", ("users", "table")),
    ("a.md", "## How to log in ##", ("How to log in", "heading")),
    ("a.txt", "def login():", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "line", "expected"), CASES, ids=[f"{path}: {line.strip()}" for path, line, _ in CASES]
)
def test_a_definition_is_known_by_its_line(path: str, line: str, expected: tuple[str, str] | None) -> None:
    found = list(definitions(path, f"\n{line}\n"))
    assert [(each.name, each.kind, each.line) for each in found] == ([] if expected is None else [(*expected, 2)])


def test_a_line_of_a_file_belongs_to_the_definition_around_it() -> None:
    python = "import a\n\nclass A:\n    x = 1\n\n    def f(self):\n"
    python += "        if x:\n            y()\n        return 3\n\n    z = 2\n\nw()\n"
    assert [around("a.py", python, line) for line in (1, 4, 7, 9, 11, 13)] == [
        (1, 1),
        (3, 11),
        (6, 9),
        (6, 9),
        (3, 11),
        (13, 13),
    ]
    go = "func Login() {\n\tx()\n}\n\nfunc Out() {\n}\n"
    assert [around("a.go", go, line) for line in (1, 2, 3, 5)] == [(1, 3), (1, 3), (1, 3), (5, 6)]
    assert around("a.py", python, 99) == (99, 99)


def test_a_form_feed_or_another_odd_end_counts_as_no_line() -> None:
    (found,) = definitions("a.py", "x()\x0c\u2028\x85\r\ndef login():\r\n")
    assert (found.name, found.line) == ("login", 2)


@given(st.text(), st.sampled_from(["a.py", "a.ts", "a.c", "a.java", "a.md", "a.sql"]), st.integers(1, 20))
def test_no_text_breaks_it_and_whatever_encloses_a_line_does(text: str, path: str, line: int) -> None:
    for each in definitions(path, text):
        assert each.name
        assert 1 <= each.line <= text.count("\n") + 1
    first, last = around(path, text, line)
    assert first <= line
    assert (first, last) == (line, line) or last <= text.count("\n") + 1


@pytest.mark.parametrize("path", ["a.py", "a.ts", "a.c", "a.java", "a.rs", "a.go"])
def test_a_hostile_line_takes_no_time(path: str) -> None:
    for line in ("a " * 240, "(" * 490, "public " * 70, "a::" * 160, "const a = " * 48):
        list(definitions(path, f"{line}\n" * 200))


def test_languages_are_known_by_the_ending() -> None:
    assert [language_of(path) for path in ("a.PY", "x/b.tsx", "Makefile", "c.hpp")] == [
        "python",
        "javascript",
        None,
        "c",
    ]


some_code = st.lists(
    st.sampled_from(["def login():", "  LOGIN = 1", "LOGOUT = 2", "class Login:", "logout = 1", "", "x"]), max_size=8
).map("\n".join)


@given(some_code, st.sampled_from(["", "login", "log", "out", "quux"]), st.integers(0, 9))
def test_those_that_hold_a_word_are_those_whose_lines_do(text: str, word: str, first: int) -> None:
    every = list(definitions("a.py", text, first))
    assert [each.line for each in every] == [each.line + first - 1 for each in definitions("a.py", text)]
    lines = text.split("\n")
    assert list(definitions("a.py", text, first, word)) == [
        each for each in every if word in lines[each.line - first].lower()
    ]


@pytest.mark.parametrize("word", ["", "f"])
def test_a_line_that_is_too_long_defines_nothing(word: str) -> None:
    def of(length: int) -> list[str]:
        return [each.name for each in definitions("a.py", "def f():".ljust(length, "#"), holding=word)]

    assert (of(LONGEST_LINE), of(LONGEST_LINE + 1)) == (["f"], [])


AROUND = {
    "a.ts": (
        "// first\nclass A {\n  f(a) {\n    x(\n    )\n  }\n\n  @g\n  .b()\n\n  c = 1\n}\nconst y = 1\n\n"
        "function h() {\n}\n}\n",
        {1: (1, 1), 2: (2, 12), 3: (3, 6), 4: (3, 6), 5: (3, 6), 6: (3, 6), 7: (2, 12), 8: (2, 12), 9: (2, 12),
         10: (2, 12), 11: (2, 12), 12: (2, 12), 13: (13, 13), 14: (14, 14), 15: (15, 16), 16: (15, 16)},
    ),
    "a.py": (
        "def f(\n    a,\n):\n    x()\n\n\ny = 1\n",
        {1: (1, 4), 2: (1, 4), 3: (1, 4), 4: (1, 4), 5: (5, 5), 6: (6, 6), 7: (7, 7), 8: (8, 8), 9: (9, 9)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("first", [1, 40])
@pytest.mark.parametrize("path", AROUND)
def test_a_definition_goes_on_until_the_indentation_is_back(path: str, first: int) -> None:
    text, expected = AROUND[path]
    more = first - 1
    found = {line: around(path, text, line + more, first) for line in expected}
    assert {line: (begin - more, end - more) for line, (begin, end) in found.items()} == expected
    assert around(path, text, first - 1, first) == (first - 1, first - 1)
