"""A lookout reads for many connections in one task, and what it does for one of them is no concern of the others.

On a busy machine a connection may be put off while it is served, and then it takes turns as one that took long. So
where it matters who reads, the clock stands still.
"""

import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from transports.wire.lookout import AT_ONCE, Lookout
from transports.wire.turns import LONG, MOMENT, turns
from transports.wire.wire import SIP, Take, Wire

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no lookout")

MOST = 16 * SIP


class Line:
    """A client, and the wire of its connection."""

    def __init__(self, watching: Lookout) -> None:
        self.client, server = socket.socketpair()
        self._server = trio.socket.from_stdlib_socket(server)
        self.wire = Wire(trio.SocketStream(self._server), self._server.close, send_seconds=30, lookout=watching)
        self.taken: list[bytes] = []

    def close(self) -> None:
        self.wire.cut()
        self.client.close()

    def take(self, data: bytes) -> bool:
        self.taken.append(data)
        return True


@asynccontextmanager
async def lines(number: int) -> AsyncIterator[tuple[Lookout, list[Line]]]:
    watching = Lookout()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watching.run)
        each = [Line(watching) for _ in range(number)]
        try:
            yield watching, each
        finally:
            for line in each:
                line.close()
            assert len(watching) == 0
            nursery.cancel_scope.cancel()


class Steps(trio.abc.Instrument):
    def __init__(self) -> None:
        self.of: Counter[str] = Counter()

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.of[task.name] += 1


async def test_what_is_taken_needs_no_step_of_the_task_that_waits(mock_clock: MockClock) -> None:
    async def reader(line: Line) -> None:
        await line.wire.receive_directly(MOST, line.take)

    async with lines(10) as (_, each), trio.open_nursery() as nursery:
        for line in each:
            nursery.start_soon(reader, line, name="reader")
        await wait_all_tasks_blocked()
        steps = Steps()
        trio.lowlevel.add_instrument(steps)
        for number in range(20):
            for line in each:
                line.client.send(b"%d" % number)
            await wait_all_tasks_blocked()
        trio.lowlevel.remove_instrument(steps)
        assert all(line.taken == [b"%d" % number for number in range(20)] for line in each)
        assert steps.of["reader"] == 0
        nursery.cancel_scope.cancel()


async def test_others_have_their_turn_among_many_that_come_at_the_same_time(mock_clock: MockClock) -> None:
    passes = 0
    seen: list[int] = []

    def take(data: bytes) -> bool:
        seen.append(passes)
        return True

    async def other() -> None:
        nonlocal passes
        while True:
            await trio.lowlevel.checkpoint()
            passes += 1

    async with lines(3 * AT_ONCE) as (_, each), trio.open_nursery() as nursery:
        for line in each:
            nursery.start_soon(line.wire.receive_directly, MOST, take)
        await wait_all_tasks_blocked()
        for line in each:
            line.client.send(b"x")
        nursery.start_soon(other)
        while len(seen) < len(each):
            await trio.lowlevel.checkpoint()
        assert max(Counter(seen).values()) <= 2 * AT_ONCE  # who counts the passes may be the last in one of them
        assert len(set(seen)) > 1
        nursery.cancel_scope.cancel()


def refuse(data: bytes) -> bool:
    return False


def fail(data: bytes) -> bool:
    raise ValueError("a mistake")


def leave(line: Line) -> None:
    line.client.close()


def say(data: bytes) -> Callable[[Line], object]:
    return lambda line: line.client.send(data)


ENDS: dict[str, tuple[Take | None, Callable[[Line], object], object]] = {
    "refused": (refuse, say(b"hello"), b"hello"),
    "as much as is read for others": (None, say(b"x" * SIP), b"x" * SIP),
    "the end": (None, leave, b""),
    "a mistake": (fail, say(b"hello"), ValueError),
    "cut": (None, lambda line: line.wire.cut(), trio.ClosedResourceError),
}


@pytest.mark.parametrize(("take", "event", "outcome"), ENDS.values(), ids=ENDS)
async def test_what_is_not_taken_is_for_the_task_that_waits_and_the_next_line_goes_on(
    mock_clock: MockClock, take: Take | None, event: Callable[[Line], object], outcome: object
) -> None:
    got: list[object] = []

    async def reader(line: Line, take: Take) -> None:
        try:
            got.append(await line.wire.receive_directly(MOST, take))
        except (ValueError, trio.ClosedResourceError) as error:
            got.append(type(error))

    async with lines(2) as (_, (one, beside)), trio.open_nursery() as nursery:
        nursery.start_soon(reader, one, take or one.take)
        nursery.start_soon(reader, beside, beside.take)
        await wait_all_tasks_blocked()
        event(one)
        await wait_all_tasks_blocked()
        assert got == [outcome]
        beside.client.send(b"still here")
        await wait_all_tasks_blocked()
        assert beside.taken == [b"still here"]
        nursery.cancel_scope.cancel()


