"""What is sent at once goes out whole, and in its place, however little the socket takes."""

import random
import socket

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from transports.websocket.lane import Lane
from transports.websocket.outbox import frame
from transports.wire.wire import Wire


def pair() -> tuple[Lane, Wire, socket.socket]:
    """A lane, its wire and the other end. The socket between holds a few thousand bytes."""
    near, far = socket.socketpair()
    near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    far.setblocking(False)
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(near))
    wire = Wire(stream, stream.socket.close, send_seconds=60)
    return Lane(wire, b"", most_without_message=1 << 20), wire, far


async def read_all(far: socket.socket, least: int) -> bytes:
    data = b""
    while len(data) < least:
        await trio.lowlevel.wait_readable(far)
        data += far.recv(1 << 16)
    return data


@pytest.mark.parametrize("seed", range(20))
async def test_what_the_socket_does_not_take_at_once_goes_before_whatever_is_sent_next(seed: int) -> None:
    draw = random.Random(seed)
    lane, wire, far = pair()
    expected, come = b"", b""
    with far:
        for number in range(40):
            data = frame(bytes([number]) * draw.choice([1, 100, 3_000, 20_000]))
            expected += data
            whole = lane.send_now(data)
            left, more = trio.Event(), draw.choice([b"", frame(b"of the library")])

            async def rest(left: trio.Event = left, more: bytes = more) -> None:
                nonlocal expected
                expected += more
                await lane.send_all(more)
                left.set()

            if not whole:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(rest)
                    while not left.is_set():
                        await wait_all_tasks_blocked(0.0001)
                        come += far.recv(1 << 16) if not left.is_set() else b""
            elif draw.random() < 0.5:
                come += await read_all(far, 1)
        come += await read_all(far, len(expected) - len(come))
        assert come == expected
        wire.cut()


async def test_what_is_sent_while_another_sends_waits_for_its_place() -> None:
    lane, wire, far = pair()
    with far:
        first, second, third = frame(b"1" * 50_000), frame(b"2"), frame(b"3")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lane.send_all, first)
            await wait_all_tasks_blocked()
            assert not lane.send_now(second)
            nursery.start_soon(lane.send_all, third)
            assert await read_all(far, len(first + second + third)) == first + second + third
        wire.cut()


async def test_a_send_that_is_cancelled_before_its_first_byte_loses_nothing_of_what_was_left() -> None:
    lane, wire, far = pair()
    with far:
        first = frame(b"1" * 50_000)
        assert not lane.send_now(first)
        with trio.CancelScope() as scope:
            scope.cancel()
            await lane.send_all(b"")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lane.send_all, b"")
            assert await read_all(far, len(first)) == first
        wire.cut()


async def test_nothing_is_sent_at_once_over_a_wire_that_has_ended() -> None:
    lane, wire, far = pair()
    with far:
        wire.cut()
        assert not lane.send_now(frame(b"1"))
        with pytest.raises(trio.ClosedResourceError):
            await lane.send_all(b"")
