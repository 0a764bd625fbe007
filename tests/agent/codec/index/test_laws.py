# ruff: noqa: E501 - snippets are read in lines
"""What holds of every file, whatever is in it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codec.agent.index.chunks import MOST_CHARACTERS, MOST_LINES, MOST_OF_LINE
from codec.agent.index.extracting import extracted
from codec.agent.index.facts import FileFacts
from codec.agent.index.grammar_rules import unknown_kinds
from codec.agent.index.languages import GRAMMARS

ENDINGS = ("py", "js", "ts", "tsx", "go", "rs", "java", "c", "cpp", "cs", "rb", "php", "html", "css", "json", "sh", "md", "rst", "kt", "txt", "")  # fmt: skip

SNIPPETS = (
    *("def f(x):\n    return x\n", "class A(B):\n", "    def m(self): pass\n", "@decorated\n", "async def g():\n", "X = 1\n"),
    *("function f() {\n", "const a = () => {\n", "export class B {\n", "interface I { x: number }\n", "}\n", "{", "(", "[", ")"),
    *("func (r *T) M() {}\n", "type T struct {}\n", "fn f() {}\n", "impl T {\n", "mod m;\n", "namespace N {\n", "#define X 1\n"),
    *("int *f(void) {\n", "typedef struct { int x; } T;\n", "module M\n", "def self.x\n", "end\n", "<?php\n", "<div id=a>\n"),
    *(".a, #b { --x: 1 }\n", '{"a": {"b": [1, 2', "f() {\n", "# Title\n", "Title\n=====\n", "```\n", '"""', "'", '"', "/*", "*/"),
    *("\n", "\r\n", "\f", "\0", "\ufeff", "\ud800", "é", "名前 = 1\n", "    ", "\t", "//", "#", "x" * 5_000, "a b\n" * 200, "$(", "<<E\n"),
)  # fmt: skip
TEXTS = st.one_of(st.lists(st.sampled_from(SNIPPETS), max_size=60).map("".join), st.text(max_size=400))


def check(text: str, facts: FileFacts) -> None:
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    assert facts.lines == len(lines) - (not lines[-1])
    covered: list[int] = []
    before = 0
    for chunk in facts.chunks:
        assert 1 <= chunk.first <= chunk.last <= len(lines)
        whole = "\n".join(lines[chunk.first - 1 : chunk.last])
        assert chunk.last - chunk.first < MOST_LINES
        assert len(chunk.text) <= MOST_CHARACTERS
        if chunk.text == whole:
            assert chunk.first > before
            covered += range(chunk.first, chunk.last + 1)
        else:  # a part of a line that is too long for one chunk
            assert chunk.first == chunk.last
            assert chunk.first >= before
            assert len(whole) > MOST_CHARACTERS
            assert chunk.text in whole[:MOST_OF_LINE]
            if not covered or covered[-1] != chunk.first:
                covered.append(chunk.first)
        before = chunk.last
    assert len(covered) == len(set(covered))
    assert set(covered) >= {number for number, line in enumerate(lines, 1) if line.strip()}
    for symbol in facts.symbols:
        assert 1 <= symbol.line <= symbol.last <= len(lines)
        assert symbol.name.strip()


@pytest.mark.slow
@given(st.sampled_from(ENDINGS), TEXTS)
@example("cs", "class A(B):\nimpl T {\ntypedef struct { int x; } T;\ntypedef struct { int x; } T;\ndef f(x):\n    return x\n")
def test_every_line_is_in_one_chunk_and_every_symbol_within_the_file(ending: str, text: str) -> None:
    check(text, extracted(f"a/file.{ending}", text))


@pytest.mark.parametrize("language", sorted(GRAMMARS))
def test_the_rules_name_kinds_that_the_grammar_has(language: str) -> None:
    assert unknown_kinds(language) == set()
