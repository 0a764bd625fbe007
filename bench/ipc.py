"""The desk beside a pair of programs that poll, beside a plain loop of syncs, and beside queues of other projects.

Sides
  - Ours is `python supervisor.py` with both ends on, and the library that scripts use (`troupe.ipc`).
  - A round trip is from the script's `run("ping")` to its result: a request file is published, our server end answers
    it, and the script has read the answer. In memory the folder and the state lie on a file system without a disk. On a
    disk it is compared with what this disk takes to sync one file and its folder. Trips follow each other at once, or
    each comes after a pause, in which the store has tidied up. TROUPE_BENCH_DISK names a folder on another disk than
    this tree's.
  - A thousand requests of 1 kB are submitted in one call; they are on the disk when it returns. The others put a
    thousand texts of the same size into their queues (contenders/queues.py).
  - A large desk holds 100,000 requests that were answered long ago. Then 20,000 are dropped at once, and one alone, of
    another submitter, in the midst of them.

Places
  - Nothing is deleted before the bench ends, and each side has a part of the disk of its own. An ext4 without a journal
    does not use the number of a deleted file again for five minutes, and looks at each such number whenever a file is
    made in that part of the disk. After a thousand deletions the next thousand files cost 700 ms to make, and not 21,
    whoever makes them.
"""

import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median

from bench.contenders import polling_pair, queues
from bench.contenders.client import Stuck
from bench.harness import BYTES, Result, Unit, in_turns
from bench.relay import ROOT, Relay, Running, running
from codec.ipc import Request
from troupe.ipc import BlockingDesk, Desk

NAME = "ipc"
ABOUT = "the desk of request and response files, beside polling, syncing one by one, and other queues"

MEMORY = Path("/dev/shm")
MILLISECONDS = Unit("ms", cost=True)
SECONDS = Unit("s", cost=True)
PERCENT = Unit("%", cost=True)
TRIPS = 20
LONE_TRIPS, PAUSE = 5, 0.5
"""Trips after so many seconds each. The store tidies up after a quarter of a second without work."""
MANY = 1_000
TEXT = "x" * 1_000
OLD, DROPPED = 100_000, 20_000
PATIENCE = 120.0
ONE_BY_ONE, SLOW_SYNC = "synced one by one", 0.001
DISK = Path(os.environ.get("TROUPE_BENCH_DISK", ROOT))
ROOMS = ("requests", "responses", "failed")
GET_FLAGS, SET_FLAGS, TOP_FOLDER = 0x80086601, 0x40086602, 0x00020000
"""Of Linux: FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_TOPDIR_FL."""


