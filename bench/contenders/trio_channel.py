"""The stock trio memory channel, without bounds, and a task that reads from it and calls a method for each message.

`lean` spares the consumer the method and counts in place; `nowait` spares the producer the checkpoint of each send.
"""

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import trio
import trio.testing

from bench.contenders import DEADLINE, batches, shares
from bench.harness import Go


class Counter:
    def __init__(self) -> None:
        self.messages = 0

    async def handle(self, message: int) -> None:
        self.messages += 1


async def consume(receive: trio.MemoryReceiveChannel[int]) -> int:
    counter = Counter()
    async for message in receive:
        await counter.handle(message)
    return counter.messages


async def consume_lean(receive: trio.MemoryReceiveChannel[int]) -> int:
    messages = 0
    async for _ in receive:
        messages += 1
    return messages


@asynccontextmanager
async def tell(
    units: int, producers: int, every: int, *, lean: bool = False, nowait: bool = False
) -> AsyncIterator[Go]:
    send, receive = trio.open_memory_channel[int](math.inf)

    async def produce(share: int, send: trio.MemorySendChannel[int]) -> None:
        async with send:
            for batch in batches(share, every):
                for number in batch:
                    if nowait:
                        send.send_nowait(number)
                    else:
                        await send.send(number)
                await trio.lowlevel.checkpoint()

    async def go() -> None:
        async with trio.open_nursery() as nursery, send:
            for share in shares(units, producers):
                nursery.start_soon(produce, share, send.clone())
            send.close()
            assert await (consume_lean if lean else consume)(receive) == units

    yield go


class Link:
    """Hands a token on while it has hops to go."""

    def __init__(self, arrived: Callable[[], None], to: trio.MemorySendChannel[int]) -> None:
        self.arrived = arrived
        self.to = to

    async def live(self, receive: trio.MemoryReceiveChannel[int]) -> None:
        async for hops in receive:
            await self.handle(hops)

    async def handle(self, hops: int) -> None:
        if hops:
            await self.to.send(hops - 1)
        else:
            self.arrived()


@asynccontextmanager
async def ring(units: int, actors: int, tokens: int) -> AsyncIterator[Go]:
    tours = list(shares(units, tokens))
    finished = trio.Event()
    running = len(tours)

    def arrived() -> None:
        nonlocal running
        running -= 1
        if not running:
            finished.set()

    channels = [trio.open_memory_channel[int](math.inf) for _ in range(actors)]
    async with trio.open_nursery() as nursery:
        for place, (_, receive) in enumerate(channels):
            nursery.start_soon(Link(arrived, channels[(place + 1) % actors][0]).live, receive)
        await trio.testing.wait_all_tasks_blocked()

        async def go() -> None:
            for place, hops in enumerate(tours):
                await channels[place % actors][0].send(hops - 1)
            await finished.wait()

        yield go
        nursery.cancel_scope.cancel()


Question = tuple[int, trio.MemorySendChannel[int]]


async def answer(message: Question) -> None:
    number, reply = message
    reply.send_nowait(number)


async def callee(receive: trio.MemoryReceiveChannel[Question]) -> None:
    async for message in receive:
        await answer(message)


@asynccontextmanager
async def ask(units: int, askers: int) -> AsyncIterator[Go]:
    """Each question carries a channel of its own for the answer, and the asker waits under `fail_after`."""
    send, receive = trio.open_memory_channel[Question](math.inf)

    async def inquire(share: int) -> None:
        for number in range(share):
            with trio.fail_after(DEADLINE):
                reply, answered = trio.open_memory_channel[int](1)
                await send.send((number, reply))
                await answered.receive()

    async def go() -> None:
        async with trio.open_nursery() as nursery:
            for share in shares(units, askers):
                nursery.start_soon(inquire, share)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(callee, receive)
        yield go
        nursery.cancel_scope.cancel()


async def idle(*, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
    task_status.started()
    await trio.sleep_forever()


@asynccontextmanager
async def spawn(units: int) -> AsyncIterator[Go]:
    """A bare `nursery.start`: no mailbox, and nobody to notice when it crashes."""
    async with trio.open_nursery() as nursery:

        async def go() -> None:
            for _ in range(units):
                await nursery.start(idle)

        yield go
        nursery.cancel_scope.cancel()
