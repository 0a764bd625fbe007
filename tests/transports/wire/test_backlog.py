"""What is kept of unfinished messages, over all connections: in the account, and behind a door."""

import struct

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from tests.patience import PATIENCE
from tests.transports.house import CONTINUATION, PING, TEXT, House, frame, read_all, read_until
from tests.transports.websocket.test_fast_lane import fast_house
from transports.wire.backlog import Backlog
from transports.wire.limits import WebSocketLimits

SIZE = 300_000
LIMITS = WebSocketLimits(message_bytes=2 * SIZE, backlog_bytes=2 * SIZE + SIZE // 2, close_seconds=0.5)


class Sender:
    def __init__(self) -> None:
        self.gave_way = False

    def give_way(self) -> None:
        self.gave_way = True


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 60)), max_size=40))
def test_the_sum_is_what_is_kept_and_never_above_the_bound(steps: list[tuple[int, int]]) -> None:
    backlog, senders = Backlog(100), [Sender() for _ in range(5)]
    kept: dict[int, int] = {}
    for number, size in steps:
        if size:
            backlog.keep(senders[number], size)
            kept[number] = size
        else:
            backlog.release(senders[number])
            kept.pop(number, None)
        while sum(kept.values()) > 100:
            eldest = next(iter(kept))
            assert senders[eldest].gave_way
            del kept[eldest]
            senders[eldest].gave_way = False
        assert not any(sender.gave_way for sender in senders)
        assert backlog.kept_bytes == sum(kept.values()) <= 100


def kept(house: House) -> int:
    return house.door._websockets._backlog.kept_bytes


async def sender(house: House, data: bytes, reaches: int) -> trio.SocketStream:
    """A client that has sent this, when so much is known to be kept over all."""
    stream = await house.connect()
    await stream.send_all(house.upgrade())
    await read_until(stream, b"\r\n\r\n")
    await stream.send_all(data)
    with trio.fail_after(PATIENCE):
        while kept(house) != reaches:
            await wait_all_tasks_blocked(0.01)
    return stream


HALF = {
    "half a frame": frame(TEXT, b"x" * (2 * SIZE - 100))[:SIZE],
    "fragments": frame(TEXT, b"x" * (SIZE - 20), final=False) + frame(PING, b"?") + frame(CONTINUATION, final=False),
}
CODE = struct.pack("!H", 1013)


@pytest.mark.slow
@pytest.mark.parametrize("half", HALF.values(), ids=HALF)
async def test_the_message_that_has_been_under_way_longest_gives_way_to_others(half: bytes) -> None:
    async with fast_house(LIMITS) as (house, fast):
        first = await sender(house, half, SIZE)
        second = await sender(house, half, 2 * SIZE)
        third = await sender(house, frame(TEXT, b"hello") + half, 2 * SIZE)
        with trio.fail_after(PATIENCE):
            answer = await read_all(first)
        assert answer[answer.rindex(b"\x88") + 2 :].startswith(CODE)
        assert answer.endswith(b"and there was no more room for it")
        assert [(each.code, each.reason) for each in fast.closed] == [
            (1006, "its message was not there in whole, and there was no more room for it")
        ]
        for stream in (first, second, third):
            await stream.aclose()
        await house.all_gone()
        assert kept(house) == 0
        assert house.log.contained() == []


@pytest.mark.slow
async def test_a_message_that_is_finished_is_young_again() -> None:
    whole = frame(TEXT, b"x" * (SIZE + SIZE // 3))
    async with fast_house(LIMITS) as (house, fast):
        first = await sender(house, whole[:SIZE], SIZE)
        second = await sender(house, whole[:SIZE], 2 * SIZE)
        await first.send_all(whole[SIZE:])
        await read_until(first, b"x" * (SIZE + SIZE // 3))
        await first.send_all(whole[:SIZE])
        third = await sender(house, whole[:SIZE], 2 * SIZE)
        with trio.fail_after(PATIENCE):
            assert CODE in await read_all(second)
        for stream in (first, second, third):
            await stream.aclose()
        await house.all_gone()
        assert fast.received == [b"x" * (SIZE + SIZE // 3)]


@pytest.mark.slow
async def test_a_client_that_goes_on_sending_after_it_gave_way_disturbs_nobody() -> None:
    async with fast_house(LIMITS) as (house, fast):
        first = await sender(house, HALF["half a frame"], SIZE)
        async with trio.open_nursery() as nursery:

            async def go_on() -> None:
                with pytest.raises(trio.BrokenResourceError):
                    await first.send_all(frame(PING, b"?" * 100) * 200_000)

            second = await sender(house, HALF["half a frame"], 2 * SIZE)
            third = await sender(house, HALF["half a frame"], 2 * SIZE)
            nursery.start_soon(go_on)
            with trio.fail_after(PATIENCE):
                assert CODE in await read_all(first)
        for stream in (first, second, third):
            await stream.aclose()
        await house.all_gone()
        assert house.log.contained() == []
        assert [each.code for each in fast.closed] == [1006] * 3


async def test_what_is_small_counts_for_nothing_and_what_is_given_up_is_forgotten() -> None:
    async with fast_house(LIMITS) as (house, _):
        small = await sender(house, frame(TEXT, b"x" * 60_000)[:50_000], 0)
        large = await sender(house, HALF["half a frame"], SIZE)
        await large.aclose()
        with trio.fail_after(PATIENCE):
            while kept(house):
                await wait_all_tasks_blocked(0.01)
        await small.send_all(frame(TEXT, b"x" * 60_000)[50_000:])
        await read_until(small, b"x" * 60_000)
        await small.aclose()


@pytest.mark.slow
@pytest.mark.parametrize("half", HALF.values(), ids=HALF)
async def test_half_a_message_is_let_go_of_with_its_connection_and_not_when_the_collector_comes(half: bytes) -> None:
    async with fast_house(LIMITS) as (house, fast):
        stream = await sender(house, half, SIZE)
        await stream.aclose()
        await house.all_gone()
        assert fast.socket._connection._message == b""
        assert fast.socket._fast_lane._peeler.unfinished == 0
