"""A difference in a sentence."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.judge.checkers import Differs, compare
from actors.judge.difference import BEFORE, LONGEST, diff_summary
from codec.judge import Compare, CompareMode


def summary(expected: bytes, actual: bytes, mode: CompareMode = "exact", *, case_sensitive: bool = True) -> str:
    found = compare(expected, actual, Compare(mode=mode, case_sensitive=case_sensitive))
    assert isinstance(found, Differs)
    return diff_summary(found)


EXACT = [
    (b"4\n", b"3\n", "line 1: expected '4' got '3'"),
    (b"1\n2\n", b"1\n", "line 2: expected '2' got end of output"),
    (b"1\n", b"1\n2\n", "line 2: expected end of output got '2'"),
    (b"1\n", b"1\n\n", "line 2: expected end of output got an empty line"),
    (b"1\n\n", b"1\n", "line 2: expected an empty line got end of output"),
    (b"1\n", b"1\n  \n", "line 2: expected end of output got '  '"),
    (b"1\n", b"", "line 1: expected '1' got no output at all"),
    (b"", b"1\n", "line 1: expected end of output got '1'"),
    (b"1\n", b"1", "line 1: expected '1\\n' got '1' (the newline at the end is missing)"),
    (b"1", b"1\n", "line 1: expected '1' got '1\\n' (there is a newline too many at the end)"),
    (b"1 2\n", b"1 2 \n", "line 1: expected '1 2' got '1 2 ' (only blanks differ in this line)"),
    (b"a\tb\n", b"a b\n", "line 1: expected 'a\\tb' got 'a b' (only blanks differ in this line)"),
    (b"3\n", b"3\r", "line 1: expected '3' got '3\\r' (only blanks differ in this line)"),
    (b"a\tb\n", b"a\tc\n", "line 1: expected 'a\tb' got 'a\tc'"),
    (b"Yes\n", b"YES\n", "line 1: expected 'Yes' got 'YES' (only upper and lower case differ)"),
    (b"a\x00\n", b"a\x01\n", "line 1: expected 'a\\x00' got 'a\\x01'"),
    (b"\xff\n", b"\xfe\n", "line 1: expected '\\xff' got '\\xfe'"),
    (b"\xff\n", b"\\xff\n", "line 1: expected '\\xff' got '\\\\xff'"),
    (
        "1\u00a02\n".encode(),
        b"1 2\n",
        "line 1: expected '1\\xa02' got '1 2' (character 2: NO-BREAK SPACE U+00A0 and SPACE U+0020)",
    ),
    (
        "а\n".encode(),
        b"a\n",
        "line 1: expected 'а' got 'a' "
        "(character 1: CYRILLIC SMALL LETTER A U+0430 and LATIN SMALL LETTER A U+0061)",
    ),
    ("数\n".encode(), b"", "line 1: expected '数' got no output at all"),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "actual", "sentence"), EXACT)
def test_an_exact_difference_can_be_understood(expected: bytes, actual: bytes, sentence: str) -> None:
    assert summary(expected, actual) == sentence


OTHERS: list[tuple[CompareMode, bytes, bytes, str]] = [
    ("trim", b"a\n\nb\n", b"a\nb\n", "line 2: expected '' got 'b'"),
    ("trim", b"a b \n", b"a  b\n", "line 1: expected 'a b' got 'a  b' (only blanks differ in this line)"),
    ("tokens", b"1 2\n3\n", b"1\n2 4\n", "line 2: expected '3' got '4'"),
    ("tokens", b"1\n2\n", b"1 3\n", "line 2: expected '2' got '3' in line 1"),
    ("tokens", b"1 2", b"1", "line 1: expected '2' got end of output"),
    ("tokens", b"1", b"1 2", "line 1: expected end of output got '2'"),
    ("tokens", b"1", b"", "line 1: expected '1' got end of output"),
    ("float", b"0.5", b"0.75", "line 1: expected '0.5' got '0.75' (apart by 0.25, allowed is 1e-06)"),
    ("float", b"1e9", b"1.1e9", "line 1: expected '1e9' got '1.1e9' (apart by 1e+08, allowed is 1e+03)"),
    ("float", b"1000000", b"1000001", "line 1: expected '1000000' got '1000001' (whole numbers must be equal)"),
    ("float", b"1e400", b"1e500", "line 1: expected '1e400' got '1e500'"),
    ("float", b"1_000", b"1000", "line 1: expected '1_000' got '1000'"),
    ("float", b"nan", b"0.5", "line 1: expected 'nan' got '0.5'"),
]


@pytest.mark.parametrize(("mode", "expected", "actual", "sentence"), OTHERS)
def test_a_difference_of_any_mode_can_be_understood(
    mode: CompareMode, expected: bytes, actual: bytes, sentence: str
) -> None:
    assert summary(expected, actual, mode) == sentence


def test_case_that_is_not_minded_is_not_blamed() -> None:
    assert summary(b"Yes\nNo\n", b"YES\nyes\n", case_sensitive=False) == "line 2: expected 'No' got 'yes'"
    assert summary(b"Yes\n", b"YES", case_sensitive=False) == (
        "line 1: expected 'Yes\\n' got 'YES' (the newline at the end is missing)"
    )
    assert summary("Straße a".encode(), b"STRASSE b", case_sensitive=False) == (
        "line 1: expected 'Straße a' got 'STRASSE b'"
    )
    assert summary("ŉ a".encode(), "ŉ b".encode(), case_sensitive=False) == "line 1: expected 'ʼn a' got 'ʼn b'"


def test_of_a_long_line_the_part_is_shown_where_it_differs() -> None:
    told = summary(b"1 " * 500 + b"2 " + b"1 " * 500, b"1 " * 500 + b"3 " + b"1 " * 500)
    match = re.fullmatch(r"line 1: expected '(….*…)' got '(….*…)'", told)
    assert match
    assert len(match[1]) == len(match[2]) == LONGEST
    assert match[1][40:50] == " 2 1 1 1 1"
    assert match[2][40:50] == " 3 1 1 1 1"


@pytest.mark.parametrize("length", [0, 20, 200])
@pytest.mark.parametrize("each", [b"x", "ä".encode()], ids=["in one byte", "in two"])
def test_wherever_in_a_line_the_first_difference_is_it_is_shown(length: int, each: bytes) -> None:
    for alike in (*range(3 * LONGEST), 1000, 3000):
        told = summary(each * alike + b"a" + each * length, each * alike + b"b" + each * length)
        match = re.fullmatch(r"line 1: expected '(.*)' got '(.*)'", told)
        assert match
        assert len(match[1]) == len(match[2]) <= LONGEST
        place = next(at for at, (one, other) in enumerate(zip(match[1], match[2], strict=True)) if one != other)
        assert (match[1][place], match[2][place]) == ("a", "b")
        if len(each) > 1:  # the part around it is measured in bytes
            assert place == alike or BEFORE // 2 <= place <= BEFORE + 1
        else:
            assert place in ((alike,) if alike < LONGEST - BEFORE else (BEFORE, BEFORE + 1))
            assert match[1].startswith("…") is (alike >= LONGEST - BEFORE)


def test_a_character_is_not_counted_from_the_middle_of_a_line() -> None:
    told = summary(b"1 " * 200 + "а".encode(), b"1 " * 200 + b"a")
    assert told.endswith("(where they part: CYRILLIC SMALL LETTER A U+0430 and LATIN SMALL LETTER A U+0061)")


def test_a_long_line_of_characters_that_cannot_be_seen_is_shown_where_it_differs() -> None:
    told = summary(b"\x00" * 90 + b"a", b"\x00" * 90 + b"b")
    assert re.fullmatch(r"line 1: expected '….{40}a' got '….{40}b'", told)


lines = st.lists(
    st.sampled_from([b"a", b"A", b"b", b" ", b"\t", b"\n", b"\r\n", b"\x00", b"\\", b"\xff", "é".encode(), b"0" * 60])
    | st.binary(max_size=3),
    max_size=12,
).map(b"".join)
modes: st.SearchStrategy[CompareMode] = st.sampled_from(["exact", "trim", "tokens", "float"])


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(lines, lines, lines, modes, st.booleans())
def test_no_summary_shows_two_things_that_look_the_same(
    begin: bytes, one: bytes, other: bytes, mode: CompareMode, case_sensitive: bool
) -> None:
    found = compare(begin + one, begin + other, Compare(mode=mode, case_sensitive=case_sensitive))
    if isinstance(found, Differs):
        told = diff_summary(found)
        assert told.startswith(f"line {found.line}: expected ")
        assert told.replace("\t", " ").isprintable()
        assert len(told) < 2 * LONGEST + 160
        quoted = re.fullmatch(r"line \d+: expected '(.*)' got '(.*)'(?: in line \d+)?(?: \(.*\))?", told)
        assert quoted is None or quoted[1] != quoted[2]
