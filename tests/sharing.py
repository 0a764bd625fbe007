"""How the tests are shared out among the workers of `pytest -n auto`.

A worker takes whole files, in the order in which they stand here. Many tests wait most of their time, for a server, a
browser or a deadline, so there is one worker more than there are cores. The files with the most slow tests come first,
and those without any last: a long file that began last would be waited for by everybody. Among files with equally many,
and within a file, pytest-randomly's order stands.

(xdist's own order is by the number of tests, whether they take a minute or a millisecond: `--no-loadscope-reorder`.)
"""

from collections import Counter
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    return (yield) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])
