"""Where a file is divided, and what is joined. What holds of every file is in test_laws.py."""

import pytest

from codec.agent.index.chunks import chunks_of
from codec.agent.index.definitions import Defined

Place = tuple[int, int, str]


def lines(count: int, *, blank: tuple[int, ...] = (), length: int = 2) -> list[str]:
    """`blank`: the numbers of those that are."""
    return ["" if number in blank else "x" * length for number in range(1, count + 1)]


def block(first: int, last: int, name: str, container: str = "") -> Defined:
    return Defined(first, last, name, "function", first, container, True)


def divided(text: list[str], *found: Defined, language: str = "python") -> list[Place]:
    chunks = chunks_of("\n".join(text), text, found, language)
    for chunk in chunks:
        assert chunk.text == "\n".join(text[chunk.first - 1 : chunk.last])
    return [(chunk.first, chunk.last, chunk.name) for chunk in chunks]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ([], []),
        (["", " ", ""], []),
        (lines(7, blank=(1, 2, 4, 6, 7)), [(3, 5, "")]),
        (lines(80), [(1, 80, "")]),
        (lines(81), [(1, 50, ""), (51, 81, "")]),
        (lines(131), [(1, 50, ""), (51, 100, ""), (101, 131, "")]),
        (lines(130), [(1, 50, ""), (51, 130, "")]),
        (lines(90, blank=(40,)), [(1, 39, ""), (41, 90, "")]),
        (lines(90, blank=(30, 40, 41)), [(1, 39, ""), (42, 90, "")]),
        (lines(90, blank=(50,)), [(1, 49, ""), (51, 90, "")]),
        (lines(90, blank=(51,)), [(1, 50, ""), (52, 90, "")]),
        (lines(90, blank=(26,)), [(1, 25, ""), (27, 90, "")]),
        (lines(90, blank=(25,)), [(1, 50, ""), (51, 90, "")]),
        (["x" * 1999, "x" * 2000], [(1, 2, "")]),
        (["x" * 2000, "x" * 2000], [(1, 1, ""), (2, 2, "")]),
        (lines(45, length=99), [(1, 40, ""), (41, 45, "")]),
    ],
)
def test_a_text_without_definitions_is_divided_at_its_blank_lines(text: list[str], places: list[Place]) -> None:
    assert divided(text) == places


A, B = "a", "b"


@pytest.mark.parametrize(
    ("one", "other", "between", "names"),
    [
        (12, 20, 0, [""]),
        (20, 12, 0, [""]),
        (13, 13, 0, [A, B]),
        (12, 28, 0, [""]),
        (12, 29, 0, [A, B]),
        (12, 27, 1, [""]),
        (12, 28, 1, [A, B]),
        (12, 12, 16, [""]),
        (12, 12, 17, [A, B]),
    ],
)
def test_a_small_definition_is_joined_with_its_neighbour_if_both_are_not_long(
    one: int, other: int, between: int, names: list[str]
) -> None:
    """`between`: blank lines."""
    text = lines(one + between + other, blank=tuple(range(one + 1, one + between + 1)))
    found = divided(text, block(1, one, A), block(one + between + 1, len(text), B))
    assert [name for _, _, name in found] == names
    assert (found[0][0], found[-1][1]) == (1, len(text))


def test_what_would_be_too_long_together_in_characters_is_not_joined() -> None:
    one, other = block(1, 2, A), block(3, 4, B)
    assert divided(["x" * 999, "x" * 999, "x" * 999, "x" * 1000], one, other) == [(1, 4, "")]
    assert divided(["x" * 999, "x" * 999, "x" * 1000, "x" * 1000], one, other) == [(1, 2, A), (3, 4, B)]


