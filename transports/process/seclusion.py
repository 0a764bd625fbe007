"""Decides which programs run beside others, and which run alone.

Unless the kernel forbids it (see `launcher/system.py`), a program can kill the launcher that runs it. Then all programs
beside it are interrupted too, and nobody can tell which one did it. So each of them is run again while nothing else
runs, by a launcher that was started for it. An honest program then gets its verdict. One that is interrupted again must
have done it itself.

    NEW --its turn--> HELD --no program is alone, or waits to be--> ON --over--> OVER
    NEW, HELD --over--> OVER

Rules
  - A program that is to run alone waits for the running ones, and holds up those that have not begun.
  - Between two programs that run alone, all that were held up have their turn. Otherwise a row of such programs could
    hold them up for ever.
  - Of those that wait to run alone, the owners take turns. Otherwise whoever has many that end their launcher would
    hold up whoever has one.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager

import trio

from transports.process.run import Turn


class Seclusion:
    def __init__(self) -> None:
        self._on: set[Among] = set()
        self._held: deque[Among] = deque()
        """Invariant: not empty => a program runs alone, or waits to."""
        self._waiting: dict[Hashable, deque[trio.Event]] = {}
        """By owner, in the order of their turns."""
        self._secluded = False
        """Invariant: => no program is ON."""

    def among_others(self, turn: Turn) -> "Among":
        """A turn that begins when, in addition, no program runs alone."""
        return Among(self, turn)

    @asynccontextmanager
    async def alone(self, owner: Hashable) -> AsyncIterator[None]:
        if self._secluded or self._on or self._waiting:
            come = trio.Event()
            self._waiting.setdefault(owner, deque()).append(come)
            try:
                await come.wait()
            except BaseException:
                if come.is_set():
                    self._leave_seclusion()
                else:
                    self._waiting[owner].remove(come)
                    if not self._waiting[owner]:
                        del self._waiting[owner]
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
            owner = next(iter(self._waiting))
            its = self._waiting.pop(owner)
            its.popleft().set()
            if its:
                self._waiting[owner] = its  # after all others


class Among:
    """The turn of a program that runs beside others."""

    def __init__(self, seclusion: Seclusion, turn: Turn) -> None:
        self._seclusion = seclusion
        self._turn = turn
        self.begun = False

    def come(self, begin: Callable[[], None]) -> None:
        self._begin = begin
        self._turn.come(self._may)

    def begin(self) -> None:
        """Called by the seclusion."""
        self.begun = True
        self._begin()

    def over(self) -> None:
        self._seclusion.leave(self)
        self._turn.over()

    def _may(self) -> None:
        self._seclusion.enter(self)
