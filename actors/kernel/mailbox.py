"""The mailbox: two lanes, one reader.

Rules
  - An unhandled message is in exactly one place: a lane, the hand of a sender that waits for room, a handler, or the
    dead letters.
  - The user lane is bounded. Its overflow policy decides what happens when it is full. A message that nobody wants any
    more (a withdrawn ask, a cancelled timer) is skipped when it is popped, and takes up no room that another message
    needs.
  - A message in the system lane (a stop, a Down, an urgent message) is never refused, and overtakes the user lane.
    There are only as many of these messages as there are children, monitors, urgent events and requests to stop.
  - One task, the owner, takes messages. It parks when both lanes are empty, and the first put wakes it. It yields to
    other tasks after at most `budget` messages. It pops one message at a time, so a crash loses only the message whose
    handler crashed.
  - The mailbox belongs to the child's slot: it outlives incarnations, and is closed with the slot.

Why it is not a trio memory channel: a channel costs one scheduler step in `send` and another in `receive`. A
synchronous put costs none, and the owner needs one step for a whole batch (python -m bench mailbox).

The fast path is one comparison, `len(lane) < fast`. `fast` is the capacity while the mailbox is open and nobody traces
it, and -1 otherwise. So closing and tracing cost nothing until they happen.
"""

import enum
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import trio
from trio.lowlevel import Abort, RaiseCancelT, Task, current_task, reschedule, wait_task_rescheduled

from actors.kernel.errors import MailboxFull
from actors.kernel.stop import Stop

M = TypeVar("M")


class Overflow(enum.Enum):
    WAIT = "wait"
    """`send` waits for room. `tell` cannot wait, and raises MailboxFull."""
    REFUSE = "refuse"
    """`tell` and `send` raise MailboxFull."""
    DROP_OLDEST = "drop oldest"
    DROP_NEWEST = "drop newest"


@dataclass(frozen=True, slots=True)
class MailboxStatistics:
    queued: int
    urgent: int
    waiting: int
    """Senders that wait for room."""
    capacity: int
    handled: int
    dropped: int


def _ignore(message: object) -> None:
    pass


class Signal:
    """The base of what the kernel itself puts into a system lane. When the mailbox is closed, it is no dead letter."""

    __slots__ = ()


class Envelope:
    """The base of the kernel's wrappers around two kinds of messages: a question, and an actor's message to itself."""

    __slots__ = ()
    owed = False
    """True: never refused and never dropped. Otherwise an actor that waits for its own timer could wait for ever."""
    message: Any

    if TYPE_CHECKING:

        @property
        def wanted(self) -> bool:
            """False once nobody waits for the message any more."""


def kind_of(message: object) -> type:
    """Its class. Of a question that was let go only that is left."""
    return message if isinstance(message, type) else type(message)


