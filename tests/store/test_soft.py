"""Soft changes: a kill undoes none, and a power cut only those since the last change that was not soft."""

import itertools
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.store import mark as module
from actors.store.connection import log_of
from actors.store.database import Database
from actors.store.directory import StateDirectory
from actors.store.mark import LogFile, read_mark
from actors.store.operations import (
    Append,
    Delete,
    Drop,
    DropBlob,
    Keys,
    Operation,
    Put,
    PutBlob,
    Read,
    Together,
    Touch,
    Trim,
    is_soft,
)
from actors.store.reader import Reader

KEYS = st.sampled_from(["a", "b", "c"])
CHANGES = st.builds(Put, st.just("s"), KEYS, st.binary(max_size=9) | st.just(b"x" * 9000), st.booleans()) | st.builds(
    Delete, st.just("s"), KEYS, st.booleans()
)
LOGS = st.builds(Append, st.just("log"), st.just([b"v"])) | st.builds(Drop, st.just("log"), st.booleans())
GROUPS = st.lists(CHANGES | LOGS | st.lists(CHANGES, max_size=3).map(Together), min_size=1, max_size=3)
EVENTS = st.lists(GROUPS | st.sampled_from(["rest", "another start"]), min_size=1, max_size=12)
SOFT = Put("s", "a", b"soft", soft=True)
LOG = "the log"
Pairs = dict[str, bytes]
"""The pairs of the one space; and all events of the one log, if it has any."""


