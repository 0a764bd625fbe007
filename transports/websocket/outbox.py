"""The outbox of a WebSocket: a queue of frames for senders that cannot wait.

A room sends the same frames to a hundred pages, and must not be slowed down by one of them. So `offer` does not wait.
It writes as much as the socket takes at once and keeps the rest, which a task of the outbox sends when it can. If the
client falls so far behind that more than `most_bytes` are waiting, they are thrown away, and no more frames are taken,
because they would make no sense without the lost ones. When the socket takes data again, the sender is called (see
`when_drained`), and begins anew with `restart`.

    FLOWING --offer beyond the bound--> BEHIND --the socket takes data--> DRAINED --restart--> FLOWING

Rules
  - A blob is one or more whole frames. If a blob was partly written, its rest is sent before anything else, even if the
    queue has been thrown away.
  - Our pings and trio-websocket's own frames go through the outbox too, and are never thrown away. A ping or pong
    overtakes the queue, and the close frame is sent after it.
  - At most `most_bytes` are waiting, not counting pings and the data that is just being sent. That is about
    `JOIN_BYTES`, or one blob of any size that was offered when nothing was waiting. So a bound that is smaller than a
    replay does no harm.
  - All outboxes share a load, which has a bound of its own. An outbox that has to give way throws away its queue and is
    behind, as above. If the queue is empty, or that was not enough, it drops the data that is just being sent, and the
    connection with it.
  - A client that takes nothing is cut off by the wire's deadline, whether we were sending or waiting to send. If a send
    fails because the client has gone, only the sending ends: the client's last messages may still be unread.
  - Only a plain socket is written to at once. For TLS and other streams, the task sends everything.
"""

import enum
from collections import deque
from collections.abc import Callable, Iterable

import trio
from msgspec import Struct

from actors.kernel import Table
from transports.wire.load import Load
from transports.wire.wire import GONE, Wire

JOIN_BYTES = 64 * 1024


class State(enum.Enum):
    FLOWING = "flowing"
    BEHIND = "behind"
    DRAINED = "drained"
    SHUT = "shut"
    """The last frame has been sent, or the client has gone."""


class OutboxEvent(enum.Enum):
    OVERFLOW = "overflow"
    """More bytes are waiting than allowed."""
    DRAIN = "drain"
    """The socket takes data again."""
    RESTART = "restart"
    END = "end"


MOVES = Table(
    "an outbox",
    {
        OutboxEvent.OVERFLOW: {State.FLOWING: State.BEHIND},
        OutboxEvent.DRAIN: {State.BEHIND: State.DRAINED},
        OutboxEvent.RESTART: {State.BEHIND: State.FLOWING, State.DRAINED: State.FLOWING},
        OutboxEvent.END: dict.fromkeys(State, State.SHUT),
    },
)


class OutboxStatistics(Struct, frozen=True):
    state: State
    waiting_bytes: int
    thrown_away_bytes: int
    resyncs: int


def frame(payload: bytes) -> bytes:
    """A text message as a frame of a server. It is made once for all receivers."""
    size = len(payload)
    if size < 126:
        return b"\x81%c%b" % (size, payload)
    if size < 1 << 16:
        return b"\x81\x7e%b%b" % (size.to_bytes(2, "big"), payload)
    return b"\x81\x7f%b%b" % (size.to_bytes(8, "big"), payload)


def bundles(payloads: Iterable[bytes]) -> bytes:
    """Text messages of JSON as frames for a client that takes several of them as one array. A browser takes 80 µs for a
    message, however short that is."""
    frames: list[bytes] = []
    bundle: list[bytes] = []
    size = 0
    for payload in payloads:
        if bundle and size + len(payload) > JOIN_BYTES:
            frames.append(_bundled(bundle))
            bundle, size = [], 0
        bundle.append(payload)
        size += len(payload)
    if bundle:
        frames.append(_bundled(bundle))
    return b"".join(frames)


def _bundled(payloads: list[bytes]) -> bytes:
    return frame(payloads[0] if len(payloads) == 1 else b"[%b]" % b",".join(payloads))


def _nobody() -> None:
    pass


