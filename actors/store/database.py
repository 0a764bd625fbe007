"""The writing half: turns a group of operations into one transaction.

Rules
  - When `execute` answers, the change is on the disk: each commit syncs the log (WAL, synchronous=FULL). Only a
    commit of a group that is soft throughout does not (NORMAL). Its frames are in the system's memory, which a kill
    does not touch, and the next sync takes them along, because they stand in the same log.
  - A group is first planned in memory, where faulty operations (a name, a size, an expected sequence number) are found.
    A faulty operation is answered with its error and does not affect its neighbours. The transaction itself can only
    fail because of the disk. Then it is rolled back. Unless the reason concerns all of them, each operation is tried by
    itself, so a small one may fit where a large one did not. Savepoints would give the same result, but cost two more
    statements for each good operation.
  - Writes to a database file that has been moved or removed would be lost, and SQLite does not notice (in WAL mode). So
    nothing is written until the file is back in its place. We check this only from time to time: a removal loses
    acknowledged changes anyway, and each check costs a tenth of a commit.
  - Sequence numbers are counted in memory, because this is the only writer. The counts of a failed transaction are
    forgotten.

One statement inserts many rows for this reason: sqlite3 releases the interpreter lock for each step, and a busy event
loop returns it late. Measured: `executemany` with 256 rows took 530 ms beside a busy loop; a single statement took 4
ms, and 1.1 ms beside an idle loop.

Three measures keep a lone writer as fast as the disk allows. A transaction of one statement needs no BEGIN and COMMIT.
The blocks of the log file are written in advance when the database is opened. Then a sync need not also write the
file's new size, which halves its time (60 µs a commit instead of 95 on a disk at its best, 0.7 ms instead of 1.4 at its
worst). And `rest` makes checkpoints when nobody waits, and begins the log anew after them: SQLite syncs the head of a
log before the first commit in it, for which a soft change would wait, too.
"""

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from actors.store.connection import HELD, check_ours, connect, in_words, log_of, primary_code, size, unusable
from actors.store.errors import StateUnusable, StoreError
from actors.store.mark import Marking, carried_over
from actors.store.operations import (
    MAX_BLOB,
    Append,
    Delete,
    Drop,
    DropBlob,
    Operation,
    Put,
    PutBlob,
    Together,
    Touch,
    Trim,
    check_append,
    check_bytes,
    check_name,
    check_number,
    check_pair,
    check_together,
    chosen,
    is_soft,
)
from actors.store.schema import MIGRATIONS, SEQ_BITS, migrate

LOG_BYTES = 8 << 20
"""Bytes of the log file that are written in advance, and to which it shrinks after a large transaction."""
LOG_PAGES = 4000
"""After this many pages a commit itself makes a checkpoint; `rest` usually does so long before."""
COMMITS_BETWEEN_RESTS = 1000
SECONDS_BETWEEN_RESTS = 5.0
"""A checkpoint syncs the log, so what is soft is on the disk soon, however many soft changes follow."""
LOOK_SECONDS = 0.1
"""Seconds between two checks that the file is in its place."""
ROWS = 256
"""Rows of one statement: the most within SQLite's old limit of 999 parameters."""
CONCERNS_ALL = {sqlite3.SQLITE_IOERR, *HELD}
"""Errors of a failing disk or a locked database. If each operation were tried by itself, each would wait again."""
COUNTED = 10_000
"""Streams whose last numbers are remembered."""

WRITE_ANYHOW = f"PRAGMA user_version = {len(MIGRATIONS)}"
"""Written, and synced, though it is the same."""
INSERT_STREAM = ("INSERT INTO stream (id, name) VALUES ", "(?,?)")
INSERT_EVENT = ("INSERT INTO event (id, data) VALUES ", "(?,?)")
REPLACE_PAIR = ("REPLACE INTO pair (space, key, value) VALUES ", "(?,?,?)")
FIND_STREAM = """
    SELECT id, max(trimmed, coalesce((
        SELECT max(event.id) - (stream.id << 32) FROM event
        WHERE event.id BETWEEN stream.id << 32 AND (stream.id + 1 << 32) - 1), 0))
    FROM stream WHERE name = ?
"""


