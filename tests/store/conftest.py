from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.store.database import Database
from actors.store.directory import StateDirectory
from actors.store.reader import Reader


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[StateDirectory]:
    with StateDirectory.claim(tmp_path / "state") as directory:
        yield directory


@pytest.fixture
def database(directory: StateDirectory) -> Iterator[Database]:
    database = Database(directory.database)
    yield database
    database.close()


@pytest.fixture
def reader(database: Database) -> Iterator[Reader]:
    reader = Reader(database.path)
    yield reader
    reader.close()
