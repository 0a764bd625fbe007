"""A ferry to the disk: calls that come while a trip is under way ride together in the next.

A trip is made in a thread. Where nothing waits for a device (`near`), a short call needs none, because the way to a
thread and back takes several times as long as the call: it is made in the loop, if the ferry is at home. Of the loop's
time such calls take at most a part; what comes beyond that rides.

A call never waits for company: if the ferry is at home, it leaves at once. A caller who is cancelled drops out and
hurts nobody: before the trip its call is forgotten, and after that only its answer is.

A disk may hang, and a thread cannot be ended. So nobody waits for longer than `patience`, and the thread stays behind.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

import trio

J = TypeVar("J")

SPELL_SECONDS, SHARE_SECONDS = 0.01, 0.002
"""In each spell of the loop, calls that are made in it take at most so long together, but for the last one."""


class NotShort(Exception):
    """A call turned out to take long, before it has changed anything: it is to ride."""


class _Rider(Generic[J]):
    __slots__ = ("answer", "arrived", "job", "wanted")

    def __init__(self, job: J) -> None:
        self.job = job
        self.arrived = trio.Event()
        self.answer: Any = None
        self.wanted = True


class Ferry(Generic[J]):
    """Callers wait for their answers, so there are never more calls than callers."""

    def __init__(
        self,
        run: Callable[[Sequence[J]], Sequence[Any]],
        name: str,
        *,
        most: int,
        patience: float,
        hangs: Callable[[], Exception],
        after: Callable[[], None],
        near: Callable[[], bool] = lambda: False,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`run`: makes the trip, in a thread; an answer that is an exception is raised. `hangs`: what is raised when
        patience is over. `after`: is called in the loop after each trip, before its answers are known. `near`: whether
        nothing that is done there waits for a device."""
        self._run = run
        self._name = name
        self._most = most
        self._patience = patience
        self._hangs = hangs
        self._after = after
        self._near = near
        self._now = now
        self._spell, self._spent = 0.0, 0.0
        self._waiting: deque[_Rider[J]] = deque()
        self._under_way = False
        self.trips = 0

    async def ride(self, job: J, *, short: J | None = None) -> Any:
        """`short`: the same job, which takes a fraction of a millisecond where nothing waits for a device, or raises
        NotShort."""
        if short is not None and self._may_be_made_here:
            await trio.lowlevel.checkpoint_if_cancelled()  # others have their turn: the share is small
            with suppress(NotShort):
                return self._made_here(short)
        rider = _Rider(job)
        self._waiting.append(rider)
        if not self._under_way:
            self._go()
        try:
            with trio.move_on_after(self._patience):
                await rider.arrived.wait()
        finally:
            rider.wanted = False
        if not rider.arrived.is_set():
            raise self._hangs()
        if isinstance(rider.answer, Exception):
            raise rider.answer
        return rider.answer

    @property
    def _may_be_made_here(self) -> bool:
        if self._under_way or not self._near():
            return False
        return self._spent < SHARE_SECONDS or self._now() - self._spell > SPELL_SECONDS

    def _made_here(self, job: J) -> Any:
        began = self._now()
        if began - self._spell > SPELL_SECONDS:
            self._spell, self._spent = began, 0.0
        try:
            (answer,) = self._run([job])
        finally:
            self._spent += self._now() - began
        self._after()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _go(self) -> None:
        riders: list[_Rider[J]] = []
        while self._waiting and len(riders) < self._most:
            rider = self._waiting.popleft()
            if rider.wanted:
                riders.append(rider)
        self._under_way = bool(riders)
        if riders:
            self.trips += 1
            token = trio.lowlevel.current_trio_token()
            jobs = [rider.job for rider in riders]

            def deliver(outcome: Any) -> None:
                with suppress(trio.RunFinishedError):  # nobody waits any more
                    token.run_sync_soon(self._arrived, riders, outcome.unwrap)

            trio.lowlevel.start_thread_soon(lambda: self._run(jobs), deliver, self._name)

    def _arrived(self, riders: list[_Rider[J]], answers: Callable[[], Sequence[Any]]) -> None:
        try:
            found = answers()
        except Exception as error:  # a fault of ours: whoever rode is told
            found = [error] * len(riders)
        self._after()
        for rider, answer in zip(riders, found, strict=True):
            rider.answer = type(answer)(*answer.args) if isinstance(answer, Exception) and len(found) > 1 else answer
            rider.arrived.set()
        self._go()
