from typing import Any

import pytest

from codec.judge import RunResult, summary_of
from program.scorecard import CONSOLE_LINES, NARROWEST, draw, sum_up
from program.terminal import cells

WIDE = "日本語の出力"


def result(index: int = 1, **facts: Any) -> RunResult:
    usual: dict[str, Any] = {
        "status": "pass",
        "verdict": "AC",
        "duration_ms": 21,
        "memory_kb": 9_626,
        "actual": "",
        "actual_size": 0,
    }
    return RunResult(index=index, **(usual | {"console": ""} | facts))


def wrong(summary: str, index: int = 2) -> RunResult:
    return result(index, status="fail", verdict="WA", diff_summary=summary)


CRASHED = result(
    3,
    status="re",
    verdict="RE",
    reason="ended with exit code 1",
    console="Traceback (most recent call last):\n\tmain.py\nZeroDivisionError: division by zero\n",
)


def test_the_picture() -> None:
    picture = draw([result(), wrong("line 1: expected '4' got '3'"), CRASHED], width=80)
    assert picture.splitlines() == [
        "  case  verdict       time     memory",
        "     1  AC           21 ms     9.4 MB",
        "     2  WA           21 ms     9.4 MB  line 1: expected '4' got '3'",
        "     3  RE           21 ms     9.4 MB  ended with exit code 1",
        "        │ Traceback (most recent call last):",
        "        │     main.py",
        "        │ ZeroDivisionError: division by zero",
    ]


@pytest.mark.parametrize("width", [1, NARROWEST, 41, 64, 80, 200])
@pytest.mark.parametrize("said", [WIDE * 20, "x" * 300, "a few words " * 20, "e\u0301" * 100, "\x1b[2J" * 50])
def test_no_line_is_wider_than_the_terminal_and_no_difference_is_cut(width: int, said: str) -> None:
    shown = said.replace("\x1b", "\\x1b")
    picture = draw([wrong(said), result(3, status="re", verdict="RE", console=said)], width=width)
    assert max(map(cells, picture.splitlines())) <= max(width, NARROWEST)
    first_case = picture[: picture.index("     3  RE")]
    assert shown.replace(" ", "") in "".join(first_case.split())


def test_of_a_long_console_the_end_is_shown_and_the_rest_counted() -> None:
    console = "\n".join(f"line {number}" for number in range(1, 1_013))
    lines = draw([result(status="re", verdict="RE", console=console)], width=80).splitlines()
    assert lines[2] == "        │ … 1,002 more lines"
    assert lines[3:] == [f"        │ line {number}" for number in range(1_013 - CONSOLE_LINES, 1_013)]


def test_nothing_that_was_written_moves_the_cursor() -> None:
    picture = draw([wrong("\x1b[2J"), result(status="re", verdict="RE", console="\x1b]0;title\x07\r\x9b2J")], width=80)
    assert [each for each in picture if not each.isprintable() and each != "\n"] == []


def test_what_passed_says_nothing_of_its_console() -> None:
    assert "debug" not in draw([result(console="debug\n")], width=80)


def test_our_own_fault_is_said_once() -> None:
    fault = result(status="re", verdict="IE", reason="the disk has gone", console="the disk has gone", memory_kb=None)
    assert draw([fault], width=80).count("the disk has gone") == 1


def test_on_a_busy_machine_the_time_is_cpu_time_and_it_is_said() -> None:
    busy = [result(duration_ms=900, cpu_ms=31, contended=True)]
    assert "~31 ms" in draw(busy, width=80)
    assert "900" not in draw(busy, width=80)
    assert "busy" in list(sum_up(busy, 1, 900, width=80))[1]


@pytest.mark.parametrize(
    ("results", "asked", "milliseconds", "line"),
    [
        ([result()], 1, 21, "1 of 1 passed · 21 ms"),
        ([result(), wrong(""), CRASHED], 3, 9_999, "1 of 3 passed · 1 wrong · 1 crashed · 9,999 ms"),
        ([result()], 3, 12_345, "1 of 3 passed · 2 not run · 12.3 s"),
        ([result(status="timeout", verdict="TLE")], 1, 0, "0 of 1 passed · 1 too slow · 0 ms"),
    ],
)
def test_the_summary(results: list[RunResult], asked: int, milliseconds: int, line: str) -> None:
    assert list(sum_up(results, asked, milliseconds, width=80)) == [line]


def test_a_narrow_terminal_has_the_summary_in_several_lines() -> None:
    each = ("WA", "TLE", "MLE", "OLE", "RE", "CE", "IE")
    lines = list(sum_up([result(status="re", verdict=verdict) for verdict in each], 7, 5, width=NARROWEST))
    assert len(lines) > 1
    assert max(map(cells, lines)) <= NARROWEST


def test_colours_stand_around_words_and_take_no_room() -> None:
    plain, coloured = (draw([result(), CRASHED], width=80, colours=colours) for colours in (False, True))
    assert "\x1b[32mAC" in coloured
    assert "\x1b[31mRE" in coloured
    for style in ("0", "2", "31", "32"):
        coloured = coloured.replace(f"\x1b[{style}m", "")
    assert coloured == plain


def test_the_summary_on_the_wire_counts_by_status() -> None:
    summary = summary_of([result(), wrong(""), CRASHED, result(status="timeout", verdict="TLE")], 7)
    assert (summary.total, summary.passed, summary.failed, summary.timeouts, summary.res) == (4, 1, 1, 1, 1)
    assert summary.duration_ms == 7


@pytest.mark.parametrize("failing", range(1, 4))
def test_a_summary_is_one_line_wherever_it_fits(failing: int) -> None:
    results = [result(), *(wrong("other", index) for index in range(2, 2 + failing))]
    summary = "\n".join(sum_up(results, asked=9, milliseconds=12_345, width=1_000))
    room = cells(summary)
    assert list(sum_up(results, asked=9, milliseconds=12_345, width=room)) == [summary]
    assert len(list(sum_up(results, asked=9, milliseconds=12_345, width=room - 1))) == 2
