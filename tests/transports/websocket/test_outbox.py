"""The outbox: nobody waits for it, whole frames go out in order, and who falls behind begins anew."""

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trio.testing import MockClock, lockstep_stream_pair, wait_all_tasks_blocked

from transports.websocket.outbox import JOIN_BYTES, MOVES, Outbox, OutboxEvent, State, bundles, frame
from transports.wire.load import Load
from transports.wire.wire import Wire

MOST = 1000
AMPLE = 1 << 30


class Slow(trio.abc.Stream):
    """A stream that takes as many bytes as it is told."""

    def __init__(self) -> None:
        self.taken = b""
        self.sends = 0
        self._allowed = 0
        self._more = trio.Event()

    def allow(self, size: int) -> None:
        self._allowed += size
        self._more.set()
        self._more = trio.Event()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        self.sends += 1
        data = bytes(data)
        while data:
            await self._room()
            size = min(self._allowed, len(data))
            self.taken += data[:size]
            self._allowed -= size
            data = data[size:]

    async def wait_send_all_might_not_block(self) -> None:
        await self._room()

    async def _room(self) -> None:
        while not self._allowed:
            await self._more.wait()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        await trio.sleep_forever()
        raise AssertionError

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


@dataclass
class Bench:
    outbox: Outbox
    stream: Slow
    wire: Wire
    drained: list[float]


@asynccontextmanager
async def slow_outbox(most: int = MOST, send_seconds: float = 30, load: Load | None = None) -> AsyncIterator[Bench]:
    stream = Slow()
    wire = Wire(stream, lambda: None, send_seconds=send_seconds)
    outbox = Outbox(wire, most, load or Load(AMPLE))
    drained: list[float] = []
    outbox.when_drained(lambda: drained.append(trio.current_time()))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(outbox.run)
        await wait_all_tasks_blocked()
        yield Bench(outbox, stream, wire, drained)
        nursery.cancel_scope.cancel()


@dataclass
class Plain:
    outbox: Outbox
    wire: Wire
    client: trio.SocketStream


@asynccontextmanager
async def plain_outbox(most: int = MOST, *, run: bool = True) -> AsyncIterator[Plain]:
    """Over real sockets, with little room in the kernel."""
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(ours))
    wire = Wire(stream, stream.socket.close, send_seconds=30)
    outbox = Outbox(wire, most, Load(AMPLE))
    async with trio.SocketStream(trio.socket.from_stdlib_socket(theirs)) as client, trio.open_nursery() as nursery:
        if run:
            nursery.start_soon(outbox.run)
            await wait_all_tasks_blocked()
        yield Plain(outbox, wire, client)
        nursery.cancel_scope.cancel()
    wire.cut()


@pytest.mark.parametrize(
    ("size", "head"),
    [
        (0, b"\x81\x00"),
        (125, b"\x81\x7d"),
        (126, b"\x81\x7e\x00\x7e"),
        (65_535, b"\x81\x7e\xff\xff"),
        (65_536, b"\x81\x7f\0\0\0\0\0\1\0\0"),
    ],
)
def test_a_frame_is_in_the_shortest_form(size: int, head: bytes) -> None:
    assert frame(b"x" * size) == head + b"x" * size


def test_every_state_leads_somewhere_known_and_may_end_at_any_time() -> None:
    assert {after for state in State for after in MOVES.becomes(state).values()} == set(State)
    assert MOVES.befores(OutboxEvent.END) == list(State)


# Sending


async def test_what_is_offered_to_an_idle_socket_has_been_sent_when_offer_returns() -> None:
    async with plain_outbox(run=False) as plain:
        assert plain.outbox.offer(b"now")
        assert plain.outbox.statistics().waiting_bytes == 0
        assert await plain.client.receive_some() == b"now"


