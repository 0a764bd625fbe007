"""A message that an actor sends itself after a delay. It dies with the incarnation that sent it.

    place      where it is                     if it is cancelled there
    PENDING    in the heap of timers           it never comes
    QUEUED     due, and in the mailbox's lane  it is skipped when popped
    GONE       handled or cancelled            nothing happens
"""

import enum

from actors.kernel.mailbox import Envelope, Mailbox
from actors.kernel.table import Table
from actors.kernel.timers import Timer, Timers


class LaterState(enum.Enum):
    PENDING = "pending"
    QUEUED = "queued"
    GONE = "gone"


PENDING, QUEUED, GONE = LaterState


class LaterEvent(enum.Enum):
    DUE = "due"
    TAKE = "take"
    CANCEL = "cancel"


MOVES = Table(
    "a message to oneself",
    {
        LaterEvent.DUE: {PENDING: QUEUED},
        LaterEvent.TAKE: {QUEUED: GONE},
        LaterEvent.CANCEL: {PENDING: GONE, QUEUED: GONE},
    },
)


class Later(Timer, Envelope):
    __slots__ = ("_box", "_holder", "message", "place")

    owed = True

    def __init__(
        self, timers: Timers, due: float, box: Mailbox[object], holder: "dict[Later, None]", message: object
    ) -> None:
        super().__init__(timers, due, self._come)
        self._box = box
        self._holder = holder  # contains self if and only if place is not GONE
        self.message = message
        self.place = PENDING
        holder[self] = None

    def _come(self) -> None:
        self.place = QUEUED
        self._box.put_over(self)

    @property
    def pending(self) -> bool:
        return self.place is not GONE

    @property
    def wanted(self) -> bool:
        return self.place is not GONE

    def cancel(self) -> None:
        place, self.place = self.place, GONE
        if place is not GONE:
            del self._holder[self]
        if place is PENDING:
            super().cancel()
        elif place is QUEUED:
            self._box.unwanted()

    def taken(self) -> None:
        """The loop has popped the message from the lane and handles it now."""
        self.place = GONE
        del self._holder[self]
