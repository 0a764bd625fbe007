"""The store as an actor: what it answers, when, and what becomes of it on bad days."""

import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kernel import (
    ActorDown,
    ActorRef,
    ChildSpec,
    Mailbox,
    Overflow,
    Stop,
    TooSlow,
    Why,
    run,
    supervisor_spec,
)
from actors.store import (
    Conflict,
    Inline,
    Refused,
    StateDirectory,
    Store,
    StoreClient,
    StoreError,
    StoreFull,
    Threaded,
    reader,
    store_spec,
)
from actors.store.batches import BATCH
from actors.store.database import Database
from actors.store.executors import Engine, Executor, Make
from actors.store.messages import StatisticsAsked, StoreMessage
from actors.store.operations import Get, Read, Streams
from actors.store.reader import Reader
from actors.store.store import AGAIN_SECONDS, SLOW_SECONDS
from tests.patience import PATIENCE

COMMIT = 1.0


def slow_commits(open: Callable[[], Engine], name: str, turn: Any) -> Executor:  # noqa: A002
    """In the loop, on its clock: a commit takes a second, a question none."""
    return Inline(open, name, turn, seconds=COMMIT if "writer" in name else 0.0)


@asynccontextmanager
async def living(
    directory: StateDirectory, executor: Make = Threaded, make: type[Store] = Store, capacity: int = 4096
) -> AsyncIterator[ActorRef[StoreMessage]]:
    """A store that is not restarted."""
    async with trio.open_nursery() as nursery:
        mailbox = partial(Mailbox, capacity, Overflow.WAIT)
        yield await nursery.start(run, ChildSpec("store", partial(make, directory, executor), mailbox=mailbox))
        nursery.cancel_scope.cancel()


@pytest.fixture
def small_desk(monkeypatch: pytest.MonkeyPatch) -> int:
    """How many jobs wait at a desk before it is full."""
    monkeypatch.setattr("actors.store.batches.WAITING", 10)
    return 10


def kept(directory: StateDirectory, stream: str) -> list[bytes]:
    """What is in the file, seen by another program."""
    reader = Reader(directory.database)
    (page,) = reader.execute([Read(stream, 0, 10_000)])
    reader.close()
    assert isinstance(page, list)
    return [event for _, event in page]


def log_exists(directory: StateDirectory) -> bool:
    return Path(f"{directory.database}-wal").exists()


def released(directory: StateDirectory) -> bool:
    """Nobody has the database open for writing."""
    free = directory.writing.acquire(timeout=PATIENCE)
    if free:
        directory.writing.release()
    return free


# -- what it does


@pytest.mark.parametrize("executor", [Threaded, Inline])
async def test_a_client_does_all_that_the_store_can(directory: StateDirectory, executor: Make, tmp_path: Path) -> None:
    async with living(directory, executor) as ref:
        store = StoreClient(ref)
        assert await store.append("a", [b"1", b"2"]) == 2
        assert await store.append("a", [b"3"], expected=2) == 3
        assert await store.read("a", 1) == [(2, b"2"), (3, b"3")]
        with pytest.raises(Conflict):
            await store.append("a", [b"4"], expected=2)
        await store.trim("a", 1)
        assert await store.streams() == [("a", 3)]
        await store.put("s", "k", b"v")
        assert await store.get("s", "k") == b"v"
        assert await store.keys("s", "k") == [("k", b"v")]
        await store.delete("s", "k")
        assert await store.get("s", "k") is None
        assert await store.get_blob(await store.put_blob(b"data")) == b"data"
        await store.drop("a")
        assert await store.streams() == []
        with pytest.raises(Refused):
            await store.append("", [b"1"])


