"""Tests that use the kit run in virtual time: every delay is exact, and a deadlock is a failure and no wait."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.kernel.testing import run_in_virtual_time
from actors.store import StateDirectory
from tests.judge.kit import judging


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and getattr(item.module, "judging", None) is judging
            and inspect.iscoroutinefunction(item.function)
        ):
            item.add_marker(pytest.mark.trio(run=run_in_virtual_time), append=False)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[StateDirectory]:
    with StateDirectory.claim(tmp_path / "state") as directory:
        yield directory
