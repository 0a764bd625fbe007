"""Connections that always have more to say take turns, and hold up nobody else."""

import math
from collections import Counter
from functools import partial

import httpx
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.patience import PATIENCE
from tests.transports.house import TEXT, House, frame, open_house, read_until
from transports.websocket.websocket import Upgrade
from transports.wire.turns import IN_A_ROW, MOMENT, MOST_PASSES, PASS, UNNOTICED, FairTurns, Pace, turns

GREEDY = 80


async def test_there_is_one_line_for_a_run() -> None:
    assert turns() is turns()


async def test_no_more_than_one_turn_begins_in_a_pass_and_each_has_as_many() -> None:
    line, passes, begun = FairTurns(), 0, list[tuple[int, int]]()

    async def greedy(number: int) -> None:
        while True:
            await line.take()
            begun.append((passes, number))

    async with trio.open_nursery() as nursery:
        for number in range(GREEDY):
            nursery.start_soon(greedy, number)
        for _ in range(1_000):
            passes += 1
            await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    in_each = Counter(at for at, _ in begun)
    assert max(in_each.values()) <= 2  # who counts the passes may be first in the one and last in the next
    assert 400 < len(begun) <= 1_001
    had = [sum(who == number for _, who in begun) for number in range(GREEDY)]
    assert max(had) - min(had) <= 1


async def test_the_longer_the_last_turn_was_the_longer_the_others_have() -> None:
    line, passes = FairTurns(), 0

    async def polite() -> None:
        nonlocal passes
        while True:
            await trio.lowlevel.checkpoint()
            passes += 1

    waited = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(polite)
        for last in (0.0, 0.001, 1000.0):
            before = passes
            await line.take(last)
            waited.append(passes - before)
        nursery.cancel_scope.cancel()
    assert waited == sorted(waited)
    assert waited[0] <= 2
    assert MOST_PASSES - 1 <= waited[-1] <= MOST_PASSES + 3


async def test_turns_are_counted_and_the_passes_before_them_timed(mock_clock: MockClock) -> None:
    line = FairTurns()
    assert (line.taken, line.pass_seconds) == (0, 0.0)
    mock_clock.jump(100.0)

    async def polite() -> None:
        while True:
            mock_clock.jump(0.001)
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(polite)
        for number, last in enumerate((10 * PASS, 1000.0), 1):
            await line.take(last)
            assert line.taken == number
            assert line.pass_seconds == pytest.approx(0.001, rel=0.2)
        nursery.cancel_scope.cancel()


async def test_whoever_is_cancelled_in_the_line_does_not_hold_it_up() -> None:
    line, begun = FairTurns(), list[str]()

    async def greedy(name: str, scope: trio.CancelScope) -> None:
        with scope:
            await line.take()
            begun.append(name)

    scopes = {name: trio.CancelScope() for name in "abcd"}
    async with trio.open_nursery() as nursery:
        for name, scope in scopes.items():
            nursery.start_soon(greedy, name, scope)
            await trio.lowlevel.checkpoint()
            if name == "c":
                scopes["b"].cancel()
                scopes["c"].cancel()
    assert sorted(begun) in (["a", "d"], ["a", "b", "d"], ["a", "c", "d"], ["a", "b", "c", "d"])
    with trio.fail_after(PATIENCE):
        await line.take()  # nobody has come up and gone
    assert len(line) == 0


@pytest.mark.parametrize("pass_seconds", [0.0, MOMENT])
async def test_who_asks_on_and_on_is_greedy_until_it_is_silent_for_a_moment(
    autojump_clock: trio.testing.MockClock, pass_seconds: float
) -> None:
    """A moment is longer by the passes in which nobody could have noticed the request."""
    pace, line = Pace(), turns()
    moment = MOMENT + UNNOTICED * pass_seconds

    async def takes_a_turn(silence: float) -> bool:
        line.pass_seconds, before = pass_seconds, line.taken
        began = await pace.begin(silence)
        await trio.sleep(1.0)
        pace.end(began)
        return line.taken > before

    for first in (math.inf, moment * 1.1):
        assert not await takes_a_turn(first)
        assert [await takes_a_turn(moment * 0.9) for _ in range(IN_A_ROW - 1)] == [False] * (IN_A_ROW - 1)
        assert [await takes_a_turn(silence) for silence in (moment * 0.9, 0.0, -1.0)] == [True] * 3


async def flood(house: House, number: int, there: trio.Event) -> None:
    """One that has always more to say than is read."""
    async with await house.connect() as stream:
        await stream.send_all(house.upgrade("/"))
        await read_until(stream, b"\r\n\r\n")
        there.set()
        texts = frame(TEXT, b"x" * 20) * 5_000
        while True:
            await stream.send_all(texts)


@pytest.mark.slow
async def test_eighty_greedy_connections_leave_the_others_their_time() -> None:
    """A polite request is answered within some of the greedies' turns, not within some rounds of them all."""
    batches = 0

    async def hear(upgrade: Upgrade) -> None:
        nonlocal batches
        socket = await upgrade.accept_fast()
        while True:
            await socket.receive_batch()
            batches += 1

    async with open_house(on_websocket=hear) as house, trio.open_nursery() as nursery:
        events = [trio.Event() for _ in range(GREEDY)]
        for number, there in enumerate(events):
            nursery.start_soon(flood, house, number, there)
        for there in events:
            await there.wait()
        while batches < 10 * GREEDY:
            await trio.lowlevel.checkpoint()
        meanwhile = []
        async with httpx.AsyncClient() as client:
            await client.get(house.url)
            for _ in range(5):
                before = batches
                assert (await client.get(house.url, timeout=PATIENCE)).status_code == 200
                meanwhile.append(batches - before)
        assert sorted(meanwhile)[2] < GREEDY, meanwhile
        nursery.cancel_scope.cancel()
    await wait_all_tasks_blocked()


async def ask_on(house: House, *, ahead: int) -> None:
    """One that always has `ahead` requests under way."""
    request = house.request("GET / HTTP/1.1")
    async with await house.connect() as stream, trio.open_nursery() as nursery:
        nursery.start_soon(stream.send_all, request * ahead)
        while True:
            answered = (await stream.receive_some()).count(b"HTTP/1.1 200")
            await stream.send_all(request * answered)


@pytest.mark.slow
@pytest.mark.parametrize("ahead", [1, 20])
async def test_many_that_ask_on_and_on_leave_the_others_their_time(ahead: int) -> None:
    """Whether each waits for its answer, or has made its next requests before."""
    many = 20
    async with open_house() as house, trio.open_nursery() as nursery:
        for _ in range(many):
            nursery.start_soon(partial(ask_on, house, ahead=ahead))
        with trio.fail_after(PATIENCE):
            while turns().taken < 3 * many:  # until all have shown what they are
                await trio.lowlevel.checkpoint()
        meanwhile = []
        async with httpx.AsyncClient() as client:
            for _ in range(9):
                before = turns().taken
                assert (await client.get(house.url, timeout=PATIENCE)).status_code == 200
                meanwhile.append(turns().taken - before)
                await trio.sleep(2 * MOMENT)  # which makes it polite
        assert sorted(meanwhile)[4] < many / 2, meanwhile
        nursery.cancel_scope.cancel()