async def test_a_replay_goes_through_all_pages(directory: StateDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.store.reader.PAGE_BYTES", 10)
    async with living(directory, Inline) as ref:
        store = StoreClient(ref)
        await store.append("a", [b"%d" % number for number in range(100, 130)])
        assert [event async for _, event in store.replay("a", 3)] == [b"%d" % number for number in range(103, 130)]


async def test_an_append_is_answered_after_its_commit(directory: StateDirectory, autojump_clock: MockClock) -> None:
    async with living(directory, slow_commits) as ref:
        start = trio.current_time()
        await StoreClient(ref).append("a", [b"1"])
        assert trio.current_time() == start + COMMIT
        assert kept(directory, "a") == [b"1"]


async def test_while_a_commit_is_under_way_others_gather_and_go_together(
    directory: StateDirectory, autojump_clock: MockClock
) -> None:
    async with living(directory, slow_commits) as ref:
        store = StoreClient(ref)
        start = trio.current_time()
        async with trio.open_nursery() as nursery:
            for number in range(200):
                nursery.start_soon(store.append, "a", [b"%d" % number])
        assert trio.current_time() == start + 2 * COMMIT
        writing = (await store.statistics()).writing
        assert (writing.batches, writing.jobs, writing.largest_batch, writing.last_batch) == (2, 200, 199, 199)


async def test_a_commit_takes_a_bounded_number(directory: StateDirectory, autojump_clock: MockClock) -> None:
    async with living(directory, slow_commits) as ref:
        store = StoreClient(ref)
        async with trio.open_nursery() as nursery:
            for _ in range(BATCH + 10):
                nursery.start_soon(store.append, "a", [b"x"])
        writing = (await store.statistics()).writing
        assert (writing.batches, writing.largest_batch, writing.last_batch) == (3, BATCH, 9)


@pytest.mark.parametrize("job", [("append", "a", [b"x"]), ("read", "a")], ids=["of changes", "of questions"])
async def test_a_flood_stays_in_the_mailbox_and_all_of_it_is_answered(
    directory: StateDirectory, autojump_clock: MockClock, small_desk: int, job: tuple[Any, ...]
) -> None:
    async with living(directory, partial(Inline, seconds=COMMIT), capacity=20) as ref:
        name, *words = job
        async with trio.open_nursery() as nursery:
            for _ in range(small_desk + 30):
                nursery.start_soon(getattr(StoreClient(ref), name), *words)
            await wait_all_tasks_blocked()
            box = ref.statistics().mailbox
            assert (box.queued, box.waiting) == (20, 8)  # one is under way, and one waits in the handler
        told = await StoreClient(ref).statistics()
        assert (told.writing if name == "append" else told.reading).jobs == small_desk + 30


async def test_a_question_does_not_wait_for_a_commit(directory: StateDirectory, autojump_clock: MockClock) -> None:
    async with living(directory, slow_commits) as ref, trio.open_nursery() as nursery:
        store = StoreClient(ref)
        await store.append("a", [b"1"])
        nursery.start_soon(store.append, "a", [b"2"])
        await wait_all_tasks_blocked()
        before = trio.current_time()
        assert await store.read("a") == [(1, b"1")]
        assert trio.current_time() == before


@pytest.mark.slow
async def test_every_writer_reads_what_it_was_told_is_kept(directory: StateDirectory) -> None:
    async def write_and_read(stream: str) -> None:
        for number in range(1, 30):
            await store.append(stream, [b"%d" % number])
            assert (await store.read(stream))[-1] == (number, b"%d" % number)

    async with living(directory) as ref:
        store = StoreClient(ref)
        async with trio.open_nursery() as nursery:
            for writer in range(20):
                nursery.start_soon(write_and_read, f"s{writer}")


async def test_the_statistics_tell_of_commits_and_files(directory: StateDirectory) -> None:
    async with living(directory) as ref:
        store = StoreClient(ref)
        for _ in range(3):
            await store.append("a", [b"1"])
        await store.read("a")
        seen = await store.statistics()
        assert (seen.writing.batches, seen.writing.jobs, seen.writing.waiting) == (3, 3, 0)
        assert seen.writing.last_seconds > 0
        assert seen.reading.jobs == 1
        assert seen.database_bytes > 0
        assert seen.log_bytes > 0


# -- askers that give up


async def test_an_asker_that_gives_up_while_its_job_waits_is_skipped(
    directory: StateDirectory, autojump_clock: MockClock
) -> None:
    async with living(directory, slow_commits) as ref, trio.open_nursery() as nursery:
        store = StoreClient(ref)
        nursery.start_soon(store.append, "a", [b"first"])
        await wait_all_tasks_blocked()
        with trio.move_on_after(COMMIT / 2):
            await store.append("a", [b"given up"])
        await store.append("a", [b"last"])
        assert kept(directory, "a") == [b"first", b"last"]
        assert (await store.statistics()).writing.skipped == 1


async def test_an_asker_that_gives_up_while_its_commit_is_under_way_has_written(
    directory: StateDirectory, autojump_clock: MockClock
) -> None:
    async with living(directory, slow_commits) as ref:
        store = StoreClient(ref)
        with trio.move_on_after(COMMIT / 2) as scope:
            await store.append("a", [b"given up"])
        assert scope.cancelled_caught
        assert await store.append("a", [b"next"]) == 2
        assert kept(directory, "a") == [b"given up", b"next"]


async def test_an_asker_that_gives_up_in_the_mailbox_is_never_handled(
    directory: StateDirectory, autojump_clock: MockClock, small_desk: int
) -> None:
    async with living(directory, slow_commits) as ref, trio.open_nursery() as nursery:
        store = StoreClient(ref)
        for _ in range(small_desk + 2):  # the last one waits in the handler
            nursery.start_soon(store.append, "a", [b"x"])
        await wait_all_tasks_blocked()
        with trio.move_on_after(COMMIT / 2):
            await store.append("b", [b"given up"])
        await store.append("b", [b"next"])
        assert kept(directory, "b") == [b"next"]
        assert (await store.statistics()).writing.skipped == 0


async def test_an_asker_that_gives_up_in_the_handler_is_never_taken(
    directory: StateDirectory, autojump_clock: MockClock, small_desk: int
) -> None:
    async with living(directory, slow_commits) as ref, trio.open_nursery() as nursery:
        store = StoreClient(ref)
        for _ in range(small_desk + 1):
            nursery.start_soon(store.append, "a", [b"x"])
        await wait_all_tasks_blocked()
        with trio.move_on_after(COMMIT / 2):
            await store.append("b", [b"given up"])
        await store.append("b", [b"next"])
        assert kept(directory, "b") == [b"next"]


async def test_an_answer_that_comes_too_late_is_too_slow(directory: StateDirectory, autojump_clock: MockClock) -> None:
    async with living(directory, slow_commits) as ref:
        with pytest.raises(TooSlow):
            await StoreClient(ref, seconds=COMMIT / 2).append("a", [b"1"])


# -- a full disk


async def test_a_full_disk_is_the_trouble_until_there_is_space(
    directory: StateDirectory, caplog: pytest.LogCaptureFixture, autojump_clock: MockClock
) -> None:
    opened: list[Database] = []

    def inline(open: Callable[[], Engine], name: str, turn: Any) -> Executor:  # noqa: A002
        def opening() -> Engine:
            engine = open()
            if isinstance(engine, Database):
                opened.append(engine)
            return engine

        return Inline(opening, name, turn)

    async with living(directory, inline) as ref:
        store = StoreClient(ref)
        await store.append("a", [b"1"])
        opened[0]._connection.execute("PRAGMA max_page_count = 20").fetchone()
        for _ in range(3):
            with pytest.raises(StoreFull, match="no space left"):
                await store.append("a", [b"x" * 200_000])
        trouble = ref.statistics().trouble or ""
        assert "no space left" in trouble
        assert caplog.messages == [f"store: {trouble}"]  # once in a while, not for each
        assert await store.read("a") == [(1, b"1")]
        opened[0]._connection.execute("PRAGMA max_page_count = 2000").fetchone()
        assert await store.append("a", [b"x" * 200_000]) == 2
        assert ref.statistics().trouble is None


async def test_trouble_that_has_passed_is_found_out_though_nobody_writes(
    directory: StateDirectory, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with living(directory, Inline) as ref:
        store = StoreClient(ref)
        with monkeypatch.context() as disk:
            disk.setattr(Database, "_commit", no_space_left)
            with pytest.raises(StoreFull):
                await store.put("a", "b", b"c")
            await trio.sleep(3.5 * AGAIN_SECONDS)
            assert "no space left" in (ref.statistics().trouble or "")
            attempts = (await store.statistics()).writing.jobs
        await trio.sleep(AGAIN_SECONDS)
        assert ref.statistics().trouble is None
        assert attempts == 1 + 3
        await trio.sleep(10 * AGAIN_SECONDS)
        assert (await store.statistics()).writing.jobs == attempts + 1, "then there is no more trying"


async def test_trouble_with_reading_that_has_passed_is_found_out_though_nobody_reads(
    directory: StateDirectory, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with living(directory, Inline) as ref:
        with monkeypatch.context() as disk:
            disk.setattr(reader, "ANSWERS", {Get: cannot_be_read, Streams: cannot_be_read})
            with pytest.raises(StoreError):
                await StoreClient(ref).get("a", "b")
            await trio.sleep(3.5 * AGAIN_SECONDS)
            assert "disk I/O error" in (ref.statistics().trouble or "")
        await trio.sleep(AGAIN_SECONDS)
        assert ref.statistics().trouble is None


async def test_a_disk_that_does_not_answer_is_a_trouble_for_as_long(
    directory: StateDirectory, autojump_clock: MockClock
) -> None:
    def hanging(open: Callable[[], Engine], name: str, turn: Any) -> Executor:  # noqa: A002
        return Inline(open, name, turn, seconds=3 * SLOW_SECONDS if "writer" in name else 0.0)

    async with living(directory, hanging) as ref, trio.open_nursery() as nursery:
        nursery.start_soon(StoreClient(ref, seconds=4 * SLOW_SECONDS).put, "a", "b", b"c")
        await trio.sleep(0.9 * SLOW_SECONDS)
        assert ref.statistics().trouble is None
        await trio.sleep(0.2 * SLOW_SECONDS)
        assert "has not answered for more than 10 s" in (ref.statistics().trouble or "")
        await trio.sleep(2 * SLOW_SECONDS)
        assert ref.statistics().trouble is None


def cannot_be_read(reader: Reader, question: object) -> None:
    raise sqlite3.OperationalError("disk I/O error")


def no_space_left(database: Database, statements: object) -> None:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    raise error


# -- crashes, kills and stops


class Boom(Exception):
    pass


class Fragile(Store):
    """Crashes where it is told to, once."""

    crash_in = ""

    async def started(self, kept: object | None) -> None:
        await super().started(kept)
        self._crash("started")

    async def handle(self, message: StoreMessage) -> None:
        if isinstance(message, StatisticsAsked):
            self._crash("handle")
        await super().handle(message)

    async def stopping(self, stop: Stop) -> None:
        self._crash("stopping")
        await super().stopping(stop)

    def _crash(self, where: str) -> None:
        if type(self).crash_in == where:
            type(self).crash_in = ""
            raise Boom(where)


@asynccontextmanager
async def restarting(
    directory: StateDirectory, executor: Make = Threaded, make: type[Store] = Store
) -> AsyncIterator[tuple[ActorRef[StoreMessage], StoreClient]]:
    """A store that is restarted at once."""
    spec = ChildSpec("store", partial(make, directory, executor), backoff=(0.0, 0.0, 0.0))
    async with trio.open_nursery() as nursery:
        top = await nursery.start(run, supervisor_spec("top", [spec], intensity=100))
        (ref,) = top.children()
        yield ref, StoreClient(ref)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("executor", [Threaded, Inline])
async def test_a_crash_in_handle_answers_whoever_was_taken_and_the_next_goes_on(
    directory: StateDirectory, executor: Make
) -> None:
    async with restarting(directory, executor, Fragile) as (ref, store):
        assert await store.append("a", [b"1"]) == 1
        Fragile.crash_in = "handle"
        with pytest.raises(Boom):
            await store.statistics()
        assert await store.append("a", [b"2"]) == 2
        assert await store.read("a") == [(1, b"1"), (2, b"2")]
        assert ref.statistics().restarts == 1
    assert released(directory)


async def test_what_was_taken_before_a_crash_in_handle_is_committed_and_answered(
    directory: StateDirectory, autojump_clock: MockClock
) -> None:
    async with restarting(directory, slow_commits, Fragile) as (_, store), trio.open_nursery() as nursery:
        seqs: list[int] = []

        async def append(number: int) -> None:
            seqs.append(await store.append("a", [b"%d" % number]))

        for number in range(3):
            nursery.start_soon(append, number)
        await wait_all_tasks_blocked()
        Fragile.crash_in = "handle"
        with pytest.raises(Boom):
            await store.statistics()
        await trio.sleep(3 * COMMIT)
        assert sorted(seqs) == [1, 2, 3]


@pytest.mark.parametrize("executor", [Threaded, Inline])
async def test_a_crash_in_started_leaves_the_database_to_the_next(directory: StateDirectory, executor: Make) -> None:
    async with restarting(directory, executor, Fragile) as (ref, store):
        assert await store.append("a", [b"1"]) == 1
        Fragile.crash_in = "started"
        ref.kill()
        assert await store.append("a", [b"2"]) == 2
        assert ref.statistics().restarts == 2
    assert released(directory)


@pytest.mark.parametrize("executor", [Threaded, Inline])
async def test_a_crash_in_stopping_closes_the_database_all_the_same(directory: StateDirectory, executor: Make) -> None:
    async with living(directory, executor, Fragile) as ref:
        await StoreClient(ref).append("a", [b"1"])
        Fragile.crash_in = "stopping"
        assert (await ref.stop()).why is Why.CRASHED
    assert released(directory)
    assert kept(directory, "a") == [b"1"]


async def test_a_database_that_became_damaged_is_why_it_did_not_start(directory: StateDirectory) -> None:
    directory.database.write_bytes(b"no database " * 1000)
    async with living(directory) as ref:
        stop = await ref.wait_stopped()
    assert stop.why is Why.NEVER_STARTED
    assert "is damaged (file is not a database)" in str(stop)
    assert released(directory)


async def test_an_orderly_stop_answers_all_that_was_taken_and_removes_the_log(
    directory: StateDirectory, autojump_clock: MockClock
) -> None:
    async with living(directory, slow_commits) as ref:
        store = StoreClient(ref)
        answers: list[int | None] = []

        async def append() -> None:
            try:
                answers.append(await store.append("a", [b"x"]))
            except ActorDown:
                answers.append(None)

        async with trio.open_nursery() as nursery:
            for _ in range(BATCH):
                nursery.start_soon(append)
            await wait_all_tasks_blocked()
            assert (await ref.stop()).why is Why.SHUTDOWN
        with pytest.raises(ActorDown):
            await store.append("a", [b"late"])
    assert sorted(answer for answer in answers if answer) == list(range(1, BATCH + 1))
    assert not log_exists(directory)


@pytest.mark.slow
async def test_an_orderly_stop_of_a_busy_store_keeps_what_it_acknowledged(directory: StateDirectory) -> None:
    acknowledged = 0

    async def write(store: StoreClient) -> None:
        nonlocal acknowledged
        while True:
            try:
                await store.append("a", [b"x"])
            except ActorDown:
                return
            acknowledged += 1

    async with living(directory) as ref, trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(write, StoreClient(ref))
        while acknowledged < 1000:
            await trio.lowlevel.checkpoint()
        assert (await ref.stop()).why is Why.SHUTDOWN
        assert released(directory)
    assert not log_exists(directory)
    reader = Reader(directory.database)
    assert reader.execute([Streams()]) == [[("a", acknowledged)]]
    reader.close()


class Gate:
    """Holds the writing thread in the middle of a commit."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()

    def __call__(self, open: Callable[[], Engine], name: str, turn: Any) -> Executor:  # noqa: A002
        def opening() -> Engine:
            engine = open()
            if isinstance(engine, Database):
                self._hold(engine)
            return engine

        return Threaded(opening, name, turn)

    def _hold(self, database: Database) -> None:
        execute = database._commit

        def commit(statements: Any) -> None:
            self.entered.set()
            assert self.open.wait(PATIENCE)
            execute(statements)

        database._commit = commit  # type: ignore[method-assign]


async def test_a_kill_in_mid_commit_loses_nothing_acknowledged_and_the_next_waits_for_the_thread(
    directory: StateDirectory,
) -> None:
    gate = Gate()
    gate.open.set()
    async with restarting(directory, gate) as (ref, store), trio.open_nursery() as nursery:
        assert await store.append("a", [b"acknowledged"]) == 1
        gate.open.clear()
        gate.entered.clear()
        caught: list[BaseException] = []

        async def append() -> None:
            try:
                await store.append("a", [b"under way"])
            except ActorDown as error:
                caught.append(error)

        nursery.start_soon(append)
        assert await trio.to_thread.run_sync(gate.entered.wait, 5)
        ref.kill()
        await wait_all_tasks_blocked()
        assert len(caught) == 1
        assert ref.statistics().state.value == "starting"  # the old thread has the database
        gate.open.set()
        assert await store.append("a", [b"next"]) == 3
        assert kept(directory, "a") == [b"acknowledged", b"under way", b"next"]


async def test_an_orderly_stop_waits_for_the_commit_under_way(directory: StateDirectory) -> None:
    gate = Gate()
    async with living(directory, gate) as ref, trio.open_nursery() as nursery:
        answers: list[int] = []

        async def append() -> None:
            answers.append(await StoreClient(ref).append("a", [b"1"]))

        nursery.start_soon(append)
        assert await trio.to_thread.run_sync(gate.entered.wait, 5)
        ref.begin_stop()
        await wait_all_tasks_blocked()
        assert ref.statistics().state.value == "stopping"
        gate.open.set()
        assert (await ref.wait_stopped()).why is Why.SHUTDOWN
        await wait_all_tasks_blocked()
        assert answers == [1]


async def test_a_disk_that_hangs_does_not_hold_up_the_end(directory: StateDirectory) -> None:
    gate = Gate()
    async with living(directory, gate) as ref, trio.open_nursery() as nursery:

        async def append() -> None:
            with pytest.raises(ActorDown):
                await StoreClient(ref).append("a", [b"1"])

        nursery.start_soon(append)
        assert await trio.to_thread.run_sync(gate.entered.wait, 5)
        assert (await ref.stop(grace=0.01)).why is Why.KILLED
        gate.open.set()
    assert released(directory)


@pytest.mark.parametrize("what", ["bug in the writer", "bug in the reader"])
async def test_a_bug_in_a_thread_is_a_crash_of_the_actor(
    directory: StateDirectory, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with restarting(directory) as (ref, store):
        with monkeypatch.context() as patch:
            half, job = (Database, "append") if "writer" in what else (Reader, "read")

            def fail(*_: object) -> list[object]:
                raise Boom

            patch.setattr(half, "execute", fail)
            with pytest.raises(ActorDown, match="Boom"):
                await (store.append("a", [b"1"]) if job == "append" else store.read("a"))
        assert await store.append("a", [b"1"]) == 1
        assert ref.statistics().restarts == 1


async def test_the_spec_of_the_tree_starts_a_store(directory: StateDirectory) -> None:
    async with trio.open_nursery() as nursery:
        ref = await nursery.start(run, store_spec(directory))
        assert ref.path == "store"
        assert await StoreClient(ref).append("a", [b"1"]) == 1
        nursery.cancel_scope.cancel()
    assert released(directory)


def test_a_whole_day_passes_at_once_on_a_mock_clock(directory: StateDirectory) -> None:
    async def day() -> None:
        async with living(directory, slow_commits) as ref:
            store = StoreClient(ref)
            for hour in range(1, 25):
                await trio.sleep(3600)
                assert await store.append("hours", [b"%d" % hour]) == hour
            assert [event for _, event in await store.read("hours")] == [b"%d" % hour for hour in range(1, 25)]

    trio.run(day, clock=MockClock(autojump_threshold=0))
