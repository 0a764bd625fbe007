import os
import sqlite3
import threading
from pathlib import Path

import pytest

from actors.store.backup import copy_database
from actors.store.database import Database
from actors.store.directory import StateDirectory
from actors.store.operations import Append, PutBlob, Read
from actors.store.reader import Reader


def restored(copy: Path, place: Path) -> list[tuple[int, bytes]]:
    """The log "a" of a state directory that has the copy for its database."""
    place.mkdir()
    copy.rename(place / "troupe.db")
    with StateDirectory.claim(place) as directory:
        Database(directory.database).close()
        reader = Reader(directory.database)
        (events,) = reader.execute([Read("a", 0, 10_000)])
        reader.close()
    assert isinstance(events, list)
    return events


@pytest.mark.parametrize("name", ["copy.db", os.fsdecode(b"not \xff UTF-8.db")])
def test_a_backup_is_all_that_was_committed_in_one_file(database: Database, tmp_path: Path, name: str) -> None:
    database.execute([Append("a", [b"1", b"2"])])
    target = tmp_path / name
    copy_database(database.path, target)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [name]
    assert restored(target, tmp_path / "restored") == [(1, b"1"), (2, b"2")]


@pytest.mark.slow
def test_a_backup_made_while_writing_restores_to_a_prefix(database: Database, tmp_path: Path) -> None:
    database.execute([Append("a", [b"%d" % number for number in range(1, 501)]), PutBlob(b"x" * 3_000_000)])
    copies = [tmp_path / f"copy{number}.db" for number in range(5)]

    def back_up() -> None:
        for copy in copies:
            copy_database(database.path, copy)

    thread = threading.Thread(target=back_up)
    thread.start()
    last = 500
    while thread.is_alive() or last == 500:
        last += 1
        database.execute([Append("a", [b"%d" % last])])
    thread.join()
    for number, copy in enumerate(copies):
        events = restored(copy, tmp_path / f"restored{number}")
        assert 500 <= len(events) <= last
        assert events == [(number, b"%d" % number) for number in range(1, len(events) + 1)]


def test_a_backup_needs_no_running_server(directory: StateDirectory, tmp_path: Path) -> None:
    database = Database(directory.database)
    database.execute([Append("a", [b"1"])])
    database.close()
    copy_database(directory.database, tmp_path / "copy.db")
    assert restored(tmp_path / "copy.db", tmp_path / "restored") == [(1, b"1")]


@pytest.mark.parametrize("place", ["missing/copy.db", "troupe.lock/copy.db", "troupe.db"])
def test_a_backup_that_cannot_be_written_says_so(database: Database, place: str) -> None:
    with pytest.raises(sqlite3.Error):
        copy_database(database.path, database.path.parent / place)


def test_a_damaged_database_gives_no_backup(directory: StateDirectory, tmp_path: Path) -> None:
    database = Database(directory.database)
    database.execute([Append("a", [b"x" * 1000] * 100)])
    database.close()
    with open(directory.database, "r+b") as file:
        file.seek(4096 * 5)
        file.write(os.urandom(4096 * 10))
    with pytest.raises(sqlite3.DatabaseError, match="malformed"):
        copy_database(directory.database, tmp_path / "copy.db")


def test_a_copy_is_a_plain_sound_database(database: Database, tmp_path: Path) -> None:
    database.execute([Append("a", [b"1"])])
    copy_database(database.path, tmp_path / "copy.db")
    connection = sqlite3.connect(tmp_path / "copy.db")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    connection.close()
