"""Connections that always have more to say take turns.

The whole server runs on one thread; each pass of trio's loop does one step of each runnable task. A connection that has
sent the next thousand messages before the last thousand were handled is runnable in every pass, and its step is long.
Eighty of those made a pass of a hundred milliseconds, and a request for `/health` needs some twenty passes.

So greedy connections wait in one line, over all doors, and take turns one at a time. Before each turn come some passes
in which no connection of the line does anything; the longer its last turn was, the more passes. They cost next to
nothing if nobody else needs them, and otherwise they serve everybody else.

    greedy      its last read took all it was allowed to; or its last turn was long, and ended a moment ago; or it makes
                many requests, each of which is there, or comes a moment later, when the last one is answered
    polite      all others: they are not held up, and do not know of the line

Rules
  - The line is first come, first served: each of n greedy connections has an nth of the turns.
  - A pass has at most one greedy turn. When a turn begins, the next connection comes up and counts its passes from
    there.
  - A connection that is cancelled leaves the line. One that has come up is not cancelled, so the line moves on.
  - A connection that ends does not wait. It has no more to say, and others may wait for what it gives back: a room that
    it leaves can make way for a new one.
  - What the server itself takes is no politeness of the client. An answer takes some twenty passes, and with eighty
    connections a pass takes ten milliseconds. So a client's silence is counted from the last byte sent to the first one
    received, less the passes in which nobody could have noticed the latter.
"""

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
IN_A_ROW = 8
"""So many requests without a moment between them are polite: a page asks for its files."""
UNNOTICED = 2
"""What has come is noticed so many passes later at most: one until the sockets are looked at, one until a task runs."""
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
        self.pass_seconds = 0.0
        """The length of a pass, when somebody last counted some."""

    def __len__(self) -> int:
        return len(self._line)

    async def take(self, last: float = 0.0) -> None:
        """Waits for a turn and begins it. It lasts until the next checkpoint. `last`: the length of the last turn."""
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._up:
            await self._line.park()
        self._up = True
        came_up, passes = trio.current_time(), 1 + min(MOST_PASSES, int(last / PASS))
        for _ in range(passes):
            await trio.lowlevel.cancel_shielded_checkpoint()
        self.pass_seconds = (trio.current_time() - came_up) / passes
        if self._line:
            self._line.unpark()
        else:
            self._up = False
        self.taken += 1


class Pace:
    """The pace of a connection that makes one request after another, each in many steps."""

    __slots__ = ("_in_a_row", "_last", "_line")

    def __init__(self) -> None:
        self._line = turns()
        self._in_a_row = 0
        """The requests since its client was last silent."""
        self._last = 0.0
        """The seconds that the last request took whose end is known: the next one may begin a little before it ends."""

    async def begin(self, silence: float) -> float:
        """A request begins. `silence`: the seconds that the client has let pass since the last answer; less than none
        if the request was there before. Returns the time, for `end`."""
        if silence >= MOMENT + UNNOTICED * self._line.pass_seconds:
            self._in_a_row = 0
        self._in_a_row += 1
        if self._in_a_row > IN_A_ROW:
            await self._line.take(self._last)
        return trio.current_time()

    def end(self, began: float) -> None:
        self._last = trio.current_time() - began
