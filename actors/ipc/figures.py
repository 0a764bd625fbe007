"""What is counted of the desk since the server began."""

from bisect import bisect_left

from msgspec import Struct, field

from codec.ipc.desk import DeskTotals, RequestFact

BOUNDS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 3600.0)
"""Seconds from a request's acceptance to its end."""
ENDS = ("success", "gave up", "cancelled")


class Figures(Struct, frozen=True):
    totals: DeskTotals
    attempts: int
    """Begun since the server began."""
    ended: dict[str, int]
    """How many have ended since then, by how."""
    latencies: tuple[int, ...]
    """Of those that succeeded: how many within each bound and above the one before; the last: above all."""
    seconds: float
    """Their sum."""
    lonely_seconds: float
    """For how long nobody has answered; 0: somebody does."""


class DeskCounts(Struct):
    attempts: int = 0
    ended: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ENDS, 0))
    latencies: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def changed(self, before: RequestFact | None, now: RequestFact) -> None:
        """A request was as `before`, and is so now. None: it is new."""
        self.attempts += max(0, now.attempts - (0 if before is None else before.attempts))
        if now.state not in ENDS or (before is not None and before.state == now.state):
            return
        self.ended[now.state] += 1
        if now.state == "success" and now.seconds is not None:
            self.latencies[bisect_left(BOUNDS, now.seconds)] += 1
            self.seconds += now.seconds

    def with_totals(self, totals: DeskTotals, *, lonely_seconds: float) -> Figures:
        ended, latencies = dict(self.ended), tuple(self.latencies)
        return Figures(totals, self.attempts, ended, latencies, self.seconds, lonely_seconds)
