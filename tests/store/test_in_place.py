"""Whether the database is still where it was is looked at now and then; that it is not is never taken for a look."""

import time
from math import ceil
from pathlib import Path

import pytest

from actors.store.database import LOOK_SECONDS, Database
from actors.store.errors import StoreError
from actors.store.operations import Put

PUT = Put("s", "k", b"v")


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = float(ceil(time.monotonic()) + 1024)
        monkeypatch.setattr("actors.store.database.time.monotonic", lambda: self.now)


def is_kept(database: Database) -> bool:
    (answer,) = database.execute([PUT])
    return not isinstance(answer, StoreError)


def test_a_database_that_was_moved_is_missed_each_time_until_it_is_back(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    assert is_kept(database)
    database.path.rename(tmp_path / "moved")
    clock.now += LOOK_SECONDS
    for _ in range(3):  # at the same moment: that it is not there is not remembered as a look
        assert not is_kept(database)
    (tmp_path / "moved").rename(database.path)
    assert is_kept(database)


def test_a_busy_store_looks_for_its_file_so_often_and_no_oftener(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, looks = Clock(monkeypatch), list[float]()
    in_place = database._in_place

    def looked() -> bool:
        looks.append(clock.now)
        return in_place()

    monkeypatch.setattr(database, "_in_place", looked)
    monkeypatch.setattr("actors.store.database.LOOK_SECONDS", 0.25)
    for _ in range(9):
        assert is_kept(database)
        clock.now += 0.125
    assert len(looks) == 5