@pytest.mark.parametrize(
    ("order", "name"),
    [
        *(("-a", A), ("a-", A), ("-a-", A), ("aa", A), ("---", "")),
        *(("ab", ""), ("a-b", ""), ("-ab-", ""), ("aba", ""), ("abc", "")),
    ],
)
def test_joined_pieces_have_the_name_of_the_one_definition_in_them_or_that_of_what_is_around(
    order: str, name: str
) -> None:
    """`order`: a line each; - belongs to no definition."""
    found = [block(at, at, each) for at, each in enumerate(order, 1) if each != "-"]
    assert divided(lines(len(order)), *found) == [(1, len(order), name)]


def test_a_definition_that_is_too_large_is_divided_at_those_in_it() -> None:
    found = [block(11, 110, "C"), block(21, 60, "m", "C"), block(61, 100, "n", "C"), block(121, 140, "f")]
    assert divided(lines(140), *found) == [
        *((1, 10, ""), (11, 20, "C"), (21, 60, "C.m"), (61, 100, "C.n"), (101, 110, "C")),
        (111, 140, "f"),
    ]
    whole = [block(11, 90, "C"), block(21, 60, "m", "C")]
    assert divided(lines(140, blank=(10, 91)), *whole) == [(1, 9, ""), (11, 90, "C"), (92, 140, "")]


def test_definitions_in_definitions_are_named_with_all_that_is_around_them() -> None:
    deep = [block(1, 200, "A"), block(1, 100, "B", "A"), block(1, 40, "f", "A.B"), block(41, 100, "g", "A.B")]
    assert divided(lines(200), *deep, block(101, 180, "h", "A")) == [
        (1, 40, "A.B.f"),
        (41, 100, "A.B.g"),
        (101, 180, "A.h"),
        (181, 200, "A"),
    ]


@pytest.mark.parametrize(
    ("language", "above", "begins"),
    [
        ("python", ["# one", "# two"], 31),
        ("python", ["x = 1", "  # two"], 32),
        ("python", ["# one", ""], 33),
        ("python", ["@one", "x"], 33),
        ("java", ["/* one", " * two"], 31),
        ("go", ["// one", "x"], 33),
        ("c", ["// one", "#if X"], 33),
        ("c", ["#if X", "// two"], 32),
        ("cpp", ["#if X", "#if Y"], 33),
        ("rust", ["#[one]", "// two"], 31),
        ("sql", ["-- one", "-- two"], 31),
    ],
)
def test_comments_above_a_definition_belong_to_it(language: str, above: list[str], begins: int) -> None:
    text = [*lines(30), *above, *lines(20)]
    found = divided(text, block(1, 30, "f"), block(33, 52, "g"), language=language)
    assert (found[-1][2], found[-1][1]) == ("g", 52)
    assert found[0][0] == 1
    own = [place for place in found if place[0] <= begins <= place[1]]
    assert own == [found[-1]]
    assert begins == 33 or found[-1][0] == begins


def test_comments_behind_a_definition_in_it_are_not_those_of_the_next() -> None:
    text = [*lines(29), "# of f", *lines(20)]
    assert divided(text, block(1, 30, "f"), block(31, 50, "g")) == [(1, 30, "f"), (31, 50, "g")]


@pytest.mark.parametrize(
    ("length", "sizes"),
    [
        *((4_000, [4_000]), (4_001, [4_000, 1]), (9_000, [4_000, 4_000, 1_000])),
        *((16_001, [4_000] * 4), (50_000, [4_000] * 4)),
    ],
)
def test_of_a_long_line_there_are_several_pieces_up_to_a_length(length: int, sizes: list[int]) -> None:
    line = "".join(chr(97 + at // 1000 % 26) for at in range(length))
    found = chunks_of(f"x\n{line}\ny", ["x", line, "y"], (), "")
    assert [(each.first, each.last) for each in found] == [(1, 1), *[(2, 2)] * len(sizes), (3, 3)]
    texts = [each.text for each in found[1:-1]]
    assert ([*map(len, texts)], "".join(texts)) == (sizes, line[:16_000])
