"""`troupe ipc report`: compares runs of requests side by side. It needs no server, and changes nothing.

    --run NAME=PATTERN           ids that match: --run plain='plain-*' --run long='long-*'
    --run NAME=submitter:WHO     requests with this submitter
    --run NAME=day:2026-01-31    what was archived on that day
    --run NAME=base:FOLDER       all requests of another base

Without --run, there is a run for each submitter, or a single one. A pattern and a submitter look into the archive, too.
If an id is in both, the one that is not archived counts; of several archived ones the latest counts. Where a peer of
the HEAD dialect has removed a request, a running server is asked for it; without one, its submitter and its reference
are not known.

    exit code    when
    0            the report has been made
    1            it could not be written
    2            a run is empty, or its --run cannot be understood
"""

import argparse
import fnmatch
import random
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from codec.ipc.evaluation import iso_8601
from codec.ipc.report import Report, RunChosen, Tried, as_csv, as_json, report, tried
from codec.ipc.report_page import as_page
from codec.words import counted, listed
from program import streams
from program.commands.ipc_evaluate import BaseFiles
from program.comparison import draw
from program.status import Status
from program.terminal import colours_wanted
from program.trouble import WENT_WRONG, Trouble
from program.whole import write_whole

FORMATS = ("table", "json", "csv", "html")
_BY_SUFFIX = {".json": "json", ".csv": "csv", ".html": "html", ".htm": "html"}
SUBMITTER, DAY, BASE = "submitter:", "day:", "base:"
EVERYTHING = "all"
MOST_RUNS = 12
SHOWN_EVERY = 100
"""Requests between two signs of life."""

