"""Runs side by side: what came of each, and how far they are apart.

A run is a number of requests that belong together: a model, a prompt, a day. The caller of a report says which.

Rules
  - Every request is counted once, however often it is met. The last that is met under an id counts.
  - A failure counts. Where a request has a reference and failed, its scores are 0, and so the mean of a run that
    answers little is low. The mean of the answered alone is given beside it.
  - What is not over, or has a reference and was not evaluated yet, is counted apart, and is in no mean.
  - Runs are compared by what they were both asked: by equal ids; or by what the one * of their patterns stands for; or
    by equal command, params and reference. Of the three, that is taken which pairs the most.
  - Intervals are of 95 %, by a bootstrap over the pairs: their differences are drawn anew `RESAMPLES` times. Beyond
    `MOST_PAIRS` the normal distribution says the same, and is used. Two pairs are the least.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from codec.ipc.evaluation import METRICS, Metrics, read_evaluation
from codec.ipc.request import BadRequest, Request, read_request
from codec.ipc.response import BadResponse, Success, read_response

RESAMPLES = 2_000
MOST_PAIRS = 1_000
_NORMAL = 1.959964
_NOTHING = Metrics(**dict.fromkeys(METRICS, 0.0))

Draw = Callable[[Sequence[float], int], Sequence[float]]
"""So many of these, each drawn from all; as `random.Random(seed).choices` does it."""
State = Literal["success", "failed", "unfinished"]


class Papers(Struct, frozen=True, kw_only=True):
    """The contents of a request's files, and what else is known of it."""

    request: bytes | None = None
    response: bytes | None = None
    failed: bytes | None = None
    evaluation: bytes | None = None
    seconds: float | None = None
    """From its request to its response, by the times of the files."""


class Tried(Struct, frozen=True, kw_only=True):
    """What came of a request."""

    id: str
    state: State
    asked: str = ""
    """The same for two requests that ask for the same; empty: it cannot be read."""
    submitter: str = ""
    seconds: float | None = None
    metrics: Metrics | None = None
    has_reference: bool = False


class RunChosen(Struct, frozen=True, kw_only=True):
    name: str
    tried: tuple[Tried, ...]
    pattern: str = ""
    """Of the ids; empty: it was chosen otherwise."""


class RunSummary(Struct, frozen=True, kw_only=True):
    name: str
    n: int
    """Requests that are over."""
    succeeded: int
    failed: int
    unfinished: int
    not_evaluated: int
    """They have succeeded and have a reference, and nobody has evaluated them yet."""
    scored: int
    """Requests with a reference that were evaluated or failed: those that the means are of."""
    means: dict[str, float]
    """Empty: nothing was scored."""
    means_of_answered: dict[str, float]
    median_seconds: float | None


