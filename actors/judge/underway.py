"""The current run of a problem: its number, who asked for it, how far it is, and the state when it was ordered."""

from msgspec import Struct, field

from actors.judge.ledger import Present
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
