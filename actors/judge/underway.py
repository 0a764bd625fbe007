"""The current run of a problem: its number, who asked for it, how far it is, and the basis of its results.

A run uses the files that were in the folder when it was ordered. If one is edited meanwhile, nobody knows which version
a program has read that was not judged by then. Its result counts for neither version, and is out of date from the
beginning.
"""

from msgspec import Struct, field

from actors.judge.ledger import Basis, Present, unknown
from actors.judge.messages.panel import PanelMessage
from actors.kernel import ActorRef, AnyRef
from codec.judge import LastRun, Running, RunProgress, RunResult, Scope, Summary, summary_of


class UnderWay(Struct):
    run: AnyRef
    asker: ActorRef[PanelMessage] | None
    """None: it has gone."""
    scope: Scope
    number: int
    indices: tuple[int, ...]
    ordered: Present
    """The state when it was ordered."""
    began: float
    current: int | None
    """The lowest case that is not judged yet; None if all are."""
    judged: list[RunResult] = field(default_factory=list)
    other_solution: set[int] = field(default_factory=set)
    other_test: set[int] = field(default_factory=set)
    """Cases that were edited before they were judged, so that nobody knows which version was run."""

    def edited(self, now: Present) -> None:
        """The folder has been read again, and this is its state."""
        before, after = self.ordered.tests or {}, now.tests or {}
        to_come = self._to_come()
        if now.solution != self.ordered.solution:
            self.other_solution.update(to_come)
        self.other_test.update(index for index in to_come if before.get(index) != after.get(index))

    def unreadable(self) -> None:
        """Nobody knows the state of the folder, perhaps because another one is in its place."""
        to_come = self._to_come()
        self.other_solution.update(to_come)
        self.other_test.update(to_come)

    def _to_come(self) -> list[int]:
        return [index for index in self.indices if self.current is not None and index >= self.current]

    def basis(self, index: int) -> Basis:
        basis = self.ordered.basis(index)
        if index in self.other_solution:
            basis = unknown(basis, of_test=False)
        return unknown(basis, of_test=True) if index in self.other_test else basis

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
        return summary_of(self.judged, round((now - self.began) * 1000))
