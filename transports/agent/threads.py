"""Calls to a disk that may hang: each is made in a thread, with a deadline, and given up as soon as nobody waits for
it."""

from collections.abc import Callable
from typing import TypeVar

import trio

from codec.agent.files import FileRefused
from transports.agent.walking import GivenUp

SECONDS = 10.0
"""For reading."""

T = TypeVar("T")


async def in_thread(job: Callable[[GivenUp], T], limiter: trio.CapacityLimiter, place: str) -> T:
    given_up = GivenUp()
    with trio.move_on_after(SECONDS):
        try:
            return await trio.to_thread.run_sync(
                job, given_up, thread_name=f"reading in {place}", abandon_on_cancel=True, limiter=limiter
            )
        finally:
            given_up.set()
    raise FileRefused(f"The disk of {place} does not answer.")
