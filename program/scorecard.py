"""Draws the results of a run as text. `draw` is a pure function of the results and the width.

    case  verdict      time     memory
       1  AC          21 ms     9.4 MB
       2  WA          20 ms     9.4 MB  line 1: expected '4' got '3'
       3  RE          24 ms     9.6 MB  ended with exit code 1
          │ Traceback (most recent call last):
          │   File "main.py", line 2, in <module>
          │ ZeroDivisionError: division by zero

The reason for a failure is at the end of the row if all of it fits there, and below the row otherwise; it is never cut.
Of a case's console output only the end is shown, because the last line of a traceback says what happened.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from codec.judge import RunResult, Status, Verdict
from codec.printable import printable
from program.terminal import cells, fitted

NARROWEST = 40
CONSOLE_LINES = 10
LONGEST_LINE = 400
"""Characters shown of one console line, which may have a million."""
CONTENDED = "~"

_BOLD, _DIM, _RED, _GREEN, _YELLOW = "1", "2", "31", "32", "33"
_COLOURS: dict[Status, str] = {"pass": _GREEN, "fail": _RED, "timeout": _YELLOW, "re": _RED}
_WORDS: dict[Verdict, str] = {
    "WA": "wrong",
    "TLE": "too slow",
    "MLE": "over the memory limit",
    "OLE": "wrote too much",
    "RE": "crashed",
    "CE": "no program",
    "IE": "not judged",
}
_ROW = "{:>6}  {}  {:>9}  {:>9}"
_VERDICT = 7
_BESIDE = 39
"""The columns of a row, including the gap after it."""
_BELOW = 8

_Paint = Callable[[str, str], str]


def draw(results: Sequence[RunResult], *, width: int, colours: bool = False) -> str:
    """The table, without a newline at its end. No line is wider than `width` (or `NARROWEST`)."""
    width = max(width, NARROWEST)
    paint = _painted if colours else _plain
    return "\n".join(_table(results, width, paint))


def sum_up(
    results: Sequence[RunResult],
    asked: int,
    milliseconds: int,
    left_out: str | None = None,
    *,
    width: int,
    colours: bool = False,
) -> Iterator[str]:
    """The summary below the table, wrapped into as many lines as it needs. `left_out`: a sentence about tests that are
    none."""
    passed = sum(result.status == "pass" for result in results)
    count = Counter(result.verdict for result in results)
    parts = [f"{passed} of {asked} passed"]
    parts += [f"{count[verdict]} {word}" for verdict, word in _WORDS.items() if count[verdict]]
    if len(results) < asked:
        parts.append(f"{asked - len(results)} not run")
    parts.append(_time(milliseconds))
    paint = _painted if colours else _plain
    for line in _wrapped(" · ".join(parts), max(width, NARROWEST)):
        yield paint(line, f"{_BOLD};{_GREEN if passed == asked else _RED}")
    if left_out is not None:
        for line in _wrapped(printable(left_out), max(width, NARROWEST)):
            yield paint(line, _YELLOW)
    if any(result.contended for result in results):
        remark = f"{CONTENDED} the machine was busy with other things: CPU time says how long it took"
        for line in _wrapped(remark, max(width, NARROWEST)):
            yield paint(line, _DIM)


def _table(results: Sequence[RunResult], width: int, paint: _Paint) -> Iterator[str]:
    yield paint(_ROW.format("case", f"{'verdict':{_VERDICT}}", "time", "memory"), _DIM)
    for result in results:
        verdict = paint(f"{result.verdict:{_VERDICT}}", _COLOURS[result.status])
        line = _ROW.format(result.index, verdict, _time_of(result), _memory(result.memory_kb))
        if result.status == "pass":
            yield line
            continue
        remark = printable(result.reason or result.diff_summary or "")
        if cells(remark) <= width - _BESIDE:
            yield f"{line}  {remark}".rstrip()
        else:
            yield line
            yield from (" " * _BELOW + part for part in _wrapped(remark, width - _BELOW))
        if result.verdict != "IE":  # its console repeats the reason
            yield from (paint(each, _DIM) for each in _console(result.console, width))


def _console(text: str, width: int) -> Iterator[str]:
    lines = text.rstrip().splitlines()
    bar = " " * _BELOW + "│ "
    if len(lines) > CONSOLE_LINES:
        yield fitted(f"{bar}… {len(lines) - CONSOLE_LINES:,} more lines", width).rstrip()
        lines = lines[-CONSOLE_LINES:]
    for line in lines:
        shown = printable(line.expandtabs(4)[: LONGEST_LINE + 1])
        yield fitted(bar + shown, width).rstrip()


def _time_of(result: RunResult) -> str:
    if not result.contended or result.cpu_ms is None:
        return _time(result.duration_ms)
    return f"{CONTENDED}{_time(result.cpu_ms)}"


def _time(milliseconds: int) -> str:
    return f"{milliseconds:,} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:,.1f} s"


def _memory(kilobytes: int | None) -> str:
    if not kilobytes:
        return ""
    megabytes = kilobytes / 1024
    return f"{megabytes:.1f} MB" if megabytes < 99.95 else f"{megabytes:,.0f} MB"


def _wrapped(text: str, width: int) -> Iterator[str]:
    """The text in lines of at most `width` columns, broken at a blank if there is one in the second half of a line."""
    while cells(text) > width:
        end = _fitting(text, width)
        blank = text.rfind(" ", end // 2, end + 1)
        if blank > 0:
            end = blank
        yield text[:end].rstrip()
        text = text[end:].lstrip()
    if text:
        yield text


def _fitting(text: str, width: int) -> int:
    """How many characters from the beginning fit into `width` columns; at least one."""
    end = min(len(text), width)
    while end > 1 and cells(text[:end]) > width:
        end -= 1
    return end


def _plain(text: str, _style: str) -> str:
    return text


def _painted(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if text.strip() else text
