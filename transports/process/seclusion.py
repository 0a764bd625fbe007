"""Who runs beside others, and who runs alone.

A program can end what runs it, where the kernel does not forbid that (see `launcher/system.py`), and then the runs
beside it are interrupted as it is. Nobody can tell who did it. So each of them is run again while nothing else runs,
by a launcher that was started for it: then the honest one has its verdict, and who is interrupted once more has shown
that it was it.

    NEW --its turn--> HELD --nobody is alone, or waits to be--> ON --over--> OVER
    NEW, HELD --over--> OVER

Rules
  - Who is to be alone waits for those who run, and holds up those who have not begun.
  - Between two who are alone all that were held up have their turn: one after the other they might hold up the rest for
    ever.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import trio

from transports.process.run import Turn


class Seclusion:
    def __init__(self) -> None:
        self._on: set[Among] = set()
        self._held: deque[Among] = deque()
        """Invariant: not empty => somebody is alone, or waits to be."""
        self._waiting: deque[trio.Event] = deque()
        self._secluded = False
        """Invariant: => nobody is on."""

    def among_others(self, turn: Turn) -> "Among":
        """A turn that begins when nobody is alone, too."""
        return Among(self, turn)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        if self._secluded or self._on or self._waiting:
            come = trio.Event()
            self._waiting.append(come)
            try:
                await come.wait()
            except BaseException:
                if come.is_set():
                    self._leave_seclusion()
                else:
                    self._waiting.remove(come)
                    if not self._waiting and not self._secluded:
                        self._let_in()
                raise
        else:
            self._secluded = True
        try:
            yield
        finally:
            self._leave_seclusion()

    def enter(self, run: "Among") -> None:
        if self._secluded or self._waiting:
            self._held.append(run)
        else:
            self._on.add(run)
            run.begin()

    def leave(self, run: "Among") -> None:
        if run in self._on:
            self._on.remove(run)
            self._seclude_next()
        elif run in self._held:
            self._held.remove(run)

    def _leave_seclusion(self) -> None:
        self._secluded = False
        self._let_in()
        self._seclude_next()

    def _let_in(self) -> None:
        held, self._held = self._held, deque()
        self._on.update(held)
        for run in held:
            run.begin()

    def _seclude_next(self) -> None:
        if self._waiting and not self._on and not self._secluded:
            self._secluded = True
            self._waiting.popleft().set()


class Among:
    """The turn of one that runs beside others."""

    def __init__(self, seclusion: Seclusion, turn: Turn) -> None:
        self._seclusion = seclusion
        self._turn = turn
        self.begun = False

    def come(self, begin: Callable[[], None]) -> None:
        self._begin = begin
        self._turn.come(self._may)

    def begin(self) -> None:
        """Said by the seclusion."""
        self.begun = True
        self._begin()

    def over(self) -> None:
        self._seclusion.leave(self)
        self._turn.over()

    def _may(self) -> None:
        self._seclusion.enter(self)
