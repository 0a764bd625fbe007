"""Files as nobody writes them: what comes of them is bounded, in size and in steps."""

import itertools
from collections.abc import Callable

import pytest

from codec.agent.index.chunks import MOST_CHARACTERS, MOST_OF_LINE
from codec.agent.index.definitions import MOST
from codec.agent.index.extracting import extracted
from codec.agent.index.languages import GRAMMARS
from tests.agent.codec.index.test_laws import ENDINGS, check

SIGNS = (
    "(",
    "[",
    "{",
    "<",
    '"',
    "'",
    "`",
    "$(",
    "<<A\n",
    "/*",
    "((",
    "if (a) {\n",
    "a(function(){",
    "=>",
    "class A:\n ",
    "}",
)


FEWER = {"sh": 2_000, "css": 2_000}
"""Their grammars take far longer for what is no program, before anybody can ask."""


def asked_more_than(times: int) -> Callable[[], bool]:
    asked = itertools.count()
    return lambda: next(asked) >= times


@pytest.mark.drawn(7)
@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_ten_thousand_open_signs_end_in_bounded_steps(ending: str) -> None:
    for sign in SIGNS:
        text = sign * FEWER.get(ending, 10_000)
        check(text, extracted(f"a.{ending}", text, asked_more_than(1_000)))


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_line_of_a_megabyte_has_few_chunks(ending: str) -> None:
    text = "var a = 1; " * 100_000
    facts = extracted(f"a.{ending}", text)
    check(text, facts)
    assert len(facts.chunks) == MOST_OF_LINE // MOST_CHARACTERS
    assert facts.lines == 1


@pytest.mark.parametrize("ending", ENDINGS)
def test_odd_texts_give_what_they_have(ending: str) -> None:
    for text in ("", "\n", "\0" * 100, "\ufeff", "\ud800" * 50, "a\r\nb\r\n\fc\r\n", "\r" * 20, " \t\n" * 9):
        check(text, extracted(f"a.{ending}", text))


def test_a_macro_that_is_taken_for_a_function_without_a_name_defines_nothing() -> None:
    found = extracted("a.cpp", "F(S<o) { int a; }\nint g() {}\n").symbols
    assert [(symbol.kind, symbol.name) for symbol in found] == [("function", "g")]


@pytest.mark.parametrize("language", sorted(GRAMMARS))
def test_a_file_that_takes_too_long_is_taken_by_its_lines(language: str) -> None:
    ending = {
        "python": "py",
        "javascript": "js",
        "typescript": "ts",
        "rust": "rs",
        "c_sharp": "cs",
        "ruby": "rb",
        "bash": "sh",
    }
    path = f"a.{ending.get(language, language)}"
    text = "<?php\n" * (language == "php") + "def run(a):\n    return a\n\n" * 2_000
    facts = extracted(path, text, lambda: True)
    check(text, facts)
    assert facts.errors == 1
    assert extracted(path, "x = 1\n").errors == extracted(path, "x = 1\n", lambda: False).errors


@pytest.mark.slow
def test_a_file_has_a_bounded_number_of_symbols() -> None:
    text = "".join(f"def f{number}(): pass\n" for number in range(MOST + 500))
    facts = extracted("a.py", text)
    check(text, facts)
    assert len(facts.symbols) == MOST


def test_a_large_class_is_divided_at_its_methods_and_small_neighbours_are_one() -> None:
    method = "    # what it does\n    @once\n    def m{0}(self):\n" + "        pass\n" * 30 + "\n"
    text = "import os\n\n\nclass A:\n    '''Doc.'''\n\n" + "".join(method.format(number) for number in range(6))
    facts = extracted("a.py", text)
    check(text, facts)
    assert [(chunk.name, chunk.text.lstrip().splitlines()[0]) for chunk in facts.chunks] == [
        ("", "import os"),
        ("A.m0", "class A:"),
        *((f"A.m{number}", "# what it does") for number in range(1, 6)),
    ]
