"""A log that is missing, cut or another's is noticed at the start; and nothing is said where nothing is the matter."""

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.store import mark as module
from actors.store.backup import copy_database
from actors.store.connection import connect, log_of
from actors.store.database import Database
from actors.store.directory import StateDirectory
from actors.store.errors import DatabaseDamaged
from actors.store.mark import FRAME_HEAD, LOG_HEAD, LogFile, MarkState, mark_of, read_mark, what_is_wrong
from actors.store.operations import Append, Delete, Put, PutBlob, Read, Touch
from actors.store.reader import Reader
from tests.store.opened import files_open_in
from tests.store.test_kill import Server, check

NAME = "troupe.db"
FRAME = FRAME_HEAD + 4096


def killed(database: Database, into: Path) -> Path:
    """The files as `kill -9` would leave them now: what was written is there, synced or not."""
    into.mkdir(mode=0o700)
    for file in database.path.parent.iterdir():
        if file.name.startswith(NAME):
            shutil.copyfile(file, into / file.name)
    return into


def told(state: Path) -> str | None:
    """What the start says of it; nothing if it starts."""
    try:
        with StateDirectory.claim(state):
            return None
    except DatabaseDamaged as error:
        sentence = str(error)
        assert sentence.isprintable()
        assert sentence.endswith(".")
        return sentence


def events(state: Path) -> int:
    reader = Reader(state / NAME)
    (found,) = reader.execute([Read("a", 0, 10_000)])
    reader.close()
    assert isinstance(found, list)
    return len(found)


def other_log(tmp_path: Path) -> bytes:
    """Of another database of ours."""
    database = Database(tmp_path / "another.db")
    database.execute([Append("b", [b"of another"])])
    log = log_of(database.path).read_bytes()
    database.close()
    return log


# -- what is told


def gone(log: Path, other: bytes) -> None:
    log.unlink()


def emptied(log: Path, other: bytes) -> None:
    os.truncate(log, 0)


def zeros(log: Path, other: bytes) -> None:
    log.write_bytes(bytes(log.stat().st_size))


def cut_to_its_head(log: Path, other: bytes) -> None:
    os.truncate(log, LOG_HEAD)


def without_its_last_frame(log: Path, other: bytes) -> None:
    mark = read_mark(Path(str(log).removesuffix("-wal")))
    assert mark is not None
    os.truncate(log, LOG_HEAD + (mark.frames - 1) * FRAME)


def with_a_hole(log: Path, other: bytes) -> None:
    with open(log, "r+b") as file:
        file.seek(LOG_HEAD + FRAME + 100)
        file.write(b"\xff" * 2000)


def of_another_database(log: Path, other: bytes) -> None:
    log.write_bytes(other)


TOLD = [
    (gone, "is missing: "),
    (emptied, "is missing, for its file holds something else: "),
    (zeros, "is missing, for its file holds something else: "),
    (cut_to_its_head, "is cut short or damaged"),
    (without_its_last_frame, "is cut short or damaged"),
    (with_a_hole, "is cut short or damaged"),
    (of_another_database, "belongs to another database"),
]


@pytest.mark.parametrize(("spoil", "words"), TOLD, ids=[case[0].__name__ for case in TOLD])
def test_a_log_that_was_spoilt_after_a_kill_is_told_and_nothing_is_changed(
    tmp_path: Path, spoil: Callable[[Path, bytes], None], words: str
) -> None:
    database = Database(tmp_path / NAME)
    for number in range(20):
        database.execute([Append("a", [b"%d" % number])])
    state = killed(database, tmp_path / "killed")
    database.close()
    spoil(state / f"{NAME}-wal", other_log(tmp_path))
    before = {file.name: file.read_bytes() for file in state.iterdir()}
    sentence = told(state)
    assert sentence is not None
    assert f"The log of the database {state / NAME} {words}" in sentence
    assert {file.name: file.read_bytes() for file in state.iterdir() if file.suffix != ".lock"} == before


def test_the_way_out_that_the_sentence_names_is_one(tmp_path: Path) -> None:
    database = Database(tmp_path / NAME)
    database.execute([Append("a", [b"1"])])
    state = killed(database, tmp_path / "killed")
    database.close()
    (state / f"{NAME}-wal").unlink()
    assert f"move {NAME}-wal and {NAME}-mark away" in (told(state) or "")
    (state / f"{NAME}-mark").unlink()
    assert told(state) is None


