from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.transports.ipc.places import Clock
from transports.ipc.base import FolderBase


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "base"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def base(path: Path, clock: Clock) -> Iterator[FolderBase]:
    opened = FolderBase(path, now=clock)
    yield opened
    opened.close()
