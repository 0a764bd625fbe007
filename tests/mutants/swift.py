"""A plugin for pytest: it notes which test comes where, or asks only some tests, in an order.

With MEASURED, each test becomes a line of that file: how long it took, whether it passed, and which probes
(`probes.py`) were reached meanwhile. What a test's setup reached counts for its whole file, as a fixture may have been
made for all of it. At the end comes a line with the modules from outside of the tree. With ASKED, a file of JSON, only
the tests that it names are run, each with a limit; and those that were never measured, as their names may change from
run to run.

A failing property fails at once: nobody reads the smallest example of a mutant.
"""

import json
import os
import sys
import time
from collections.abc import Generator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from hypothesis import Phase, settings

MEASURED = "TROUPE_MUTANTS_MEASURED"
REACHED = "TROUPE_MUTANTS_REACHED"
ASKED = "TROUPE_MUTANTS_ASKED"


def foreign(root: Path) -> list[str]:
    """What this process has imported from outside of the tree."""
    found = []
    for name, module in [*sys.modules.items()]:
        match getattr(module, "__spec__", None):
            case ModuleSpec(name=own, origin=str(origin)) if own == name and Path(origin).is_file():
                if not Path(origin).is_relative_to(root):
                    found.append(name)
    return found


class Measure:
    def __init__(self, reached: Path, measured: Path) -> None:
        self._reached = reached
        self._measured = measured
        self._before: list[int] = []
        self._passed = True

    def _take(self) -> list[int]:
        """What was reached since it was last asked."""
        found = sorted(int(name) for name in os.listdir(self._reached))
        for number in found:
            (self._reached / str(number)).unlink(missing_ok=True)
        return found

    def _note(self, **line: object) -> None:
        with self._measured.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def pytest_collection_finish(self) -> None:
        self._note(imported=self._take())

    def pytest_sessionfinish(self) -> None:
        self._note(foreign=foreign(Path.cwd()))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        try:
            return (yield)
        finally:
            self._before = self._take()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._before, self._passed = [], True
        began = time.monotonic()
        try:
            return (yield)
        finally:
            self._note(
                test=item.nodeid,
                slow=item.get_closest_marker("slow") is not None,
                seconds=round(time.monotonic() - began, 3),
                passed=self._passed,
                before=self._before,
                reached=self._take(),
            )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._passed = self._passed and report.passed


class Ask:
    def __init__(self, asked: Path) -> None:
        told = json.loads(asked.read_text())
        self._limits: dict[str, float] = told["limits"]  # in the order in which they are to run
        self._known = frozenset(told["known"])

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        order = {test: number for number, test in enumerate(self._limits)}
        asked = [item for item in items if item.nodeid in order or item.nodeid not in self._known]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(asked)])
        for item in asked:
            if item.nodeid in self._limits:
                item.add_marker(pytest.mark.timeout(self._limits[item.nodeid]), append=False)
        items[:] = sorted(asked, key=lambda item: order.get(item.nodeid, len(order)))


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    settings.register_profile("mutants", deadline=None, database=None, phases=(Phase.explicit, Phase.generate))
    settings.load_profile("mutants")
    if (measured := os.environ.get(MEASURED)) is not None:
        config.pluginmanager.register(Measure(Path(os.environ[REACHED]), Path(measured)))
    if (asked := os.environ.get(ASKED)) is not None:
        config.pluginmanager.register(Ask(Path(asked)))
