"""The comparing process, as it is: started, cut short, killed."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from codec.ipc import scores
from transports.ipc.scoring import ScoringProcess

pytestmark = pytest.mark.slow


@asynccontextmanager
async def scoring(seconds: float = 30.0) -> AsyncIterator[ScoringProcess]:
    made = ScoringProcess(seconds)
    try:
        yield made
    finally:
        made.rest()


def ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def asleep(pid: int | None) -> None:
    """Returns when it waits for the next comparison."""
    while Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] not in "SZ":
        pass


async def test_it_finds_what_is_found_here_and_one_process_does_it_all() -> None:
    pairs = [
        ("the cat", "the cat sat"),
        ("", "x"),
        ("ein Ä\n\u2028 \0 zwei", "zwei"),
        ("a b. c " * 9_000, "b c " * 9_000),
    ]
    async with scoring() as made:
        pids = set()
        for answer, expected in pairs:
            assert await made.scores(answer, expected) == scores(answer, expected)
            pids.add(made.pid)
            await trio.to_thread.run_sync(asleep, made.pid)
        assert len(pids) == 1


async def test_what_takes_too_long_is_given_up_and_the_next_is_not() -> None:
    async with scoring(0.0) as made:
        assert await made.scores("the cat", "the cat") is None
        assert made.pid is None
        made._seconds = 30.0
        assert await made.scores("the cat", "the cat") == scores("the cat", "the cat")


async def test_a_process_that_was_killed_costs_one_comparison() -> None:
    async with scoring() as made:
        await made.scores("a", "a")
        assert made.pid is not None
        os.kill(made.pid, signal.SIGKILL)
        assert await made.scores("the cat", "the cat") is None
        assert await made.scores("the cat", "the cat") == scores("the cat", "the cat")


async def test_nothing_is_left_of_it_when_it_rests_or_its_asker_goes() -> None:
    async with scoring() as made:
        await made.scores("a", "a")
        first = made.pid
        made.rest()
        made.rest()
        assert first is not None
        assert ended(first)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(made.scores, "a b " * 20_000, "b a " * 20_000)
            while made.pid is None:
                await trio.testing.wait_all_tasks_blocked(0.01)
            second = made.pid
            nursery.cancel_scope.cancel()
        assert ended(second)
        assert made.pid is None
