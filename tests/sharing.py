"""How the tests are shared out among the workers of `pytest -n auto`.

A worker takes whole files, in the order in which they stand here. Many tests wait most of their time, for a server, a
browser or a deadline, so there is one worker more than there are cores. A long file that began last would be waited for
by everybody, so the longest come first, then those with the most slow tests, and last those without any. Among equals,
and within a file, pytest-randomly's order stands.

(xdist's own order is by the number of tests, whether they take a minute or a millisecond: `--no-loadscope-reorder`.)
"""

from collections import Counter
from collections.abc import Generator

import pytest

LONGEST = (
    "tests/web/test_judge_page.py",
    "tests/web/test_fields.py",
    "tests/house/test_readme.py",
    "tests/web/test_script_pyodide.py",
    "tests/sidekick/test_restart.py",
    "tests/house/test_serving.py",
    "tests/web/test_console_page.py",
    "tests/test_limit.py",
    "tests/ipc/test_server_law.py",
    "tests/web/test_board.py",
    "tests/web/test_script_examples.py",
    "tests/mutants/test_mutants.py",
    "tests/ipc/test_storm.py",
    "tests/store/test_soft.py",
)
"""By what they took when this was written. `--durations=0` tells what they take now."""


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    return (yield) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = Counter(_file(item) for item in items if item.get_closest_marker("slow"))
    longest = {file: place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: (longest.get(_file(item), len(longest)), -slow[_file(item)]))


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]
