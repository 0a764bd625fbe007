"""All kernel tests run in virtual time: nothing sleeps, every delay is exact, and a deadlock is a failure, not a wait."""

import inspect
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest
import trio
import trio.testing

T = TypeVar("T")

HERE = Path(__file__).parent


def run_in_virtual_time(test: Callable[[], Awaitable[T]], **options: object) -> T:
    async def within_a_day() -> T:
        with trio.fail_after(24 * 3600):
            return await test()

    options["clock"] = trio.testing.MockClock(autojump_threshold=0)
    return trio.run(within_a_day, **options)  # type: ignore[arg-type]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and item.path.is_relative_to(HERE):
            if inspect.iscoroutinefunction(item.function):
                item.add_marker(pytest.mark.trio(run=run_in_virtual_time), append=False)
