"""The lines of files that a text names, in the ways of compilers, stack traces and people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.written_lines import MOST_NUMBERS, WrittenLine, written_lines

WRITTEN = {
    "provider.py:121": "provider.py 121",
    "src/a.rs:12:5": "src/a.rs 12",
    "thread 'main' panicked at src/x.rs:12:5:": "src/x.rs 12",
    '  File "/home/me/my dir/a.py", line 12, in f': "home/me/my dir/a.py 12",
    "  File 'a.py', line 12": "a.py 12",
    "\tat com.shop.Cart.total(Cart.java:12)": "Cart.java 12",
    "   at Shop.Cart.Total() in C:\\src\\Cart.cs:line 12": "src/Cart.cs 12",
    "src/a.ts(12,5): error TS2304": "src/a.ts 12",
    "a.vb(12): error": "a.vb 12",
    "#0 /x/y.php(12): f()": "x/y.php 12",
    "PHP Fatal error: in /x/a.php on line 12": "x/a.php 12",
    "/x/blob/main/a.py#L12-L20": "x/blob/main/a.py 12",
    "died at a.pl line 12.": "a.pl 12",
    "from lib/cart.rb:12:in 'total'": "lib/cart.rb 12",
    "#1  0x0000 in total (cart=0x0) at src/cart.c:12": "src/cart.c 12",
    "\t/go/src/m.go:12 +0x1d": "go/src/m.go 12",
    "at foo (webpack:///./src/../a/x.js:12:5)": "a/x.js 12",
    "at file:///home/me/x.mjs:12:5": "home/me/x.mjs 12",
    "../src/x.c:12:3: warning": "src/x.c 12",
    "a.py, line 12": "a.py 12",
    "see src/a.py line 12": "src/a.py 12",
    "what is in line 12 of src/a.py?": "src/a.py 12",
    "it is in line 12 of src/a.py.": "src/a.py 12",
    "lines 12-20 in `a.py`.": "a.py 12",
    "app/[id].tsx:12:1": "app/[id].tsx 12",
    "[a.py:12]": "a.py 12",
    "(a.py:12)": "a.py 12",
    "x.py:12-20": "x.py 12",
    "build/Makefile:12: x": "build/Makefile 12",
    "dossier/été.py:12": "dossier/été.py 12",
}


@pytest.mark.parametrize("text", WRITTEN)
def test_a_line_is_known_in_each_of_the_usual_ways(text: str) -> None:
    for whole in (text, f"Why?\n{text}\nAnd then", f"{text}\n{text}"):
        assert [f"{each.path} {each.line}" for each in written_lines(whole)] == [WRITTEN[text]]


@pytest.mark.parametrize(
    "text",
    ["", "localhost:8080", "http://127.0.0.1:80/x", "at 12:30", "v1.2:3", "e.g.:3", "a.py:0", "a.py:12x", "a.py(x)",
     "a.py:99999999", ":12", "f(12)", "1.5(3)", '"\n", line 3', "line 12 of it"],
)  # fmt: skip
def test_what_is_no_line_of_a_file_is_none(text: str) -> None:
    assert written_lines(text) == []


def test_many_are_told_in_their_order_each_once() -> None:
    text = "\n".join(f"a{number % 7}.py:{number % 14 + 1}" for number in range(100))
    assert written_lines(text) == [WrittenLine(f"a{number % 7}.py", number + 1) for number in range(14)]
    assert len(written_lines("".join(f"a.py:{number}\n" for number in range(1, 5_000)))) == MOST_NUMBERS


@given(st.text(alphabet="a.:/\\\"'( ,)line 1#L\n-[]é", max_size=200))
def test_any_text_has_paths_that_stand_in_it_and_lines_from_one(text: str) -> None:
    for path, line in ((each.path, each.line) for each in written_lines(text)):
        assert line >= 1
        assert not path.startswith("/")
        assert ".." not in path.split("/")
        assert all(part in text for part in path.split("/"))


@pytest.mark.parametrize("piece", ["a", "a.", "a/", "../", "a.py:1", "line 1 of ", '", line 1', "a.py(1", "1:"])
def test_a_long_text_is_read_in_no_time(piece: str) -> None:
    """A limit by the test's deadline: whatever is tried again for each letter takes minutes here."""
    written_lines(piece * 200_000)