async def test_what_the_socket_does_not_take_is_sent_later_and_in_order() -> None:
    async with plain_outbox(most=1 << 20) as plain:
        blobs = [bytes([number]) * 3000 for number in range(100)]
        assert all(map(plain.outbox.offer, blobs))
        assert plain.outbox.statistics().waiting_bytes > 0
        received = b""
        while len(received) < 300_000:
            received += await plain.client.receive_some()
        assert received == b"".join(blobs)
        await wait_all_tasks_blocked()
        assert plain.outbox.offer(b"at once again")
        assert plain.outbox.statistics().waiting_bytes == 0


async def test_what_has_piled_up_is_joined_into_one_send() -> None:
    async with slow_outbox(most=1 << 20) as slow:
        for _ in range(100):
            slow.outbox.offer(b"x" * 10)
        slow.stream.allow(1 << 20)
        await wait_all_tasks_blocked()
        assert len(slow.stream.taken) == 1000
        assert slow.stream.sends == 1


async def test_no_more_is_joined_than_can_be_waited_for() -> None:
    async with slow_outbox(most=1 << 20) as slow:
        for _ in range(20):
            slow.outbox.offer(b"x" * 10_000)
        await wait_all_tasks_blocked()
        assert 200_000 - slow.outbox.statistics().waiting_bytes <= JOIN_BYTES + 10_000


async def test_a_frame_of_the_library_goes_before_what_is_waiting_however_much_that_is() -> None:
    async with slow_outbox(most=1 << 20) as slow, trio.open_nursery() as nursery:
        slow.outbox.offer(b"[begun]")
        await wait_all_tasks_blocked()
        for _ in range(4):
            slow.outbox.offer(b"x" * JOIN_BYTES)
        nursery.start_soon(slow.outbox.send, b"[pong]")
        await wait_all_tasks_blocked()
        slow.stream.allow(1 << 20)
        await wait_all_tasks_blocked()
        assert slow.stream.taken == b"[begun][pong]" + b"x" * 4 * JOIN_BYTES


async def test_a_frame_of_the_library_does_not_come_into_the_middle_of_one_that_was_partly_written() -> None:
    async with plain_outbox(most=1 << 20, run=False) as plain, trio.open_nursery() as nursery:
        assert plain.outbox.offer(b"x" * 500_000)
        assert 0 < plain.outbox.statistics().waiting_bytes < 500_000
        nursery.start_soon(plain.outbox.send, b"[pong]")
        received = b""
        while len(received) < 500_006:
            received += await plain.client.receive_some()
        assert received == b"x" * 500_000 + b"[pong]"


async def test_a_ping_is_sent_at_once_or_else_before_what_is_waiting_but_not_into_a_frame() -> None:
    async with plain_outbox(most=1 << 20) as plain:
        plain.outbox.send_now(b"[ping]")
        assert await plain.client.receive_some() == b"[ping]"
        plain.outbox.offer(b"x" * 500_000)
        plain.outbox.offer(b"y" * 100)
        plain.outbox.send_now(b"[ping]")
        received = b""
        while len(received) < 500_106:
            received += await plain.client.receive_some()
        assert received == b"x" * 500_000 + b"[ping]" + b"y" * 100


# Falling behind


async def test_beyond_the_bound_all_is_thrown_away_but_what_has_been_begun() -> None:
    async with slow_outbox() as slow:
        slow.stream.allow(3)
        slow.outbox.offer(b"[begun]")
        await wait_all_tasks_blocked()
        assert slow.stream.taken == b"[be"
        assert all(slow.outbox.offer(b"x" * 100) for _ in range(10))
        assert not slow.outbox.offer(b"x")
        assert slow.outbox.statistics().thrown_away_bytes == 1001
        assert not slow.outbox.offer(b"nor this")
        assert slow.drained == []
        slow.stream.allow(4)
        await wait_all_tasks_blocked()
        assert slow.stream.taken == b"[begun]"
        assert slow.drained == []


