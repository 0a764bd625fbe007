"""The headings of a prose, and where each section ends: a table."""

import pytest

from codec.agent.index.headings import headings_of
from codec.agent.index.imports import rust_paths

RST = [
    ("A\n===\nx\n\nB\n---\ny\n\nC\n===", [(1, 8, 1, "A", ""), (5, 8, 5, "B", "A"), (9, 10, 9, "C", "")]),
    ("x\n\nA\n~~~\nB\n...\n", [(3, 7, 3, "A", ""), (5, 7, 5, "B", "A")]),
    ("===\n A\n===\nx", [(1, 4, 2, "A", "")]),
    ("===\nA\n===\n\n B\n---\n", [(1, 7, 2, "A", "")]),
    (" A\n===\n", []),
    ("A\n==\n", []),
    ("Long title\n===\n", []),
    ("\n===\n", []),
]
MARKDOWN = [
    ("# A\n## B\nx\n# C", [(1, 3, 1, "A", ""), (2, 3, 2, "B", "A"), (4, 4, 4, "C", "")]),
    ("# A\n### C\n## B\n", [(1, 4, 1, "A", ""), (2, 2, 2, "C", "A"), (3, 4, 3, "B", "A")]),
    ("# A\n## B\n### C\n#### D\n##### E", [(1, 5, 1, "A", ""), (2, 5, 2, "B", "A"), (3, 5, 3, "C", "A.B"),
                                           (4, 5, 4, "D", "A.B.C"), (5, 5, 5, "E", "A.B.C")]),
    ("A\n===\n\nB\n---", [(1, 5, 1, "A", ""), (4, 5, 4, "B", "A")]),
    ("\nA\n---\n", [(2, 4, 2, "A", "")]),
    ("a\nA\n===", []),
    ("- a\n---", []),
    ("# A #\n", [(1, 2, 1, "A", "")]),
    ("#nope\n####### nope", []),
    ("```\n# no\n```\n# yes", [(4, 4, 4, "yes", "")]),
    ("````\n```\n# no\n````\n# yes", [(5, 5, 5, "yes", "")]),
    ("~~~\n```\n# no\n~~~\n# yes", [(5, 5, 5, "yes", "")]),
    (f"# {'x' * 299}\n# A", [(2, 2, 2, "A", "")]),
]  # fmt: skip
Section = tuple[int, int, int, str, str]


@pytest.mark.parametrize(
    ("language", "text", "sections"),
    [*(("rst", *row) for row in RST), *(("markdown", *row) for row in MARKDOWN)],
)
def test_a_section_is_from_its_heading_to_the_next_of_its_level(
    language: str, text: str, sections: list[Section]
) -> None:
    found = headings_of(language, text.split("\n"))
    assert [(each.first, each.last, each.line, each.name, each.container) for each in found] == sections
    assert all(each.kind == "heading" and each.block for each in found)


@pytest.mark.parametrize(
    ("tree", "paths"),
    [
        ("a", ["a"]),
        ("a::{b, c::{d, e}}", ["a::b", "a::c::d", "a::c::e"]),
        ("a::{self, b}", ["a", "a::b"]),
        ("a::{b::{c}, d}", ["a::b::c", "a::d"]),
        ("a::*", ["a"]),
        ("::a::b", ["a::b"]),
        ("a::{b", ["a::b"]),
        ("a}::b", ["a", "b"]),
        ("a, b", ["a", "b"]),
    ],
)
def test_a_tree_of_rust_is_its_paths(tree: str, paths: list[str]) -> None:
    assert rust_paths(tree) == paths
    assert rust_paths(tree, 1) == paths[:1]
