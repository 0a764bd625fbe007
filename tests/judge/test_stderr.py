"""Standard error as it is shown."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.judge.stderr import SHORT, Consoles, console

WARNING = b"Warning: cannot find your CPU L2 & L3 cache size in /proc/cpuinfo\n"
TRACE = b"""\
Traceback (most recent call last):
  File "/w/main.py", line 1, in <module>
    raise ValueError("Warning: cannot find your CPU L2 cache size")
ValueError: Warning: cannot find your CPU L2 cache size
"""

FILTERED = [
    (b"", ""),
    (WARNING, ""),
    (WARNING.strip(), ""),
    (WARNING.replace(b"\n", b"\r\n") + b"a", "a"),
    (WARNING.lower() + b"debug\n", "debug\n"),
    (b"debug\n" + WARNING + b"more\n", "debug\nmore\n"),
    (WARNING + TRACE, TRACE.decode()),
    (TRACE, TRACE.decode()),
    (b"Warning: cannot find your CPU\ncache size\n", "Warning: cannot find your CPU\ncache size\n"),
    (b"Warning: deprecated\n", "Warning: deprecated\n"),
    (b"\xff\n", "�\n"),
    (b"  spaces stay \n\n", "  spaces stay \n\n"),
]


@pytest.mark.parametrize(("written", "shown"), FILTERED)
def test_only_the_warning_is_left_out(written: bytes, shown: str) -> None:
    assert console(written) == shown


def test_what_is_too_long_loses_its_middle() -> None:
    assert (
        console(b"a" * 50 + b"b" * 50 + b"ValueError", limit=40)
        == f"{'a' * 10}\n[70 bytes left out]\n{'b' * 20}ValueError"
    )


def test_what_was_lost_on_the_way_is_said() -> None:
    assert console(b"begin", b"end", 1_000_008) == "begin\n[1,000,000 bytes left out]\nend"
    assert console(b"begin", b"end", 8) == "beginend"


def test_both_cuts_are_counted() -> None:
    assert console(b"a" * 100, b"b" * 100, 300, limit=40) == f"{'a' * 10}\n[260 bytes left out]\n{'b' * 30}"


@pytest.mark.parametrize(
    ("tail", "shown"),
    [
        (b"\xa9" * 8, "�" * 8),
        (b"\xa9" * 4, "�" * 4),
        (b"\xa9" * 3, "�" * 3),
        (b"\xa9" * 4 + b"end", "����end"),
        (b"\xa9" * 3 + b"end", "end"),
        (b"\xa9", "�"),
        (b"", ""),
    ],
)
def test_what_is_no_rest_of_a_character_is_not_taken_for_one(tail: bytes, shown: str) -> None:
    assert console(b"begin", tail, 1_000) == f"begin\n[{995 - len(tail)} bytes left out]\n{shown}"


def test_no_character_is_cut_in_two() -> None:
    text = "é".encode() * 100
    for limit in range(20, 40):
        assert "�" not in console(text, limit=limit)


def test_a_long_line_that_begins_like_the_warning_is_read_in_one_go() -> None:
    line = b"Warning: cannot find your CPU " + b"cache" * 50_000
    assert console(line) == line.decode()


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 30_000)), max_size=30))
def test_those_of_all_results_together_are_bounded_and_each_keeps_its_ends(lengths: list[tuple[int, int]]) -> None:
    most = 40_000
    consoles, shown = Consoles(most), dict[int, str]()
    for index, length in lengths:
        text = "a" * (length // 2) + "z" * (length - length // 2)
        others = sum(len(each) for other, each in shown.items() if other != index)
        shown[index] = consoles.fitted(index, text)
        if length <= SHORT or others + length <= most:
            assert shown[index] == text
        else:
            left_out = f"\n[{length - SHORT:,} bytes left out]\n"
            assert shown[index] == "a" * (SHORT // 4) + left_out + "z" * (SHORT - SHORT // 4)
    assert sum(map(len, shown.values())) <= most + 4 * (SHORT + 100)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.integers(8, 100))
def test_whatever_was_written_can_be_shown(written: bytes, limit: int) -> None:
    shown = console(written, limit=limit)
    assert len(written) > limit or shown == written.decode("utf-8", "replace")
