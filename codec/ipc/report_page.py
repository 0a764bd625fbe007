"""A report as one page that needs nothing else: no script, nothing from elsewhere, readable on paper and at night.

Names come from outside, and are texts. Bars are SVG with widths in percent, so the page fits a phone and a wide screen
with letters of the same size.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

from codec.ipc.evaluation import METRICS
from codec.ipc.report import RESAMPLES, Difference, Report, RunSummary
from codec.words import counted

LABELS = dict(zip(METRICS, ("BLEU", "ROUGE-1", "ROUGE-2", "ROUGE-L", "Jaccard"), strict=True))
COLOURS = 6
_NONE = "–"

_STYLE = """
:root { color-scheme: light dark; --ink: #1b2430; --soft: #5a6675; --paper: #fdfdfb; --line: #d9dee5; --band: #f1f3f6;
  --c0: #2f6fdb; --c1: #c2571a; --c2: #2c8757; --c3: #8a4fc4; --c4: #a8862a; --c5: #bf3f6b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa7b6; --paper: #14181e; --line: #323b47;
  --band: #1c222a; --c0: #6ea1ff; --c1: #f09360; --c2: #5fc48d; --c3: #bb92ee; --c4: #d9b75a; --c5: #f087ab; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem; }
p { color: var(--soft); margin: .25rem 0 1rem; max-width: 44rem; }
.wide { overflow-x: auto; } .wide:focus-visible { outline: 2px solid var(--c0); }
table { border-collapse: collapse; min-width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 500; font-size: .875rem; }
tbody th, thead th:first-child { text-align: left; }
tbody th { color: var(--ink); font-size: 1rem; min-width: 8rem; max-width: 16rem; white-space: normal;
  overflow-wrap: break-word; }
th:first-child { position: sticky; left: 0; background: var(--paper); padding-left: 0; }
.apart { font-weight: 600; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1.25rem 2rem; }
.chart h3 { font-size: .95rem; margin: 0 0 .35rem; }
.bar { display: grid; grid-template-columns: minmax(4rem, 8rem) 1fr 4.25rem; gap: .6rem; align-items: center;
  font-size: .875rem; margin: .2rem 0; }
.bar b { font-weight: 400; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.bar span { text-align: right; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: 1rem; } .ground { fill: var(--band); } .zero { stroke: var(--soft); }
""" + "".join(f".c{number} {{ fill: var(--c{number}); stroke: var(--c{number}); }}\n" for number in range(COLOURS))


def as_page(report: Report, title: str = "Runs side by side") -> str:
    parts = [
        _head(report, title),
        _table(report),
        _section(
            "Scores",
            "Means over every request with a reference, from 0 to 1. A failure counts as 0.",
            _means(report.runs),
        ),
        _section("Time", "The median, in seconds, from the request to a successful answer.", _times(report.runs)),
    ]
    if report.differences:
        parts.append(_section("Differences", _about_differences(report), _differences(report)))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{''.join(parts)}</main>\n</body>\n</html>\n"
    )


def _head(report: Report, title: str) -> str:
    n = sum(run.n for run in report.runs)
    failed = sum(run.failed for run in report.runs)
    said = f"{counted(n, 'request')} in {counted(len(report.runs), 'run')}, of which {failed:,} failed. {report.made}"
    return f"<h1>{escape(title)}</h1>\n<p>{escape(said)}</p>\n"


def _section(title: str, words: str, charts: Iterable[str]) -> str:
    drawn = "".join(charts)
    if not drawn:
        return ""
    return f'<h2>{escape(title)}</h2>\n<p>{escape(words)}</p>\n<div class="charts">\n{drawn}</div>\n'


# -- the table


def _table(report: Report) -> str:
    heads = ("Run", "Requests", "Failed", "Not over", "Not evaluated", "Scored", *LABELS.values(), "Median time")
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    rows = "".join(_table_row(run, report.differences) for run in report.runs)
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="All figures"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )


def _table_row(run: RunSummary, differences: Sequence[Difference]) -> str:
    apart = {each.metric for each in differences if each.run == run.name and each.apart}
    counts = (run.n, run.failed, run.unfinished, run.not_evaluated, run.scored)
    cells = [f"<td>{each:,}</td>" for each in counts]
    for metric in METRICS:
        mark = ' class="apart"' if metric in apart else ""
        cells.append(f"<td{mark}>{_score(run.means.get(metric))}</td>")
    cells.append(f"<td>{_seconds(run.median_seconds)}</td>")
    return f'<tr><th scope="row">{escape(run.name)}</th>{"".join(cells)}</tr>\n'


# -- the charts


def _means(runs: Sequence[RunSummary]) -> Iterator[str]:
    if any(run.means for run in runs):
        for metric, label in LABELS.items():
            bars = [(run.name, run.means.get(metric)) for run in runs]
            yield _chart(label, bars, 1.0, _score)


def _times(runs: Sequence[RunSummary]) -> Iterator[str]:
    longest = max((run.median_seconds or 0.0 for run in runs), default=0.0)
    if longest > 0:
        yield _chart("Median time", [(run.name, run.median_seconds) for run in runs], longest, _seconds)


def _chart(
    label: str, bars: Iterable[tuple[str, float | None]], most: float, words: Callable[[float | None], str]
) -> str:
    rows = []
    for number, (name, value) in enumerate(bars):
        share = 100 * (value or 0.0) / most
        drawn = (
            '<svg aria-hidden="true"><rect class="ground" width="100%" height="100%" rx="3"/>'
            f'<rect class="c{number % COLOURS}" width="{share:.2f}%" height="100%" rx="3"/></svg>'
        )
        rows.append(_bar(name, drawn, words(value)))
    return f'<div class="chart"><h3>{escape(label)}</h3>\n{"".join(rows)}</div>\n'


def _bar(name: str, drawn: str, value: str) -> str:
    return f'<div class="bar"><b title="{escape(name)}">{escape(name)}</b>{drawn}<span>{value}</span></div>\n'


def _differences(report: Report) -> Iterator[str]:
    ends = [abs(end) for each in report.differences for end in (each.mean, each.low, each.high) if end is not None]
    reach = max(*ends, 0.01)
    numbers = {run.name: number for number, run in enumerate(report.runs)}
    for metric, label in LABELS.items():
        rows = [
            _bar(each.run, _whisker(each, reach, numbers[each.run] % COLOURS), _signed(each.mean))
            for each in report.differences
            if each.metric == metric
        ]
        yield f'<div class="chart"><h3>{escape(label)}</h3>\n{"".join(rows)}</div>\n'


def _whisker(each: Difference, reach: float, colour: int) -> str:
    """The interval as a line and the mean as a point, with 0 in the middle."""
    low, mean, high = (50 + 48 * (value if value is not None else each.mean) / reach for value in
                       (each.low, each.mean, each.high))  # fmt: skip
    return (
        '<svg aria-hidden="true"><rect class="ground" width="100%" height="100%" rx="3"/>'
        '<line class="zero" x1="50%" x2="50%" y1="0" y2="100%"/>'
        f'<line class="c{colour}" x1="{low:.2f}%" x2="{high:.2f}%" y1="50%" y2="50%" stroke-width="2"/>'
        f'<circle class="c{colour}" cx="{mean:.2f}%" cy="50%" r="4"/></svg>'
    )


def _about_differences(report: Report) -> str:
    pairs = max(each.pairs for each in report.differences)
    return (
        f"How much more than {report.against} each run has, on the average of {counted(pairs, 'pair')} at most, and "
        f"the 95 % interval of that (paired bootstrap, {RESAMPLES:,} times). Requests are paired by {report.paired_by}."
        " Where the line does not touch the middle, the difference is more than chance; the table shows it in bold."
    )


def _score(value: float | None) -> str:
    return _NONE if value is None else f"{value:.3f}"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")


def _seconds(value: float | None) -> str:
    if value is None:
        return _NONE
    return f"{value:,.1f} s" if value >= 10 else f"{value:.2f} s" if value >= 0.1 else f"{value * 1000:.1f} ms"
