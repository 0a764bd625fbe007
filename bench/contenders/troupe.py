"""Ours: actors in a running tree, under a supervisor."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import trio

from actors.kernel import Actor, ActorRef, Children, ChildSpec, Mailbox, Reply, Restart, Supervisor, run
from bench.contenders import DEADLINE, batches, shares
from bench.harness import Go

PLENTY = 1 << 24
"""Room for a whole slice, as the peers' queues have without bounds. Ours has a bound in any case, and checks it."""


@asynccontextmanager
async def house() -> AsyncIterator[ActorRef[Children[Any]]]:
    """A tree with nobody in it; leaving takes it down in order."""
    async with trio.open_nursery() as nursery:
        root: ActorRef[Children[Any]] = await nursery.start(
            run, ChildSpec("top", partial(Supervisor, max_children=PLENTY))
        )
        yield root
        await root.stop()


def child(name: object, make: Callable[[], Actor[Any]]) -> ChildSpec[Any]:
    return ChildSpec(name, make, restart=Restart.TEMPORARY, mailbox=partial(Mailbox, PLENTY))


class Counter(Actor[int]):
    def __init__(self, messages: int) -> None:
        self.left = messages

    async def handle(self, message: int) -> None:
        self.left -= 1
        if not self.left:
            self.finish()


@asynccontextmanager
async def tell(units: int, producers: int, every: int) -> AsyncIterator[Go]:
    async with house() as root:
        counter: ActorRef[int] = await root.start_child(child("counter", partial(Counter, units)))

        async def produce(share: int) -> None:
            for batch in batches(share, every):
                for number in batch:
                    counter.tell(number)
                await trio.lowlevel.checkpoint()

        async def go() -> None:
            async with trio.open_nursery() as nursery:
                for share in shares(units, producers):
                    nursery.start_soon(produce, share)
            await counter.wait_stopped()

        yield go


class Link(Actor[int]):
    """Hands a token on while it has hops to go."""

    def __init__(self, arrived: Callable[[], None]) -> None:
        self.arrived = arrived
        self.next: ActorRef[int]

    async def handle(self, hops: int) -> None:
        if hops:
            self.next.tell(hops - 1)
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

    async with house() as root:
        links = [Link(arrived) for _ in range(actors)]
        refs = [await root.start_child(child(i, partial(next, iter([link])))) for i, link in enumerate(links)]
        for link, ref in zip(links, refs[1:] + refs[:1], strict=True):
            link.next = ref

        async def go() -> None:
            for place, hops in enumerate(tours):
                refs[place % actors].tell(hops - 1)
            await finished.wait()

        yield go


Question = tuple[int, Reply[int]]


def question(number: int, reply: Reply[int]) -> Question:
    return number, reply


class Callee(Actor[Question]):
    async def handle(self, message: Question) -> None:
        number, reply = message
        reply.set(number)


@asynccontextmanager
async def ask(units: int, askers: int) -> AsyncIterator[Go]:
    async with house() as root:
        callee: ActorRef[Question] = await root.start_child(child("callee", Callee))

        async def inquire(share: int) -> None:
            for number in range(share):
                await callee.ask(partial(question, number), timeout=DEADLINE)

        async def go() -> None:
            async with trio.open_nursery() as nursery:
                for share in shares(units, askers):
                    nursery.start_soon(inquire, share)

        yield go


@asynccontextmanager
async def spawn(units: int) -> AsyncIterator[Go]:
    """Each under a supervisor, with a mailbox of the standard size."""
    async with house() as root:

        async def go() -> None:
            for number in range(units):
                await root.start_child(ChildSpec(number, Callee))

        yield go