async def test_once_the_socket_takes_data_again_the_room_is_told_and_begins_anew() -> None:
    async with slow_outbox() as slow:
        while slow.outbox.offer(b"old" * 50):
            pass
        slow.stream.allow(1)
        await wait_all_tasks_blocked()
        assert len(slow.drained) == 1
        assert not slow.outbox.offer(b"of no use yet")
        assert slow.outbox.restart(b"[everything]")
        assert slow.outbox.offer(b"[and then]")
        slow.stream.allow(1000)
        await wait_all_tasks_blocked()
        assert slow.stream.taken == b"[everything][and then]"
        assert slow.outbox.statistics().resyncs == 1
        assert len(slow.drained) == 1


async def test_a_frame_that_was_partly_written_is_completed_before_the_new_beginning() -> None:
    async with plain_outbox(most=1 << 20) as plain:
        drained = trio.Event()
        plain.outbox.when_drained(drained.set)
        plain.outbox.offer(b"a" * 500_000)
        while plain.outbox.offer(b"b" * 100_000):
            pass
        received = b""
        async with trio.open_nursery() as nursery:

            async def begin_anew() -> None:
                await drained.wait()
                plain.outbox.restart(b"[everything]")

            nursery.start_soon(begin_anew)
            while not received.endswith(b"]"):
                received += await plain.client.receive_some()
        assert received == b"a" * 500_000 + b"[everything]"


async def test_one_blob_may_be_larger_than_the_bound() -> None:
    async with slow_outbox() as slow:
        replay = b"r" * 50 * MOST
        assert slow.outbox.restart(replay)
        await wait_all_tasks_blocked()
        assert slow.outbox.offer(b"[and then]")
        slow.stream.allow(100 * MOST)
        await wait_all_tasks_blocked()
        assert slow.stream.taken == replay + b"[and then]"


async def test_the_frames_of_the_library_are_never_thrown_away() -> None:
    async with slow_outbox() as slow, trio.open_nursery() as nursery:
        slow.outbox.offer(b"[begun]")
        await wait_all_tasks_blocked()
        nursery.start_soon(slow.outbox.send, b"[pong]")
        await wait_all_tasks_blocked()
        while slow.outbox.offer(b"x" * 100):
            pass
        slow.stream.allow(100)
        await wait_all_tasks_blocked()
        assert slow.stream.taken == b"[begun][pong]"
        assert len(slow.drained) == 1


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("offer"), st.integers(1, 600)),
            st.tuples(st.just("control"), st.integers(1, 20)),
            st.tuples(st.just("ping"), st.integers(1, 20)),
            st.tuples(st.just("allow"), st.integers(1, 900)),
            st.tuples(st.just("restart"), st.integers(1, 3000)),
        ),
        max_size=40,
    )
)
@example([("offer", 1)] * 10 + [("ping", 1), ("restart", 499)])
@settings(deadline=None, max_examples=60)
@pytest.mark.slow
def test_whole_frames_in_order_whatever_happens(steps: list[tuple[str, int]]) -> None:
    """Each frame is a number of its own letters in brackets; what arrives is read back as such."""

    async def main() -> None:
        async with slow_outbox() as slow:
            expected: list[bytes] = []
            async with trio.open_nursery() as nursery:
                for number, (step, size) in enumerate(steps):
                    blob = b"<" + str(number).encode() * size + b">"
                    if step == "allow":
                        slow.stream.allow(size)
                    elif step == "control":
                        nursery.start_soon(slow.outbox.send, b"<c" + blob[1:])
                    elif step == "ping":
                        slow.outbox.send_now(b"<c" + blob[1:])
                    elif step == "restart":
                        assert slow.outbox.restart(blob)
                    elif slow.outbox.offer(blob):
                        expected.append(blob)
                    await wait_all_tasks_blocked()
                    statistics = slow.outbox.statistics()
                    pings = sum(len(b"<c>") + size * 2 for step, size in steps if step == "ping")
                    assert statistics.waiting_bytes <= pings + max(MOST, *(size * 2 + 2 for _, size in steps))
                slow.stream.allow(1 << 30)
            await wait_all_tasks_blocked()
            arrived = slow.stream.taken.split(b">")
            assert arrived.pop() == b""
            assert all(one.startswith(b"<") for one in arrived)
            numbers = [one for one in arrived if not one.startswith(b"<c")]
            order = [[b"<" + str(n).encode() * size for n, (_, size) in enumerate(steps)].index(one) for one in numbers]
            assert order == sorted(order)
            frames = [one for one in arrived if one.startswith(b"<c")]
            assert len(frames) == sum(step in ("control", "ping") for step, _ in steps)
            if not any(step == "restart" for step, _ in steps) and not slow.outbox.statistics().thrown_away_bytes:
                assert [one + b">" for one in numbers] == expected

    trio.run(main)