class Difference(Struct, frozen=True, kw_only=True):
    """How much more than the first run this one has, on the average of the pairs."""

    run: str
    metric: str
    pairs: int
    mean: float
    low: float | None = None
    high: float | None = None

    @property
    def apart(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


class Report(Struct, frozen=True, kw_only=True):
    made: str
    runs: tuple[RunSummary, ...]
    against: str
    """The first run, which the others are compared with."""
    paired_by: str
    differences: tuple[Difference, ...]


# -- what came of each


def tried(id: str, papers: Papers) -> Tried:  # noqa: A002 - as in the contract
    request = _request(id, papers.request)
    done = read_evaluation(papers.evaluation)
    state = _state(id, papers)
    measured = done.duration if done is not None else None
    return Tried(
        id=id,
        state=state,
        asked=_asked(request) if request else "",
        submitter=request.wishes.submitter if request else "",
        seconds=(measured if measured is not None else papers.seconds) if state == "success" else None,
        metrics=done.metrics if done is not None and state == "success" else None,
        has_reference=done is not None or (request is not None and request.reference is not None),
    )


def _state(id: str, papers: Papers) -> State:  # noqa: A002
    """Some peers copy each failure to failed/, so a success counts, whatever is there."""
    if papers.response is not None:
        try:
            if isinstance(read_response(papers.response, id).outcome, Success):
                return "success"
        except BadResponse:
            pass
    return "failed" if papers.failed is not None else "unfinished"


def _request(id: str, data: bytes | None) -> Request | None:  # noqa: A002
    if data is None:
        return None
    try:
        return read_request(data, id)
    except BadRequest:
        return None


def _asked(request: Request) -> str:
    """Who submitted it, how urgently and for when makes no other question of it."""
    only_asked = msgspec.structs.replace(
        request, wishes=msgspec.structs.replace(type(request.wishes)(), reference=request.reference)
    )
    return only_asked.fingerprint.hex()


# -- a report


def report(runs: Sequence[RunChosen], draw: Draw, made: str) -> Report:
    """`draw` may be called with the pairs in an order that does not depend on that of the requests."""
    once = [(run, {each.id: each for each in run.tried}) for run in runs]
    paired_by, keyed = _keyed(once)
    differences: list[Difference] = []
    for (run, _), values in zip(once[1:], keyed[1:], strict=True):
        differences += _differences(run.name, keyed[0], values, draw)
    return Report(
        made=made,
        runs=tuple(_summary(run.name, list(results.values())) for run, results in once),
        against=runs[0].name if runs else "",
        paired_by=paired_by,
        differences=tuple(differences),
    )


def _summary(name: str, results: Sequence[Tried]) -> RunSummary:
    scores = [found for each in results if (found := _scored(each)) is not None]
    answered = [each.metrics for each in results if each.metrics is not None]
    succeeded = sum(each.state == "success" for each in results)
    failed = sum(each.state == "failed" for each in results)
    return RunSummary(
        name=name,
        n=succeeded + failed,
        succeeded=succeeded,
        failed=failed,
        unfinished=len(results) - succeeded - failed,
        not_evaluated=sum(each.state == "success" and each.has_reference and not each.metrics for each in results),
        scored=len(scores),
        means=_means(scores),
        means_of_answered=_means(answered),
        median_seconds=_median([each.seconds for each in results if each.seconds is not None]),
    )


def _scored(each: Tried) -> Metrics | None:
    return _NOTHING if each.state == "failed" and each.has_reference else each.metrics


def _means(scores: Sequence[Metrics]) -> dict[str, float]:
    if not scores:
        return {}
    return {name: math.fsum(getattr(each, name) for each in scores) / len(scores) for name in METRICS}


def _median(values: Sequence[float]) -> float | None:
    if not values:
        return None
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


# -- pairs

Values = Mapping[str, Sequence[Metrics]]
"""By what was asked. A run may ask the same more than once."""


def _keyed(runs: Sequence[tuple[RunChosen, Mapping[str, Tried]]]) -> tuple[str, list[Values]]:
    ways: list[tuple[str, Callable[[RunChosen, Tried], str]]] = [
        ("id", lambda run, each: each.id),
        ("what the * of their patterns stands for", lambda run, each: _starred(run.pattern, each.id)),
        ("what was asked", lambda run, each: each.asked),
    ]
    found = [(words, [_values(run, results, key) for run, results in runs]) for words, key in ways]
    return max(found, key=lambda way: sum(len(way[1][0].keys() & other.keys()) for other in way[1][1:]) if runs else 0)


def _values(run: RunChosen, results: Mapping[str, Tried], key: Callable[[RunChosen, Tried], str]) -> Values:
    values: dict[str, list[Metrics]] = defaultdict(list)
    for _, each in sorted(results.items()):
        scores = _scored(each)
        if scores is not None and (asked := key(run, each)):
            values[asked].append(scores)
    return values


def _starred(pattern: str, id: str) -> str:  # noqa: A002
    """What the one * of the pattern stands for in this id; empty, if it has not exactly one."""
    before, star, after = pattern.partition("*")
    if not star or any(each in before + after for each in "*?["):
        return ""
    return id[len(before) : len(id) - len(after)]


def _differences(name: str, first: Values, other: Values, draw: Draw) -> Iterable[Difference]:
    both = sorted(first.keys() & other.keys())
    if not both:
        return
    here, there = ([_means(run[asked]) for asked in both] for run in (other, first))
    for metric in METRICS:
        apart = [mine[metric] - theirs[metric] for mine, theirs in zip(here, there, strict=True)]
        low, high = interval(apart, draw)
        yield Difference(
            run=name, metric=metric, pairs=len(apart), mean=math.fsum(apart) / len(apart), low=low, high=high
        )


def interval(values: Sequence[float], draw: Draw) -> tuple[float | None, float | None]:
    """Of their mean, by 95 %."""
    n = len(values)
    if n < 2:
        return None, None
    if n > MOST_PAIRS:
        mean = math.fsum(values) / n
        wide = _NORMAL * math.sqrt(math.fsum((each - mean) ** 2 for each in values) / (n - 1) / n)
        return mean - wide, mean + wide
    means = sorted(math.fsum(draw(values, n)) / n for _ in range(RESAMPLES))
    out = round(RESAMPLES * 0.025)
    return means[out], means[-1 - out]


# -- written

_COLUMNS = (
    "run", "n", "succeeded", "failed", "unfinished", "not_evaluated", "scored", "median_seconds", "metric", "mean",
    "mean_of_answered", "against", "pairs", "difference", "low", "high",
)  # fmt: skip
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


def as_json(report: Report) -> bytes:
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"


def as_csv(report: Report) -> str:
    """A row for each metric of each run. A text with which a spreadsheet would begin a formula gets an apostrophe."""
    found = {(each.run, each.metric): each for each in report.differences}
    lines = [_row(_COLUMNS)]
    for run in report.runs:
        for metric in METRICS:
            apart = found.get((run.name, metric))
            counts = (run.n, run.succeeded, run.failed, run.unfinished, run.not_evaluated, run.scored)
            means = (metric, run.means.get(metric), run.means_of_answered.get(metric))
            apart_cells = (report.against, apart.pairs, apart.mean, apart.low, apart.high) if apart else (None,) * 5
            lines.append(_row((run.name, *counts, run.median_seconds, *means, *apart_cells)))
    return "".join(lines)


def _row(cells: Iterable[str | float | None]) -> str:
    return ",".join(_cell(each) for each in cells) + "\r\n"


def _cell(value: str | float | None) -> str:
    if not isinstance(value, str):
        return "" if value is None else repr(value)
    if value.lstrip(" ").startswith(_FORMULAS):
        value = f"'{value}"
    return '"{}"'.format(value.replace('"', '""')) if any(each in value for each in ',"\r\n\t') else value
