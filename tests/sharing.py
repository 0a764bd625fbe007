"""How the tests are shared out among the workers of `pytest -n auto`.

A worker takes whole files, in the order in which they stand here. Many tests wait most of their time, for a server, a
browser or a deadline, so there are two workers more than cores. A long file that began last would be waited for
by everybody, so the longest come first, then those with the most slow tests, and last those without any. Among equals,
and within a file, pytest-randomly's order stands; but a test that looks at what the others of its file have seen
(marker: last) comes after them.

(xdist's own order is by the number of tests, whether they take a minute or a millisecond: `--no-loadscope-reorder`.)

A worker that crashes is followed by another one, which runs what the first has left.
"""

from collections import Counter
from collections.abc import Generator

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

LONGEST = (
    "tests/house/test_agent_page_ways.py",
    "tests/house/test_readme.py",
    "tests/web/test_judge_page.py",
    "tests/web/test_script_pyodide.py",
    "tests/mutants/test_mutants.py",
    "tests/house/test_desk_editors.py",
    "tests/test_limit.py",
    "tests/house/test_serving.py",
    "tests/web/test_agent_hands.py",
    "tests/web/test_fields.py",
    "tests/sidekick/test_restart.py",
    "tests/web/test_desk_page.py",
    "tests/house/test_agent_bad_days.py",
    "tests/web/test_console_page.py",
    "tests/web/test_board_viz.py",
    "tests/web/test_board.py",
    "tests/agent/test_session_law.py",
    "tests/web/test_script.py",
    "tests/transports/agent/test_tree.py",
    "tests/house/test_agent.py",
    "tests/house/test_agent_page.py",
    "tests/ipc/test_burst.py",
    "tests/house/test_agent_page_hands.py",
    "tests/house/test_agent_floods.py",
    "tests/ipc/test_server_law.py",
    "tests/judge/test_port.py",
    "tests/store/test_mark.py",
    "tests/judge/test_edits_in_the_browser.py",
    "tests/web/test_script_examples.py",
    "tests/house/test_pages.py",
    "tests/house/test_closing_pages.py",
    "tests/test_hearing.py",
    "tests/judge/test_in_the_browser.py",
    "tests/house/test_desk.py",
    "tests/house/test_agent_storm.py",
    "tests/program/commands/test_ipc.py",
    "tests/agent/codec/patches/test_ladder.py",
    "tests/ipc/test_storm.py",
)
"""By what they took when this was written. `--durations=0` tells what they take now."""


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    return (yield) + 2


class WholeFiles(LoadFileScheduling):
    """As xdist's own, but for two faults after a crash. It hands on all files of the worker, those it had finished,
    too: whoever got such a file waited for its end for ever. And it gives work to a worker that does not know the
    tests yet."""

    def remove_node(self, node: WorkerController) -> str | None:
        files = self.assigned_work[node]
        left = [(tests, test) for tests in files.values() for test, is_done in tests.items() if not is_done]
        crashed = None
        if left:
            tests, crashed = left[0]
            tests[crashed] = True  # it is told as failed, and not tried again
        for file in [file for file, tests in files.items() if all(tests.values())]:
            del files[file]
        super().remove_node(node)
        return crashed

    def _reschedule(self, node: WorkerController) -> None:
        if node in self.registered_collections:
            super()._reschedule(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> WholeFiles | None:
    return WholeFiles(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = Counter(_file(item) for item in items if item.get_closest_marker("slow"))
    longest = {file: place for place, file in enumerate(LONGEST)}
    drawn = {file: place for place, file in enumerate(dict.fromkeys(map(_file, items)))}

    def place(item: pytest.Item) -> tuple[int, int, int, bool]:
        file = _file(item)
        last = item.get_closest_marker("last") is not None
        return longest.get(file, len(longest)), -slow[file], drawn[file], last

    items.sort(key=place)


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]
