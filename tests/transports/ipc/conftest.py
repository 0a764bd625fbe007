from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.transports.ipc.places import Clock
from transports.ipc import site
from transports.ipc.base import FolderBase


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "base"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["on a disk", "on a local disk", "in memory"])
def base(
    request: pytest.FixtureRequest, path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FolderBase]:
    """In memory, what is short is done in the loop; on a local disk, looks are, at what the system has in memory."""
    monkeypatch.setattr(site, "lies_in_memory", lambda device: request.param == "in memory")
    monkeypatch.setattr(site, "is_local", lambda device: request.param == "on a local disk")
    opened = FolderBase(path, now=clock)
    yield opened
    opened.close()
