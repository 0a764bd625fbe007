"""Whether anybody answers requests, as far as the lines of the list show it. Pure.

    an attempt was answered, well or ill    somebody answers
    an attempt was not answered in time     perhaps nobody has answered since then; the more of them in a row, the surer
    our own server end tells what it runs   somebody answers

A foreign peer does not say that it lives, and one that thinks for ten minutes looks like one that has ended. So nobody
is missed before an attempt's whole time has passed.
"""

from msgspec import Struct

from actors.ipc.client_steps import OVERDUE
from codec.ipc.desk import RequestFact

OURS = "Our own server end answers."
THEIRS = "Whoever serves this folder answers."


class Company(Struct):
    sentence: str = ""
    """Empty: nothing is known."""
    lonely_since: float | None = None
    """By the caller's clock; None: somebody answers, or nothing is known."""
    missed: int = 0
    """Attempts in a row that were not answered in time."""

    def told(self, sentence: str, *, alive: bool, now: float) -> None:
        """By somebody who knows."""
        self.sentence = sentence
        self.missed = 0
        if alive:
            self.lonely_since = None
        elif self.lonely_since is None:
            self.lonely_since = now

    def changed(self, before: RequestFact | None, fact: RequestFact, now: float) -> None:
        """A request was as `before`, and is so now."""
        if before is None or not _has_ended_an_attempt(before, fact):
            return
        if fact.state == "success" or fact.message != OVERDUE:
            self.told(OURS if self.sentence == OURS else THEIRS, alive=True, now=now)
            return
        missed = self.missed + 1
        what = "The last attempt was" if missed == 1 else f"The last {missed:,} attempts were"
        self.told(f"{what} not answered in time: perhaps nobody serves this folder.", alive=False, now=now)
        self.missed = missed


def _has_ended_an_attempt(before: RequestFact, fact: RequestFact) -> bool:
    was_under_way, another = before.state == "polling", fact.attempts > before.attempts
    if fact.state in ("success", "gave up", "retrying"):
        return was_under_way or another
    return fact.state == "polling" and was_under_way and another  # the line between the two was not told
