"""How a request ended."""

from dataclasses import dataclass
from typing import Any

from codec.ipc import Failure, Outcome, Success
from codec.ipc.desk import Attempt, RequestDetail
from troupe.ipc.troubles import RequestFailed

OVER = ("success", "gave up", "cancelled")
CANCELLED = "it was cancelled"
NO_REASON = "nobody said why"


@dataclass(frozen=True, slots=True)
class Result:
    id: str
    ok: bool
    data: Any = None
    error: str = ""
    """Why it failed, in the words of the last attempt; empty if it did not."""
    attempts: tuple[Attempt, ...] = ()
    """All of them, from the first on, if the server could be asked. Otherwise what the files tell: the last one."""
    cancelled: bool = False

    def raise_for_failure(self) -> "Result":
        """Itself. Raises RequestFailed."""
        if self.ok:
            return self
        tries = "" if len(self.attempts) < 2 else f" after {len(self.attempts)} attempts"
        raise RequestFailed(f"The request {self.id} failed{tries}: {self.error}")


def result_of(
    id: str,  # noqa: A002 - as in the contract
    outcome: Outcome,
    at: float,
    detail: RequestDetail | None = None,
    asked: float | None = None,
) -> Result:
    """`at`: when the file was written that it was read from. `asked`: when its request was; None: nobody knows."""
    tried = detail.tried if detail is not None else ()
    if not tried:
        began = at if asked is None else min(asked, at)
        tried = (Attempt(number=1, began=began, ended=at, outcome=outcome),)
    if isinstance(outcome, Success):
        return Result(id, ok=True, data=outcome.data, attempts=tried)
    return Result(id, ok=False, error=outcome.message, attempts=tried)


def told(detail: RequestDetail) -> Result | None:
    """The result that the server knows, for a request whose files are gone; None: it is not over."""
    fact = detail.fact
    if fact.state == "cancelled":
        return Result(fact.id, ok=False, error=CANCELLED, attempts=detail.tried, cancelled=True)
    last = detail.tried[-1].outcome if detail.tried else None
    if fact.state == "success" and isinstance(last, Success):
        return result_of(fact.id, last, fact.changed, detail)
    if fact.state == "gave up":
        failure = last if isinstance(last, Failure) else Failure(fact.message or NO_REASON)
        return result_of(fact.id, failure, fact.changed, detail)
    return None
