"""What fails in the middle of a group leaves nothing of it, and the next group is written as if nothing had been."""

import sqlite3
from typing import Any

import pytest

from actors.store.database import Database
from actors.store.errors import StoreError
from actors.store.operations import Append, Drop, Get, Put, Read
from actors.store.reader import Reader


class Failing:
    """A connection whose nth statement of a group fails, once."""

    def __init__(self, connection: sqlite3.Connection, at: int) -> None:
        self._connection = connection
        self._left = at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, *given: Any) -> Any:
        if sql.lstrip()[:6].upper() in ("INSERT", "UPDATE", "COMMIT", "REPLAC"):
            self._left -= 1
            if self._left == 0:
                raise sqlite3.OperationalError("disk I/O error")
        return self._connection.execute(sql, *given)


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_group_that_fails_in_the_middle_is_rolled_back(database: Database, reader: Reader, at: int) -> None:
    real = database._connection
    database._connection = Failing(real, at)  # type: ignore[assignment]
    first = database.execute([Put("s", "k", b"1"), Append("a", [b"1"]), Put("s", "l", b"1")])
    assert not real.in_transaction
    database._connection = real
    assert database.execute([Append("a", [b"2"]), Put("s", "m", b"2")])[1] is None
    failed = [isinstance(answer, StoreError) for answer in first]
    kept = [reader.execute([Get("s", key)])[0] for key in "klm"]
    assert kept == [None if failed[0] else b"1", None if failed[2] else b"1", b"2"]
    (events,) = reader.execute([Read("a")])
    assert events == ([(1, b"2")] if failed[1] else [(1, b"1"), (2, b"2")])


def test_a_log_that_could_not_be_dropped_goes_on_counting(database: Database, reader: Reader) -> None:
    real = database._connection
    assert database.execute([Append("a", [b"1"])]) == [1]
    database._connection = Failing(real, 1)  # type: ignore[assignment]
    (dropped,) = database.execute([Drop("a")])
    database._connection = real
    assert isinstance(dropped, StoreError)
    assert database.execute([Append("a", [b"2"])]) == [2]
    assert reader.execute([Read("a")]) == [[(1, b"1"), (2, b"2")]]