def run(rounds: int) -> Iterator[Result]:
    yield from _round_trips(max(3, rounds // 3))
    yield from _submissions(max(3, rounds // 3))
    yield from _large()


# -- the sides


@contextmanager
def place(above: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=above) as folder:
        spread(Path(folder))
        yield Path(folder)


def spread(folder: Path) -> None:
    """The folders that are made in it begin in different parts of the disk, if it can do that."""
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        flags = array("i", [0])
        fcntl.ioctl(here, GET_FLAGS, flags)
        flags[0] |= TOP_FOLDER
        fcntl.ioctl(here, SET_FLAGS, flags)
    except OSError:  # no ext4
        pass
    finally:
        os.close(here)


def ours(folder: Path) -> Relay:
    free = [f"{system}.port=0" for system in ("sidekick", "console", "judge", "agent")]
    settings = ["ipc.port={port}", f"ipc.base={folder / 'base'}", *free]
    command = [sys.executable, str(ROOT / "supervisor.py"), "--state-dir", str(folder / "state")]
    return Relay("ours", [*command, *(word for setting in settings for word in ("--set", setting))])


@contextmanager
def desk_at(folder: Path) -> Iterator[tuple[Running, BlockingDesk]]:
    base, state = folder / "base", folder / "state"
    with running(ours(folder)) as server, Desk.blocking(base, state=state, history="failed") as desk:
        desk.run("ping", timeout=PATIENCE)
        yield server, desk


@contextmanager
def polling(folder: Path) -> Iterator[Path]:
    for room in ROOMS:
        (folder / room).mkdir(parents=True)
    with subprocess.Popen([sys.executable, "-m", "bench.contenders.polling_pair", str(folder)], cwd=ROOT) as process:
        try:
            yield folder
        finally:
            process.terminate()


# -- the cases


def _round_trips(rounds: int) -> Iterator[Result]:
    with ExitStack() as stack:
        memory = stack.enter_context(place(MEMORY if os.access(MEMORY, os.W_OK) else ROOT))
        disk = stack.enter_context(place(DISK))
        _, in_memory = stack.enter_context(desk_at(memory / "ours"))
        _, on_disk = stack.enter_context(desk_at(disk / "ours"))
        pair = stack.enter_context(polling(memory / "theirs"))
        (disk / "syncs").mkdir()
        sides: list[Callable[[], float]] = [
            partial(_trip, in_memory),
            partial(_trip, on_disk),
            partial(_sync, disk / "syncs"),
            partial(_lone_trip, on_disk),
            partial(polling_pair.ask, pair),
        ]
        quick, durable, sync, lone, slow = in_turns(sides, rounds)
    trip = "a round trip, in memory"
    yield _in_ms(trip, "allowed", quick, [0.002] * len(quick), goal=1.0)
    yield _in_ms(trip, "a pair that polls", quick, slow, goal=100.0)
    yield _in_ms("a round trip, on a disk", "its own sync", durable, sync, goal=1 / 3)
    yield _in_ms("a round trip after a pause, on a disk", "its own sync", lone, sync, goal=None)


def _in_ms(case: str, peer: str, mine: Sequence[float], theirs: Sequence[float], goal: float | None) -> Result:
    pairs = [(one * 1e3, other * 1e3) for one, other in zip(mine, theirs, strict=True)]
    return Result.between(NAME, case, peer, pairs, MILLISECONDS, goal)


def _trip(desk: BlockingDesk, trips: int = TRIPS, pause: float = 0.0) -> float:
    took = []
    for _ in range(trips):
        time.sleep(pause)
        begun = time.perf_counter()
        desk.run("ping", timeout=PATIENCE)
        took.append(time.perf_counter() - begun)
    return median(took)


def _lone_trip(desk: BlockingDesk) -> float:
    return _trip(desk, LONE_TRIPS, PAUSE)


def _sync(folder: Path) -> float:
    """One file and its folder."""
    return median(queues.one_by_one(folder, [TEXT]) for _ in range(TRIPS))


def _submissions(rounds: int) -> Iterator[Result]:
    texts = [TEXT] * MANY
    peers: list[tuple[str, Callable[[Path, Sequence[str]], float], float | None]] = [
        (ONE_BY_ONE, queues.one_by_one, 10.0),
        ("huey, SQLite", queues.huey_sqlite, 1.0),
        ("litequeue", queues.litequeue, 1.0),
        ("persist-queue", queues.persist_queue_sqlite, 1.0),
        ("huey, files (never syncs)", queues.huey_files, None),
    ]
    with place(DISK) as folder, desk_at(folder / "ours") as (_, desk):
        theirs = [partial(_fresh, put, folder / f"theirs-{number}", texts) for number, (_, put, _) in enumerate(peers)]
        sides = [partial(_submitted, desk), *theirs]
        mine, *others = in_turns(sides, rounds)
    for (peer, _, goal), took in zip(peers, others, strict=True):
        if peer == ONE_BY_ONE and median(took) < MANY * SLOW_SYNC:
            goal = None  # this disk syncs so fast that there is little to be won
        yield _in_ms(f"{MANY:,} requests, durable", peer, mine, took, goal)


def _submitted(desk: BlockingDesk) -> float:
    name = os.urandom(4).hex()
    made = [Request(id=f"{name}-{number}", command="ping", params={"text": TEXT}) for number in range(MANY)]
    begun = time.perf_counter()
    tickets = desk.submit_many(made)
    took = time.perf_counter() - begun
    for ticket in tickets:  # the next round, and the others, are not to find the server at work
        ticket.wait(PATIENCE)
    return took


def _fresh(put: Callable[[Path, Sequence[str]], float], above: Path, texts: Sequence[str]) -> float:
    try:
        return put(above / os.urandom(4).hex(), texts)
    finally:
        os.sync()  # what one side has not synced is not to be synced by the next


def _large() -> Iterator[Result]:
    with place(DISK) as folder:
        base = folder / "base"
        for room in ROOMS:
            (base / room).mkdir(parents=True, mode=0o700)
        for number in range(OLD):
            _put(base, "requests", f"old-{number}", {"command": "ping", "params": {}})
            _put(base, "responses", f"old-{number}", {"status": "success", "data": {}})
        long_ago = time.time() - 86_400
        for path in (path for room in ROOMS for path in (base / room).iterdir()):
            os.utime(path, (long_ago, long_ago))
        base.chmod(0o700)
        os.sync()
        begun = time.perf_counter()
        with desk_at(folder) as (server, desk):
            case = f"{OLD:,} old requests"
            ready = time.perf_counter() - begun
            yield Result.between(NAME, f"{case}, until the first answer", "allowed", [(ready, 2.0)], SECONDS, goal=1.0)
            time.sleep(15.0)  # what is read after the start has been read
            cpu = server.cpu()
            time.sleep(20.0)
            idle = (server.cpu() - cpu) / 20.0 * 100
            yield Result.between(NAME, f"{case}, idle", "allowed", [(max(idle, 1e-3), 0.5)], PERCENT, goal=1.0)
            yield from _burst(server, desk, base)


def _burst(server: Running, desk: BlockingDesk, base: Path) -> Iterator[Result]:
    before, most = server.resident(), 0
    begun = time.perf_counter()
    for number in range(DROPPED):
        _put(base, "requests", f"burst-{number}", {"command": "ping", "params": {"text": TEXT}})
    alone = []
    while True:
        most = max(most, server.resident())
        since = time.perf_counter()
        desk.run("ping", submitter="somebody else", timeout=PATIENCE)
        alone.append(time.perf_counter() - since)
        if sum(name.startswith("burst-") for name in os.listdir(base / "responses")) == DROPPED:
            break
        if time.perf_counter() > begun + 5 * PATIENCE:
            raise Stuck("not all of the dropped requests are answered")
    took = time.perf_counter() - begun
    case = f"{DROPPED:,} dropped at once"
    yield Result.between(NAME, f"{case}, all answered", "allowed", [(took, PATIENCE)], SECONDS)
    yield Result.between(NAME, f"{case}, a lone one", "allowed", [(max(alone), 1.0)], SECONDS, goal=1.0)
    grown = float(max(most - before, 1))
    yield Result.between(NAME, f"{case}, memory", "growth allowed", [(grown, 200e6)], BYTES, goal=1.0)


def _put(base: Path, room: str, id: str, fields: dict[str, object]) -> None:  # noqa: A002
    draft = base / room / f".{id}.tmp"
    draft.write_text(json.dumps({"request_id": id, **fields}))
    draft.rename(base / room / f"{id}.json")
