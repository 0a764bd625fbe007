"""asyncio.Queue, without bounds, and a task that reads from it and calls a method for each message; in a loop of its
own, which the trio task it is called from waits for."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from bench.contenders import DEADLINE, batches, shares
from bench.harness import Go


class Counter:
    def __init__(self, messages: int) -> None:
        self.left = messages

    async def handle(self, message: int) -> None:
        self.left -= 1


@asynccontextmanager
async def tell(units: int, producers: int, every: int) -> AsyncIterator[Go]:
    queue = asyncio.Queue[int]()

    async def produce(share: int) -> None:
        for batch in batches(share, every):
            for number in batch:
                queue.put_nowait(number)
            await asyncio.sleep(0)

    async def consume() -> None:
        counter = Counter(units)
        while counter.left:
            await counter.handle(await queue.get())

    async def exercise() -> None:
        await asyncio.gather(consume(), *(produce(share) for share in shares(units, producers)))

    with asyncio.Runner() as runner:

        async def go() -> None:
            runner.run(exercise())

        yield go


class Link:
    """Hands a token on while it has hops to go."""

    def __init__(self, arrived: Callable[[], None], to: "asyncio.Queue[int]") -> None:
        self.arrived = arrived
        self.to = to

    async def live(self, queue: "asyncio.Queue[int]") -> None:
        while True:
            await self.handle(await queue.get())

    async def handle(self, hops: int) -> None:
        if hops:
            self.to.put_nowait(hops - 1)
        else:
            self.arrived()


@asynccontextmanager
async def ring(units: int, actors: int, tokens: int) -> AsyncIterator[Go]:
    tours = list(shares(units, tokens))
    finished = asyncio.Event()
    running = len(tours)
    links = []

    def arrived() -> None:
        nonlocal running
        running -= 1
        if not running:
            finished.set()

    queues = [asyncio.Queue[int]() for _ in range(actors)]

    async def set_up() -> None:
        for place, queue in enumerate(queues):
            links.append(asyncio.create_task(Link(arrived, queues[(place + 1) % actors]).live(queue)))
        await asyncio.sleep(0)

    async def exercise() -> None:
        for place, hops in enumerate(tours):
            queues[place % actors].put_nowait(hops - 1)
        await finished.wait()

    with asyncio.Runner() as runner:
        runner.run(set_up())

        async def go() -> None:
            runner.run(exercise())

        yield go


Question = tuple[int, "asyncio.Future[int]"]


async def answer(message: Question) -> None:
    number, reply = message
    reply.set_result(number)


@asynccontextmanager
async def ask(units: int, askers: int) -> AsyncIterator[Go]:
    """Each question carries a future for the answer, and the asker waits under `asyncio.timeout`."""
    queue = asyncio.Queue[Question]()

    async def callee() -> None:
        while True:
            await answer(await queue.get())

    async def inquire(share: int) -> None:
        loop = asyncio.get_running_loop()
        for number in range(share):
            async with asyncio.timeout(DEADLINE):
                reply: asyncio.Future[int] = loop.create_future()
                queue.put_nowait((number, reply))
                await reply

    async def exercise() -> None:
        task = asyncio.create_task(callee())
        await asyncio.gather(*(inquire(share) for share in shares(units, askers)))
        task.cancel()

    with asyncio.Runner() as runner:

        async def go() -> None:
            runner.run(exercise())

        yield go


@asynccontextmanager
async def spawn(units: int) -> AsyncIterator[Go]:
    """Bare tasks, each of which says when it is ready."""

    async def idle(ready: "asyncio.Future[None]") -> None:
        ready.set_result(None)
        await asyncio.get_running_loop().create_future()

    tasks = []

    async def exercise() -> None:
        loop = asyncio.get_running_loop()
        for _ in range(units):
            ready: asyncio.Future[None] = loop.create_future()
            tasks.append(asyncio.create_task(idle(ready)))
            await ready

    with asyncio.Runner() as runner:

        async def go() -> None:
            runner.run(exercise())

        yield go
