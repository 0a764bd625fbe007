"""Whether an output is the expected one: tables, and laws against a plain reading of each mode."""

import re
import tracemalloc
from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.judge import checkers
from actors.judge.checkers import Differs, Same, common_length, compare, near
from codec.judge import Compare, CompareMode
from tests.plenty import plenty

SAME: list[tuple[CompareMode, bytes, bytes]] = [
    ("exact", b"", b""),
    ("exact", b"a\r\nb\r\n", b"a\nb\n"),
    ("exact", b"a\nb\n", b"a\r\nb\n"),
    ("trim", b"a \t\nb", b"a\nb\n"),
    ("trim", b"a\n", b"a\n \n\n\t\n"),
    ("trim", b"", b"\n\n"),
    ("trim", b"a\r\n", b"a"),
    ("tokens", b"1 2\n3\n", b" 1\n\n2\t3"),
    ("tokens", b"", b" \n"),
    ("float", b"0.5\n", b".5000001\n"),
    ("float", b"1e3", b"1000.0"),
    ("float", b"YES 1.0", b"YES 1"),
    ("float", b"1000000.0", b"1000000.9"),
]


@pytest.mark.parametrize(("mode", "expected", "actual"), SAME)
def test_what_the_mode_does_not_mind_is_the_same(mode: CompareMode, expected: bytes, actual: bytes) -> None:
    assert compare(expected, actual, Compare(mode=mode)) == Same()


DIFFERENT: list[tuple[CompareMode, bytes, bytes, int, bytes | None, bytes | None]] = [
    ("exact", b"1\n2\n", b"1\n3\n", 2, b"2", b"3"),
    ("exact", b"1\n", b"1", 1, b"1", b"1"),
    ("exact", b"1\n2\n", b"1\n", 2, b"2", None),
    ("exact", b"1\n", b"1\n2\n", 2, None, b"2"),
    ("exact", b"1", b"1\n2\n", 2, None, b"2"),
    ("exact", b"1\n", b"1\n\n", 2, None, b""),
    ("exact", b"1\n", b"", 1, b"1", None),
    ("exact", b"a \n", b"a\n", 1, b"a ", b"a"),
    ("exact", b"a\r", b"a\n", 1, b"a\r", b"a"),
    ("exact", b"a\n", b"A\n", 1, b"a", b"A"),
    ("trim", b"a\n\nb\n", b"a\nb\n", 2, b"", b"b"),
    ("trim", b"a\n\n", b" a\n", 1, b"a", b" a"),
    ("trim", b"a\n\n\nb", b"a \n \n", 2, b"", None),
    ("tokens", b"1 2\n3", b"1\n2 4", 2, b"3", b"4"),
    ("tokens", b"12 3", b"1 23", 1, b"12", b"1"),
    ("tokens", b"1 2", b"1 2\n\n3", 3, None, b"3"),
    ("tokens", b"0.5", b"0.50", 1, b"0.5", b"0.50"),
    ("float", b"1.0\n2.0", b"1.0\n2.1", 2, b"2.0", b"2.1"),
    ("float", b"YES", b"NO", 1, b"YES", b"NO"),
]


def lines(found: Differs) -> tuple[bytes | None, bytes | None]:
    """What is shown of either side."""
    return found.expected.text if found.expected else None, found.actual.text if found.actual else None


@pytest.mark.parametrize(("mode", "expected", "actual", "line", "wanted", "came"), DIFFERENT)
def test_the_first_difference_is_found(
    mode: CompareMode, expected: bytes, actual: bytes, line: int, wanted: bytes | None, came: bytes | None
) -> None:
    found = compare(expected, actual, Compare(mode=mode))
    assert isinstance(found, Differs)
    assert (found.line, *lines(found)) == (line, wanted, came)


FOLDED = [
    (b"Yes\n", b"YES\n", True),
    ("ÄÖ\n".encode(), "äö\n".encode(), True),
    ("straße".encode(), b"STRASSE", True),
    (b"\xff\n", b"\xff\n", True),
    (b"\xc4\n", b"\xe4\n", False),
    (b"a\n", b"b\n", False),
]


@pytest.mark.parametrize(("expected", "actual", "same"), FOLDED)
@pytest.mark.parametrize("mode", ["exact", "trim", "tokens", "float"])
def test_case_is_minded_only_if_it_is_to_be(mode: CompareMode, expected: bytes, actual: bytes, same: bool) -> None:
    assert isinstance(compare(expected, actual, Compare(mode=mode, case_sensitive=False)), Same) is same
    assert isinstance(compare(expected, actual, Compare(mode=mode)), Same) is (expected == actual)


