"""Work with whole files, beside the loop: a large file takes seconds, and nobody else should wait for that."""

from collections.abc import Callable
from typing import TypeVar

import trio

SMALL = 32 << 10
"""Bytes and characters that are worked on at once: even the worst of them take less than a thread is worth."""
THREADS = 4

_Result = TypeVar("_Result")
_threads = trio.CapacityLimiter(THREADS)


async def at_leisure(size: int, job: Callable[[], _Result]) -> _Result:
    """The result of a pure job about so many bytes. A caller that gives up the wait is free at once."""
    if size <= SMALL:
        return job()
    return await trio.to_thread.run_sync(job, abandon_on_cancel=True, limiter=_threads)
