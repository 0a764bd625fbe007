"""Decides the verdict from the plain facts of a run.

The first row of the table that applies is the verdict. First come the reasons for which the program was stopped, then
excessive use, then the way it ended. Only a program that ended well is judged by its output.

    the program                            verdict   status
    stopped for cpu or wall, SIGXCPU      TLE       timeout
    stopped for memory                    MLE       re
    stopped for output, files, SIGXFSZ    OLE       re
    stopped for processes, interference   RE        re
    used more CPU time than allowed       TLE       timeout
    used more memory than allowed         MLE       re
    was no program                        CE        re
    died of a signal, or exit code not 0  RE        re
    wrote something else                  WA        fail
    otherwise                             AC        pass
"""

import re
import signal
from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from actors.judge.checkers import Differs, Same
from actors.judge.limits import CaseLimits
from codec.judge import Status, Verdict
from codec.programs import Excess

STATUS: dict[Verdict, Status] = {
    "AC": "pass",
    "WA": "fail",
    "TLE": "timeout",
    "MLE": "re",
    "OLE": "re",
    "RE": "re",
    "CE": "re",
    "IE": "re",
}


class Facts(Struct, frozen=True, kw_only=True):
    """Either `exit_code` or `signal` is set."""

    exit_code: int | None = None
    signal: int | None = None
    stopped_for: Excess | None = None
    cpu_ms: int = 0
    memory_kb: int = 0
    limits: CaseLimits
    no_program: bool = False
    """The answer of `is_no_program` for its standard error."""
    answer: Same | Differs | None = None
    """None: not compared, because the program did not end well."""


class Ruling(NamedTuple):
    status: Status
    verdict: Verdict
    reason: str | None
    """The reason in words; None if there is nothing to add, or the difference says it."""


def rule(facts: Facts) -> Ruling:
    for verdict, holds, reason in _TABLE:
        if holds(facts):
            return Ruling(STATUS[verdict], verdict, reason(facts) if reason else None)
    return Ruling("pass", "AC", None)


def is_no_program(stderr: bytes) -> bool:
    """Whether Python refused the script itself. Its message then lacks the heading of a traceback, which a running
    program has even if it compiles others. If the script is not UTF-8, the line that names the file is missing as
    well."""
    return b"Traceback (most recent call last)" not in stderr and _REFUSED.search(stderr) is not None


_REFUSED = re.compile(
    rb"^(?:  File [^\n]+, line [0-9]+\n(?:[^\n]*\n){0,6}?(?:SyntaxError|IndentationError|TabError)\b"
    rb"|SyntaxError: Non-UTF-8 code starting with )[^\n]*\s*\Z",
    re.MULTILINE,
)
_XCPU, _XFSZ = 24, 25
"""The limits that the system itself keeps, as a backstop; the same numbers on Linux and macOS."""


def _late(facts: Facts) -> bool:
    return facts.stopped_for in ("cpu", "wall") or (facts.stopped_for is None and facts.signal == _XCPU)


def _flooding(facts: Facts) -> bool:
    return facts.stopped_for == "output" or (facts.stopped_for is None and facts.signal == _XFSZ)


def _too_large(facts: Facts) -> bool:
    return facts.limits.memory_kb is not None and facts.memory_kb > facts.limits.memory_kb


def _say_time(facts: Facts) -> str:
    if facts.stopped_for == "wall":
        return (
            f"stopped after {facts.limits.wall_ms:,} ms of waiting; it had used {facts.cpu_ms:,} ms of CPU time "
            f"of {facts.limits.cpu_ms:,}"
        )
    return f"used {facts.cpu_ms:,} ms of CPU time; limit: {facts.limits.cpu_ms:,}"


def _say_memory(facts: Facts) -> str:
    allowed = f"; limit: {facts.limits.memory_kb / 1024:,.0f} MB" if facts.limits.memory_kb else ""
    return f"used {facts.memory_kb / 1024:,.0f} MB of memory{allowed}"


def _say_end(facts: Facts) -> str:
    if facts.signal is None:
        return f"ended with exit code {facts.exit_code}"
    try:
        name = f"{signal.Signals(facts.signal).name} ({signal.strsignal(facts.signal)})"
    except ValueError:
        name = str(facts.signal)
    return f"ended by signal {name}"


INTERFERENCE = (
    "it ended, or blocked, the judge's own process that ran it; it was run twice to be sure, the second time with "
    "nothing beside it"
)

HIDDEN = "stopped because it hid what it uses, in a namespace of its own or where no other program may look"

_Row = tuple[Verdict, Callable[[Facts], bool], Callable[[Facts], str] | None]

_TABLE: tuple[_Row, ...] = (
    ("TLE", _late, _say_time),
    ("MLE", lambda facts: facts.stopped_for == "memory", _say_memory),
    ("OLE", lambda facts: facts.stopped_for == "files", lambda _: "stopped because it wrote too much to files"),
    ("OLE", _flooding, lambda _: "stopped because it wrote too much"),
    ("RE", lambda facts: facts.stopped_for == "processes", lambda _: "stopped because it started too many processes"),
    ("RE", lambda facts: facts.stopped_for == "hidden", lambda _: HIDDEN),
    ("RE", lambda facts: facts.stopped_for == "interference", lambda _: INTERFERENCE),
    ("RE", lambda facts: facts.stopped_for == "asked", lambda _: "stopped before it had ended"),
    ("TLE", lambda facts: facts.cpu_ms > facts.limits.cpu_ms, _say_time),
    ("MLE", _too_large, _say_memory),
    ("CE", lambda facts: facts.no_program, lambda _: "Python cannot read the program"),
    ("RE", lambda facts: facts.signal is not None or facts.exit_code != 0, _say_end),
    ("WA", lambda facts: isinstance(facts.answer, Differs), None),
)