NEAR = [
    (b"1.0", b"1.0000009", 1e-6, True),
    (b"1.0", b"1.0000011", 1e-6, False),
    (b"0.0", b"0.0000009", 1e-6, True),
    (b"0", b"-0.0", 0, True),
    (b"1e6", b"1000000.9", 1e-6, True),
    (b"1e6", b"1000001.1", 1e-6, False),
    (b"-1e6", b"-1000000.9", 1e-6, True),
    (b"0.1", b"0.10", 0, True),
    (b"0.1", b"0.1000000000000000000001", 0, False),
    (b"5", b"5.0000001", 1e-6, True),
    (b"5", b"5", 0, True),
    (b"007", b"+7", 0, True),
    (b"-0", b"0", 0, True),
    (b"1000000", b"1000001", 1e-3, False),
    (b"9" * 5000, b"9" * 5000, 0, True),
    (b"9" * 5000, b"9" * 4999 + b"8", 1e-6, False),
    (b"9" * 5000 + b".0", b"9" * 4999 + b"8", 1e-6, True),
    (b"1e400", b"1.0000001e400", 1e-6, True),
    (b"1e400", b"2e400", 1e-6, False),
    (b"1e400", b"1e500", 1e-6, False),
    (b"1e-400", b"0.0", 1e-6, True),
    (b"1e-400", b"0.0", 0, False),
    (b"1e999999999", b"1e999999999", 0, True),
    (b"1e999999999", b"1e999999998", 0.5, False),
    (b"1e9999999999", b"1e9999999999", 0, False),
    (b"nan", b"nan", 1, False),
    (b"inf", b"inf", 1, False),
    (b"inf", b"1e400", 1, False),
    (b"1_000.0", b"1000.0", 1, False),
    ("١".encode(), b"1", 1, False),
    (b"0x10", b"16", 1, False),
    (b"1.5.2", b"1.5", 1, False),
    (b".", b"0", 1, False),
    (b"1e", b"1", 1, False),
    (b"1,5", b"1.5", 1, False),
    (b"", b"", 1, False),
    (b"1" * 100_001, b"1" * 100_001, 1, False),
]


@pytest.mark.parametrize(("expected", "actual", "tolerance", "close"), NEAR)
def test_two_words_are_near_only_if_both_are_numbers_and_close(
    expected: bytes, actual: bytes, tolerance: float, close: bool
) -> None:
    assert near(expected, actual, tolerance) is close


@pytest.mark.parametrize("word", [b"nan", b"inf", b"-inf", b"1_000", b"1e400"])
def test_a_word_that_is_no_number_is_itself(word: bytes) -> None:
    assert compare(word + b" 1.0", word + b" 1.0000000001", Compare(mode="float")) == Same()


# --- laws ------------------------------------------------------------------------------------------------------------


def plain(text: bytes, mode: CompareMode) -> list[bytes]:
    """What a mode minds of a text, read plainly."""
    if mode == "exact":
        return text.replace(b"\r\n", b"\n").split(b"\n")
    if mode == "tokens":
        return text.split()
    lines = [line.rstrip() for line in text.split(b"\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


modes: st.SearchStrategy[CompareMode] = st.sampled_from(["exact", "trim", "tokens"])
texts = st.lists(
    st.sampled_from([b"a", b"b", b"ab", b" ", b"\n", b"\r\n", b"\r", b"\t", "é".encode()]), max_size=30
).map(b"".join)


@pytest.mark.slow
@pytest.mark.parametrize(("block", "step"), [(1 << 20, 1 << 16), (1, 1), (4, 2), (7, 3)])
def test_the_fast_reading_agrees_with_the_plain_one(block: int, step: int) -> None:
    @settings(max_examples=plenty(70), deadline=None)
    @given(texts, texts, modes, st.booleans())
    @example(b"a\n\n\nb", b"a\n\n\nb\n", "trim", True)
    @example(b"a", b"a\nb", "exact", True)
    def agree(expected: bytes, actual: bytes, mode: CompareMode, alike: bool) -> None:
        actual = expected[: len(expected) // 2] + actual if alike else actual
        found = compare(expected, actual, Compare(mode=mode))
        wanted, came = plain(expected, mode), plain(actual, mode)
        assert isinstance(found, Same) is (wanted == came)
        if isinstance(found, Differs) and mode == "tokens":
            at = next(
                (n for n, (x, y) in enumerate(zip(wanted, came, strict=False)) if x != y), min(len(wanted), len(came))
            )
            assert lines(found) == tuple(each[at] if at < len(each) else None for each in (wanted, came))
        elif isinstance(found, Differs):
            before = found.line - 1
            assert _padded(wanted, before)[:before] == _padded(came, before)[:before]
            if found.only_newline:
                assert wanted[found.line - 1] == came[found.line - 1]
            else:
                assert lines(found) == (_line(wanted, found.line, mode), _line(came, found.line, mode))
                assert len(set(lines(found))) == 2

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkers, "BLOCK", block)
        patch.setattr(checkers, "STEP", step)
        agree()


def _padded(lines: list[bytes], length: int) -> list[bytes]:
    """A trimmed text may have had more lines, which were empty."""
    return lines + [b""] * (length - len(lines))


def _line(lines: list[bytes], number: int, mode: CompareMode) -> bytes | None:
    """The line of this number; an exact text that ends in a newline has none after it."""
    ended = len(lines) - (mode == "exact" and lines[-1] == b"")
    return lines[number - 1] if number <= ended else None


@pytest.mark.slow
@settings(max_examples=plenty(70), deadline=None)
@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40))
def test_the_common_length_is_the_longest(begin: bytes, one: bytes, other: bytes) -> None:
    one, other = begin + one, begin + other
    length = common_length(one, other)
    assert one[:length] == other[:length]
    assert length == min(len(one), len(other)) or one[length] != other[length]


