"""A file that its grammar cannot read whole gives what stands in it all the same, if another reading has fewer errors.
"""

import re
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codec.agent.index import extracting
from codec.agent.index.extracting import extracted
from codec.agent.index.second_reading import second_reading, without_conditionals

FILES = {
    "a.cs": """namespace Shop
{
    public class Till
    {
        internal void Add(int price, int run
#if TRACE
                          , StackTrace trace
#endif
        )
        {
            Check(price);
        }

        public int Sum() => 1;
    }
}
""",
    "a.c": """int total(int it) {
#if A
    if (it == 1) {
#else
    if (it == 2) {
#endif
        return 1;
    }
    return 0;
}

#ifdef WIN32
static int open_it(HANDLE it)
#else
static int open_it(int it)
#endif
{
#if DEBUG
    if (check(it)) {
#else
    if (it) {
#endif
        return 1;
    }
    return 0;
}

#ifdef WIN32
int on_windows(void) { return 1; }
#else
int elsewhere(void) { return 2; }
#endif
""",
    "a.cpp": """namespace shop {
class Till : public
#if 0
    Nothing
#else
    Desk
#endif
{
public:
    int sum() { return call(1
#ifdef FAST
        , 2
#elif defined(SLOW)
        , 3
#endif
    ); }
};
}
""",
    "a.js": """// @flow
type Props = {+title: string, ...};
export class Shop extends Component<Props> {
  _open: ?boolean = null;
  add(price: number, note?: ?string): Promise<void> {
    return this._till.add((price: any));
  }
  sum(): number {
    return 1;
  }
}
""",
}
WANTED = {
    "a.cs": {"Shop", "Till", "Add", "Sum"},
    "a.c": {"open_it", "on_windows", "elsewhere"},
    "a.cpp": {"shop", "Till", "sum"},
    "a.js": {"Shop", "add", "sum", "Props"},
}


@pytest.mark.parametrize("path", FILES)
def test_what_one_place_hides_from_the_grammar_is_found(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = FILES[path]
    lines, facts = text.splitlines(), extracted(path, text)
    assert {each.name for each in facts.symbols} >= WANTED[path]
    for symbol in facts.symbols:
        assert symbol.name in lines[symbol.line - 1]
    monkeypatch.setattr(extracting, "second_reading", lambda language, data: None)
    assert extracted(path, text).errors > facts.errors


@pytest.mark.parametrize(("path", "name"), [("a.c", "total"), ("a.js", "add")])
def test_a_definition_is_lost_without_it(path: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert name in {each.name for each in extracted(path, FILES[path]).symbols}
    monkeypatch.setattr(extracting, "second_reading", lambda language, data: None)
    assert name not in {each.name for each in extracted(path, FILES[path]).symbols}


WHOLE = {
    "a.c": "#if A\nint f(void) { return 1; }\n#else\nint f(void) { return 2; }\n#endif\n",
    "a.cs": "class A\n{\n#if A\n    int F() { return 1; }\n#endif\n}\n",
    "a.js": "class A { add() { return 1; } }\n",
    "a.py": "class A:\n    pass\n",
}


@pytest.mark.parametrize("path", WHOLE)
def test_what_the_grammar_reads_is_not_read_again(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(language: str, data: bytes) -> None:
        raise AssertionError(language)

    monkeypatch.setattr(extracting, "second_reading", never)
    assert extracted(path, WHOLE[path]).errors == 0


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", "class A {\n  add( { return 1; }\n}\nfunction b() { return 1; }\n"),  # as it is while somebody types
        ("a.c", "int f(void) { return 1; }\nint g( {\n#if A\n#endif\n"),
        ("a.cs", "class A { int F( { }\n"),
    ],
)
def test_a_reading_that_has_no_fewer_errors_changes_nothing(
    path: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = extracted(path, text)
    assert both.errors
    monkeypatch.setattr(extracting, "second_reading", lambda language, data: None)
    assert extracted(path, text) == both


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(a\n#if X\n, b\n#endif\n)", "f(a\n     \n, b\n      \n)"),
        ("f(a\n#if 0\n, b\n#else\n, c\n#endif\n)", "f(a\n     \n   \n     \n, c\n      \n)"),
        ("f(\n#if X\nb\n#elif Y\nc\n#else\nd\n#endif\n)", "f(\n     \nb\n       \n \n     \n \n      \n)"),
        ("#if X\nf() {\n#else\ng() {\n#endif\n}", "     \nf() {\n     \n     \n      \n}"),
        ("f(\n  # if X \\\n  || Y\na\n# endif\n)", "f(\n          \n      \na\n       \n)"),
        ("#if X\nf();\n#if Y\n) {\n#endif\n#endif\n", "     \nf();\n     \n) {\n      \n      \n"),
        ("f();\n#if X\nint a;\n#else\nint b;\n#endif\n", None),
        ("enum {\n#if X\n  // nothing\n#endif\n};", None),
        ('f(a); /* (\n#if X\n*/ s = "(\\"{";\n', None),
        ("#else\n#endif\nf(\n", None),
        ("f(\n#if X\n", None),
        ("#if X\nchar c = '(';\nint m = 1'000;\n#endif\n", None),
        ("#pragma once\n#region (\nf(1)\n", None),
    ],
)
def test_only_a_conditional_that_does_not_stand_by_itself_goes(before: str, after: str | None) -> None:
    found = without_conditionals(before.encode())
    assert (None if found is None else found.decode()) == after


PIECES = st.sampled_from(
    [
        *"(){}[];:,'\"/\\#* \t\naé\0",
        *("\r\n", "/*", "*/", "//", "\\\n", "int f() { return 1; }\n"),
        *("\n#if A", "\n#if 0", "\n#ifdef A\n", "\n#else\n", "\n#elif B\n", "\n#endif\n", "\n# endif"),
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
@example("(\n#if A\n#if A\n)\n#endif\n#else\n#endif")
def test_whatever_it_is_only_blanks_replace_it_and_no_line_moves(text: str) -> None:
    data = text.encode()
    found = without_conditionals(data)
    if found is None:
        return
    assert len(found) == len(data)
    assert all(now in (was, 0x20) for was, now in zip(data, found, strict=True))
    assert [each.span() for each in re.finditer(rb"[\r\n]", found)] == [
        each.span() for each in re.finditer(rb"[\r\n]", data)
    ]
    assert b"#" in bytes(was for was, now in zip(data, found, strict=True) if was != now)


def test_there_is_none_for_a_language_that_needs_none() -> None:
    assert second_reading("python", b"#if A\n(\n#endif\n") is None
    assert second_reading("c", b"int a;") is None


@pytest.mark.parametrize(
    "sign",
    [
        *("/*", "/* ", '"', '\\"', "'", "'\\", "\\", "(", "é", "a ", "a\n", "  \n", " ", "\t#"),
        *("#if A\n", "(\n#if A\n", "#else\n"),
    ],
)
@pytest.mark.parametrize("last", ["", "(\n#if A\n,\n#endif\n)"])
def test_no_sign_makes_it_take_long(sign: str, last: str) -> None:
    data = (sign * (1_000_000 // len(sign)) + last).encode()
    begun = process_time()
    without_conditionals(data)
    assert process_time() - begun < 10  # a second or two; were it quadratic, hours