async def test_the_library_that_closes_wakes_the_task_that_waits() -> None:
    async with lines(1) as (_, (line,)), trio.open_nursery() as nursery:

        async def reader() -> None:
            with pytest.raises(trio.ClosedResourceError):
                await line.wire.receive_directly(MOST, line.take)

        nursery.start_soon(reader)
        await wait_all_tasks_blocked()
        await line.wire.aclose()


async def test_nothing_is_lost_that_comes_while_nobody_waits(mock_clock: MockClock) -> None:
    async with lines(1) as (_, (line,)):
        for number in range(4):
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(line.wire.receive_directly, MOST, line.take)
                    await wait_all_tasks_blocked()
                    line.client.send(b"%d" % number)
                    await wait_all_tasks_blocked()
                    scope.cancel()
            line.client.send(b"between")
            await wait_all_tasks_blocked()
            line.taken.append(await line.wire.receive_directly(MOST, line.take))
        assert line.taken == [said for number in range(4) for said in (b"%d" % number, b"between")]


@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("is_waiting", [True, False])
@pytest.mark.parametrize("last", [b"", b"last words", b"x" * SIP])
@pytest.mark.parametrize("end", [socket.SHUT_WR, socket.SHUT_RDWR])
async def test_an_end_is_noticed_that_comes_together_with_the_last_words(
    before: int, is_waiting: bool, last: bytes, end: int
) -> None:
    """The kernel reports the two once."""
    async with lines(1) as (_, (line,)):

        async def reader() -> None:
            while data := await line.wire.receive_directly(MOST, line.take):
                line.taken.append(data)

        def leave_with(last: bytes) -> None:
            line.client.send(last)
            line.client.shutdown(end)

        with trio.fail_after(5):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(reader)
                for _ in range(before):
                    await wait_all_tasks_blocked()
                    line.client.send(b"word")
                await wait_all_tasks_blocked()
                if is_waiting:
                    leave_with(last)
                else:
                    nursery.cancel_scope.cancel()
            if not is_waiting:
                leave_with(last)
                await wait_all_tasks_blocked()
                await reader()
        assert b"".join(line.taken) == b"word" * before + last


async def test_who_took_long_a_moment_ago_takes_turns(autojump_clock: MockClock) -> None:
    def take(data: bytes) -> bool:
        autojump_clock.jump(float(data))
        return line.take(data)

    async with lines(1) as (_, (line,)):
        got: list[bytes] = []

        async def reader() -> None:
            while True:
                got.append(await line.wire.receive_directly(MOST, take))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(reader)
            await wait_all_tasks_blocked()
            long = b"%g" % (2 * LONG)
            for said, away, turns_taken in ((b"0", 0.0, 0), (long, 0.0, 0), (b"0", MOMENT, 1), (long, MOMENT, 1)):
                line.client.send(said)
                await wait_all_tasks_blocked()
                assert turns().taken == turns_taken
                if away:
                    await trio.sleep(2 * away)
            line.client.send(b"0")
            await wait_all_tasks_blocked()
            assert turns().taken == 1  # that was long ago
            nursery.cancel_scope.cancel()
        assert (len(line.taken), len(got)) == (4, 1)


async def test_a_number_that_is_used_again_is_read_by_its_new_owner_alone(mock_clock: MockClock) -> None:
    async with lines(2) as (watching, (old, _)), trio.open_nursery() as nursery:
        nursery.start_soon(_until_closed, old)
        await wait_all_tasks_blocked()
        old.client.send(b"for nobody")
        old.wire.cut()
        new = Line(watching)
        nursery.start_soon(_until_closed, new)
        await wait_all_tasks_blocked()
        new.client.send(b"for the new one")
        await wait_all_tasks_blocked()
        assert (old.taken, new.taken) == ([], [b"for the new one"])
        new.close()


async def _until_closed(line: Line) -> None:
    with pytest.raises(trio.ClosedResourceError):
        await line.wire.receive_directly(MOST, line.take)