def test_a_log_beside_a_database_that_was_closed_in_order_is_told_if_it_is_anothers(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with StateDirectory.claim(state):
        pass
    (state / f"{NAME}-wal").write_bytes(other_log(tmp_path))
    assert "belongs to another database" in (told(state) or "")


def test_an_older_copy_beside_the_log_of_the_database_that_was_killed_is_told(tmp_path: Path) -> None:
    """Whoever forgets to move the log out: SQLite would mix its pages into the copy."""
    database = Database(tmp_path / NAME)
    database.execute([Append("a", [b"1"])])
    copy_database(database.path, tmp_path / "copy")
    database.execute([Append("a", [b"2"])])
    state = killed(database, tmp_path / "killed")
    database.close()
    shutil.copyfile(tmp_path / "copy", state / NAME)
    assert "belongs to another database, that was here before" in (told(state) or "")


# -- what is not


@pytest.mark.slow
def test_nothing_is_said_after_an_orderly_stop_or_a_kill_at_any_step(tmp_path: Path) -> None:
    """Each step of a life, and the files as they are after it."""
    source, steps = tmp_path / "state", iter(range(1000))
    source.mkdir()

    def look(database: Database, least: int) -> None:
        state = killed(database, tmp_path / f"killed-{next(steps)}")
        assert told(state) is None
        assert told(state) is None
        assert events(state) >= least

    count = 0
    for life in range(3):
        database = Database(source / NAME)
        look(database, count)
        for _ in range(3):
            database.execute([Append("a", [b"x"])])
            count += 1
            look(database, count)
            database.rest(idle=True)  # so that the next commit begins the log anew
            look(database, count)
            database.execute([Delete("nothing", "at all")])
            look(database, count)
        database.execute([Append("a", [b"y" * 5000] * 50), Put("s", "k", b"v"), Touch()])
        count += 50
        look(database, count)
        database.close()
        if life != 1:
            assert told(source) is None  # else the next life follows at once
    assert told(source) is None
    assert events(source) == count


@pytest.mark.slow
@pytest.mark.parametrize("life", ["the first", "after an orderly stop", "after a kill"])
def test_nothing_is_said_after_a_kill_in_the_middle_of_opening_and_closing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, life: str
) -> None:
    """At each write to the mark, before and after it, and at each statement around it."""
    moment = 0
    while True:
        moment += 1
        source = tmp_path / f"source-{moment}"
        source.mkdir()
        if life != "the first":
            database = Database(source / NAME)
            database.execute([Append("a", [b"1"])])
            if life == "after a kill":
                source = killed(database, tmp_path / f"before-{moment}")
            database.close()
        passed = _live_up_to(moment, source, tmp_path / f"killed-{moment}", monkeypatch)
        if not passed:
            break
        assert told(tmp_path / f"killed-{moment}") is None
    assert moment > 8


