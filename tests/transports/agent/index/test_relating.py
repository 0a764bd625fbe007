"""Who imports whom is known after each update, and what many import stands before what nobody does."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from transports.agent.index.relating import relate, was_related
from transports.agent.index.schema import make_tables

FILES = ("app.py", "common.py", "old.py")


@pytest.fixture
def index() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        make_tables(connection)
        for number, path in enumerate(FILES, 1):
            connection.execute(
                "INSERT INTO file (id, path, size, mtime_ns, ctime_ns, inode, digest, language, kind, lines,"
                " generation) VALUES (?, ?, 0, 0, 0, 0, '', 'python', 'code', 0, 0)",
                (number, path),
            )
        yield connection


def imports(index: sqlite3.Connection, written: dict[str, str]) -> dict[str, str]:
    """How it is related when the files import so: who imports whom, and all by rank."""
    index.execute("DELETE FROM written_import")
    rows = [(FILES.index(path) + 1, target) for path, target in written.items()]
    index.executemany("INSERT INTO written_import VALUES (?, ?)", rows)
    index.execute("UPDATE meta SET value = 0 WHERE key = 'related'")
    relate(index)
    assert was_related(index)
    return {FILES[one - 1]: FILES[other - 1] for one, other in index.execute("SELECT file, resolved FROM import")}


def by_rank(index: sqlite3.Connection) -> list[str]:
    return [path for (path,) in index.execute("SELECT path FROM file ORDER BY rank DESC, path")]


def test_a_file_stands_the_higher_the_more_import_it_and_falls_when_they_do_no_more(index: sqlite3.Connection) -> None:
    assert imports(index, {}) == {}
    assert len({rank for (rank,) in index.execute("SELECT rank FROM file")}) == 1
    assert imports(index, {"app.py": "old", "common.py": "old"}) == {"app.py": "old.py", "common.py": "old.py"}
    assert by_rank(index)[0] == "old.py"
    assert imports(index, {"app.py": "common", "old.py": "common"}) == {"app.py": "common.py", "old.py": "common.py"}
    assert by_rank(index)[0] == "common.py"
    assert imports(index, {"old.py": "nothing"}) == {}
    assert len({rank for (rank,) in index.execute("SELECT rank FROM file")}) == 1


def test_a_reader_sees_by_the_generation_that_it_is_related_anew(index: sqlite3.Connection) -> None:
    before = index.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0]
    imports(index, {"app.py": "common"})
    assert index.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0] == before + 1
