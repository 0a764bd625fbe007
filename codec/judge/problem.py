"""What a page is told of problems and runs. Fields are named as on the wire (`inputPath` is `input_path` here).

The spec's fields come first and are always there; below them stand our own, which a page of the spec ignores. A field
whose default is None or false is left out where it says nothing.
"""

from typing import Literal

from msgspec import Struct

from codec.judge.task import Batch, Input, Output, Stdin, Stdout

Status = Literal["pass", "fail", "timeout", "re"]
Verdict = Literal["AC", "WA", "TLE", "MLE", "OLE", "RE", "CE", "IE"]
"""Accepted, wrong answer; over the limit of time, memory, output; runtime error, no program; our own fault."""
Reason = Literal["solution", "test", "interpreter", "settings"]
"""What was another when a result was run: main.py, its test, the interpreter, or what else is set."""


class Entity(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Anything that stands inside a message."""


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
    """Another one whenever either file holds something else."""


class LastRun(Entity, frozen=True, gc=False, kw_only=True):
    """The last run that is over, or that the server did not live to end."""

    run: int
    """Its number among those of the problem, from 1. Results have the same."""
    indices: tuple[int, ...]
    """The cases that were to be run."""
    cancelled: bool = False
    """Or ended otherwise before its last case."""


class Outdated(Entity, frozen=True, gc=False, kw_only=True):
    """The last result of this case is not of what is there now."""

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
    """Of each case the last result counts, whichever run it was of, if it is of the solution and the test as they were
    when somebody last looked; the others have not been run."""

    passed: int
    failed: int
    """For whatever reason."""


class Problem(Entity, frozen=True, kw_only=True):
    name: str
    group: str
    url: str
    interactive: bool
    time_limit: int
    """Milliseconds; what a problem without a limit has is decided in actors/judge/limits.py."""
    contest_id: str
    task_id: str
    tests_dir: str
    cases: tuple[Case, ...]

    id: str
    """Names the problem among all; `contestId/taskId`."""
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
    """Its folder is not there."""


class Listed(Entity, frozen=True, kw_only=True):
    """One of all the problems, as light as a list needs it."""

    id: str
    name: str
    group: str
    contest_id: str
    task_id: str
    url: str
    cases: int | None = None
    """None: it is a folder into which nobody has looked yet."""
    standing: Standing | None = None
    batch: Batch | None = None


class RunResult(Entity, frozen=True, gc=False, kw_only=True):
    index: int
    status: Status
    duration_ms: int
    """Wall time."""
    actual: str
    """The beginning of what the program wrote."""
    console: str
    """Standard error, filtered."""
    diff_summary: str | None = None

    verdict: Verdict
    reason: str | None = None
    """Why it is not accepted, where `diffSummary` does not say it: which signal, which limit."""
    cpu_ms: int | None = None
    memory_kb: int | None = None
    contended: bool = False
    """The machine was busy with other things; the times say less than usual."""
    exit_code: int | None = None
    signal: int | None = None
    actual_size: int
    actual_cut: bool = False
    run: int | None = None
    """The number of its run among those of the problem."""
    outdated: tuple[Reason, ...] = ()
    """Why it is not of what is there now. Empty: it is, as far as is known."""
