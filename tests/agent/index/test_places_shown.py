"""A hit of the index as the disk has it now: where it is looked for, which of its lines are shown, and what is said of
it."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from actors.agent.given import FileText
from actors.agent.index.searching import LivePlace, chosen_lines, live, shown
from actors.agent.index.stages import RanStage, places, ran, reason
from codec.agent.files import digest_of
from codec.agent.index.asking import FoundLine, IndexFindings, IndexHit, Reason, StageCount
from tests.agent.turn_kit import MemoryTree

LINES = [f"line {number}" for number in range(1, 31)]


def hit(first: int, last: int, symbol: str = "", *, path: str = "a.py", digest: str = "another") -> IndexHit:
    return IndexHit(path=path, first_line=first, last_line=last, score=1.0, symbol=symbol, digest=digest)


def text_of(lines: Sequence[str], first: int = 1, path: str = "a.py") -> FileText:
    return FileText(path, "".join(f"{line}\n" for line in lines), first, len(lines), "")


def having(**lines: str) -> str:
    """A file in which these lines (l7="...") are other ones."""
    changed = {int(name[1:]): line for name, line in lines.items()}
    return "".join(f"{changed.get(number, line)}\n" for number, line in enumerate(LINES, 1))


@pytest.mark.parametrize(
    ("text", "wanted", "words", "most", "found"),
    [
        # a passage is begun a quarter of its lines above the best one, or of what is shown, whichever is less
        (having(l10="word"), hit(1, 9), ("word",), 40, (8, 16)),
        (having(l10="word"), hit(1, 9), ("word",), 4, (9, 12)),
        (having(l10="word"), hit(1, 9), ("word",), 3, (10, 12)),
        (having(l1="word"), hit(1, 9), ("word",), 40, (1, 9)),
        (having(l2="word"), hit(1, 9), ("word",), 40, (1, 9)),
        (having(l10="word"), hit(5, 5), ("word",), 40, (10, 10)),
        (having(l30="word"), hit(1, 9), ("word",), 40, (28, 30)),
        # the first of those with the most words is the best, whatever their case
        (having(l5="word", l6="a word", l10="A WORD", l11="a word"), hit(1, 1), ("Word", "a "), 40, (6, 6)),
        (having(l5="nothing"), hit(1, 9), ("word",), 40, None),
        (having(l5="nothing"), hit(1, 9), (), 40, None),
        # a definition begins with its name, which counts more than all words
        (having(l5="one two three", l10="def Login"), hit(1, 9, "C.login"), ("one", "two", "three"), 40, (10, 18)),
        (having(l10="def login", l20="login one"), hit(1, 3, "C.login"), ("one",), 40, (20, 22)),
    ],
)
async def test_a_hit_of_a_file_that_has_changed_is_looked_for_by_its_name_and_its_words(
    text: str, wanted: IndexHit, words: tuple[str, ...], most: int, found: tuple[int, int] | None
) -> None:
    place = await live(MemoryTree({"a.py": text}), wanted, words, most)
    if found is None:
        assert place is None
        return
    assert place is not None
    assert (place.hit, place.first, place.last, place.text.first_line) == (wanted, *found, found[0])
    assert place.text.text.splitlines() == text.splitlines()[found[0] - 1 : found[1]]


@pytest.mark.parametrize("kind", ["", "function"])
async def test_a_file_that_has_a_hit_s_name_no_more_does_not_define_it_and_is_shown_for_its_words_alone(
    kind: str,
) -> None:
    wanted = replace(hit(1, 3, "C.login"), kind=kind)
    place = await live(MemoryTree({"a.py": having(l5="one")}), wanted, ("one",), 2)
    if kind:
        assert place is None
        return
    assert place is not None
    assert (place.hit, place.first, place.last) == (replace(wanted, symbol=""), 5, 6)


@pytest.mark.parametrize("digest", ["", digest_of(having().encode())])
@pytest.mark.parametrize(("most", "last"), [(1, 3), (4, 6), (5, 7), (40, 7)])
async def test_a_hit_of_a_file_that_is_as_it_was_is_where_it_was(digest: str, most: int, last: int) -> None:
    tree = MemoryTree({"a.py": having() if digest else having(l9="word")})
    place = await live(tree, hit(3, 7, digest=digest), ("word",), most)
    assert place is not None
    assert (place.first, place.last, place.text.text.splitlines()) == (3, last, LINES[2:last])


@pytest.mark.parametrize(
    ("lines", "symbol", "words", "most", "numbers"),
    [
        (("a", "b", "c"), "", (), 2, [5]),
        (("a", "b", "c"), "", ("z",), 2, [5]),
        (("a", "b", "c"), "", ("B",), 2, [6]),
        (("a", "b", "c"), "f", ("b",), 2, [5, 6]),
        (("a", "b", "b", "b"), "", ("b",), 2, [6, 7]),
        (("a", "b", "b", "b"), "f", ("b",), 2, [5, 6]),
        (("a", "b", "b", "b c"), "f", ("b", "c"), 2, [5, 8]),
        (("b", "b", "b b c", "b c"), "", ("b", "c"), 2, [7, 8]),
        (("b", "x", "b c"), "", ("b", "c"), 1, [7]),
    ],
)
def test_of_a_place_the_lines_with_the_most_words_are_shown_and_of_a_definition_its_first_one(
    lines: Sequence[str], symbol: str, words: Sequence[str], most: int, numbers: list[int]
) -> None:
    place = LivePlace(hit(5, 8, symbol), 5, 8, text_of(lines, 5))
    assert chosen_lines(place, words, most) == tuple(FoundLine(number, lines[number - 5]) for number in numbers)


@pytest.mark.parametrize("line", range(5, 29))
@pytest.mark.parametrize(("digest", "symbol", "kind"), [("", "", ""), ("another", "gone", ""), ("", "f", "function")])
@pytest.mark.parametrize("most", [4, 10, 40])
async def test_the_line_that_a_question_names_is_shown_with_those_around_it(
    line: int, digest: str, symbol: str, kind: str, most: int
) -> None:
    named = replace(hit(5, 28, symbol, digest=digest), line=line, kind=kind)
    place = await live(MemoryTree({"a.py": having()}), named, ("line 7",), most)
    assert place is not None
    assert place.first <= line <= place.last < place.first + most
    assert place.hit.symbol == (symbol if not digest else ""), "a changed file may not have it"
    (result,) = await shown(MemoryTree({"a.py": having()}), [named], ("line 7",))
    assert result.first_line == line <= result.last_line
    numbers = [each.number for each in result.lines]
    assert numbers == [number for number in range(line - 1, line + 3) if 5 <= number <= 28]
    assert [each.text for each in result.lines] == [LINES[number - 1] for number in numbers]


@pytest.mark.parametrize("kind", ["", "function"])
async def test_a_line_that_a_changed_file_does_not_have_any_more_is_not_shown(kind: str) -> None:
    named = replace(hit(25, 40, "f" if kind else ""), line=35, kind=kind)
    found = await shown(MemoryTree({"a.py": having(l7="def f word")}), [named], ("word",))
    assert [each.first_line <= 7 <= each.last_line for each in found] == [True]


@pytest.mark.parametrize(
    ("lines", "symbol", "verbatim", "words", "numbers"),
    [
        # what stands there word for word, also over two lines, before lines that only have the words
        (("a b", "c d a", 'raise "a b', 'c d"', "a b d"), "", "a b c d", "abcd", [5, 6]),
        (("a x b", "a", "b", "'a,", "b!'", "b"), "", "a b", "ab", [6, 7]),
        (("def f():", "a", "b", "A", "b.c"), "f", "a b", "abc", [5, 6, 7]),
        (("a", "b"), "", "b a", "ab", [5, 6]),  # it is gone since
        # the line in which a definition has its name, below what belongs to it
        (("@wraps(f)", "@cached", "def f():", "    a"), "f", "", "", [7]),
        (("    #[inline]", "    pub fn total(&self)", "    }"), "Cart.total", "", "", [6]),
        (("[Fact]", "public void Total()", "}"), "Cart.Total", "", "", [6]),
        (("template <class T>", "T total(T one)", "}"), "total", "", "", [6]),
        (("@wraps", "x"), "f", "", "", [5]),  # it is gone since
        (("def f():", "    f()"), "f", "", "", [5]),
    ],
)
def test_what_is_said_of_a_place_stands_in_the_lines_that_are_shown(
    lines: Sequence[str], symbol: str, verbatim: str, words: str, numbers: list[int]
) -> None:
    wanted = replace(hit(5, 4 + len(lines), symbol), verbatim=verbatim)
    place = LivePlace(wanted, 5, 4 + len(lines), text_of(lines, 5))
    shown_lines = chosen_lines(place, tuple(words), len(numbers))
    assert [each.number for each in shown_lines] == numbers


async def test_what_is_shown_of_a_hit_is_what_the_disk_has() -> None:
    here = hit(2, 3, "f", digest=digest_of(having().encode()))
    moved = IndexHit(
        path="b.py", first_line=2, last_line=3, score=2.0, symbol="g", kind="function", digest="another",
        reasons=(Reason("symbol_search", "defines g", 2.0),),
    )  # fmt: skip
    tree = MemoryTree({"a.py": having(), "b.py": having(l7="def g")})
    found = await shown(tree, [here, hit(1, 2, path="gone.py"), moved], ("line 3",))
    assert [(each.path, each.first_line, each.last_line) for each in found] == [("a.py", 2, 3), ("b.py", 7, 8)]
    assert found[0].lines == (FoundLine(2, "line 2"), FoundLine(3, "line 3"))
    second = found[1]
    assert (second.symbol, second.kind, second.score, second.reasons) == ("g", "function", 2.0, moved.reasons)
    assert second.lines == (FoundLine(7, "def g"),)


@pytest.mark.parametrize(
    ("hits", "most", "found"),
    [
        # those that share a line are one, and the first of them stands
        ([(1, 3), (3, 5)], 9, [(1, 3)]),
        ([(3, 5), (1, 3)], 9, [(3, 5)]),
        ([(1, 9), (2, 3)], 9, [(1, 9)]),
        ([(1, 3), (4, 5)], 9, [(1, 3), (4, 5)]),
        ([(4, 5), (1, 3)], 9, [(4, 5), (1, 3)]),
        ([(1, 1), (2, 2), (3, 3)], 2, [(1, 1), (2, 2)]),
        ([(1, 1), (1, 1), (3, 3)], 2, [(1, 1), (3, 3)]),
    ],
)
async def test_a_turn_is_given_the_first_places_that_do_not_lie_in_one_another(
    hits: Sequence[tuple[int, int]], most: int, found: Sequence[tuple[int, int]]
) -> None:
    tree = MemoryTree({"a.py": having(), "b.py": having()})
    given = [hit(first, last, digest="") for first, last in hits]
    assert [(each.first, each.last) for each in await places(tree, given, (), most)] == found
    apart = [hit(1, 3, digest="", path=path) for path in ("a.py", "b.py", "gone.py")]
    assert [each.hit.path for each in await places(tree, apart, (), 9)] == ["a.py", "b.py"]


def test_a_reason_says_the_three_that_count_most_once_each() -> None:
    def said(*reasons: tuple[str, float]) -> str:
        told = tuple(Reason("text_search", each, score) for each, score in reasons)
        return reason(IndexHit(path="a", first_line=1, last_line=1, score=1.0, reasons=told))

    assert said() == "goes with the question"
    assert said(("a", 1.0)) == "a"
    assert said(("a", 1.0), ("b", 3.0), ("a", 2.0)) == "b and a"
    assert said(("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0)) == "d, c and b"


def test_each_stage_says_what_it_has_found_for_the_first_words() -> None:
    stages = (
        StageCount("symbol_search", 1),
        StageCount("text_search", 2),
        StageCount("vector_search", 1),
        StageCount("vector_search", 2),
        StageCount("text_search", 0),
        StageCount("vector_search", 0),
        StageCount("reranking", 1),
        StageCount("reranking", 0),
    )
    why = ran(IndexFindings(stages=stages[-2:], by_words_only="Why."), ("a",))
    assert [each.sentence for each in why] == [
        "Ordered 1 place by how likely they are meant. Why.",
        "Ordered 0 places by how likely they are meant. Why.",
    ]
    told = ran(IndexFindings(stages=stages), ("a", "b", "c", "d", "e"))
    words = "a, b, c and d"
    assert told == [
        RanStage(each.stage, each.count, sentence)
        for each, sentence in zip(
            stages,
            (
                f"Found 1 definition for {words}",
                f"Found 2 passages for {words}",
                f"Found 1 passage that is about it for {words}",
                f"Found 2 passages that are about it for {words}",
                f"Found no passage for {words}",
                f"Found no passage that is about it for {words}",
                "Ordered 1 place by how likely they are meant",
                "Ordered 0 places by how likely they are meant",
            ),
            strict=True,
        )
    ]