def _live_up_to(moment: int, source: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Open, commit and close; the files as they are at this moment of it. False: there is no such moment."""
    count = 0

    def tick() -> None:
        nonlocal count
        count += 1
        if count == moment:
            into.mkdir(mode=0o700)
            for file in source.iterdir():
                if file.name.startswith(NAME):
                    shutil.copyfile(file, into / file.name)

    write = os.pwrite

    def pwrite(file: int, data: bytes, at: int) -> int:
        tick()
        written = write(file, data, at)
        tick()
        return written

    def watched(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.set_trace_callback(lambda statement: tick())
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(module.os, "pwrite", pwrite)  # type: ignore[attr-defined]
        patch.setattr("actors.store.database.connect", watched)
        database = Database(source / NAME)
        database.execute([Append("a", [b"2"])])
        database.rest(idle=True)
        database.execute([Append("a", [b"3"])])
        database.close()
    return count >= moment


@pytest.mark.parametrize("stopped", ["in order", "by a kill"])
@pytest.mark.parametrize("mark", ["left", "moved out, too"])
@pytest.mark.parametrize("copied", ["by the command", "as a file, after an orderly stop"])
def test_nothing_is_said_of_a_backup_that_was_put_back_as_readme_says(
    tmp_path: Path, stopped: str, mark: str, copied: str
) -> None:
    state, backup = tmp_path / "state", tmp_path / "backup"
    state.mkdir(mode=0o700)
    database = Database(state / NAME)
    database.execute([Append("a", [b"1"])])
    if copied == "by the command":
        copy_database(database.path, backup)
        database.close()
    else:
        database.close()
        shutil.copyfile(state / NAME, backup)
    database = Database(state / NAME)
    database.execute([Append("a", [b"2"])])
    if stopped == "by a kill":
        state = killed(database, tmp_path / "killed")
    database.close()
    for file in list(state.iterdir()):
        if mark != "left" or file.name != f"{NAME}-mark":
            file.unlink()
    shutil.copyfile(backup, state / NAME)
    assert told(state) is None
    assert events(state) == 1


def test_nothing_is_said_of_a_directory_that_was_moved_as_it_was_killed(tmp_path: Path) -> None:
    database = Database(tmp_path / NAME)
    database.execute([Append("a", [b"1"])])
    state = killed(database, tmp_path / "killed")
    database.close()
    shutil.copytree(state, tmp_path / "elsewhere")
    assert told(tmp_path / "elsewhere") is None
    assert events(tmp_path / "elsewhere") == 1


def test_a_database_of_a_version_without_a_mark_is_opened_with_its_log(tmp_path: Path) -> None:
    database = Database(tmp_path / NAME)
    database.execute([Append("a", [b"1"])])
    state = killed(database, tmp_path / "killed")
    database.close()
    mark_of(state / NAME).unlink()
    assert told(state) is None
    assert events(state) == 1


@given(st.binary(max_size=80) | st.integers(0, 75).map(lambda at: b"\xff" * at))
@settings(max_examples=50)
def test_a_mark_that_is_none_is_none(data: bytes) -> None:
    with _temporary() as path:
        mark_of(path).write_bytes(data)
        assert read_mark(path) is None
        assert what_is_wrong(path) is None


class _temporary:
    def __enter__(self) -> Path:
        import tempfile

        self._folder = tempfile.TemporaryDirectory()
        return Path(self._folder.name) / NAME

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


# -- power cuts, other readers, failures


def test_after_a_power_cut_a_mark_may_be_much_older_than_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(tmp_path / NAME)
    database.execute([Append("a", [b"1"])])
    old = mark_of(database.path).read_bytes()
    for number in range(30):
        database.rest(idle=True)
        database.execute([Append("a", [b"%d" % number])])
    state = killed(database, tmp_path / "killed")
    database.close()
    mark_of(state / NAME).write_bytes(old)
    assert told(state) is not None  # the machine has not been off: it is another time's
    monkeypatch.setattr(module, "_boot", lambda: b"another start...")
    assert told(state) is None
    assert events(state) == 31


def test_an_end_while_somebody_else_reads_leaves_a_log_that_is_known(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    database = Database(state / NAME)
    database.execute([Append("a", [b"1"])])
    other = sqlite3.connect(state / NAME, isolation_level=None)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM event").fetchone()  # it holds what was there then
    database.execute([Append("a", [b"2"])])
    database.close()
    mark = read_mark(state / NAME)
    assert mark is not None
    assert mark.state is MarkState.OPEN
    copy = tmp_path / "copy"
    shutil.copytree(state, copy)
    other.close()
    assert told(copy) is None
    assert events(copy) == 2


def test_an_end_after_a_commit_that_failed_says_nothing_of_a_log_that_stays(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    database = Database(state / NAME)
    for _ in range(3):
        database.execute([Append("a", [b"x"])])
        database.rest(idle=True)  # the log is begun anew each time
    pages = database._connection.execute("PRAGMA page_count").fetchone()[0]
    database._connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()
    database.execute([PutBlob(os.urandom(200_000))])
    other = sqlite3.connect(state / NAME, isolation_level=None)
    other.execute("SELECT count(*) FROM event").fetchone()
    database.close()
    assert log_of(state / NAME).exists()
    copy = tmp_path / "copy"
    shutil.copytree(state, copy)
    other.close()
    assert told(copy) is None
    assert events(copy) == 3


def state_of(database: Database) -> MarkState:
    mark = read_mark(database.path)
    assert mark is not None
    return mark.state


def test_after_a_commit_that_failed_the_mark_finds_its_place_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(tmp_path / NAME)
    database.execute([Append("a", [b"1"])])
    pages = database._connection.execute("PRAGMA page_count").fetchone()[0]
    database._connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()
    (answer,) = database.execute([PutBlob(os.urandom(200_000))])
    assert isinstance(answer, Exception)
    assert state_of(database) is MarkState.OPENING
    assert told(killed(database, tmp_path / "failed")) is None
    database._connection.execute("PRAGMA max_page_count = 100000").fetchone()
    for number in range(3):
        database.execute([Append("a", [b"%d" % number])])
        assert told(killed(database, tmp_path / f"killed-{number}")) is None
    state = killed(database, tmp_path / "cut")
    without_its_last_frame(state / f"{NAME}-wal", b"")
    assert told(state) is not None
    database.close()


@pytest.mark.parametrize("when", ["it is opened", "a change is committed", "it is closed"])
def test_a_mark_that_cannot_be_written_is_given_up_and_the_store_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, when: str
) -> None:
    def broken(file: int, data: bytes, at: int) -> int:
        raise OSError(5, "Input/output error")

    def now(step: str) -> None:
        if step == when:
            monkeypatch.setattr(module.os, "pwrite", broken)  # type: ignore[attr-defined]

    now("it is opened")
    database = Database(tmp_path / NAME)
    now("a change is committed")
    for number in range(3):
        assert database.execute([Append("a", [b"x"])]) == [number + 1]
    now("it is closed")
    database.close()
    assert caplog.messages == [
        "there is no mark of how far the log of the database has come: [Errno 5] Input/output error"
    ]
    assert not mark_of(database.path).exists()
    assert not files_open_in(tmp_path)
    monkeypatch.undo()
    assert told(tmp_path) is None


@pytest.mark.slow
def test_the_mark_says_where_the_log_stands_after_every_commit(tmp_path: Path) -> None:
    """Beside SQLite's own count."""
    dice = random.Random(9)
    database = Database(tmp_path / NAME)
    for _ in range(100):
        match dice.randrange(4):
            case 0:
                database.rest(idle=True)
            case 1:
                database.execute([PutBlob(dice.randbytes(dice.randrange(60_000)))])
            case 2:
                database.execute([Delete("s", str(dice.randrange(5)))])
            case 3:
                database.execute([Put("s", str(dice.randrange(5)), b"v"), Append("a", [b"x" * dice.randrange(9_000)])])
        mark = read_mark(database.path)
        assert mark is not None
        file = os.open(log_of(database.path), os.O_RDONLY)
        log = LogFile(file)
        assert log.reaches(mark)
        os.close(file)
        _, frames, _ = database._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        assert mark.state is MarkState.OPEN
        assert mark.frames == frames or (mark.frames, frames) == (0, 1)  # begun by a rest: only its head is synced
    database.close()


# -- the storm

TAMPERINGS = ["nothing", "gone", "cut", "another", "of an earlier kill"]


@pytest.mark.slow
def test_whatever_becomes_of_the_log_after_a_kill_it_is_told_or_nothing_acknowledged_is_missing(tmp_path: Path) -> None:
    dice = random.Random(9)
    path, spare = tmp_path / "state", tmp_path / "spare"
    path.mkdir(mode=0o700)
    acknowledged: dict[tuple[str, int], bytes] = {}
    log, other, earlier = path / f"{NAME}-wal", other_log(tmp_path), b""
    heard = dict.fromkeys(TAMPERINGS, 0)
    server = Server(path)
    try:
        for life in range(30):
            answers = server.live_and_die(str(life), dice.choice([0, 0, 1, 30, 100]), dice.uniform(0, 0.03))
            acknowledged |= {(stream, seq): payload for stream, seq, payload in answers}
            shutil.copytree(path, spare)
            tampering = TAMPERINGS[life % len(TAMPERINGS)]
            here = log.read_bytes() if log.exists() else b""
            match tampering:
                case "gone":
                    log.unlink(missing_ok=True)
                case "cut":
                    log.write_bytes(here[: dice.randrange(len(here.rstrip(b"\0")) + 1)])
                case "another":
                    log.write_bytes(other)
                case "of an earlier kill" if earlier:
                    log.write_bytes(earlier)
            earlier = here or earlier
            sentence = told(path) if (path / NAME).exists() else None
            if sentence is None:
                check(path, acknowledged)
            else:
                assert tampering != "nothing", sentence
                heard[tampering] += 1
            shutil.rmtree(path)
            spare.rename(path)
            assert told(path) is None, "nothing was done to it"
            check(path, acknowledged)
    finally:
        server.close()
    assert min(heard[each] for each in ("gone", "cut", "another")) >= 2, heard