# Together


async def test_when_all_have_too_much_the_one_with_most_begins_anew_and_the_others_notice_nothing() -> None:
    load = Load(1500)
    async with slow_outbox(load=load) as slow, slow_outbox(load=load) as slower:
        for each in (slow, slower):
            each.outbox.offer(b"<")
            await wait_all_tasks_blocked()
        slower.outbox.offer(b"s" * 900)
        assert slow.outbox.offer(b"f" * 600)
        assert slower.outbox.statistics().state is State.BEHIND
        assert load.carried_bytes == 602
        for each in (slow, slower):
            each.stream.allow(AMPLE)
        await wait_all_tasks_blocked()
        assert slow.stream.taken == b"<" + b"f" * 600
        assert (len(slow.drained), len(slower.drained)) == (0, 1)
        assert slower.outbox.restart(b"[everything]")
        await wait_all_tasks_blocked()
        assert slower.stream.taken == b"<[everything]"
        assert load.carried_bytes == 0


async def test_what_is_offered_may_be_what_is_too_much() -> None:
    load = Load(1500)
    async with slow_outbox(load=load) as small, slow_outbox(most=AMPLE, load=load) as large:
        small.outbox.offer(b"s" * 1000)
        large.outbox.offer(b"<")
        await wait_all_tasks_blocked()
        assert not large.outbox.offer(b"l" * 1400)
        assert large.outbox.statistics().state is State.BEHIND
        assert (small.outbox.statistics().state, load.carried_bytes) == (State.FLOWING, 1001)


async def test_who_has_too_much_that_is_being_sent_is_cut_off() -> None:
    load = Load(1500)
    async with slow_outbox(load=load) as stalled, slow_outbox(load=load) as other:
        stalled.outbox.offer(b"s" * 1400)
        await wait_all_tasks_blocked()
        assert other.outbox.offer(b"o" * 200)
        assert stalled.wire.fault == "it reads too slowly, and there was no more room for what it has not read"
        assert stalled.outbox.statistics().state is State.SHUT
        assert not stalled.outbox.offer(b"no use")
        assert load.carried_bytes == 200


async def test_who_has_gone_has_nothing_waiting() -> None:
    load = Load(AMPLE)
    async with slow_outbox(load=load) as slow:
        slow.outbox.offer(b"x" * 500)
        await wait_all_tasks_blocked()
        slow.outbox.offer(b"x" * 500)
        assert load.carried_bytes == 1000
    assert load.carried_bytes == 0
    assert not slow.outbox.offer(b"no use")


# Ends


async def test_a_client_that_never_reads_is_cut_off(autojump_clock: MockClock) -> None:
    async with slow_outbox(send_seconds=7) as slow:
        slow.outbox.offer(b"hello?")
        await trio.sleep(6.9)
        assert slow.wire.fault is None
        await trio.sleep(0.2)
        assert slow.wire.fault == "it read nothing for 7 seconds"
        assert slow.outbox.statistics().state is State.SHUT
        assert not slow.outbox.offer(b"no use")
        assert not slow.outbox.restart(b"no use")