class Outbox:
    __slots__ = (
        "_load", "_most", "_queue", "_resyncs", "_sending", "_state", "_thrown_away", "_torn", "_turn", "_waiting",
        "_when_drained", "_wire", "_work",
    )  # fmt: skip

    def __init__(self, wire: Wire, most_bytes: int, load: Load) -> None:
        self._wire = wire
        self._load = load
        self._most = most_bytes
        self._state = State.FLOWING
        self._torn = b""
        """The rest of a blob whose beginning has been written, and frames that overtake the queue."""
        self._queue: deque[bytes] = deque()
        self._waiting = 0
        """Invariant: the sum of the lengths in `_queue`."""
        self._sending = 0
        """How many bytes have been handed to the wire, and are not sent yet."""
        self._turn = trio.Lock()
        """Held while something is being sent."""
        self._work = trio.Event()
        """Set <=> the task has something to do."""
        self._thrown_away = self._resyncs = 0
        self._when_drained: Callable[[], object] = _nobody

    def statistics(self) -> OutboxStatistics:
        waiting = len(self._torn) + self._waiting
        return OutboxStatistics(self._state, waiting, self._thrown_away, self._resyncs)

    def offer(self, blob: bytes) -> bool:
        """Send a blob, now or soon. False: it was not taken, and no other will be taken before `restart`."""
        if self._state is not State.FLOWING:
            return False
        if not self._waiting and not self._torn and not self._turn.locked():
            return self._write_now(blob)
        if self._waiting + len(blob) > self._most and self._waiting:
            self._throw_away(len(blob))
            self._move(OutboxEvent.OVERFLOW)
            return False
        self._put(blob)
        return self._state is State.FLOWING

    def restart(self, blob: bytes) -> bool:
        """Begin anew: throw away what is waiting, and send a blob that replaces all of it. False: the client has gone,
        or the blob was not taken either."""
        if self._state is State.SHUT:
            return False
        self._throw_away()
        if self._state is not State.FLOWING:
            self._resyncs += 1
            self._move(OutboxEvent.RESTART)
        return self.offer(blob)

    async def send(self, frame: bytes | bytearray | memoryview) -> None:
        """Send a frame of the library. Raises the wire's errors."""
        async with self._turn:
            before = self._take(self._waiting if self._state is State.SHUT else 0)
            await self._hand_over(before + bytes(frame))

    def send_now(self, frame: bytes) -> None:
        """The same for a short frame, without waiting: what the socket does not take at once, the task sends."""
        if self._state is State.SHUT:
            return
        sent = 0
        if not self._waiting and not self._torn and not self._turn.locked():
            try:
                sent = self._wire.write_now(frame)
            except GONE:
                self.shut()
                return
        if sent < len(frame):
            self._torn += frame[sent:]
            self._work.set()
            self._weigh()

    def when_drained(self, call: Callable[[], object]) -> None:
        """Have `call` called, in the outbox's task, when an outbox that was behind can be restarted. It must not raise.
        An outbox that is shut forgets the call, which may know whoever has the outbox."""
        if self._state is not State.SHUT:
            self._when_drained = call

    def shut(self) -> None:
        """Take no more blobs. The waiting ones can still be sent."""
        self._move(OutboxEvent.END)
        self._when_drained = _nobody

    async def run(self) -> None:
        """Send what is waiting, until the task is cancelled or the client has gone."""
        try:
            while True:
                await self._work.wait()
                self._work = trio.Event()
                while self._torn or self._queue:
                    async with self._turn:
                        await self._hand_over(self._take(JOIN_BYTES))
                if self._state is State.BEHIND:
                    async with self._turn:
                        await self._wire.wait_send_all_might_not_block()
                if self._state is State.BEHIND:
                    self._move(OutboxEvent.DRAIN)
                    self._when_drained()
        except GONE:
            pass
        finally:
            self._let_go()

    def give_way(self) -> None:
        if self._state is State.FLOWING and self._waiting:
            self._move(OutboxEvent.OVERFLOW)
            self._throw_away()
            return
        self._wire.fault = "it reads too slowly, and there was no more room for what it has not read"
        self._let_go()
        self._wire.cut()

    def _let_go(self) -> None:
        self.shut()
        self._torn, self._sending = b"", 0
        self._throw_away()

    async def _hand_over(self, data: bytes) -> None:
        self._sending = len(data)
        await self._wire.send_all(data)
        self._sending = 0
        self._weigh()

    def _weigh(self) -> None:
        self._load.carry(self, len(self._torn) + self._waiting + self._sending)

    def _write_now(self, blob: bytes) -> bool:
        try:
            written = self._wire.write_now(blob)
        except GONE:
            self.shut()
            return False
        if not written:
            self._put(blob)
        elif written < len(blob):
            self._torn = blob[written:]
            self._work.set()
            self._weigh()
        return self._state is State.FLOWING

    def _put(self, blob: bytes) -> None:
        self._queue.append(blob)
        self._waiting += len(blob)
        self._work.set()
        self._weigh()

    def _take(self, enough: int) -> bytes:
        """The rest of a torn blob and as many waiting blobs as make up this many bytes, joined."""
        blobs, taken = [self._torn], 0
        self._torn = b""
        while self._queue and taken < enough:
            blobs.append(self._queue.popleft())
            taken += len(blobs[-1])
        self._waiting -= taken
        return b"".join(blobs)

    def _throw_away(self, more: int = 0) -> None:
        self._thrown_away += self._waiting + more
        self._queue.clear()
        self._waiting = 0
        self._weigh()

    def _move(self, event: OutboxEvent) -> None:
        self._state = MOVES.after(event, self._state, "an outbox")
        if event is OutboxEvent.OVERFLOW:
            self._work.set()
