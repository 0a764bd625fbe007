"""The fast lane does with any bytes what trio-websocket would have done with them."""

import random
import socket
import ssl
import struct
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
import trio
import trustme
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked
from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage

from tests.others_turns import others_turns
from tests.patience import PATIENCE
from tests.plenty import plenty, seeds
from tests.transports.house import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    House,
    open_house,
    read_all,
    read_until,
)
from tests.transports.house import frame as zero_masked
from transports.websocket.fast_lane import MOVES, FastLane, LaneEvent, State
from transports.websocket.outbox import frame as server_frame
from transports.websocket.peel import MOST_AT_ONCE, Peeler, Piece, Rest
from transports.websocket.websocket import Closed, FastSocket, Upgrade
from transports.wire.limits import DoorLimits, WebSocketLimits

MOST = 70_000


def frame(opcode: int, payload: bytes = b"", *, mask: bytes = b"\x9a\x01\xff\x37", **how: Any) -> bytes:
    """As a client sends it, with a mask that is one."""
    plain = zero_masked(opcode, payload, **how)
    if not how.get("masked", True):
        return plain
    head = plain[: len(plain) - len(payload) - 4]
    return head + mask + bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))


def close(code: int, reason: bytes = b"") -> bytes:
    return frame(CLOSE, struct.pack("!H", code) + reason)


# What comes of bytes


class Reader:
    """The messages, pings and end that wsproto finds."""

    def __init__(self) -> None:
        self.found: list[object] = []
        self.ended = False
        self._connection = Connection(ConnectionType.SERVER)
        self._parts: list[Any] = []

    def read(self, data: bytes) -> bool:
        """Whether there was a whole message in it."""
        before = len(self.found)
        if self._connection.state is ConnectionState.OPEN and not self.ended:
            self._connection.receive_data(data)
            for event in self._connection.events():
                self._take(event)
        return any(isinstance(one, bytes) for one in self.found[before:])

    def _take(self, event: object) -> None:
        match event:
            case TextMessage() | BytesMessage():
                self._parts.append(event.data)
                if event.message_finished:
                    whole = type(event.data)().join(self._parts)
                    self.found.append(whole.encode() if isinstance(whole, str) else whole)
                    self._parts = []
            case Ping() | Pong():
                self.found.append((type(event).__name__, bytes(event.payload)))
            case CloseConnection():
                reason = "not UTF-8" if event.code == 1007 else event.reason  # it counts bytes since the last read
                self.found.append(("close", int(event.code), reason))
                self.ended = True


def as_the_library_reads(reads: Iterable[bytes]) -> list[object]:
    reader = Reader()
    for data in reads:
        reader.read(data)
    return reader.found


def as_we_read(reads: Iterable[bytes], most: int = MOST) -> list[object]:
    reader, peeler = Reader(), Peeler(most)
    found: list[bytes] | Piece | Rest | None
    reads = iter(reads)
    for data in reads:
        peeler.feed(data)
        while (found := peeler.next()) is not None:
            match found:
                case Piece(piece, ends_message):
                    assert reader.read(piece) == ends_message
                case Rest():
                    reader.read(peeler.give_up())
                    break
                case payloads:
                    reader.found += payloads
        if found is not None:
            break
    for data in reads:
        reader.read(data)
    return reader.found


def cut(data: bytes, at: Iterable[int]) -> list[bytes]:
    places = sorted({0, *at, len(data)})
    return [data[start:stop] for start, stop in pairwise(places)]


MASKS = st.binary(min_size=4, max_size=4)
SMALL_TEXT = st.text(max_size=60).map(str.encode)
LONG_TEXT = st.sampled_from([125, 126, 127, 1020, 1024, 1025, 65_535, 65_536, MOST, MOST + 1]).map(
    lambda size: b"x" * size
)


