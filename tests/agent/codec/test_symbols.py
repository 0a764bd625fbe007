import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.symbols import around, definitions, language_of

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
