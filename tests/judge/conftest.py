"""Tests that use the kit run in virtual time: every delay is exact, and a deadlock is a failure and no wait."""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.kernel.testing import run_in_virtual_time
from actors.store import StateDirectory
from tests.house.running import server
from tests.judge.kit import judging
from tests.judge.port import Port


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


@pytest.fixture(scope="package")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Port]:
    """One server for all tests that do not end it; each has its own task."""
    folder = tmp_path_factory.mktemp("judge")
    pypys = f'judge.pypy_command=["pypy3", "no-such-pypy3", "/bin/false", "{sys.executable}"]'
    settings = (f"judge.workspace={folder}/workspace", "judge.jobs=2", pypys)
    with server(folder, *(word for setting in settings for word in ("--set", setting))) as house:
        yield Port(house.ready(), folder / "workspace")
        assert house.stop() == 0, house.said