async def test_a_client_that_stays_behind_is_cut_off_too(autojump_clock: MockClock) -> None:
    async with slow_outbox(send_seconds=7) as slow:
        slow.stream.allow(5)
        slow.outbox.offer(b"first")
        await wait_all_tasks_blocked()
        slow.outbox.offer(b"x" * 999)
        slow.outbox.offer(b"x" * 999)
        await trio.sleep(7.1)
        assert slow.wire.fault == "it read nothing for 7 seconds"
        assert slow.drained == []


async def test_a_client_that_has_gone_ends_the_sending_and_not_the_wire() -> None:
    async with plain_outbox() as plain:
        await plain.client.send_all(b"last words")
        await plain.client.aclose()
        assert not plain.outbox.offer(b"are you there")
        assert plain.outbox.statistics().state is State.SHUT
        assert await plain.wire.receive_some() == b"last words"


async def test_a_client_that_goes_while_something_waits_leaves_nothing_behind() -> None:
    async with plain_outbox(most=1 << 20) as plain:
        plain.outbox.offer(b"x" * 900_000)
        plain.outbox.offer(b"x" * 900_000)
        await wait_all_tasks_blocked()
        await plain.client.aclose()
        await wait_all_tasks_blocked()
        statistics = plain.outbox.statistics()
        assert (statistics.state, statistics.waiting_bytes) == (State.SHUT, 0)


async def test_after_the_last_frame_nothing_is_taken_but_what_was_before_is_sent() -> None:
    async with slow_outbox() as slow, trio.open_nursery() as nursery:
        slow.outbox.offer(b"[before]")
        slow.outbox.offer(b"[too]")
        slow.outbox.shut()
        assert not slow.outbox.offer(b"[after]")
        nursery.start_soon(slow.outbox.send, b"[close]")
        slow.stream.allow(100)
        await wait_all_tasks_blocked()
        assert slow.stream.taken == b"[before][too][close]"


async def test_a_cancelled_send_ends_the_connection_rather_than_leave_half_a_frame() -> None:
    client, server = lockstep_stream_pair()
    cut = trio.Event()

    wire = Wire(server, cut.set, send_seconds=30)
    outbox = Outbox(wire, MOST, Load(AMPLE))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(outbox.run)
        outbox.offer(b"half of this")
        assert await client.receive_some(4) == b"half"
        nursery.cancel_scope.cancel()
    assert cut.is_set()


def _payloads(frames: bytes) -> list[bytes]:
    """Of a server's text frames."""
    payloads, at = [], 0
    while at < len(frames):
        assert frames[at] == 0x81
        wide = {126: 2, 127: 8}.get(frames[at + 1], 0)
        size = int.from_bytes(frames[at + 2 : at + 2 + wide], "big") if wide else frames[at + 1]
        at += 2 + wide
        payloads.append(frames[at : at + size])
        at += size
    assert at == len(frames)
    return payloads


@given(st.lists(st.sampled_from([2, 3, 125, 126, 5_000, JOIN_BYTES - 2, JOIN_BYTES - 1, JOIN_BYTES, 3 * JOIN_BYTES])))
@example([JOIN_BYTES - 2, 2, 2])
@example([2, JOIN_BYTES - 1])
def test_bundles_have_all_messages_in_order_and_are_as_large_as_they_may_be(sizes: list[int]) -> None:
    told = [b'"%b"' % (b"%d" % number)[-1:].rjust(size - 2, b"x")[: size - 2] for number, size in enumerate(sizes)]
    payloads = _payloads(bundles(told))
    parts = [json.loads(payload) if payload[:1] == b"[" else [json.loads(payload)] for payload in payloads]
    assert [one for part in parts for one in part] == [json.loads(one) for one in told]
    assert all(len(part) > 1 for part, payload in zip(parts, payloads, strict=True) if payload[:1] == b"[")
    weights = [sum(len(one) + 2 for one in part) for part in parts]
    assert all(weight <= JOIN_BYTES or len(part) == 1 for part, weight in zip(parts, weights, strict=True))
    assert all(weight + len(after[0]) + 2 > JOIN_BYTES for weight, after in zip(weights, parts[1:], strict=False))
