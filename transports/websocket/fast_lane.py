"""The lane of a WebSocket that carries very many small texts.

The task that receives (the receiver) reads the socket itself and peels whole texts off each read. No library is
involved. Bytes that are not peeled are handed to trio-websocket (the library), piece by piece. While the receiver waits
for the socket, the door's lookout reads it in the receiver's place; if what has come is a few whole texts, they are
handled there, and the receiver goes on waiting.

    state      who reads the socket                becomes       when
    PEELING    the receiver; the library waits     LENT          a piece is handed over
                                                   OWING         a piece is handed over that ends a message
    LENT       nobody: the library has a piece     PEELING       the library asks for more
    OWING      nobody: that piece ends a message   OWED          the library asks for more
    OWED       nobody: the message waits           PEELING       the message is received
    OVER       the library, for good               -             any state becomes OVER by the second rule

Rules
  - After a piece was handed over, nothing is read or peeled until the library has dealt with it and asks for more, and,
    if the piece ended a message, until that message has been received. So the order holds, and if the library cannot
    send a pong, the client is slowed down.
  - After a violation of the protocol, after a close frame of either side, and at the end of the stream, the library
    reads the socket itself, as it does without a lane. This state is final.
  - All sending goes through the outbox.
  - What the lookout has read is handled before the receiver reads again, and what it could not handle comes first when
    the receiver goes on. So the order holds there, too.
  - All texts of a batch are handled in one turn, while nobody else can run. So a batch is bounded by number
    (`MOST_AT_ONCE`) and, judging by how long the last one took, by time.
  - The lane reports to the backlog how much it keeps of an unfinished message. The backlog has a bound for all lanes; a
    lane that has to give way closes with 1013.
"""

import enum
from collections.abc import Callable

import trio

from actors.kernel import Table
from transports.websocket.lane import CLOSE_FRAME, READ_BYTES, Lane
from transports.websocket.outbox import Outbox
from transports.websocket.peel import MOST_AT_ONCE, Peeler, Piece, Rest
from transports.wire.backlog import Backlog
from transports.wire.turns import TURN, turns
from transports.wire.wire import GONE, Wire

AtOnce = Callable[[list[bytes]], bool]
"""Takes texts, or refuses them."""

TRY_LATER = 1013
FEW = 64
"""A batch may have so many texts, no matter how long it takes to handle them."""


class State(enum.Enum):
    PEELING = "peeling"
    LENT = "lent"
    OWING = "owing"
    OWED = "owed"
    OVER = "over"


class LaneEvent(enum.Enum):
    LEND = "lend"
    """The library is given a piece."""
    LEND_LAST = "lend last"
    """The library is given a piece that ends a message."""
    ASK = "ask"
    """The library wants more, or looks again."""
    RECEIVE = "receive"
    """The receiver has taken a message from the library."""
    HAND_OVER = "hand over"


MOVES = Table(
    "a fast lane",
    {
        LaneEvent.LEND: {State.PEELING: State.LENT},
        LaneEvent.LEND_LAST: {State.PEELING: State.OWING},
        LaneEvent.ASK: dict(zip(State, State, strict=True)) | {State.LENT: State.PEELING, State.OWING: State.OWED},
        LaneEvent.RECEIVE: {State.OWED: State.PEELING, State.OVER: State.OVER},
        LaneEvent.HAND_OVER: dict.fromkeys(State, State.OVER),
    },
)
LENDING = (State.LENT, State.OWING)