def framed(opcode: int, payloads: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return st.builds(lambda payload, mask: frame(opcode, payload, mask=mask), payloads, MASKS)


CONTROL = st.one_of(framed(PING, st.binary(max_size=125)), framed(PONG, st.binary(max_size=125)))


@st.composite
def in_fragments(draw: st.DrawFn) -> bytes:
    """A message in fragments that may split a letter, with control frames between them."""
    opcode = draw(st.sampled_from([TEXT, BINARY]))
    payload = draw(st.text(max_size=40)).encode()
    parts = cut(payload, draw(st.lists(st.integers(0, len(payload)), max_size=4))) or [b""]
    frames = []
    for number, part in enumerate(parts):
        frames.append(draw(st.lists(CONTROL, max_size=1).map(b"".join)) if number else b"")
        final = number == len(parts) - 1
        frames.append(frame(CONTINUATION if number else opcode, part, final=final, mask=draw(MASKS)))
    return b"".join(frames)


TEXTS = st.one_of(framed(TEXT, SMALL_TEXT), framed(TEXT, SMALL_TEXT), framed(TEXT, LONG_TEXT))
GOOD = st.one_of(TEXTS, TEXTS, framed(BINARY, st.binary(max_size=300)), in_fragments(), CONTROL)

VIOLATIONS = {
    "not UTF-8": frame(TEXT, b"fine \xff"),
    "half a letter": frame(TEXT, "€".encode()[:2]),
    "a surrogate": frame(TEXT, b"\xed\xa0\x80"),
    "no mask": frame(TEXT, b"bare", masked=False),
    "no mask, long": frame(TEXT, b"x" * 300, masked=False),
    "a reserved bit": frame(TEXT, b"x", reserved=4),
    "another reserved bit": frame(TEXT, b"x" * 300, reserved=1),
    "a reserved bit in a ping": frame(PING, reserved=2),
    "opcode 3": frame(3, b"x"),
    "opcode 15": frame(15, b"x"),
    "a long ping": frame(PING, b"x" * 126),
    "a ping in fragments": frame(PING, final=False),
    "a continuation of nothing": frame(CONTINUATION, b"x"),
    "a text within a message": frame(TEXT, b"a", final=False) + frame(TEXT, b"b"),
    "a binary within a message": frame(TEXT, b"a", final=False) + frame(BINARY, b"b"),
    "5 bytes in the long form": b"\x81\xfe\x00\x05\0\0\0\0hello",
    "125 bytes in the long form": b"\x81\xfe\x00\x7d\0\0\0\0" + b"x" * 125,
    "5 bytes in the longest form": b"\x81\xff" + (5).to_bytes(8, "big") + b"\0\0\0\0hello",
    "more bytes than there can be": b"\x81\xff" + (1 << 63).to_bytes(8, "big") + b"\0\0\0\0",
    "a close of one byte": frame(CLOSE, b"x"),
    "a close with 1006": close(1006),
    "a close": close(1001, b"going"),
    "a close without a code": frame(CLOSE),
}


@given(
    frames=st.lists(GOOD, max_size=12),
    end=st.one_of(st.just(b""), st.sampled_from(list(VIOLATIONS.values()))),
    after=st.lists(GOOD, max_size=2),
    data=st.data(),
)
@settings(deadline=None, max_examples=plenty(100), suppress_health_check=list(HealthCheck))
@pytest.mark.slow
def test_any_frames_in_any_reads_give_what_the_library_alone_gives(
    frames: list[bytes], end: bytes, after: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join([*frames, end, *after])
    reads = cut(stream, data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    assert as_we_read(reads) == as_the_library_reads(reads)


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=10))
@settings(deadline=None)
def test_any_bytes_are_dealt_with(noise: bytes, places: list[int]) -> None:
    begin = frame(TEXT, b"fine")
    reads = cut(begin + noise, places)
    assert as_we_read(reads)[:1] == [b"fine"]


@pytest.mark.parametrize("violation", VIOLATIONS.values(), ids=VIOLATIONS)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
def test_a_violation_is_found_by_the_library_and_what_came_before_it_is_kept(violation: bytes, size: int) -> None:
    stream = frame(TEXT, b"before") + violation + frame(TEXT, b"after")
    reads = cut(stream, range(0, len(stream), size))
    found = as_we_read(reads)
    assert found == as_the_library_reads(reads)
    assert found[0] == b"before"
    assert found[-1] != b"after"


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 124, 125, 126, 127, 1023, 1024, 1025, 65_535, 65_536, 70_000])
def test_a_text_of_any_length_is_peeled_byte_for_byte(size: int) -> None:
    text = random.Random(size).randbytes(size).translate(bytes(range(128)) * 2)
    peeler = Peeler(MOST)
    peeler.feed(frame(TEXT, text) * 3)
    assert peeler.next() == [text] * 3
    assert peeler.next() is None


