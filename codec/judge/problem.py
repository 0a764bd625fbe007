"""Problems and runs, as pages are told of them. Fields are named as on the wire (`inputPath` is `input_path` here).

The spec's fields come first and are always sent. Our own fields follow; a page that knows only the spec ignores them. A
field whose default is None or false is left out when it has that value.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from codec.judge.task import Batch, Input, Output, Stdin, Stdout

MAIN = "main.py"
"""The solution, in its problem's folder."""

Status = Literal["pass", "fail", "timeout", "re"]
Verdict = Literal["AC", "WA", "TLE", "MLE", "OLE", "RE", "CE", "IE"]
"""Accepted; wrong answer; over the limit of time, memory or output; runtime error; no program; a fault of ours."""
Reason = Literal["solution", "test", "interpreter", "settings"]
"""What has changed since a result was made: main.py, the test, the interpreter, or another setting."""


class Entity(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Any object inside a message."""


class Case(Entity, frozen=True, gc=False, kw_only=True):
    """The spec's TestCaseFile, with the beginnings of its two files."""

    index: int
    input_path: str
    output_path: str
    input_content: str
    expected_content: str
    input_size: int
    """Bytes of the whole."""
    expected_size: int
    input_cut: bool = False
    expected_cut: bool = False
    version: str = ""
    """It changes whenever the content of either file changes."""


class LastRun(Entity, frozen=True, gc=False, kw_only=True):
    """The last run that ended, including one that the server's end cut short."""

    run: int
    """Its number among the problem's runs, from 1. Its results carry the same number."""
    indices: tuple[int, ...]
    """The cases that were to be run."""
    cancelled: bool = False
    """Whether it was cancelled, or ended in another way before its last case."""


class Outdated(Entity, frozen=True, gc=False, kw_only=True):
    """The last result of this case is out of date."""

    index: int
    reasons: tuple[Reason, ...]


class Summary(Entity, frozen=True, gc=False, kw_only=True):
    total: int
    passed: int
    failed: int
    timeouts: int
    res: int
    duration_ms: int


class Standing(Entity, frozen=True, gc=False, kw_only=True):
    """How a problem's cases stand. For each case the last result counts, from whichever run, if it belongs to the
    solution and the test as they were last read. The other cases count as not run."""

    passed: int
    failed: int
    """Cases that failed for any reason."""


class ShownProblem(Entity, frozen=True, kw_only=True):
    name: str
    group: str
    url: str
    interactive: bool
    time_limit: int
    """Milliseconds. actors/judge/limits.py decides the limit of a problem that has none."""
    contest_id: str
    task_id: str
    tests_dir: str
    cases: tuple[Case, ...]

    id: str
    """The problem's unique name: `contestId/taskId`."""
    memory_limit: int | None = None
    """MB."""
    test_type: Literal["single", "multiNumber"] = "single"
    input: Input = Stdin()
    output: Output = Stdout()
    main_path: str | None = None
    """Absolute; the solution."""
    unsupported: str | None = None
    """Why it cannot be judged here, in a sentence."""
    batch: Batch | None = None
    gone: bool = False
    """Whether its folder is missing."""
    trouble: str | None = None
    """What else is wrong with its folder at the moment, in sentences: it cannot be read, or a test is left out."""


class Listed(Entity, frozen=True, kw_only=True):
    """One row of the list of problems."""

    id: str
    name: str
    group: str
    contest_id: str
    task_id: str
    url: str
    cases: int | None = None
    """None: its folder has not been read yet."""
    standing: Standing | None = None
    batch: Batch | None = None


class RunResult(Entity, frozen=True, gc=False, kw_only=True):
    index: int
    status: Status
    duration_ms: int
    """Wall time."""
    actual: str
    """The beginning of the program's output."""
    console: str
    """Standard error, filtered."""
    diff_summary: str | None = None

    verdict: Verdict
    reason: str | None = None
    """Why the case failed, if `diffSummary` does not say so: which signal, which limit."""
    cpu_ms: int | None = None
    memory_kb: int | None = None
    contended: bool = False
    """Whether the machine was busy with other work, so that the times mean less than usual."""
    exit_code: int | None = None
    signal: int | None = None
    actual_size: int
    actual_cut: bool = False
    run: int | None = None
    """The number of its run among the problem's runs."""
    outdated: tuple[Reason, ...] = ()
    """Why it is out of date. Empty: as far as we know, it is not."""


def summary_of(results: Iterable[RunResult], duration_ms: int) -> Summary:
    count = Counter(result.status for result in results)
    return Summary(
        total=count.total(),
        passed=count["pass"],
        failed=count["fail"],
        timeouts=count["timeout"],
        res=count["re"],
        duration_ms=duration_ms,
    )