class Counter:
    """A stream's id, and the sequence number of its last event."""

    __slots__ = ("id", "last")

    def __init__(self, id: int, last: int) -> None:  # noqa: A002
        self.id = id
        self.last = last


class Plan:
    """The statements of a transaction, and its answers. Rows gather until `settle` turns them into statements."""

    __slots__ = ("answers", "events", "pairs", "statements", "streams", "touched")

    def __init__(self) -> None:
        self.answers: list[object] = []
        self.statements: list[tuple[str, Sequence[object]]] = []
        self.touched: set[str] = set()  # streams whose counters run ahead of the disk until the commit
        self.streams: list[object] = []
        self.events: list[object] = []
        self.pairs: dict[tuple[str, str], bytes] = {}

    def then(self, statement: str, *values: object) -> None:
        """Adds a statement after everything that was planned before."""
        self.settle()
        self.statements.append((statement, values))

    def settle(self) -> None:
        if self.streams:
            self._insert(INSERT_STREAM, 2, self.streams)
            self.streams = []
        if self.events:
            self._insert(INSERT_EVENT, 2, self.events)
            self.events = []
        if self.pairs:
            rows = ((space, key, value) for (space, key), value in self.pairs.items())
            self._insert(REPLACE_PAIR, 3, list(chain.from_iterable(rows)))
            self.pairs = {}

    def _insert(self, form: tuple[str, str], columns: int, values: list[object]) -> None:
        for start in range(0, len(values), ROWS * columns):
            chunk = values[start : start + ROWS * columns]
            self.statements.append((_rows(form, len(chunk) // columns), chunk))


@cache
def _rows(form: tuple[str, str], count: int) -> str:
    head, row = form
    return head + ",".join([row] * count)


class Database:
    def __init__(self, path: Path) -> None:
        """Opens, creates or migrates the database. Raises a StateError with a text for the user."""
        self.path = path
        self.unrested = 0  # commits since the last rest
        self._rest_by = 0.0  # when the first of them is to be carried over, though others follow
        self._waits = True  # whether a commit syncs the log
        self._unsynced = False  # whether the last commit did not
        self._counters: dict[str, Counter | None] = {}  # None: there is no such stream
        try:
            _create_private(path)
            self._marking = Marking(path)
            self._connection = connect(path)
        except sqlite3.Error as error:
            raise unusable(path, error) from error
        except OSError as error:
            raise StateUnusable(f"The database {path} cannot be created: {error.strerror}.") from error
        try:
            self._prepare()
            self._marking.begin(self._connection, len(MIGRATIONS))
            self._file = os.stat(path)
            self._look_at = 0.0
        except sqlite3.Error as error:
            self._connection.close()
            self._marking.close()
            raise unusable(path, error) from error
        except BaseException:
            self._connection.close()
            self._marking.close()
            raise

    def _prepare(self) -> None:
        execute = self._connection.execute
        check_ours(self.path, self._connection)
        execute("PRAGMA foreign_keys = ON")
        mode = execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise StateUnusable(
                f"The database {self.path} cannot keep a write-ahead log there (journal mode {mode}). "
                "Use a state directory on a local disk."
            )
        execute("PRAGMA synchronous = FULL")
        execute("PRAGMA fullfsync = ON")  # macOS, where a plain sync does not reach the disk
        execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
        migrate(self._connection)
        self._next_id = execute("SELECT coalesce(max(id), 0) + 1 FROM stream").fetchone()[0]
        self._write_log_ahead()

    def _write_log_ahead(self) -> None:
        """Extends the log with zeros. They mean nothing to SQLite, because no frame there has a valid checksum."""
        log = log_of(self.path)
        before = size(log)
        if before >= LOG_BYTES:
            return
        try:
            with open(log, "ab") as file:
                file.write(bytes(LOG_BYTES - before))
                file.flush()
                os.fsync(file.fileno())
        except OSError:  # the disk is full: it works without this
            os.truncate(log, before)

    # -- a group of operations

    def execute(self, operations: Sequence[Operation[Any]]) -> list[object]:
        """Executes one transaction. Returns for each operation its answer, or a StoreError."""
        if time.monotonic() >= self._look_at and not self._in_place():
            return [
                StoreError(
                    f"the database {self.path} has been moved or removed: this was not kept; put it back, or start the "
                    "server again"
                )
            ] * len(operations)
        plan = Plan()
        try:
            for operation in operations:
                plan.answers.append(self._decide(plan, operation))
            plan.settle()
            self._wait_for_the_disk(not all(map(is_soft, operations)))
            self._commit(plan.statements)
        except sqlite3.Error as error:
            self._forget(plan)
            self._marking.failed()
            if len(operations) > 1 and primary_code(error) not in CONCERNS_ALL:
                return [answer for operation in operations for answer in self.execute([operation])]
            failure = in_words(error, "this was not kept")
            answers = plan.answers + [failure] * (len(operations) - len(plan.answers))
            return [answer if isinstance(answer, StoreError) else failure for answer in answers]
        if len(self._counters) > COUNTED:
            self._counters.clear()
        return plan.answers

    def _in_place(self) -> bool:
        try:
            there = os.path.samestat(os.stat(self.path), self._file)
        except OSError:
            there = False
        if there:
            self._look_at = time.monotonic() + LOOK_SECONDS
        return there

    def _wait_for_the_disk(self, wait: bool) -> None:
        if wait is not self._waits:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if wait else 'NORMAL'}")
            self._waits = wait

    def _commit(self, statements: Sequence[tuple[str, Sequence[object]]]) -> None:
        if not statements:
            if not (self._unsynced and self._waits):
                return
            statements = [(WRITE_ANYHOW, ())]
        execute = self._connection.execute
        before = self._connection.total_changes
        if len(statements) == 1:
            execute(*statements[0])
        else:
            execute("BEGIN IMMEDIATE")
            for statement in statements:
                execute(*statement)
            execute("COMMIT")
        if self._unsynced and self._waits and self._connection.total_changes == before:
            execute(WRITE_ANYHOW)  # nothing has changed, so SQLite has synced nothing either
        self._unsynced = not self._waits
        self._marking.committed(self._connection, synced=self._waits)
        if not self.unrested:
            self._rest_by = time.monotonic() + SECONDS_BETWEEN_RESTS
        self.unrested += 1

    def _forget(self, plan: Plan) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        for stream in plan.touched:
            self._counters.pop(stream, None)

    def _decide(self, plan: Plan, operation: Operation[Any]) -> object:
        try:
            return chosen(PLANS, operation)(self, plan, operation)
        except StoreError as error:
            return error

    def _append(self, plan: Plan, append: Append) -> int:
        counter = self._counter(append.stream)
        check_append(append, 0 if counter is None else counter.last)
        return self._count_up(plan, append, counter)

    def _count_up(self, plan: Plan, append: Append, counter: Counter | None) -> int:
        name = append.stream
        plan.touched.add(name)
        if counter is None:
            counter = self._counters[name] = Counter(self._next_id, 0)
            self._next_id += 1
            plan.streams += (counter.id, name)
        base = counter.id << SEQ_BITS
        for event in append.events:
            counter.last += 1
            plan.events += (base | counter.last, event)
        return counter.last

    def _trim(self, plan: Plan, trim: Trim) -> None:
        counter = self._counter(trim.stream)
        check_number("what a log is trimmed up to", trim.upto)
        if counter is not None:
            upto = min(max(trim.upto, 0), counter.last)
            base = counter.id << SEQ_BITS
            plan.then("UPDATE stream SET trimmed = max(trimmed, ?) WHERE id = ?", upto, counter.id)
            plan.then("DELETE FROM event WHERE id BETWEEN ? AND ?", base, base | upto)

    def _drop(self, plan: Plan, drop: Drop) -> None:
        counter = self._counter(drop.stream)
        if counter is not None:
            plan.touched.add(drop.stream)
            self._counters[drop.stream] = None
            base = counter.id << SEQ_BITS
            plan.then("DELETE FROM event WHERE id BETWEEN ? AND ?", base, base | counter.last)
            plan.then("DELETE FROM stream WHERE id = ?", counter.id)

    def _put(self, plan: Plan, put: Put) -> None:
        check_pair(put)
        plan.pairs[put.space, put.key] = put.value

    def _delete(self, plan: Plan, delete: Delete) -> None:
        check_pair(delete)
        plan.then("DELETE FROM pair WHERE space = ? AND key = ?", delete.space, delete.key)

    def _together(self, plan: Plan, together: Together) -> int | None:
        check_together(together, self._last)
        last = None
        for change in together.changes:  # nothing of it can fail any more, so nothing is planned by half
            match change:
                case Append():
                    last = self._count_up(plan, change, self._counter(change.stream))
                case Put():
                    self._put(plan, change)
                case Delete():
                    self._delete(plan, change)
        return last

    def _put_blob(self, plan: Plan, put: PutBlob) -> str:
        check_bytes("a blob", put.data, MAX_BLOB)
        digest = hashlib.sha256(put.data).hexdigest()
        plan.then("INSERT OR IGNORE INTO blob (digest, data) VALUES (?, ?)", digest, put.data)
        return digest

    def _drop_blob(self, plan: Plan, drop: DropBlob) -> None:
        check_name("a digest", drop.digest)
        plan.then("DELETE FROM blob WHERE digest = ?", drop.digest)

    def _touch(self, plan: Plan, touch: Touch) -> None:
        plan.then(WRITE_ANYHOW)

    def _counter(self, stream: str) -> Counter | None:
        try:
            return self._counters[stream]
        except (KeyError, TypeError):  # not counted yet, or no name at all
            check_name("a stream's name", stream)
            row = self._connection.execute(FIND_STREAM, (stream,)).fetchone()
            counter = self._counters[stream] = None if row is None else Counter(*row)
            return counter

    def _last(self, stream: str) -> int:
        counter = self._counter(stream)
        return 0 if counter is None else counter.last

    # -- housekeeping

    def rest(self, *, idle: bool) -> bool:
        """Called between two groups: makes a checkpoint if nobody waits or it is time. False: nothing is left to do."""
        is_time = idle or self.unrested >= COMMITS_BETWEEN_RESTS or time.monotonic() >= self._rest_by
        if self.unrested and is_time:
            self.unrested = 0
            with suppress(sqlite3.Error):  # a full disk: the log still has it all, and the next rest tries again
                if carried_over(self._connection)[1] and idle:
                    self._begin_log_anew()
        return self.unrested > 0

    def _begin_log_anew(self) -> None:
        """Nobody waits for this commit, which keeps nothing. The next one would have to sync the log's head."""
        self._wait_for_the_disk(False)
        try:
            self._connection.execute(WRITE_ANYHOW)
        except sqlite3.Error:
            self._marking.failed()
            raise
        self._marking.committed(self._connection, synced=False)

    def close(self) -> None:
        """Carries the log over into the database and removes it."""
        self._marking.end(self._connection)
        self._connection.close()
        self._marking.close()


PLANS: dict[type[Operation[Any]], Callable[[Database, Plan, Any], object]] = {
    Append: Database._append,
    Trim: Database._trim,
    Drop: Database._drop,
    Put: Database._put,
    Delete: Database._delete,
    Together: Database._together,
    PutBlob: Database._put_blob,
    DropBlob: Database._drop_blob,
    Touch: Database._touch,
}


def _create_private(path: Path) -> None:
    """Creates a file that only its owner can read; SQLite gives the log the same mode.

    An existing file is not opened here, because closing another descriptor of a file that SQLite has open would drop
    its locks.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return