def test_a_text_that_is_too_long_is_left_to_the_library_as_it_comes() -> None:
    peeler = Peeler(1000)
    peeler.feed(frame(TEXT, b"x" * 1001)[:500])
    assert isinstance(peeler.next(), Piece)
    assert peeler.next() is None


def test_so_many_are_peeled_at_a_time_and_none_is_lost() -> None:
    texts = [b"%d" % number for number in range(2 * MOST_AT_ONCE + 1)]
    peeler = Peeler(MOST)
    peeler.feed(b"".join(frame(TEXT, text) for text in texts))
    batches = [peeler.next() for _ in range(3)]
    assert batches == [texts[:MOST_AT_ONCE], texts[MOST_AT_ONCE:-1], texts[-1:]]
    assert peeler.next() is None


@pytest.mark.slow
@pytest.mark.parametrize("read", [512, 4096, 65_536])
def test_a_frame_of_32_mib_takes_time_in_proportion_however_it_is_read(read: int) -> None:
    size = 32 << 20
    stream = memoryview(zero_masked(TEXT, b"x" * size))
    peeler = Peeler(size)
    begun = time.process_time()
    for at in range(0, len(stream), read):
        peeler.feed(bytes(stream[at : at + read]))
        found = peeler.next()
    assert time.process_time() - begun < 5.0  # copying all that has come with each read of 64 KiB takes over ten
    assert found == [b"x" * size]


# Behind the door

LIMITS = WebSocketLimits(message_bytes=1000, close_seconds=0.5)


class Fast:
    """A handler that keeps what it receives, and answers it: at once, unless `refuses` says otherwise."""

    def __init__(self, refuses: Callable[[], bool] = lambda: False) -> None:
        self.refuses = refuses
        self.batches: list[list[bytes]] = []
        self.closed: list[Closed] = []
        self.socket: FastSocket
        self.pause = trio.Event()
        self.pause.set()

    @property
    def received(self) -> list[bytes]:
        return [payload for batch in self.batches for payload in batch]

    async def __call__(self, upgrade: Upgrade) -> None:
        self.socket = socket = await upgrade.accept_fast()
        try:
            while True:
                await self.pause.wait()
                self.hear(socket, await socket.receive_batch(partial(self.take, socket)))
        except Closed as closed:
            self.closed.append(closed)
            raise

    def take(self, socket: FastSocket, batch: list[bytes]) -> bool:
        if not self.pause.is_set() or self.refuses():
            return False
        self.hear(socket, batch)
        return True

    def hear(self, socket: FastSocket, batch: list[bytes]) -> None:
        self.batches.append(batch)
        socket.outbox.offer(b"".join(map(server_frame, batch)))


@asynccontextmanager
async def fast_house(limits: WebSocketLimits = LIMITS, **settings: Any) -> AsyncIterator[tuple[House, Fast]]:
    fast = Fast()
    async with open_house(on_websocket=fast, limits=DoorLimits(websocket=limits, **settings)) as house:
        yield house, fast


async def test_messages_that_come_with_the_upgrade_are_one_batch() -> None:
    async with fast_house() as (house, fast), await house.connect() as stream:
        await stream.send_all(house.upgrade() + frame(TEXT, b"one") + frame(TEXT, b"two"))
        assert b"\x81\x03one\x81\x03two" in await read_until(stream, b"two")
        assert fast.batches == [[b"one", b"two"]]


