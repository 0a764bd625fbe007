"""All kernel tests run in virtual time: nothing sleeps, every delay is exact, a deadlock is a failure, no wait."""

import inspect
from pathlib import Path

import pytest

from actors.kernel.testing import run_in_virtual_time

HERE = Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and item.path.is_relative_to(HERE)
            and inspect.iscoroutinefunction(item.function)
        ):
            item.add_marker(pytest.mark.trio(run=run_in_virtual_time), append=False)
