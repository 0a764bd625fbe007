"""Draws a report as text: a column for each run, and below them how far they are apart.

                     plain      long
    requests            40        40
    failed               2         0
    BLEU             0.412     0.455
    ROUGE-1          0.601     0.640

    long against plain, 40 pairs by id
    BLEU            +0.043  [+0.010, +0.075]  more than chance

Where the runs do not fit beside each other, they follow in further blocks.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from codec.ipc.report import Difference, Report, RunSummary
from codec.ipc.report_page import LABELS
from codec.printable import printable
from codec.words import counted
from program.terminal import cells, fitted

NARROWEST = 40
WIDEST_NAME = 24
_LABEL = 14
_BOLD, _DIM = "1", "2"
_NONE = "–"


def draw(report: Report, *, width: int, colours: bool = False) -> str:
    """Without a newline at its end."""
    paint = _painted if colours else _plain
    return "\n".join(_lines(report, max(width, NARROWEST), paint))


def _lines(report: Report, width: int, paint: "_Paint") -> Iterator[str]:
    column = min(WIDEST_NAME, max([9, *(cells(printable(run.name)) for run in report.runs)])) + 2
    beside = max(1, (width - _LABEL) // column)
    for first in range(0, len(report.runs), beside):
        if first:
            yield ""
        yield from _block(report.runs[first : first + beside], column, paint)
    for name, found in groupby(report.differences, lambda each: each.run):
        differences = list(found)
        pairs = max(each.pairs for each in differences)
        yield ""
        against = f"{printable(name)} against {printable(report.against)}"
        yield paint(f"{against}, {counted(pairs, 'pair')} by {report.paired_by}", _BOLD)
        yield from (_difference(each, paint) for each in differences)
    if len(report.runs) > 1 and not report.differences:
        yield ""
        yield "The runs have no request in common that was scored, so they cannot be compared pair by pair."
    if waiting := sum(run.not_evaluated for run in report.runs):
        yield ""
        yield f"{counted(waiting, 'answer')} not evaluated yet; `troupe ipc evaluate` does it."


def _block(runs: Sequence[RunSummary], column: int, paint: "_Paint") -> Iterator[str]:
    def row(label: str, values: Sequence[str], style: str = "") -> str:
        shown = "".join(f"{' ' * (column - min(cells(each), column - 2))}{_cut(each, column - 2)}" for each in values)
        line = f"{label:{_LABEL}}{shown}".rstrip()
        return paint(line, style) if style else line

    yield row("", [printable(run.name) for run in runs], _BOLD)
    counts: list[tuple[str, Callable[[RunSummary], int]]] = [
        ("requests", lambda run: run.n),
        ("failed", lambda run: run.failed),
        ("not over", lambda run: run.unfinished),
        ("scored", lambda run: run.scored),
    ]
    for label, count in counts:
        yield row(label, [f"{count(run):,}" for run in runs])
    for metric, label in LABELS.items():
        yield row(label, [f"{run.means[metric]:.3f}" if run.means else _NONE for run in runs])
    yield row("median time", [_time(run.median_seconds) for run in runs])


def _cut(text: str, width: int) -> str:
    return text if cells(text) <= width else fitted(text, width)


def _difference(each: Difference, paint: "_Paint") -> str:
    line = f"{LABELS[each.metric]:{_LABEL}}{each.mean:+9.3f}"
    if each.low is not None and each.high is not None:
        line += f"  [{each.low:+.3f}, {each.high:+.3f}]"
    return f"{line}  {paint('more than chance', _BOLD)}" if each.apart else paint(line, _DIM)


def _time(seconds: float | None) -> str:
    if seconds is None:
        return _NONE
    if seconds < 0.01:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds:,.1f} s" if seconds >= 10 else f"{seconds * 1000:,.0f} ms"


_Paint = Callable[[str, str], str]


def _plain(text: str, _style: str) -> str:
    return text


def _painted(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"
