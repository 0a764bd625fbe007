"""The run of a problem that is under way: which it is, whose, how far it is, and what its results are of.

What is run is what was in the folder when the run was ordered, unless somebody edits it meanwhile: then nobody can say
which of the two a program has read that had not been judged by then. Its result is of neither, and is outdated as soon
as it is there.
"""

from dataclasses import dataclass, field

import msgspec

from actors.judge.ledger import Basis, Present
from actors.judge.messages.panel import PanelMessage
from actors.judge.telling import summary
from actors.kernel import ActorRef, AnyRef
from codec.judge import LastRun, Running, RunProgress, RunResult, Scope, Summary


@dataclass(slots=True)
class UnderWay:
    run: AnyRef
    asker: ActorRef[PanelMessage] | None
    """None: it has gone."""
    scope: Scope
    number: int
    indices: tuple[int, ...]
    ordered: Present
    """What was there when it was ordered."""
    began: float
    current: int | None
    """The lowest case that is not judged yet; None: all are."""
    judged: list[RunResult] = field(default_factory=list)
    other_solution: set[int] = field(default_factory=set)
    other_test: set[int] = field(default_factory=set)
    """Cases of which nobody can say what was run: one was edited before they were judged."""

    def edited(self, now: Present) -> None:
        """Somebody has looked, and found this."""
        before, after = self.ordered.tests or {}, now.tests or {}
        to_come = [index for index in self.indices if self.current is not None and index >= self.current]
        if now.solution != self.ordered.solution:
            self.other_solution.update(to_come)
        self.other_test.update(index for index in to_come if before.get(index) != after.get(index))

    def basis(self, index: int) -> Basis:
        basis = self.ordered.basis(index)
        if index in self.other_solution:
            basis = msgspec.structs.replace(basis, solution="")
        return msgspec.structs.replace(basis, test="") if index in self.other_test else basis

    # -- told

    def begun(self, id: str) -> RunProgress:  # noqa: A002 - as on the wire
        return RunProgress(self.scope, True, self.current, id, self.number, self.indices)

    def progress(self, id: str) -> RunProgress:  # noqa: A002
        return RunProgress(self.scope, True, self.current, id, self.number)

    def running(self) -> Running:
        return Running(scope=self.scope, current_index=self.current, run=self.number, indices=self.indices)

    def last(self, *, cancelled: bool) -> LastRun:
        return LastRun(run=self.number, indices=self.indices, cancelled=cancelled)

    def summary(self, now: float) -> Summary:
        return summary(self.judged, round((now - self.began) * 1000))