OpenBase = Callable[[Path | None], BaseFiles]
"""None: the base that is configured, or was named by --base."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--run",
        metavar="NAME=WHAT",
        dest="runs",
        action="append",
        default=[],
        help="a run; WHAT is a pattern of ids, submitter:WHO, day:2026-01-31 or base:FOLDER; give one for each run. "
        "The others are compared with the first",
    )
    parser.add_argument("--format", choices=FORMATS, help="table, or what the name of --output says")
    parser.add_argument("--output", metavar="FILE", type=Path, help="write it to this file")
    parser.add_argument(
        "--seed", metavar="N", type=int, default=1, help="of the bootstrap; the same seed, the same report"
    )


def run(
    asked: argparse.Namespace,
    open_base: OpenBase,
    *,
    now: float,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """The exit code. `now`: seconds since 1970."""
    out, status = out or sys.stdout, Status(err or sys.stderr)
    try:
        chosen = _chosen(asked.runs, open_base, status)
    finally:
        status.clear()
    found = report(chosen, _dice(asked.seed), iso_8601(now))
    form = asked.format or (_BY_SUFFIX.get(asked.output.suffix.lower()) if asked.output else None) or "table"
    if asked.output is None:
        width = shutil.get_terminal_size().columns
        streams.show(_written(found, form, width=width, colours=colours_wanted(out)), out)
        return 0
    try:
        write_whole(asked.output, _written(found, form).encode())
    except OSError as error:
        raise Trouble(f"{asked.output} cannot be written: {error.strerror}", code=WENT_WRONG) from None
    return 0


def _dice(seed: int) -> Callable[[Sequence[float], int], Sequence[float]]:
    dice = random.Random(seed)
    return lambda values, count: dice.choices(values, k=count)


def _written(found: Report, form: str, *, width: int = 100, colours: bool = False) -> str:
    match form:
        case "json":
            return as_json(found).decode()
        case "csv":
            return as_csv(found)
        case "html":
            return as_page(found)
    return f"{draw(found, width=width, colours=colours)}\n"


# -- which requests


def _chosen(wanted: Sequence[str], open_base: OpenBase, status: Status) -> list[RunChosen]:
    if len(wanted) > MOST_RUNS:
        raise Trouble(f"A report compares {MOST_RUNS} runs at most; {len(wanted)} were asked for")
    base = _Requests(open_base(None), status)
    if not wanted:
        return list(_by_submitter(base))
    runs = [_run_of(each, base, open_base, status) for each in wanted]
    names = [run.name for run in runs]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise Trouble(f"Two runs are called {twice[0]!r}; give each its own name, as in --run NAME=WHAT")
    return runs


def _by_submitter(base: "_Requests") -> Iterator[RunChosen]:
    found = base.all()
    if not found:
        raise Trouble(f"There are no requests in {base.path}; say where they are with --base")
    submitters = sorted({each.submitter for each in found})
    if len(submitters) not in range(2, MOST_RUNS + 1):
        yield RunChosen(name=EVERYTHING, tried=tuple(found))
        return
    for submitter in submitters:
        of_them = tuple(each for each in found if each.submitter == submitter)
        yield RunChosen(name=submitter or "(no submitter)", tried=of_them)


def _run_of(wanted: str, base: "_Requests", open_base: OpenBase, status: Status) -> RunChosen:
    name, equals, what = wanted.partition("=")
    what = what if equals else wanted
    if not name or not what:
        raise Trouble(f"expected --run NAME=WHAT, not {wanted!r}, such as --run plain='plain-*'")
    pattern = ""
    if what.startswith(SUBMITTER):
        submitter = what.removeprefix(SUBMITTER)
        found = [each for each in base.all() if each.submitter == submitter]
    elif what.startswith(DAY):
        found = base.of_day(what.removeprefix(DAY))
    elif what.startswith(BASE):
        other = _Requests(open_base(Path(what.removeprefix(BASE)).expanduser()), status)
        found = other.all()
    else:
        pattern = what
        found = base.matching(what)
    if not found:
        raise Trouble(f"The run {name!r} is empty: {base.nothing(what)}")
    return RunChosen(name=name, tried=tuple(found), pattern=pattern)


class _Requests:
    """Those of a base, each read once."""

    def __init__(self, files: BaseFiles, status: Status) -> None:
        self._files = files
        self._status = status
        self._read: dict[tuple[str, str], Tried] = {}
        self._ids: dict[str, str] | None = None
        self.path = files.path

    def all(self) -> list[Tried]:
        return self.matching("*")

    def matching(self, pattern: str) -> list[Tried]:
        return [self._tried(day, id) for id, day in self._where().items() if fnmatch.fnmatchcase(id, pattern)]  # noqa: A001

    def of_day(self, day: str) -> list[Tried]:
        if day not in self._files.days():
            return []
        return [self._tried(day, id) for id in sorted(self._files.archived(day))]  # noqa: A001

    def nothing(self, what: str) -> str:
        if what.startswith(DAY):
            days = list(self._files.days())[-3:]
            return f"the archive has {listed(days) if days else 'no days'}, and not {what.removeprefix(DAY)!r}"
        if what.startswith(BASE):
            return f"there are no requests in {what.removeprefix(BASE)}"
        there = list(self._where())
        known = f", such as {listed(there[:3])}" if there else ""
        return f"of the {counted(len(there), 'request')} in {self.path}{known}, none matches {what!r}"

    def _where(self) -> dict[str, str]:
        """The day under which each id is found; empty: it is not archived."""
        if self._ids is None:
            try:
                found = {id: day for day in sorted(self._files.days()) for id in self._files.archived(day)}  # noqa: A001
                found |= dict.fromkeys(self._files.ids(), "")
            except OSError as error:
                raise Trouble(f"The folder {self.path} cannot be read: {error.strerror}") from None
            self._ids = dict(sorted(found.items()))
        return self._ids

    def _tried(self, day: str, id: str) -> Tried:  # noqa: A002
        if (day, id) not in self._read:
            papers = self._files.archived_papers(day, id) if day else self._files.papers(id)
            self._read[day, id] = tried(id, papers)
            if len(self._read) % SHOWN_EVERY == 0:
                self._status.show(f"{len(self._read):,} requests read  {id}")
        return self._read[day, id]
