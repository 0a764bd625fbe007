"""A commit whose sync failed is whole in the log, and SQLite writes over it: the mark is not misled by what is left of
it."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from actors.store.connection import log_of
from actors.store.database import Database
from actors.store.errors import StoreError
from actors.store.mark import LOG_HEAD, read_mark
from actors.store.operations import Append, PutBlob
from tests.store.test_mark import FRAME, NAME, events, killed, told, without_its_last_frame


def frames_of_a_commit(state: Path, pages: int) -> tuple[int, bytes]:
    """What a commit of some pages would add to the log of this database, and where."""
    log, mark = log_of(state / NAME), read_mark(state / NAME)
    assert mark is not None
    end = LOG_HEAD + mark.frames * FRAME
    with closing(sqlite3.connect(state / NAME, isolation_level=None)) as twin:
        twin.execute("PRAGMA wal_autocheckpoint = 0")
        twin.execute("CREATE TABLE twin AS SELECT zeroblob(?) AS filling", (4096 * pages,))
        content = log.read_bytes()
    assert content[16:24] == mark.salts
    return end, content[end:]


@pytest.mark.slow
@pytest.mark.parametrize("failed", [2, 12, 50])
@pytest.mark.parametrize("then", [100, 5_000, 10_000, 15_000, 20_000, 25_000, 30_000, 150_000])
def test_whatever_is_committed_over_it_a_kill_is_told_of_only_if_something_is_missing(
    tmp_path: Path, failed: int, then: int
) -> None:
    database = Database(tmp_path / NAME)
    database.execute([Append("a", [b"1"])])
    at, frames = frames_of_a_commit(killed(database, tmp_path / "twin"), failed)
    assert len(frames) >= failed * FRAME

    def written_and_not_synced(_: object) -> None:
        with open(log_of(database.path), "r+b") as file:
            file.seek(at)
            file.write(frames)
        raise sqlite3.OperationalError("disk I/O error")

    with patch.object(database, "_commit", written_and_not_synced):
        (answer,) = database.execute([Append("a", [b"not kept"])])
    assert isinstance(answer, StoreError)
    assert told(killed(database, tmp_path / "failed")) is None
    for number in range(2):
        database.execute([Append("a", [b"2"]), PutBlob(os.urandom(then))])
        assert told(killed(database, tmp_path / f"killed-{number}")) is None
        assert events(tmp_path / f"killed-{number}") == 2 + number
    state = killed(database, tmp_path / "cut")
    without_its_last_frame(log_of(state / NAME), b"")
    assert told(state) is not None
    database.close()


@pytest.mark.parametrize("pages", [1, 3, 12, 50])
def test_what_another_program_wrote_that_was_killed_before_its_commit_is_not_taken_for_one(
    tmp_path: Path, pages: int
) -> None:
    database = Database(tmp_path / NAME)
    database.execute([Append("a", [b"1"])])
    at, frames = frames_of_a_commit(killed(database, tmp_path / "twin"), pages)
    whole = next(n for n in range(0, len(frames), FRAME) if frames[n + 4 : n + 8] != bytes(4))
    assert whole > 0
    with open(log_of(database.path), "r+b") as file:
        file.seek(at)
        file.write(frames[:whole])
    database._marking.committed(database._connection)  # after a transaction of ours that has changed nothing
    assert told(killed(database, tmp_path / "killed")) is None
    database.execute([Append("a", [b"2"])])
    assert told(killed(database, tmp_path / "later")) is None
    assert events(tmp_path / "later") == 2
    database.close()
