"""Our mailbox beside a stock trio memory channel, asyncio.Queue and pykka.

Units and goals
  - A message per second of CPU; pykka, whose threads wait for each other, per second of wall time.
  - "trio channel" is the task one would write: `await send` in the producer, a method call per message in the
    consumer, as with us. Two leaner ones are shown beside it: one counts in the reading loop instead of a method, one
    sends with `send_nowait` as well. As our `tell` does not wait either, its ratio is the gain without that difference.
  - Spawning is a cost. A supervised actor with its mailbox, ready, may take three times a bare `nursery.start`, which
    is a goal of 1/3; and 8,000 bytes, which is a goal of 1. Bytes are what tracemalloc counts, over 2,000 of them.
"""

import gc
import importlib.util
import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType

import trio

from bench.contenders import asyncio_queue, trio_channel, troupe
from bench.harness import BYTES, MESSAGES, MICROSECONDS, Absent, Peer, Result, Side, Unit, compare

NAME = "mailbox"
ABOUT = "tell, ask and spawn, beside the stock trio channel, asyncio.Queue and pykka"

ALLOWANCE = 8000.0
NO_PYKKA = "pykka is not installed; it comes with the extra `bench`"


@dataclass(frozen=True)
class Case:
    name: str
    exercise: str
    how: Mapping[str, int] = field(default_factory=dict)
    goal: float | None = None
    """Beside the stock trio channel."""
    unit: Unit = MESSAGES
    lean: bool = False
    """Show the leaner channels too."""
    threads: bool = True
    """It has a meaning for pykka."""


CASES = (
    Case("tell burst", "tell", {"producers": 1, "every": 256}, goal=15.0, lean=True),
    Case("tell burst, 8 to 1", "tell", {"producers": 8, "every": 256}),
    Case("tell, I/O between", "tell", {"producers": 1, "every": 1}, goal=1.8, lean=True, threads=False),
    Case("ring of 100", "ring", {"actors": 100, "tokens": 1}),
    Case("ring of 100, 64 tokens", "ring", {"actors": 100, "tokens": 64}),
    Case("ask", "ask", {"askers": 1}, goal=1.8),
    Case("ask, 64 at once", "ask", {"askers": 64}),
    Case("spawn until ready", "spawn", goal=1 / 3, unit=MICROSECONDS),
)


def run(rounds: int) -> Iterator[Result]:
    for case in CASES:
        yield from trio.run(partial(_compare, case, rounds))
    yield from trio.run(bytes_per_actor, 2000)


async def _compare(case: Case, rounds: int) -> list[Result]:
    return await compare(NAME, case.name, ours(case), list(peers(case)), rounds=rounds, unit=case.unit)


def ours(case: Case) -> Side:
    return _side(troupe, case)


def peers(case: Case) -> Iterator[Peer | Absent]:
    bare = case.exercise == "spawn"
    yield Peer("nursery.start" if bare else "trio channel", _side(trio_channel, case), case.goal)
    if case.lean:
        yield Peer("trio channel, counting inline", _side(trio_channel, case, lean=True))
        yield Peer("trio channel, send_nowait", _side(trio_channel, case, lean=True, nowait=True))
    yield Peer("asyncio.create_task" if bare else "asyncio.Queue", _side(asyncio_queue, case))
    if case.threads and importlib.util.find_spec("pykka") is None:
        yield Absent("pykka", NO_PYKKA)
    elif case.threads:
        from bench.contenders import pykka_actors

        yield Peer("pykka", _side(pykka_actors, case), wall=True)


def _side(contender: ModuleType, case: Case, **how: bool) -> Side:
    return partial(getattr(contender, case.exercise), **case.how, **how)


async def bytes_per_actor(actors: int) -> list[Result]:
    ours, task = await _bytes_each(troupe.spawn, actors), await _bytes_each(trio_channel.spawn, actors)
    name = "bytes per actor"
    return [
        Result.between(NAME, name, "allowed", [(ours, ALLOWANCE)], BYTES, goal=1.0),
        Result.between(NAME, name, "nursery.start", [(ours, task)], BYTES),
    ]


async def _bytes_each(spawn: Side, units: int) -> float:
    async with spawn(units) as go:
        gc.collect()
        tracemalloc.start()
        try:
            await go()
            gc.collect()
            return tracemalloc.get_traced_memory()[0] / units
        finally:
            tracemalloc.stop()
