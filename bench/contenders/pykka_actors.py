"""pykka: a thread and a queue per actor. Measured in wall time, from threads, while the trio task waits."""

import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import pykka

from bench.contenders import DEADLINE, batches, shares
from bench.harness import Go


@asynccontextmanager
async def threads(work: Callable[[int], None], parts: Iterable[int]) -> AsyncIterator[Go]:
    """A thread for each part, started off the clock, that works when told to go."""
    start = threading.Event()

    def wait_and_work(part: int) -> None:
        start.wait()
        work(part)

    started = [threading.Thread(target=wait_and_work, args=(part,)) for part in parts]
    for thread in started:
        thread.start()

    async def go() -> None:
        start.set()
        for thread in started:
            thread.join()

    yield go


class Counter(pykka.ThreadingActor):
    def __init__(self, messages: int) -> None:
        super().__init__()
        self.left = messages

    def on_receive(self, message: Any) -> None:
        self.left -= 1
        if not self.left:
            self.stop()


@asynccontextmanager
async def tell(units: int, producers: int, every: int) -> AsyncIterator[Go]:
    counter = Counter.start(units)

    def produce(share: int) -> None:
        for batch in batches(share, every):
            for number in batch:
                counter.tell(number)

    async with threads(produce, shares(units, producers)) as produce_all:

        async def go() -> None:
            await produce_all()
            counter.actor_stopped.wait()

        yield go


class Link(pykka.ThreadingActor):
    """Hands a token on while it has hops to go."""

    def __init__(self, arrived: Callable[[], None]) -> None:
        super().__init__()
        self.arrived = arrived
        self.next: pykka.ActorRef[Link]

    def on_receive(self, message: Any) -> None:
        if isinstance(message, pykka.ActorRef):
            self.next = message
        elif message:
            self.next.tell(message - 1)
        else:
            self.arrived()


@asynccontextmanager
async def ring(units: int, actors: int, tokens: int) -> AsyncIterator[Go]:
    tours = list(shares(units, tokens))
    arrivals = threading.Semaphore(0)
    refs = [Link.start(arrivals.release) for _ in range(actors)]
    for ref, following in zip(refs, refs[1:] + refs[:1], strict=True):
        ref.tell(following)

    async def go() -> None:
        for place, hops in enumerate(tours):
            refs[place % actors].tell(hops - 1)
        for _ in tours:
            arrivals.acquire()

    yield go
    for ref in refs:
        ref.stop()


class Callee(pykka.ThreadingActor):
    def on_receive(self, message: Any) -> Any:
        return message


@asynccontextmanager
async def ask(units: int, askers: int) -> AsyncIterator[Go]:
    callee = Callee.start()

    def inquire(share: int) -> None:
        for number in range(share):
            callee.ask(number, timeout=DEADLINE)

    async with threads(inquire, shares(units, askers)) as go:
        yield go
    callee.stop()


@asynccontextmanager
async def spawn(units: int) -> AsyncIterator[Go]:
    refs: list[pykka.ActorRef[Callee]] = []

    async def go() -> None:
        refs.extend(Callee.start() for _ in range(units))

    yield go
    for ref in refs:
        ref.stop()