class Mailbox(Generic[M]):
    __slots__ = (
        "_fast",
        "budget",
        "capacity",
        "closed",
        "dropped",
        "handled",
        "lane",
        "name",
        "on_dead",
        "on_drop",
        "on_tell",
        "overflow",
        "parked",
        "senders",
        "stale",
        "still",
        "system",
    )

    def __init__(self, capacity: int = 1024, overflow: Overflow = Overflow.WAIT, budget: int = 64) -> None:
        if capacity < 1 or budget < 1:
            raise ValueError(f"a mailbox needs room and a budget of at least 1, not {capacity} and {budget}")
        self.capacity = capacity
        self.overflow = overflow
        self.budget = budget
        self.lane: deque[Any] = deque()  # len(lane) <= capacity, not counting messages that are owed
        self.system: deque[Any] = deque()
        self.stale = 0  # how many messages in the lane have become unwanted
        self.senders: OrderedDict[Parcel, None] | None = None  # not empty only while full() would be True
        self.parked: Task | None = None  # the owner's task; not None only while both lanes are empty
        self.closed: Stop | None = None
        self.handled = 0
        self.still = False  # an observer wants to know when a message is handled: none was since it looked
        self.dropped = 0
        self.name = "a mailbox"
        self.on_drop: Callable[[Any], None] = _ignore
        self.on_dead: Callable[[Any], None] = _ignore
        self.on_tell: Callable[[Any], None] | None = None
        self._fast = capacity

    # -- putting

    def put_nowait(self, message: M) -> None:
        """Put a message, by the overflow policy. If the mailbox is closed, the message is a dead letter."""
        if len(self.lane) < self._fast:
            self.lane.append(message)
            if self.parked is not None:
                self.wake()
        else:
            self._put_slowly(message)

    def _put_slowly(self, message: Any) -> None:
        if self.closed is not None:
            self.on_dead(message)
            return
        if self.full():
            match self.overflow:
                case Overflow.WAIT | Overflow.REFUSE:
                    kind = type(message.message if isinstance(message, Envelope) else message).__name__
                    raise MailboxFull(
                        f"{self.name} has {len(self.lane)} messages waiting, which is all it takes "
                        f"({kind} not taken); use send() to wait for room, or slow down"
                    )
                case Overflow.DROP_NEWEST:
                    self._drop(message)
                    return
                case Overflow.DROP_OLDEST:
                    self._drop_oldest()
        self.put_over(message)

    def full(self) -> bool:
        """True if there is no room, even after unwanted messages are thrown out."""
        if len(self.lane) < self.capacity:
            return False
        if self.stale:
            wanted = [other for other in self.lane if not isinstance(other, Envelope) or other.wanted]
            self.lane.clear()  # not a new deque: the owner and the refs hold this one
            self.lane.extend(wanted)
            self.stale = 0
        return len(self.lane) >= self.capacity

    def _drop_oldest(self) -> None:
        for place, message in enumerate(self.lane):
            if not (isinstance(message, Envelope) and message.owed):
                del self.lane[place]
                self._drop(message)
                return

    def _drop(self, message: Any) -> None:
        self.dropped += 1
        self.on_drop(message)

    def put_over(self, message: Any) -> None:
        """Append a message without regard to capacity: for messages that are owed. An actor has a bounded number of
        them."""
        if self.closed is not None:
            self.on_dead(message)
            return
        if self.on_tell is not None:
            self.on_tell(message)
        self.lane.append(message)
        if self.parked is not None:
            self.wake()

    def put_system(self, message: object) -> None:
        """Put a message into the system lane. It is never refused, and overtakes user messages. After the close,
        nothing happens."""
        if self.closed is None:
            self.system.append(message)
            if self.parked is not None:
                self.wake()

    def put_first(self, message: object) -> None:
        """Put a message before all others: one that tells the owner to end."""
        if self.closed is None:
            self.system.appendleft(message)
            if self.parked is not None:
                self.wake()

    async def put(self, message: M) -> None:
        """Put with back-pressure; always a checkpoint. If it is cancelled while it waits for room, the message was not
        put."""
        if self.overflow is Overflow.WAIT and self.closed is None and self.full():
            parcel = Parcel(message, current_task())
            self.enlist(parcel)

            def withdraw(_: RaiseCancelT) -> Abort:
                self.withdraw(parcel)
                return Abort.SUCCEEDED

            await wait_task_rescheduled(withdraw)
            return
        await trio.lowlevel.checkpoint_if_cancelled()
        try:
            self.put_nowait(message)
        finally:  # also if the message was refused: a sender that tries again and again must not starve other tasks
            await trio.lowlevel.cancel_shielded_checkpoint()

    def enlist(self, parcel: "Parcel") -> None:
        """Queue a message until the lane has room. It is taken in turn, unless it is withdrawn before."""
        if self.senders is None:
            self.senders = OrderedDict()
        self.senders[parcel] = None

    def withdraw(self, parcel: "Parcel") -> bool:
        """Take a message back. False if it no longer waits for room."""
        if self.senders is None or parcel not in self.senders:
            return False
        del self.senders[parcel]
        return True

    def unwanted(self) -> None:
        """A message in the lane has just become stale."""
        self.stale += 1
        if self.senders and not self.full():
            self.admit()

    # -- taking: the owner pops `system` and `lane` itself, and calls `admit` after a pop while there are `senders`

    def admit(self) -> None:
        """There is room: let waiting senders in."""
        while self.senders and len(self.lane) < self.capacity:
            parcel, _ = self.senders.popitem(last=False)
            if self.on_tell is not None:
                self.on_tell(parcel.message)
            self.lane.append(parcel.message)
            parcel.taken()

    async def wait(self) -> None:
        """Wait until there is a message to take. This is one checkpoint."""
        if self.lane or self.system:
            await trio.lowlevel.checkpoint()
        else:
            self.parked = current_task()
            await wait_task_rescheduled(self._unpark)

    def _unpark(self, _: RaiseCancelT) -> Abort:
        self.parked = None
        return Abort.SUCCEEDED

    def wake(self) -> None:
        task, self.parked = self.parked, None
        assert task is not None
        reschedule(task)

    # -- ending, tracing, asking

    def close(self, stop: Stop) -> list[Any]:
        """Refuse all later puts. Returns the messages that are left, for the dead letters: the urgent ones first, then
        the oldest first."""
        self.closed = stop
        self._fast = -1
        left = [message for message in self.system if not isinstance(message, Signal)]
        left.extend(self.lane)
        self.lane.clear()
        self.system.clear()
        self.stale = 0
        if self.senders:
            for parcel in self.senders:
                left.append(parcel.message)
                parcel.taken()
            self.senders.clear()
        return left

    def trace(self, on_tell: Callable[[Any], None]) -> None:
        """From now on, call `on_tell` with every message that is put."""
        self.on_tell = on_tell
        self._fast = -1

    def statistics(self) -> MailboxStatistics:
        return MailboxStatistics(
            queued=len(self.lane) - self.stale,
            urgent=len(self.system),
            waiting=len(self.senders or ()),
            capacity=self.capacity,
            handled=self.handled,
            dropped=self.dropped,
        )


class Parcel:
    """A message whose sender waits for room. `task` is None for an ask, because its asker waits for the answer
    anyway."""

    __slots__ = ("message", "task")

    def __init__(self, message: Any, task: Task | None) -> None:
        self.message = message
        self.task = task

    def taken(self) -> None:
        if self.task is not None:
            reschedule(self.task)
