"""`troupe ipc evaluate`: writes eval/ID.json for each success whose request has a reference. It needs no server.

It does at once what the server's evaluator does in its own time. Both may do it at the same time, because each
evaluation is written as a whole, and both write the same. A finished evaluation is left alone, unless the answer or the
reference has changed. Where a peer of the HEAD dialect has removed a request, a running server is asked for it.

    exit code    when
    0            all that can be evaluated is
    1            some could not be written
    2            there is no such folder
"""

import argparse
import fnmatch
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol, TextIO

import msgspec
from msgspec import Struct

from codec.ipc import BadRequest, BadResponse, Success, read_request, read_response, scores
from codec.ipc.evaluation import (
    Comparison,
    comparison,
    evaluation,
    is_done,
    iso_8601,
    read_evaluation,
    write_evaluation,
)
from codec.ipc.report import Papers
from codec.words import counted
from program import streams
from program.status import Status
from program.trouble import WENT_WRONG, Trouble


class BaseFiles(Protocol):
    """The files of a base, as they are now."""

    @property
    def path(self) -> Path: ...
    def ids(self) -> Collection[str]: ...
    def papers(self, id: str) -> Papers: ...  # noqa: A002 - as in the contract
    def days(self) -> Sequence[str]: ...
    def archived(self, day: str) -> Collection[str]: ...
    def archived_papers(self, day: str, id: str) -> Papers: ...  # noqa: A002
    def keep(self, id: str, evaluation: bytes) -> None: ...  # noqa: A002


class EvaluatedTally(Struct):
    evaluated: int = 0
    before: int = 0
    """They had been evaluated already."""
    no_reference: int = 0
    not_succeeded: int = 0
    unreadable: int = 0
    not_written: int = 0

    def sentence(self) -> str:
        parts = [f"{counted(self.evaluated, 'answer')} evaluated"]
        others = (
            (self.before, "had been evaluated before"),
            (self.no_reference, "without a reference"),
            (self.not_succeeded, "without a success"),
            (self.unreadable, "with a request that is gone or cannot be read"),
            (self.not_written, "could not be written"),
        )
        return ", ".join(parts + [f"{count:,} {words}" for count, words in others if count])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--match", metavar="PATTERN", default="*", help="only ids that match, such as 'monday-*'")
    parser.add_argument("--again", action="store_true", help="evaluate also what has been evaluated")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")


def run(
    asked: argparse.Namespace, base: BaseFiles, *, now: float, out: TextIO | None = None, err: TextIO | None = None
) -> int:
    """The exit code. `now`: seconds since 1970."""
    out, status = out or sys.stdout, Status(err or sys.stderr)
    try:
        ids = sorted(id for id in base.ids() if fnmatch.fnmatchcase(id, asked.match))  # noqa: A001
        there = bool(ids) or base.path.is_dir()
    except OSError as error:
        raise Trouble(f"The folder {base.path} cannot be read: {error.strerror}") from None
    if not there:
        raise Trouble(f"There is no folder {base.path}; say where the requests are with --base")
    counts = EvaluatedTally()
    try:
        for number, id in enumerate(ids, 1):  # noqa: A001
            status.show(f"{number:,} of {len(ids):,}  {id}")
            _one(id, base, counts, iso_8601(now), again=asked.again, status=status)
    finally:
        status.clear()
    said = msgspec.json.encode(counts).decode() if asked.json else f"{counts.sentence()}."
    streams.show(f"{said}\n", out)
    return WENT_WRONG if counts.not_written else 0


def _one(id: str, base: BaseFiles, counts: EvaluatedTally, when: str, *, again: bool, status: Status) -> None:  # noqa: A002
    papers = base.papers(id)
    wanted = _wanted(id, papers, counts)
    if wanted is None:
        return
    if not again and is_done(read_evaluation(papers.evaluation), wanted):
        counts.before += 1
        return
    done = evaluation(wanted, scores(wanted.answer, wanted.expected), duration=papers.seconds, when=when)
    try:
        base.keep(id, write_evaluation(done))
    except OSError as error:
        counts.not_written += 1
        status.say(f"The evaluation of {id} could not be written: {error.strerror or error}")
    else:
        counts.evaluated += 1


def _wanted(id: str, papers: Papers, counts: EvaluatedTally) -> Comparison | None:  # noqa: A002
    try:
        outcome = read_response(papers.response, id).outcome if papers.response is not None else None
    except BadResponse:
        outcome = None
    if not isinstance(outcome, Success):
        counts.not_succeeded += 1
        return None
    try:
        request = read_request(papers.request, id) if papers.request is not None else None
    except BadRequest:
        request = None
    if request is None:
        counts.unreadable += 1
        return None
    wanted = comparison(request, outcome)
    if wanted is None:
        counts.no_reference += 1
    return wanted
