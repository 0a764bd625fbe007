"""How often others have their turn in the loop."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio


@dataclass
class Turns:
    taken: int = 0


@asynccontextmanager
async def others_turns() -> AsyncIterator[Turns]:
    """Counts the turns of another task, until this is left. The task has begun when this is entered."""
    turns = Turns()

    async def other() -> None:
        while True:
            await trio.lowlevel.checkpoint()
            turns.taken += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        await trio.lowlevel.checkpoint()
        turns.taken = 0
        yield turns
        nursery.cancel_scope.cancel()