@pytest.mark.parametrize("seed", seeds(6))
async def test_over_a_socket_all_is_heard_once_and_in_order_however_it_comes_and_is_taken(seed: int) -> None:
    chance = random.Random(seed)
    fast = Fast(lambda: chance.random() < 0.2)
    fine = [
        *(frame(TEXT, b"%d" % number) for number in range(200)),
        *(frame(TEXT, b"x" * size) for size in (900, 1000) * 3),
        *(frame(BINARY, b"b%d" % number) for number in range(4)),
        *(frame(PING, b"%d" % number) for number in range(4)),
        *(frame(TEXT, b"%d in " % n, final=False) + frame(CONTINUATION, b"fragments") for n in range(4)),
    ]
    chance.shuffle(fine)
    said = b"".join(fine)
    reads = cut(said, [chance.randrange(len(said)) for _ in range(20)] + [len(said) - chance.randrange(8_000)])
    async with open_house(on_websocket=fast, limits=DoorLimits(websocket=LIMITS)) as house:
        async with await house.connect() as stream:
            await stream.send_all(house.upgrade())
            await read_until(stream, b"\r\n\r\n")
            for read in reads:
                await stream.send_all(read)
                if chance.random() < 0.7:
                    await wait_all_tasks_blocked()
            await stream.send_all(close(1000))
            await read_all(stream)
        await house.all_gone()
        assert fast.received == [each for each in as_the_library_reads([said]) if isinstance(each, bytes)]
        assert [each.code for each in fast.closed] == [1000]


async def test_others_have_their_turn_in_the_middle_of_what_one_read_brings() -> None:
    batches: list[tuple[int, int]] = []

    async def handler(upgrade: Upgrade) -> None:
        socket = await upgrade.accept_fast()
        while True:
            batches.append((len(await socket.receive_batch()), turns.taken))

    async with others_turns() as turns, open_house(on_websocket=handler) as house:
        client = house.memory_client()
        await client.send_all(house.upgrade() + frame(TEXT) * (60 * MOST_AT_ONCE) + close(1000))
        await read_all(client)
        assert sum(size for size, _ in batches) == 60 * MOST_AT_ONCE
        assert max(size for size, _ in batches) == MOST_AT_ONCE
        assert batches[-1][1] - batches[0][1] > 50


async def test_every_move_of_a_lane_before_its_end_really_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    moves: set[tuple[LaneEvent, State]] = set()
    move = FastLane._move

    def watched(self: FastLane, event: LaneEvent) -> None:
        moves.add((event, self._state))
        move(self, event)

    monkeypatch.setattr(FastLane, "_move", watched)
    async with fast_house() as (house, fast), await house.connect() as stream:
        said = frame(PING, b"p") + frame(BINARY, b"b") + frame(TEXT, b"a")
        await stream.send_all(house.upgrade() + said + close(1000))
        await read_all(stream)
        assert fast.received == [b"b", b"a"]
    to_the_end = {(event, state) for event, state in moves if MOVES.moves[event][state] is State.OVER}
    stays = {(event, state) for event in MOVES.moves for state in State if MOVES.moves[event].get(state) is state}
    legal = {(event, state) for event in MOVES.moves for state in MOVES.befores(event)}
    begins = {(event, state) for event, state in legal if event is not LaneEvent.HAND_OVER} - stays
    assert moves - to_the_end - stays == begins
    assert (LaneEvent.HAND_OVER, State.PEELING) in to_the_end


async def test_fragments_and_control_frames_among_texts_keep_their_order() -> None:
    stream = (
        frame(TEXT, b"1")
        + frame(PING, b"a")
        + frame(TEXT, b"2 in ", final=False)
        + frame(PING, b"b")
        + frame(CONTINUATION, b"fragments")
        + frame(TEXT, b"3")
        + frame(BINARY, b"4\xff")
        + frame(BINARY, b"5 in ", final=False)
        + frame(CONTINUATION, b"fragments")
        + frame(TEXT, b"6") * 2
    )
    for size in (1, 5, len(stream)):
        async with fast_house() as (house, fast):
            client = house.memory_client()
            await client.send_all(house.upgrade())
            for read in cut(stream, range(0, len(stream), size)):
                await client.send_all(read)
                if size < 6:
                    await wait_all_tasks_blocked()
            await client.send_all(close(1000))
            answer = (await read_all(client)).partition(b"\r\n\r\n")[2]
            assert fast.received == [b"1", b"2 in fragments", b"3", b"4\xff", b"5 in fragments", b"6", b"6"]
            assert answer.index(b"\x8a\x01a") < answer.index(b"\x8a\x01b")
            assert [each.code for each in fast.closed] == [1000]


