"""How numbers are written where the terminal shows them: at each border between two ways to write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.judge import RunResult
from program import drawing, scorecard
from program.terminal import cells, fitted


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0, "0"), (0.04, "0"), (0.5, "0.5"), (1, "1"), (9.94, "9.9"), (9.95, "10"), (10.4, "10"), (9_999.4, "9999"),
        (9_999.5, "10k"), (123_000, "123k"), (999_499, "999k"), (999_500, "1.0M"), (2_540_000, "2.5M"),
    ],
)  # fmt: skip
def test_a_rate_is_short(number: float, written: str) -> None:
    assert drawing._short(number) == written


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (-3, "0 s"), (0, "0 s"), (0.4, "0 s"), (59, "59 s"), (60, "1 min"), (119, "1 min"), (3_599, "59 min"),
        (3_600, "1 h 0 min"), (3_661, "1 h 1 min"), (7_322, "2 h 2 min"), (86_399, "23 h 59 min"), (86_400, "1 d 0 h"),
        (90_000, "1 d 1 h"), (180_000, "2 d 2 h"),
    ],
)  # fmt: skip
def test_a_time_has_two_units_at_most(seconds: float, written: str) -> None:
    assert drawing._duration(seconds) == written


@pytest.mark.parametrize(("number", "written"), [(0, "0 cats"), (1, "1 cat"), (2, "2 cats"), (12_345, "12,345 cats")])
def test_one_is_not_many(number: int, written: str) -> None:
    assert drawing._count(number, "cat") == written


@pytest.mark.parametrize(
    ("milliseconds", "written"),
    [(0, "0 ms"), (999, "999 ms"), (9_999, "9,999 ms"), (10_000, "10.0 s"), (61_250, "61.2 s"), (3e6, "3,000.0 s")],
)
def test_how_long_a_case_took(milliseconds: int, written: str) -> None:
    assert scorecard._time(milliseconds) == written


@pytest.mark.parametrize(
    ("kilobytes", "written"),
    [(None, ""), (0, ""), (1, "0.0 MB"), (9_626, "9.4 MB"), (102_348, "99.9 MB"), (102_349, "100 MB"),
     (2_097_152, "2,048 MB")],
)  # fmt: skip
def test_how_much_memory_a_case_took(kilobytes: int | None, written: str) -> None:
    assert scorecard._memory(kilobytes) == written


@pytest.mark.parametrize(
    ("contended", "cpu_ms", "written"), [(False, 7, "21 ms"), (True, 7, "~7 ms"), (True, None, "21 ms")]
)
def test_on_a_busy_machine_processor_time_is_told_where_it_is_known(
    contended: bool, cpu_ms: int | None, written: str
) -> None:
    result = RunResult(
        index=1, status="pass", verdict="AC", duration_ms=21, memory_kb=1, actual="", actual_size=0, console="",
        cpu_ms=cpu_ms, contended=contended,
    )  # fmt: skip
    assert scorecard._time_of(result) == written


texts = st.text(alphabet="ab 編é\u0301-", max_size=60)


@given(texts, st.integers(2, 30))
def test_wrapping_loses_nothing_but_blanks_and_no_line_is_too_wide(text: str, width: int) -> None:
    lines = list(scorecard._wrapped(text, width))
    assert all(cells(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 5, []),
        ("abcde", 5, ["abcde"]),
        ("abcdef", 5, ["abcde", "f"]),
        ("abc def", 5, ["abc", "def"]),
        ("abcde fg", 5, ["abcde", "fg"]),
        ("a bcdefg", 5, ["a bcd", "efg"]),
        ("編編編", 5, ["編編", "編"]),
    ],
)
def test_lines_are_broken_at_blanks_in_their_second_half(text: str, width: int, lines: list[str]) -> None:
    assert list(scorecard._wrapped(text, width)) == lines


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abc", 5, "abc  "), ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("abc", 1, "…"), ("abc", 0, ""), ("", 2, "  "),
        ("編編", 4, "編編"), ("編編", 3, "編…"), ("編編", 2, "… "), ("a編", 2, "a…"), ("編編編", 4, "編… "),
    ],
)  # fmt: skip
def test_a_text_is_fitted_to_the_column(text: str, width: int, shown: str) -> None:
    assert fitted(text, width) == shown


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["ab", "cd", "ef"], ["ab cd", "ef"]),
        (["abcde"], ["abcde"]),
        (["abcdef", "g"], ["abcd…", "g"]),
        (["a", "bcdefg"], ["a", "bcde…"]),
        ([], [""]),
    ],
)
def test_facts_that_find_no_room_go_to_the_next_line(words: list[str], lines: list[str]) -> None:
    assert list(drawing._wrapped(words, 5, " ")) == lines
