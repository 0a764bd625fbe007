"""A question and its one answer.

An ask is a message like any other, whose `Reply` the handler answers now or later. The asker parks once: for room,
for the callee and for the answer together. Wherever the question is when the asker gives up, it is withdrawn from
there:

    place      when the asker gives up
    QUEUED     in the lane: it is skipped when popped, never handled; still waiting for room: it is taken out
    RUNNING    its handler runs: the handler is cancelled (unless atomic); the actor lives on
    DEFERRED   the handler has returned and will answer later: `abandoned` is True, an `on_abandon` is called

    state      may become
    WAITING    ANSWERED, ABANDONED
    ANSWERED   -    a second answer raises AlreadyAnswered
    ABANDONED  -    a late answer is a dead letter
"""

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from outcome import Error, Outcome, Value
from trio.lowlevel import Abort, RaiseCancelT, Task, current_task, reschedule, wait_task_rescheduled

from actors.kernel.errors import ActorDown, AlreadyAnswered, TooSlow
from actors.kernel.mailbox import Overflow, Parcel
from actors.kernel.timers import Timer

if TYPE_CHECKING:
    from actors.kernel.slot import Slot

R = TypeVar("R")


class State(enum.Enum):
    WAITING = "waiting"
    ANSWERED = "answered"
    ABANDONED = "abandoned"


class Place(enum.Enum):
    QUEUED = "queued"
    RUNNING = "running"
    DEFERRED = "deferred"


WAITING, ANSWERED, ABANDONED = State
QUEUED, RUNNING, DEFERRED = Place


class Reply(Generic[R]):
    """One-shot. `message` is the question it belongs to; in the lane the reply stands for both."""

    __slots__ = ("_on_abandon", "_outcome", "_parcel", "_slot", "_task", "_timer", "message", "place", "state")

    def __init__(self, slot: "Slot") -> None:
        self._slot = slot
        self._task: Task | None = None
        self._timer: Timer | None = None
        self._outcome: Outcome[R] | None = None  # not None only between an answer and the asker's parking
        self._parcel: Parcel | None = None  # not None once the lane was found full
        self._on_abandon: Callable[[], None] | None = None
        self.message: object = None
        self.state = WAITING
        self.place = QUEUED

    # -- the callee's side

    def set(self, value: R) -> None:
        self._answer(Value(value))

    def fail(self, error: Exception) -> None:
        """The asker's `ask` raises this error; the callee goes on."""
        self._answer(Error(error))

    @property
    def abandoned(self) -> bool:
        """The asker has gone: it was cancelled, or its deadline passed."""
        return self.state is ABANDONED

    def on_abandon(self, call: Callable[[], None]) -> None:
        """Call this, synchronously, if the asker goes after the handler has returned without answering."""
        self._on_abandon = call

    def _answer(self, outcome: Outcome[R]) -> None:
        if self.state is WAITING:
            self.state = ANSWERED
            self._slot.answered(self, outcome)
            if self._timer is not None:
                self._timer.cancel()
            if self._task is None:
                self._outcome = outcome
            else:
                reschedule(self._task, outcome)
        elif self.state is ABANDONED:
            self._slot.late(self)
        else:
            raise AlreadyAnswered(f"{self._slot.path} has already answered this {type(self.message).__name__}")

    # -- the asker's side

    async def asked(self, message: object, timeout: float) -> R:
        self.message = message
        self._post()
        if self._outcome is not None:  # dropped at once by the mailbox's policy
            return self._outcome.unwrap()
        self._timer = self._slot.stage.timers.after(timeout, self._expire)
        self._task = current_task()
        answer: R = await wait_task_rescheduled(self._withdrawn)
        return answer

    def _post(self) -> None:
        slot, box = self._slot, self._slot.box
        if box.closed is not None:
            raise ActorDown(slot.path, box.closed)
        if len(box.lane) >= box.capacity and box.overflow is Overflow.WAIT:
            self._parcel = Parcel(self, None)
            box.enlist(self._parcel)
        else:
            box.put_nowait(self)

    def _expire(self) -> None:
        task = self._task
        assert task is not None
        name = type(self.message).__name__
        self._abandon()
        reschedule(task, Error(TooSlow(f"{self._slot.path} did not answer {name} in time")))

    def _withdrawn(self, _: RaiseCancelT) -> Abort:
        assert self._timer is not None
        self._timer.cancel()
        self._abandon()
        return Abort.SUCCEEDED

    def _abandon(self) -> None:
        self.state = ABANDONED
        match self.place:
            case Place.QUEUED:
                if self._parcel is not None:
                    self._slot.box.withdraw(self._parcel)
            case Place.RUNNING:
                self._slot.cancel_handling(self)
            case Place.DEFERRED:
                self._slot.forget(self)
                if self._on_abandon is not None:
                    self._on_abandon()
