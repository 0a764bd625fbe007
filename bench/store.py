"""Our store beside plain sqlite3: durable commits per second of wall time, on the disk of this directory.

A commit is one event of 100 bytes, and is done when it cannot be lost: both sides write a log in WAL mode with
synchronous=FULL. Plain sqlite3 is a loop that inserts a row and commits. Each slice has a new database. All figures
depend on the disk: a group saves syncs, so it saves little on a disk that syncs fast. The line "a sync of this disk"
shows its speed (ours: into the log written in advance; theirs: to the end of a growing file).
"""

import os
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path

import trio

from actors.kernel import run as run_tree
from actors.store import StateDirectory, StoreClient, store_spec
from bench.harness import MICROSECONDS, Result, Side, Unit, timed

NAME = "store"
ABOUT = "durable commits, alone and in company, beside plain sqlite3"

COMMITS = Unit("commit/s")
TOGETHER = 10_000
ONE_BY_ONE = 400
GROWN = 2_000
"""Commits after which a log has had its first checkpoint, and no longer grows."""
EVENT = b"x" * 100
PAGE = b"x" * 4120

Go = Callable[[], Awaitable[object]]


def run(rounds: int) -> Iterator[Result]:
    for case in (_sync, _waiters, _own_logs, _lone, _lone_grown, _lone_in_loop):
        yield trio.run(case, rounds)


async def _waiters(rounds: int) -> Result:
    pairs = await _alternate(partial(troupe, waiters=256, logs=1), TOGETHER, plain, ONE_BY_ONE, rounds)
    return Result.between(NAME, "256 waiters, one log", "plain sqlite3, one by one", pairs, COMMITS, goal=50.0)


async def _own_logs(rounds: int) -> Result:
    pairs = await _alternate(partial(troupe, waiters=256, logs=256), TOGETHER, plain, ONE_BY_ONE, rounds)
    return Result.between(NAME, "256 waiters, a log each", "plain sqlite3, one by one", pairs, COMMITS)


async def _lone(rounds: int) -> Result:
    pairs = await _alternate(troupe, ONE_BY_ONE, plain, ONE_BY_ONE, rounds)
    return Result.between(NAME, "a lone writer", "plain sqlite3", pairs, COMMITS, goal=1.0)


async def _lone_grown(rounds: int) -> Result:
    pairs = await _alternate(
        partial(troupe, before=GROWN), ONE_BY_ONE, partial(plain, before=GROWN), ONE_BY_ONE, rounds
    )
    return Result.between(NAME, "a lone writer, later", "plain sqlite3, log grown", pairs, COMMITS)


async def _lone_in_loop(rounds: int) -> Result:
    pairs = await _alternate(troupe, ONE_BY_ONE, plain_in_threads, ONE_BY_ONE, rounds)
    return Result.between(NAME, "a lone writer", "plain sqlite3 in to_thread", pairs, COMMITS)


async def _sync(rounds: int) -> Result:
    pairs = await _alternate(partial(syncs, ahead=True), ONE_BY_ONE, syncs, ONE_BY_ONE, rounds, MICROSECONDS)
    return Result.between(NAME, "a sync of this disk", "of a growing file", pairs, MICROSECONDS)


async def _alternate(
    ours: Side, our_units: int, theirs: Side, their_units: int, rounds: int, unit: Unit = COMMITS
) -> list[tuple[float, float]]:
    """What each did in each round; the one that begins is the other each time."""
    pairs = []
    for number in range(rounds):
        done: dict[Side, float] = {}
        sides = [(ours, our_units), (theirs, their_units)]
        for side, units in sides if number % 2 else reversed(sides):
            timing = await timed(side, units)
            done[side] = unit.of(units, timing.wall)
        pairs.append((done[ours], done[theirs]))
    return pairs


# -- the sides


@asynccontextmanager
async def troupe(units: int, *, waiters: int = 1, logs: int = 1, before: int = 1) -> AsyncIterator[Go]:
    with _place() as place, StateDirectory.claim(Path(place)) as directory:
        async with trio.open_nursery() as nursery:
            store = StoreClient(await nursery.start(run_tree, store_spec(directory)))

            async def wait_for_each(waiter: int) -> None:
                log = f"log {waiter % logs}"
                for _ in range(waiter, units, waiters):
                    await store.append(log, [EVENT])

            async def go() -> None:
                async with trio.open_nursery() as waiting:
                    for waiter in range(waiters):
                        waiting.start_soon(wait_for_each, waiter)

            for log in range(logs):
                for _ in range(before):
                    await store.append(f"log {log}", [EVENT])
            yield go
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def plain(units: int, *, before: int = 1) -> AsyncIterator[Go]:
    with _place() as place, closing(_plain_log(place)) as connection:

        async def go() -> None:
            for _ in range(units):
                _insert(connection)

        for _ in range(before):
            _insert(connection)
        yield go


@asynccontextmanager
async def plain_in_threads(units: int) -> AsyncIterator[Go]:
    """As one would in an event loop that must not stand still."""
    with _place() as place, closing(_plain_log(place)) as connection:

        async def go() -> None:
            for _ in range(units):
                await trio.to_thread.run_sync(_insert, connection)

        _insert(connection)
        yield go


@asynccontextmanager
async def syncs(units: int, *, ahead: bool = False) -> AsyncIterator[Go]:
    with _place() as place:
        file = os.open(Path(place, "file"), os.O_CREAT | os.O_WRONLY)
        os.write(file, PAGE * units if ahead else b"")
        os.fsync(file)
        os.lseek(file, 0, os.SEEK_SET)

        async def go() -> None:
            for _ in range(units):
                os.write(file, PAGE)
                os.fdatasync(file)

        yield go
        os.close(file)


def _place() -> tempfile.TemporaryDirectory[str]:
    """On the disk of this repository: a directory for temporary files may be memory."""
    root = Path(__file__).parent.parent
    return tempfile.TemporaryDirectory(prefix=".bench-", dir=root if os.access(root, os.W_OK) else None)


def _plain_log(place: str) -> sqlite3.Connection:
    connection = sqlite3.connect(Path(place, "plain.db"), check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE log (id INTEGER PRIMARY KEY, stream TEXT, data BLOB)")
    return connection


def _insert(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO log (stream, data) VALUES (?, ?)", ("log", EVENT))
    connection.commit()
