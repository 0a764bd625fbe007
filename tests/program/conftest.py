"""Where a command is given."""

from pathlib import Path

import pytest


@pytest.fixture
def removed_under_ones_feet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The folder one is in is there no more."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
