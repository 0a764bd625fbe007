"""Whoever always has more to say takes turns.

All that a server does, it does on one thread, a step of each runnable task in each pass of trio's loop. A connection
that has sent a thousand messages before the last thousand were heard is runnable in every pass, and its step is long.
Eighty of those made a pass of a hundred milliseconds, and whoever asks for `/health` needs some twenty passes.

So the greedy stand in one line, however many doors they came through, and one of them is let in at a time. Before it
comes a number of passes in which nobody of the line does anything: the longer its last turn was, the more. They cost
next to nothing where nobody else wants them, and are what all the others need.

    greedy      its last read took all it was allowed to; or its last turn was long, and ended a moment ago
    polite      everybody else: they are not held up, and do not know of the line

Rules
  - The line is first come, first served: each of n greedy connections has an nth of the turns.
  - At most one greedy turn in a pass. Whoever's turn begins lets the next one come up, which counts its passes from
    there on.
  - Whoever is cancelled in the line leaves it; whoever has come up is not cancelled, so that the line moves on.
"""

import math

import trio

LONG = 0.0002
"""Seconds of a turn from which on it is long."""
REST = 8
"""So many times its own length after it is a moment ago..."""
MOMENT = 0.01
"""...and not longer than this, in seconds."""
PASS = 0.0002
"""For each of these in its last turn, a connection waits for one pass more..."""
MOST_PASSES = 16
"""...up to so many."""
TURN = 0.004
"""Seconds: so long a turn should be at most, where it can be cut."""

_line: trio.lowlevel.RunVar["Turns"] = trio.lowlevel.RunVar("the line of those who have more to say")


def turns() -> "Turns":
    """The one of this run: what is shared is the thread, not a door."""
    try:
        return _line.get()
    except LookupError:
        line = Turns()
        _line.set(line)
        return line


class Turns:
    def __init__(self) -> None:
        self._line = trio.lowlevel.ParkingLot()
        self._up = False
        """Somebody has come up, and his turn has not begun."""
        self.taken = 0
        """Turns, ever."""

    def __len__(self) -> int:
        return len(self._line)

    async def take(self, last: float = 0.0) -> None:
        """Wait for a turn, and begin it: it lasts until the next checkpoint. `last`: how long the last one was."""
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
    """Of one connection that does one thing after the other, each in many steps: it is greedy if it comes with the next
    one before the last is as long ago as it lasted, or a moment."""

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
