"""Connections that always have more to say take turns.

The whole server runs on one thread; each pass of trio's loop does one step of each runnable task. A connection that has
sent the next thousand messages before the last thousand were handled is runnable in every pass, and its step is long.
Eighty of those made a pass of a hundred milliseconds, and a request for `/health` needs some twenty passes.

So greedy connections wait in one line, over all doors, and take turns one at a time. Before each turn come some passes
in which no connection of the line does anything; the longer its last turn was, the more passes. They cost next to
nothing if nobody else needs them, and otherwise they serve everybody else.

    greedy      its last read took all it was allowed to; or its last turn was long, and ended a moment ago
    polite      all others: they are not held up, and do not know of the line

Rules
  - The line is first come, first served: each of n greedy connections has an nth of the turns.
  - A pass has at most one greedy turn. When a turn begins, the next connection comes up and counts its passes from
    there.
  - A connection that is cancelled leaves the line. One that has come up is not cancelled, so the line moves on.
"""

import math

import trio

LONG = 0.0002
"""A turn of this many seconds or more is long."""
REST = 8
"""A turn ended "a moment ago" for this many times its own length..."""
MOMENT = 0.01
"""...and not longer than this, in seconds."""
PASS = 0.0002
"""For each such time span in its last turn, a connection waits one more pass..."""
MOST_PASSES = 16
"""...up to this many."""
TURN = 0.004
"""The longest turn in seconds, if a turn can be cut."""

_line: trio.lowlevel.RunVar["FairTurns"] = trio.lowlevel.RunVar("the line of those who have more to say")


def turns() -> "FairTurns":
    """The line of this run. There is one for all doors, because they share the thread."""
    try:
        return _line.get()
    except LookupError:
        line = FairTurns()
        _line.set(line)
        return line


class FairTurns:
    def __init__(self) -> None:
        self._line = trio.lowlevel.ParkingLot()
        self._up = False
        """Whether a connection has come up whose turn has not begun."""
        self.taken = 0
        """All turns so far."""

    def __len__(self) -> int:
        return len(self._line)

    async def take(self, last: float = 0.0) -> None:
        """Waits for a turn and begins it. It lasts until the next checkpoint. `last`: the length of the last turn."""
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._up:
            await self._line.park()
        self._up = True
        for _ in range(1 + min(MOST_PASSES, int(last / PASS))):
            await trio.lowlevel.cancel_shielded_checkpoint()
        if self._line:
            self._line.unpark()
        else:
            self._up = False
        self.taken += 1


class Pace:
    """The pace of a connection that does one thing after another, each in many steps. It is greedy if it begins the
    next one before a time as long as the last one, or a moment, has passed."""

    __slots__ = ("_began", "_ended", "_line")

    def __init__(self) -> None:
        self._line = turns()
        self._began = self._ended = -math.inf

    async def begin(self) -> None:
        last = self._ended - self._began
        if trio.current_time() - self._ended < min(MOMENT, last):
            await self._line.take(last)
        self._began = trio.current_time()

    def end(self) -> None:
        self._ended = trio.current_time()