class Machine:
    """A database, and what a kill or a power cut would leave of it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.state = place / "state"
        self.state.mkdir(mode=0o700)
        self.database = Database(self.state / "troupe.db")
        self.pairs: Pairs = {}
        self.history: list[Pairs] = [{}]
        self.synced = 0
        """Of the history, what the disk has for certain."""
        self.copies = itertools.count()
        self.on_disk = self.copy()

    def copy(self) -> Path:
        into = self.place / f"copy-{next(self.copies)}"
        shutil.copytree(self.state, into)
        return into

    def do(self, group: Sequence[Operation[Any]]) -> None:
        assert not any(isinstance(answer, Exception) for answer in self.database.execute(group))
        for operation in group:
            for change in operation.changes if isinstance(operation, Together) else [operation]:
                match change:
                    case Put(_, key, value):
                        self.pairs = self.pairs | {key: value}
                    case Append():
                        self.pairs = self.pairs | {LOG: self.pairs.get(LOG, b"") + b"v"}
                    case Delete(_, key):
                        self.pairs = {other: value for other, value in self.pairs.items() if other != key}
                    case Drop():
                        self.pairs = {other: value for other, value in self.pairs.items() if other != LOG}
        self.history.append(self.pairs)
        statements = [op for op in group if not (isinstance(op, Together) and not op.changes)]
        if statements and not all(map(is_soft, group)):
            self.is_synced()

    def is_synced(self) -> None:
        self.synced = len(self.history) - 1
        self.on_disk = self.copy()

    def rest(self) -> None:
        self.database.rest(idle=True)
        self.is_synced()  # a checkpoint syncs the log first

    def start_again(self) -> None:
        self.database.close()
        self.is_synced()
        self.database = Database(self.state / "troupe.db")
        self.is_synced()

    def after_a_power_cut(self) -> Path:
        """The disk has what was synced, the head of a log that has begun anew, and a mark of any age."""
        left, log = self.copy(), log_of(Path("troupe.db")).name
        for name in ("troupe.db", log):
            shutil.copyfile(self.on_disk / name, left / name)
        with (left / log).open("r+b") as file:
            file.write((self.state / log).read_bytes()[:32])
        return left


def found(state: Path) -> Pairs:
    with StateDirectory.claim(state) as directory:
        database = Database(directory.database)
        reader = Reader(directory.database)
        pairs, events = reader.execute([Keys("s"), Read("log")])
        assert isinstance(pairs, list)
        assert isinstance(events, list)
        reader.close()
        database.close()
        return dict(pairs) | ({LOG: b"".join(event for _, event in events)} if events else {})


@pytest.mark.slow
@pytest.mark.timeout(180)
@settings(deadline=None, max_examples=60)
@given(EVENTS)
@example([[SOFT], "rest", [SOFT], "rest", [SOFT]])
@example([[Put("s", "a", b"v")], [Delete("s", "a", soft=True)], [Delete("s", "a")]])
def test_a_kill_undoes_nothing_and_a_power_cut_what_was_soft_since_the_last_that_was_not(
    events: list[list[Operation[Any]] | str],
) -> None:
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr("actors.store.database.LOG_BYTES", 1 << 17)
        machine = Machine(Path(place))
        for event in events:
            match event:
                case "rest":
                    machine.rest()
                case "another start":
                    machine.start_again()
                case list():
                    machine.do(event)
            assert found(machine.copy()) == machine.pairs, "a kill"
            with pytest.MonkeyPatch.context() as other:
                other.setattr(module, "_boot", lambda: b"another start...")
                assert found(machine.after_a_power_cut()) in machine.history[machine.synced :], "a power cut"
        machine.database.close()


@pytest.mark.parametrize(
    ("group", "soft"),
    [
        ([SOFT], True),
        ([SOFT, Delete("s", "b", soft=True)], True),
        ([Together([SOFT, SOFT])], True),
        ([SOFT, Drop("a", soft=True)], True),
        ([SOFT, Put("s", "b", b"v")], False),
        ([Together([SOFT, Delete("s", "b")])], False),
        ([SOFT, Append("a", [b"v"])], False),
        ([Together([SOFT, Append("a", [b"v"])])], False),
        ([SOFT, Trim("a", 1)], False),
        ([SOFT, Drop("a")], False),
        ([SOFT, PutBlob(b"v")], False),
        ([SOFT, DropBlob("d")], False),
        ([SOFT, Touch()], False),
    ],
)
def test_one_change_that_is_not_soft_makes_its_group_wait_for_the_disk(
    database: Database, group: list[Operation[Any]], soft: bool
) -> None:
    database.execute(group)
    assert database._connection.execute("PRAGMA synchronous").fetchone() == (1 if soft else 2,)
    database.execute([Touch()])
    assert database._connection.execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize("nothing", [Delete("s", "none"), Drop("none"), Trim("none", 1)])
def test_what_changes_nothing_and_is_not_soft_is_written_all_the_same_if_something_soft_was_not_synced(
    database: Database, nothing: Operation[Any]
) -> None:
    def frames() -> int:
        mark = read_mark(database.path)
        assert mark is not None
        return mark.frames

    database.execute([Put("s", "a", b"v")])
    before = frames()
    database.execute([nothing])
    assert frames() == before
    database.execute([Delete("s", "a", soft=True)])
    assert frames() == before, "the mark is never newer than what the disk has"
    database.execute([nothing])
    assert frames() > before + 1


def test_however_many_soft_changes_follow_the_first_is_soon_on_the_disk(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("actors.store.database.time.monotonic", lambda: now)
    rests = []
    for _ in range(60):
        database.execute([SOFT])
        assert database.rest(idle=False) or database.unrested == 0
        rests.append(database.unrested == 0)
        now += 0.2
    assert [place for place, rested in enumerate(rests) if rested] == [25, 51]


def salts(database: Database) -> bytes | None:
    """SQLite draws them when it begins a log, and syncs them before the first commit in it."""
    with open(log_of(database.path), "rb") as file:
        return LogFile(file.fileno()).salts


def test_a_commit_after_a_rest_finds_the_log_begun_so_nobody_waits_for_the_sync_of_its_head(tmp_path: Path) -> None:
    database = Database(tmp_path / "troupe.db")
    assert database.execute([SOFT]) == [None]
    assert not database.rest(idle=True)
    for change in (SOFT, Put("s", "a", b"hard"), SOFT):
        before = salts(database)
        assert database.execute([change]) == [None]
        assert salts(database) == before
        assert not database.rest(idle=True)
        begun = salts(database)
        mark = read_mark(database.path)
        assert begun != before
        assert mark is not None
        assert (mark.salts, mark.frames) == (begun, 0)
        assert not database.rest(idle=True)  # once
        assert salts(database) == begun
    database.close()


def test_while_somebody_reads_what_the_log_holds_it_is_not_begun_anew(tmp_path: Path) -> None:
    database = Database(tmp_path / "troupe.db")
    assert database.execute([SOFT]) == [None]
    other = sqlite3.connect(database.path)
    other.execute("BEGIN")
    assert other.execute("SELECT value FROM pair").fetchall() == [(b"soft",)]
    assert database.execute([Put("s", "b", b"hard")]) == [None]
    before = salts(database)
    assert not database.rest(idle=True)
    assert salts(database) == before
    other.close()
    assert database.execute([Put("s", "c", b"hard")]) == [None]
    assert not database.rest(idle=True)
    assert salts(database) != before
    database.close()


def test_a_disk_that_has_no_room_to_begin_the_log_costs_nothing_that_was_kept(tmp_path: Path) -> None:
    database = Database(tmp_path / "troupe.db")
    assert database.execute([SOFT]) == [None]
    database._connection.set_authorizer(  # the checkpoint passes, and the commit after it does not
        lambda what, name, *_: sqlite3.SQLITE_DENY if name == "user_version" else sqlite3.SQLITE_OK
    )
    assert not database.rest(idle=True)
    database._connection.set_authorizer(None)
    assert database.execute([Put("s", "b", b"hard")]) == [None]
    copy = tmp_path / "copy"
    shutil.copytree(tmp_path, copy, ignore=shutil.ignore_patterns("copy"))
    copy.chmod(0o700)
    assert found(copy) == {"a": b"soft", "b": b"hard"}
    database.close()