numbers = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=4)


@pytest.mark.slow
@settings(max_examples=plenty(70), deadline=None)
@given(numbers, numbers, st.sampled_from([0, 1e-13, 1e-6, 1e-2, 1]))
def test_near_is_what_it_says(expected: Decimal, actual: Decimal, tolerance: float) -> None:
    close = abs(expected - actual) <= Decimal(tolerance) * max(Decimal(1), abs(expected))
    assert near(f"{expected:f}".encode(), f"{actual:f}".encode(), tolerance) is close


ODD = """
    1 2 -1 +1 01 1. .5 1.5 1.25 1.2500001 -0 0.0 1e5 1E5 100000 1e-7 1e0000000001 1e0000000002 1e400 1e999999999 -1e400
    nan inf 1_0 1,2 , . - 1.2.3 --1 1e e5 1e+ ١ x 1e300 1.0000000001e300 123456789012345678901234567890
"""
odd = st.sampled_from(ODD.split())
words = st.one_of(odd, st.floats(-10, 10).map(repr), numbers.map(str), st.integers(-3, 3).map(str)).map(str.encode)
alike = words.map(lambda word: (word, word + b"1"))
pairs = st.lists(st.one_of(st.tuples(words, words), alike, st.tuples(words)), max_size=20)


@pytest.mark.slow
@pytest.mark.parametrize("many", [1, 3, 1_000])
def test_many_numbers_at_a_time_are_as_near_as_each_by_itself(many: int) -> None:
    @settings(max_examples=plenty(130), deadline=None)
    @given(pairs, st.sampled_from([0, 1e-13, 1e-9, 1e-6, 1e-2, 1]))
    @example([(b"1,2", b"1.5")], 1)
    @example([(b"1.5", b"1,2")], 1)
    @example([(b"0.5", b".5"), (b"1", b"2.0")], 1e-6)
    @example([(b"1e400", b"1e401")], 1e-6)
    @example([(b"1e0000000001", b"10.0")], 1e-6)
    def agree(both: list[tuple[bytes, ...]], tolerance: float) -> None:
        pieces = [(each[0], each[-1]) for each in both]
        apart = [step for step, (word, said) in enumerate(pieces) if word != said and not near(word, said, tolerance)]
        expected, actual = (b"\n".join(each) for each in zip(*pieces, strict=True)) if pieces else (b"", b"")
        found = compare(expected, actual, Compare(mode="float", tolerance=tolerance))
        assert (found.line - 1 if isinstance(found, Differs) else None) == (apart[0] if apart else None)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkers, "MANY", many)
        agree()


# --- size ------------------------------------------------------------------------------------------------------------


def peak(expected: bytes, actual: bytes, mode: CompareMode) -> int:
    tracemalloc.start()
    try:
        compare(expected, actual, Compare(mode=mode))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["exact", "trim", "tokens", "float"])
def test_no_copy_of_a_large_output_is_made(mode: CompareMode) -> None:
    lines = b"123456 789\n" * 2_000_000
    assert peak(lines, lines[:1] + lines[1:], mode) < 1_000
    assert peak(lines, lines[:-2] + b"8\n", mode) < 1_000_000
    assert peak(lines, lines.replace(b"\n", b"\r\n"), "exact") < 8_000_000


@pytest.mark.parametrize("mode", ["exact", "trim", "tokens", "float"])
def test_only_a_part_of_a_long_line_is_kept(mode: CompareMode) -> None:
    found = compare(b"7" * 2_000_000 + b"1", b"7" * 2_000_000 + b"2", Compare(mode=mode))
    assert isinstance(found, Differs)
    assert found.expected is not None
    assert found.actual is not None
    assert re.fullmatch(rb"7{40}1", found.expected.text)
    assert re.fullmatch(rb"7{40}2", found.actual.text)
    assert not found.expected.starts
    assert found.expected.ends