class FastLane(Lane):
    __slots__ = (
        "_asks", "_at_once", "_backlog", "_batch", "_for_it", "_gave", "_gave_at", "_given", "_is_fed", "_is_kept",
        "_left", "_nursery", "_outbox", "_peeler", "_receiver_reads", "_refused", "_state", "_turns",
    )  # fmt: skip

    def __init__(
        self, wire: Wire, request: bytes, outbox: Outbox, backlog: Backlog, nursery: trio.Nursery, *, message_bytes: int
    ) -> None:
        super().__init__(wire, request, most_without_message=2 * message_bytes + READ_BYTES)
        self._outbox = outbox
        self._backlog = backlog
        self._nursery = nursery
        self._peeler = Peeler(message_bytes)
        self._turns = turns()
        self._batch = MOST_AT_ONCE
        """The most texts in a batch."""
        self._gave = 0
        """How many texts the last batch had; 0 if there were only a few."""
        self._gave_at = 0.0
        self._state = State.PEELING
        self._for_it = b""
        """A piece for the library."""
        self._given = trio.Event()
        """The library waits for this before it looks again at `_state` and `_for_it`."""
        self._asks = trio.Event()
        """While the library has a piece, the receiver waits for this before it looks again at `_state`."""
        self._receiver_reads = False
        """The receiver is reading the socket. The library waits until it has finished, even if the state is OVER."""
        self._is_kept = False
        """The backlog knows of bytes of this lane."""
        self._at_once: AtOnce | None = None
        """Takes texts in the receiver's place while that waits."""
        self._is_fed = False
        """What the wire is about to return has gone to the peeler already."""
        self._refused: list[bytes] = []
        """Texts that were not taken at once. They are the next ones."""
        self._left: trio.Event | None = None
        """Not None <=> the lane has to give way. Further data is dropped. When this is set, the stream has ended."""

    async def receive_batch(self, at_once: AtOnce | None = None) -> list[bytes] | None:
        """The next texts, at least one. None: the caller should receive from the library, which has a message, or knows
        why the connection has ended. With `at_once`, texts that come while this waits are given to it instead, until it
        refuses some."""
        self._at_once = at_once
        if self._gave:
            await self._rest()
        while True:
            if self._refused:
                texts, self._refused = self._refused, []
                return texts
            while self._state in LENDING:
                await self._asks.wait()
            if self._state is not State.PEELING:
                return None
            match self._peeler.next(self._batch):
                case list() as payloads:
                    if len(payloads) >= FEW:
                        self._gave, self._gave_at = len(payloads), trio.current_time()
                    self.bore_fruit()
                    return payloads
                case None:
                    await self._feed()
                case Piece(data, ends_message):
                    self._give(data, ends_message)
                case Rest():
                    self.hand_over()

    async def _rest(self) -> None:
        """After a large batch: if it was full, there may be more texts without another read, so others have their turn
        first. If the batch took long to handle, the next one will be smaller."""
        took, given, batch = trio.current_time() - self._gave_at, self._gave, self._batch
        self._gave = 0
        self._batch = MOST_AT_ONCE if took <= 0 else max(FEW, min(MOST_AT_ONCE, int(given * TURN / took)))
        if given == batch:
            await self._turns.take(took)

    def bore_fruit(self) -> None:
        self._fruitless = 0
        if self._is_kept:
            self._forget()
        if self._state is not State.PEELING:
            self._move(LaneEvent.RECEIVE)

    def library_failed(self) -> None:
        super().library_failed()
        self.hand_over()

    def hand_over(self) -> None:
        self._move(LaneEvent.HAND_OVER)
        self._forget()
        self._asks.set()
        self._given.set()

    def forget(self) -> None:
        super().forget()
        self._at_once = None
        self._forget()
        self._peeler.give_up()

    def _forget(self) -> None:
        self._is_kept = False
        self._backlog.release(self)

    def give_way(self) -> None:
        self._wire.fault = "its message was not there in whole, and there was no more room for it"
        self._peeler.give_up()
        self._left = trio.Event()
        self._nursery.start_soon(self._leave, self._left, self._wire.fault)

    async def _leave(self, left: trio.Event, why: str) -> None:
        await self._say_goodbye(TRY_LATER, why)
        await self._wire.aclose()
        left.set()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if data[0] == CLOSE_FRAME:
            self._said_goodbye = True
            self._outbox.shut()
            self.hand_over()
        await self._outbox.send(data)

    def send_now(self, data: bytes) -> bool:
        self._outbox.send_now(data)
        return True

    async def aclose(self) -> None:
        self._outbox.shut()
        self.hand_over()
        await super().aclose()

    async def _for_library(self, max_bytes: int | None) -> bytes:
        while True:
            if self._for_it:
                data, self._for_it = self._for_it, b""
                return data
            if self._left is not None and self._state is State.OVER:
                await self._left.wait()
                raise trio.ClosedResourceError
            if self._state is State.OVER and not self._receiver_reads:
                return self._peeler.give_up() or await self._read(max_bytes)
            self._move(LaneEvent.ASK)
            self._asks.set()
            await self._given.wait()
            self._given = trio.Event()

    async def _feed(self) -> None:
        data = b""
        if self._peeler.unfinished > READ_BYTES:
            self._is_kept = True
            self._backlog.keep(self, self._peeler.unfinished)
        self._receiver_reads = self.listening = True
        self._is_fed = False
        take = None if self._at_once is None else self._take
        try:
            data = await self._wire.receive_directly(READ_BYTES, take)
            if not self._is_fed:
                self._count(data)
            if self._fruitless > self._most:
                await self._has_nothing_to_say()
        except GONE:
            pass  # the library will get the same error
        finally:
            self._receiver_reads = self.listening = False
            if self._state is State.OVER:
                self._given.set()
        if self._left is not None:
            self.hand_over()
        elif data:
            if not self._is_fed:
                self._peeler.feed(data)
        else:
            self._peeler.give_up()  # half a frame is of no use to the library, which will find the end itself
            self.hand_over()

    def _take(self, data: bytes) -> bool:
        """Handle what the lookout has read while the receiver waits. False: the receiver has to go on with it."""
        if self._state is not State.PEELING or self._left is not None or self._at_once is None:
            return False
        self._count(data)
        self._is_fed = True
        self._peeler.feed(data)
        texts = self._peeler.texts(FEW)
        if texts:
            self.bore_fruit()
            if not self._at_once(texts):
                self._refused = texts
                return False
        self._is_fed = not self._peeler.is_empty
        return not self._is_fed

    def _give(self, data: bytes, makes_message: bool) -> None:
        """Hand a piece to the library."""
        self._for_it = data
        if self._connection is not None and self._connection.closed is not None:
            self.hand_over()  # the library has ended without a close frame, and will not ask again
            return
        self._move(LaneEvent.LEND_LAST if makes_message else LaneEvent.LEND)
        self._asks = trio.Event()
        self._given.set()

    def _move(self, event: LaneEvent) -> None:
        self._state = MOVES.after(event, self._state, "a fast lane")
