"""A question and its one answer.

An ask is a message like any other. Its handler answers its `Reply`, now or later. The asker parks once, and waits for
room in the mailbox, for the callee and for the answer at the same time. If the asker gives up, the question is
withdrawn from the place where it is:

    place      if the asker gives up there
    QUEUED     in the lane, it is skipped when popped, and never handled; if it still waits for room, it is taken out
    RUNNING    its handler is cancelled (unless it is atomic); the actor lives on
    DEFERRED   the handler has returned and was to answer later; nothing is cancelled
    From RUNNING on, the handler finds `abandoned` True, and the callback set by `on_abandon` is called.

    state      an answer then
    WAITING    reaches the asker
    ANSWERED   raises AlreadyAnswered
    ABANDONED  is late: the question becomes a dead letter
"""

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from outcome import Error, Outcome, Value
from trio.lowlevel import (
    Abort,
    RaiseCancelT,
    Task,
    cancel_shielded_checkpoint,
    checkpoint_if_cancelled,
    current_task,
    reschedule,
    wait_task_rescheduled,
)

from actors.kernel.errors import ActorDown, AlreadyAnswered, MailboxFull, TooSlow
from actors.kernel.mailbox import Envelope, Overflow, Parcel, kind_of
from actors.kernel.table import Table
from actors.kernel.timers import Timer

if TYPE_CHECKING:
    from actors.kernel.slot import Slot

R = TypeVar("R", contravariant=True)  # a Reply that takes any answer can be used where one that takes an int is needed
A = TypeVar("A", covariant=True)


class ReplyState(enum.Enum):
    WAITING = "waiting"
    ANSWERED = "answered"
    ABANDONED = "abandoned"


class QuestionPlace(enum.Enum):
    QUEUED = "queued"
    RUNNING = "running"
    DEFERRED = "deferred"


WAITING, ANSWERED, ABANDONED = ReplyState
QUEUED, RUNNING, DEFERRED = QuestionPlace


class ReplyEvent(enum.Enum):
    ANSWER = "answer"
    GIVE_UP = "give up"


class Step(enum.Enum):
    TAKE = "take"
    RETURN = "return"


MOVES = Table(
    "a question",
    {ReplyEvent.ANSWER: {WAITING: ANSWERED}, ReplyEvent.GIVE_UP: {WAITING: ABANDONED}},
)
PLACES = Table(
    "the place of a question",
    {Step.TAKE: {QUEUED: RUNNING}, Step.RETURN: {RUNNING: DEFERRED}},
)


class Reply(Envelope, Generic[R]):
    """Takes one answer. `message` is the question it belongs to. In the mailbox the reply stands for both.

    The question holds its reply, too. So the reply lets go of it when the asker has its answer or has given up, and no
    handler runs: else both would stay until Python looks for cycles, which it does by number and not by size, and a
    question may have megabytes."""

    __slots__ = ("_on_abandon", "_outcome", "_parcel", "_slot", "_task", "_timer", "message", "place", "state")

    def __init__(self, slot: "Slot") -> None:
        self._slot = slot
        self._task: Task | None = None
        self._timer: Timer | None = None
        self._outcome: Outcome[R] | None = None  # not None only if the answer came before the asker parked
        self._parcel: Parcel | None = None  # not None if the lane was full
        self._on_abandon: Callable[[], None] | None = None
        self.message: object = None
        self.state = WAITING
        self.place = QUEUED

    # -- the callee's side

    def set(self, value: R) -> None:
        self._answer(Value(value))

    def fail(self, error: Exception) -> None:
        """Make the asker's `ask` raise this error. The callee goes on."""
        self._answer(Error(error))

    @property
    def wanted(self) -> bool:
        """The asker still waits for the answer."""
        return self.state is WAITING

    @property
    def abandoned(self) -> bool:
        """The asker has given up: it was cancelled, or its deadline has passed."""
        return self.state is ABANDONED

    def on_abandon(self, call: Callable[[], None]) -> None:
        """Have `call` called, synchronously, when the asker gives up; at once, if it already has."""
        self._on_abandon = call
        if self.state is ABANDONED:
            call()

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
            raise AlreadyAnswered(f"{self._slot.path} has already answered this {kind_of(self.message).__name__}")

    # -- the asker's side

    def posted(self, message: object) -> None:
        """The question is on its way. Its answer may be waited for, once, as that of one that was `asked`."""
        self.message = message
        try:
            self._post()
        except (ActorDown, MailboxFull):
            self.let_go()
            raise

    async def asked(self, message: object, timeout: float) -> Any:
        """`message`: None, if it was posted before."""
        try:
            await checkpoint_if_cancelled()
        except BaseException:
            if message is None and self.state is WAITING:
                self._abandon()
            raise
        if message is not None:
            try:
                self.posted(message)
            except (ActorDown, MailboxFull):  # an asker that tries again and again must not starve other tasks
                await cancel_shielded_checkpoint()
                raise
        if self._outcome is not None:  # answered already, or dropped at once by the mailbox's policy
            self.let_go()
            await cancel_shielded_checkpoint()
            return self._outcome.unwrap()
        self._timer = self._slot.stage.timers.after(timeout, self._expire)
        self._task = current_task()
        try:
            return await wait_task_rescheduled(self._withdrawn)
        finally:
            if self.state is ANSWERED or self.place is not RUNNING:
                self.let_go()

    def let_go(self) -> None:
        """From now on only the kind of the question is known."""
        self.message = kind_of(self.message)

    def _post(self) -> None:
        slot, box = self._slot, self._slot.box
        if box.closed is not None:
            raise ActorDown(slot.path, box.closed)
        life = slot.incarnation
        if box.parked is not None and life is not None and life.takes_at_once(self.message, self):
            return
        if box.overflow is Overflow.WAIT and box.full():
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
        if self.place is QUEUED:
            box = self._slot.box
            if self._parcel is None or not box.withdraw(self._parcel):
                box.unwanted()
        else:
            self._slot.asker_left(self, self._on_abandon)


class PostedQuestion(Generic[A]):
    """A question that was posted (`ActorRef.post`)."""

    __slots__ = ("_reply",)

    def __init__(self, reply: Reply[Any]) -> None:
        self._reply = reply

    async def answer(self, *, timeout: float) -> A:
        """It is waited for once. Raises and withdraws as `ActorRef.ask` does."""
        answer: A = await self._reply.asked(None, timeout)
        return answer