@pytest.mark.parametrize("violation", VIOLATIONS.values(), ids=VIOLATIONS)
async def test_every_end_is_the_same_as_without_the_fast_lane(violation: bytes) -> None:
    ends, goodbyes = [], []
    for handler in (None, Fast()):
        async with open_house(
            limits=DoorLimits(websocket=LIMITS), **({"on_websocket": handler} if handler else {})
        ) as house:
            answer = await house.exchange(house.upgrade() + frame(TEXT, b"before") + violation)
            await house.all_gone()
            record = handler or house.events
            ends.append([(each.code, each.reason) for each in record.closed])
            goodbyes.append(answer[answer.rindex(b"\x88") :] if b"\x88" in answer else b"")
            assert house.log.contained() == []
    assert ends[0] == ends[1]
    assert goodbyes[0] == goodbyes[1]
    assert b"before" in answer


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (frame(TEXT, b"x" * 1000), None),
        (frame(TEXT, b"x" * 1001), 1009),
        (frame(TEXT, "€".encode() * 333), None),
        (frame(TEXT, "€".encode() * 334), 1009),
        (frame(TEXT, "€".encode() * 40_000), 1009),
        (frame(BINARY, b"x" * 1001), 1009),
        (frame(TEXT, b"x" * 600, final=False) + frame(CONTINUATION, b"x" * 400), None),
        (frame(TEXT, b"x" * 600, final=False) + frame(CONTINUATION, b"x" * 401), 1009),
    ],
)
async def test_the_limit_of_a_message_is_in_bytes(message: bytes, code: int | None) -> None:
    async with fast_house() as (house, fast):
        await house.exchange(house.upgrade() + frame(TEXT, b"before") + message + close(1000))
        await house.all_gone()
        assert [each.code for each in fast.closed] == [code or 1000]
        assert len(fast.received) == (1 if code else 2)


async def test_a_client_that_vanishes_has_said_all_that_it_had_sent() -> None:
    async with fast_house() as (house, fast):
        fast.pause = trio.Event()
        stream = await house.connect()
        await stream.send_all(house.upgrade())
        await read_until(stream, b"\r\n\r\n")
        await stream.send_all(frame(TEXT, b"last") * 100 + frame(PING) + frame(TEXT, b"words") * 100)
        stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await stream.aclose()
        fast.socket.outbox.offer(server_frame(b"are you there"))
        await wait_all_tasks_blocked(0.01)
        fast.pause.set()
        await house.all_gone()
        assert fast.received == [b"last"] * 100 + [b"words"] * 100
        assert [each.code for each in fast.closed] == [1006]


async def test_a_client_is_told_1001_at_the_stop_after_all_that_was_offered() -> None:
    async with fast_house() as (house, fast), await house.connect() as stream:
        await stream.send_all(house.upgrade() + frame(TEXT, b"hi"))
        await read_until(stream, b"\x02hi")
        fast.socket.outbox.offer(server_frame(b"goodbye"))
        house.nursery.start_soon(house.door.close)
        answer = await read_until(stream, b"the server is stopping")
        assert answer.index(b"goodbye") < answer.index(b"\x88")
        await stream.send_all(close(1001))
        await read_all(stream)
        await house.all_gone()
        assert [each.code for each in fast.closed] == [1001]


async def test_a_server_that_closes_hears_the_answer_although_half_a_frame_was_there(autojump_clock: MockClock) -> None:
    async with fast_house() as (house, fast):
        client = house.memory_client()
        await client.send_all(house.upgrade() + frame(TEXT, b"half a frame")[:9])
        await wait_all_tasks_blocked()
        house.nursery.start_soon(fast.socket.close, 4000, "enough")
        await wait_all_tasks_blocked()
        await client.send_all(frame(TEXT, b"half a frame")[9:] + close(4000))
        assert (await read_all(client)).endswith(b"\x88\x08\x0f\xa0enough")
        assert [(each.code, each.reason) for each in fast.closed] == [(4000, "enough")]
        assert trio.current_time() < LIMITS.close_seconds


async def test_a_server_that_closes_does_not_wait_for_ever(autojump_clock: MockClock) -> None:
    async with fast_house() as (house, fast):
        client = house.memory_client()
        await client.send_all(house.upgrade())
        await wait_all_tasks_blocked()
        await fast.socket.close(4000)
        assert trio.current_time() == pytest.approx(LIMITS.close_seconds)
        await wait_all_tasks_blocked()
        assert [each.code for each in fast.closed] == [4000]


