"""The last result of each case of a problem, with everything that the result depends on.

A result holds for one solution, on one test, with one interpreter and certain settings. Each of these may change a
moment later, and so may the list of cases. So a result is recorded with its `Basis`. When it is shown, the basis is
compared with the current state (`Present`), and `outdated` names the differences. If a change is undone, the result is
valid again. Results of different runs are told apart by the number of their run.

Pure: the caller passes in the current state.
"""

from collections.abc import Callable, Iterable, Mapping

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from actors.judge.given import CaseFile, Found
from actors.judge.limits import limits
from codec.judge import LastRun, Outdated, Reason, RunResult, RunSettings, Standing, Summary, Task, fingerprint

LONG = 16
"""Characters of a digest, enough to tell two files of a user apart."""


class Basis(msgspec.Struct, frozen=True, gc=False):
    """Everything that a result depends on. An empty field is unknown, and never equals the current state."""

    solution: str = ""
    test: str = ""
    interpreter: str = ""
    terms: str = ""


class Recorded(msgspec.Struct, frozen=True):
    """A result in its stored form."""

    result: RunResult
    basis: Basis


class Present(Struct, frozen=True):
    """The current state. None: not read yet."""

    solution: str | None = None
    tests: Mapping[int, str] | None = None
    interpreter: str | None = None
    terms: str | None = None

    @classmethod
    def of(cls, found: Found | None, settings: RunSettings | None, task: Task) -> "Present":
        looked = {} if found is None else {"solution": solution_of(found), "tests": versions(found)}
        known = {} if settings is None else {"interpreter": interpreter(settings), "terms": terms(settings, task)}
        return cls(**looked, **known)  # type: ignore[arg-type]

    def basis(self, index: int) -> Basis:
        """The basis of a result that is made now."""
        test = (self.tests or {}).get(index, "")
        return Basis(self.solution or "", test, self.interpreter or "", self.terms or "")

    def outdates(self, basis: Basis, index: int) -> tuple[Reason, ...]:
        """The parts of this basis that have changed."""
        if basis == self.basis(index) and basis.solution and basis.test:
            return ()
        reasons: list[Reason] = []
        if self.solution is not None and (basis.solution != self.solution or not basis.solution):
            reasons.append("solution")
        if self.tests is not None and (basis.test != self.tests.get(index) or not basis.test):
            reasons.append("test")
        if self.interpreter is not None and basis.interpreter != self.interpreter:
            reasons.append("interpreter")
        if self.terms is not None and basis.terms != self.terms:
            reasons.append("settings")
        return tuple(reasons)


def solution_of(found: Found) -> str:
    """The digest of the solution; empty if there is none."""
    return "" if found.main is None else solution_version(found.main)


def solution_version(digest: bytes) -> str:
    return (digest.hex() or "unreadable")[:LONG]


def versions(found: Found) -> dict[int, str]:
    return {index: version(given, wanted) for index, (given, wanted) in found.cases.items()}


def version(given: CaseFile, wanted: CaseFile) -> str:
    return version_of(given.digest, wanted.digest)


def version_of(given: bytes, wanted: bytes) -> str:
    return fingerprint(given + wanted).hexdigest()[:LONG]


def interpreter(settings: RunSettings) -> str:
    command = settings.pypy_command if settings.interpreter == "pypy" else settings.python_command
    return f"{settings.interpreter} {command}"


def terms(settings: RunSettings, task: Task) -> str:
    """All other settings that a verdict depends on."""
    allowed = limits(settings, task.time_limit, task.memory_limit)
    said = allowed.cpu_ms, allowed.memory_kb, settings.compare, settings.run_cwd_mode, task.input, task.output
    return fingerprint(repr(said).encode()).hexdigest()[:LONG]


def same(before: Found | None, now: Found) -> bool:
    """Whether a page that knows `before` also knows `now`."""
    return (
        before is not None
        and (before.exists, before.main, before.odd) == (now.exists, now.main, now.odd)
        and before.cases.keys() == now.cases.keys()
        and all(
            (given.digest, wanted.digest) == (before.cases[index][0].digest, before.cases[index][1].digest)
            for index, (given, wanted) in now.cases.items()
        )
    )


class Ledger(Struct):
    records: dict[int, Recorded] = field(default_factory=dict)
    last: LastRun | None = None
    summary: Summary | None = None
    """The summary of that run; None if it was interrupted."""
    present: Present = field(default_factory=Present)

    def record(self, number: int, result: RunResult, basis: Basis) -> RunResult:
        """Replaces the case's last result. Returns the result as it is to be sent to pages."""
        result = replace(result, run=number)
        self.records[result.index] = Recorded(result, basis)
        reasons = self.present.outdates(basis, result.index)
        return replace(result, outdated=reasons) if reasons else result

    def rests_on(self, index: int, basis: Callable[[Basis], Basis]) -> bool:
        """More is known of what this result depends on. Returns whether that changes anything."""
        record = self.records.get(index)
        if record is None or (better := basis(record.basis)) == record.basis:
            return False
        self.records[index] = Recorded(record.result, better)
        return True

    def over(self, last: LastRun | None, summary: Summary | None) -> None:
        self.last, self.summary = last, summary

    @property
    def next_run(self) -> int:
        numbers = [record.result.run or 0 for record in self.records.values()]
        return 1 + max(numbers, default=0) if self.last is None else 1 + max([self.last.run, *numbers])

    # -- told

    def result(self, index: int) -> RunResult | None:
        record = self.records.get(index)
        return None if record is None or not self._is_there(index) else self._told(record)

    def results(self) -> tuple[RunResult, ...]:
        """The results of the existing cases, in order."""
        return tuple(self._told(self.records[index]) for index in sorted(self.records) if self._is_there(index))

    def outdated(self) -> tuple[Outdated, ...]:
        told = ((result.index, result.outdated) for result in self.results())
        return tuple(Outdated(index=index, reasons=reasons) for index, reasons in told if reasons)

    def standing(self) -> Standing | None:
        return standing(self.results())

    def kept(self) -> tuple[Recorded, ...]:
        return tuple(self.records[index] for index in sorted(self.records) if self._is_there(index))

    def _is_there(self, index: int) -> bool:
        return self.present.tests is None or index in self.present.tests

    def _told(self, record: Recorded) -> RunResult:
        reasons = self.present.outdates(record.basis, record.result.index)
        return replace(record.result, outdated=reasons) if reasons else record.result


def standing(results: Iterable[RunResult]) -> Standing | None:
    """How the problem stands. A pass under other settings still counts; a pass of another solution does not."""
    count = [result.status == "pass" for result in results if not {"solution", "test"} & {*result.outdated}]
    return Standing(passed=sum(count), failed=len(count) - sum(count)) if count else None
