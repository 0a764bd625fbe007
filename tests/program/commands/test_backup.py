import errno
import os
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from program.commands.backup import back_up
from program.trouble import Trouble
from tests.patience import PATIENCE


def copy(source: Path, target: Path) -> None:
    """As the store does it: SQLite's online backup."""
    with closing(sqlite3.connect(source)) as reading, closing(sqlite3.connect(target)) as writing:
        reading.backup(writing, pages=50)


def rows(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(database.execute("SELECT count(*) FROM log").fetchone()[0])


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "state" / "troupe.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as made:
        made.execute("PRAGMA journal_mode=WAL")
        made.execute("CREATE TABLE log (event BLOB)")
        made.executemany("INSERT INTO log VALUES (?)", [(b"x" * 100,)] * 1000)
        made.commit()
    return path


def refused(database: Path, target: Path, force: bool = False) -> str:
    with pytest.raises(Trouble) as caught:
        back_up(database, target, copy=copy, force=force)
    return str(caught.value)


def test_a_backup_is_a_whole_private_copy_and_leaves_nothing_beside_it(database: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "copy.db"
    target.parent.mkdir()
    size = back_up(database, target, copy=copy)
    assert rows(target) == 1000
    assert size == target.stat().st_size
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [each.name for each in target.parent.iterdir()] == ["copy.db"]


def test_what_it_was_made_in_may_be_left_and_the_backup_is_made_all_the_same(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object, **__: object) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(os, "rmdir", busy)
    assert back_up(database, tmp_path / "copy.db", copy=copy) == (tmp_path / "copy.db").stat().st_size
    assert rows(tmp_path / "copy.db") == 1000


def test_a_backup_beside_a_writer_is_whole(database: Path, tmp_path: Path) -> None:
    writing, enough = threading.Event(), threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(database, timeout=30)) as writer:
            while not enough.is_set():
                writer.execute("INSERT INTO log VALUES (?)", (b"y" * 100,))
                writer.commit()
                writing.set()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert writing.wait(PATIENCE)
        back_up(database, tmp_path / "copy.db", copy=copy)
    finally:
        enough.set()
        thread.join()
    assert 1000 < rows(tmp_path / "copy.db") <= rows(database)


def test_what_exists_is_not_replaced_unless_forced(database: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("precious")
    assert refused(database, target) == f"{target} exists already; name another file, or replace it with --force"
    assert target.read_text() == "precious"
    back_up(database, target, copy=copy, force=True)
    assert rows(target) == 1000


def test_what_appears_meanwhile_is_not_replaced_either(database: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"

    def somebody_is_quicker(source: Path, made: Path) -> None:
        copy(source, made)
        target.write_text("precious")

    with pytest.raises(Trouble, match="exists already"):
        back_up(database, target, copy=somebody_is_quicker)
    assert target.read_text() == "precious"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["copy.db", "state"]


def test_a_file_system_without_links_will_do(database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def linkless(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", linkless)
    back_up(database, tmp_path / "copy.db", copy=copy)
    assert rows(tmp_path / "copy.db") == 1000


@pytest.mark.parametrize("force", [False, True])
def test_the_database_itself_is_no_place_for_its_backup(database: Path, tmp_path: Path, force: bool) -> None:
    assert "is the database itself" in refused(database, database, force)
    (tmp_path / "alias").symlink_to(database)
    assert "is the database itself" in refused(database, tmp_path / "alias", force)
    assert rows(database) == 1000


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", ["troupe.db-wal", "troupe.db-shm", "troupe.db-journal", "troupe.lock", "server.json"])
def test_what_a_server_keeps_beside_its_database_is_no_place_for_a_backup(
    database: Path, tmp_path: Path, name: str, force: bool
) -> None:
    beside = database.with_name(name)
    assert "is a file of the server's own" in refused(database, beside, force)
    assert not beside.exists()
    beside.write_text("precious")
    (tmp_path / "alias").symlink_to(database.parent)
    assert "is a file of the server's own" in refused(database, tmp_path / "alias" / name, force)
    assert beside.read_text() == "precious"


def test_what_is_no_file_is_never_replaced_by_one(database: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is a device, a pipe or a socket" in refused(database, tmp_path / "pipe", force=True)
    assert (tmp_path / "pipe").is_fifo()


def test_a_place_that_cannot_be_is_a_sentence(database: Path, tmp_path: Path) -> None:
    assert "There is no database at" in refused(tmp_path / "none.db", tmp_path / "copy.db")
    assert "is a folder" in refused(database, tmp_path)
    assert "There is no folder" in refused(database, tmp_path / "none" / "copy.db")
    with pytest.raises(Trouble, match=r"The backup could not be made, and .* is as it was: File name too long"):
        back_up(database, tmp_path / ("x" * 300), copy=copy)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (sqlite3.OperationalError("database or disk is full"), "database or disk is full"),
        (sqlite3.DatabaseError("file is not a database"), "file is not a database"),
    ],
)
@pytest.mark.parametrize("before", [None, "precious"])
def test_a_backup_that_fails_leaves_everything_as_it_was(
    database: Path, tmp_path: Path, error: Exception, reason: str, before: str | None
) -> None:
    target = tmp_path / "copy.db"
    if before:
        target.write_text(before)

    def fail_half_way(_: Path, made: Path) -> None:
        made.write_bytes(b"half")
        made.with_name("copy.db-journal").write_bytes(b"half")
        raise error

    with pytest.raises(Trouble, match=reason) as caught:
        back_up(database, target, copy=fail_half_way, force=True)
    assert caught.value.code == 1
    assert (target.read_text() if target.exists() else None) == before
    assert {each.name for each in tmp_path.iterdir()} == {"state"} | ({"copy.db"} if before else set())


def test_an_interrupted_backup_leaves_nothing(database: Path, tmp_path: Path) -> None:
    def interrupted(_: Path, made: Path) -> None:
        made.write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(database, tmp_path / "copy.db", copy=interrupted)
    assert [each.name for each in tmp_path.iterdir()] == ["state"]


@pytest.mark.parametrize("force", [False, True])
def test_a_backup_is_on_the_disk_before_it_has_its_name_and_the_name_before_it_is_told(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, force: bool
) -> None:
    target, sync = tmp_path / "copy.db", os.fsync
    synced: list[tuple[bool, bool]] = []

    def look(descriptor: int) -> None:
        synced.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), target.exists()))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", look)
    back_up(database, target, copy=copy, force=force)
    assert synced == [(False, False), (True, True)]