async def test_a_receive_that_was_cancelled_has_lost_nothing(autojump_clock: MockClock) -> None:
    received: list[bytes] = []

    async def impatient(upgrade: Upgrade) -> None:
        socket = await upgrade.accept_fast()
        while True:
            with trio.move_on_after(1):
                received.extend(await socket.receive_batch())

    stream = frame(TEXT, b"1") + frame(BINARY, b"2") + frame(TEXT, b"3", final=False) + frame(CONTINUATION, b"!")
    async with open_house(on_websocket=impatient) as house:
        client = house.memory_client()
        await client.send_all(house.upgrade())
        for byte in stream * 2:
            await client.send_all(bytes([byte]))
            await trio.sleep(1.5)
        assert received == [b"1", b"2", b"3!"] * 2


async def test_a_client_that_sends_more_than_is_received_has_to_wait() -> None:
    async with fast_house() as (house, fast), await house.connect() as stream:
        fast.pause = trio.Event()
        await stream.send_all(house.upgrade())
        await read_until(stream, b"\r\n\r\n")
        sent = 0
        with trio.move_on_after(0.2):
            while True:
                await stream.send_all(frame(TEXT, b"x" * 1000) * 100)
                sent += 1
        assert sent < 1000
        fast.pause.set()


async def test_a_client_that_answers_pings_may_be_silent_for_ever(autojump_clock: MockClock) -> None:
    async with fast_house(WebSocketLimits()) as (house, _):
        client = await house.memory_websocket()
        await trio.sleep(3600)
        await client.send_message("still here")
        assert await client.get_message() == "still here"


async def test_no_task_waits_for_the_answer_to_a_ping(autojump_clock: MockClock) -> None:
    async with fast_house(WebSocketLimits()) as (house, _):
        client = house.memory_client()
        await client.send_all(house.upgrade())
        await trio.sleep(10)
        before = trio.lowlevel.current_statistics().tasks_living
        await trio.sleep(15)
        assert b"\x89" in await client.receive_some()
        assert trio.lowlevel.current_statistics().tasks_living == before


async def test_a_client_that_does_not_answer_a_ping_has_gone(autojump_clock: MockClock) -> None:
    async with fast_house(WebSocketLimits()) as (house, fast):
        client = house.memory_client()
        await client.send_all(house.upgrade())
        assert b"\x89\x00" in await read_all(client)
        await wait_all_tasks_blocked()
        assert [(each.code, each.reason) for each in fast.closed] == [
            (1006, "no sign of life for 10 seconds after a ping")
        ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "flood", [frame(PING), frame(PONG), frame(CONTINUATION, final=False)], ids=["pings", "pongs", "fragments"]
)
async def test_bytes_that_never_make_a_message_are_bounded(flood: bytes) -> None:
    async with fast_house() as (house, fast):
        beginning = frame(BINARY, final=False) if flood == frame(CONTINUATION, final=False) else b""
        answer = await house.exchange(house.upgrade() + beginning + flood * 30_000)
        assert b"\x03\xf0" in answer[answer.rindex(b"\x88") :]
        await house.all_gone()
        assert [each.code for each in fast.closed] == [1006]


async def test_a_fault_of_the_library_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fast_house() as (house, fast):

        async def fail(self: object, event: object) -> None:
            raise ValueError("a fault")

        monkeypatch.setattr("trio_websocket.WebSocketConnection._handle_ping_event", fail)
        await house.exchange(house.upgrade() + frame(TEXT, b"hi") + frame(PING) + frame(TEXT, b"lost"))
        with trio.fail_after(PATIENCE):
            await house.all_gone()
        assert "a fault" in house.log.contained()[0]
        assert [each.code for each in fast.closed] == [1006]
        assert fast.received == [b"hi"]


async def test_through_tls_all_goes_by_the_outboxs_task() -> None:
    authority = trustme.CA()
    server, client_tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("localhost").configure_cert(server)
    authority.configure_trust(client_tls)
    fast = Fast()
    async with open_house(on_websocket=fast, tls=server) as house, house.websocket(tls=client_tls) as client:
        for number in range(100):
            await client.send_message(f"message {number}")
        with trio.fail_after(PATIENCE):
            assert [await client.get_message() for _ in range(100)] == [f"message {number}" for number in range(100)]
