"""Tests that never end, planted: each fails by itself, says what it was at, and does no harm to those after it.

They run in a pytest of their own, in one worker of xdist, with limits of seconds."""

import json
from pathlib import Path

import pytest

from tests.planted import run_pytest

ROOT = Path(__file__).parent.parent
DEADLINE = 150.0

CONFTEST = """
import json
from pathlib import Path

pytest_plugins = ["tests.conftest"]

def pytest_configure():
    from tests import limit
    limit.GRACE, limit.LAST = 0.3, 4.0

def pytest_runtest_logreport(report):
    told = [report.nodeid.split("::")[-1], report.when, report.outcome, str(report.longrepr), dict(report.sections)]
    with Path(__file__).with_name("reports").open("a") as file:
        file.write(json.dumps(told) + "\\n")
"""

PYPROJECT = """
[tool.pytest.ini_options]
trio_mode = true
timeout = 1
filterwarnings = ["error"]
"""

TASKS = """
import threading, time
import pytest, trio
from hypothesis import given, strategies as st

shared = []

@pytest.fixture(scope="module", autouse=True)
def module():
    shared.append("begun")

async def test_two_tasks_wait_for_each_other(nursery):
    async def wait(theirs, ours):
        await theirs.wait()
        ours.set()
    one, two = trio.Event(), trio.Event()
    nursery.start_soon(wait, one, two, name="Romeo")
    nursery.start_soon(wait, two, one, name="Julia")
    try:
        await one.wait()
    finally:
        shared.append("tidied up")

def test_a_run_of_its_own():
    trio.run(trio.sleep_forever)

def test_a_mutex():
    mutex = threading.Lock()
    with mutex, mutex:
        pass

def test_an_instruction_of_no_line():
    def busy():
        while True:
            pass
    code = busy.__code__
    of_no_line = bytes([0b1_1111_000]) * (len(code.co_code) // 2)  # as CPython marks some of its own
    busy.__code__ = code.replace(co_linetable=of_no_line)
    busy()

async def test_a_shield():
    with trio.CancelScope(shield=True):
        await trio.sleep_forever()

async def test_a_task_that_lets_no_other_run():
    while True:
        pass

async def test_tasks_that_are_never_done():
    while True: await trio.lowlevel.checkpoint()

async def test_one_that_swallows():
    while True:
        try:
            await trio.sleep_forever()
        except Exception:
            pass

@given(st.integers())
def test_an_example(n):
    time.sleep(600)

@given(st.integers())
async def test_an_example_in_a_run(n):
    await trio.sleep_forever()

@pytest.fixture
def never_made():
    time.sleep(600)

def test_a_fixture_that_is_never_made(never_made):
    pass

@pytest.fixture
def never_gone():
    yield
    time.sleep(600)

def test_a_fixture_that_is_never_gone(never_gone):
    pass

@pytest.fixture
async def never_gone_from_a_run():
    yield
    await trio.sleep_forever()

async def test_a_fixture_that_is_never_gone_from_a_run(never_gone_from_a_run):
    pass

@pytest.mark.timeout(3)
def test_a_failure_whose_fixture_is_never_gone(never_gone):
    assert not "this"

@pytest.mark.timeout(60)
async def test_what_takes_longer_and_may():
    await trio.sleep(1.2)

@pytest.mark.timeout(60)
async def test_the_worker_is_as_it_was():
    await trio.sleep(0.1)
    assert shared == ["begun", "tidied up"]
"""

PAGES = """
import pytest

@pytest.mark.timeout(60)
def test_a_browser_starts(chromium):
    chromium.new_context().new_page()

def test_a_page_that_promises(chromium):
    page = chromium.contexts[0].pages[0]
    page.evaluate("() => new Promise(() => 0)")

@pytest.mark.timeout(60)
def test_the_browser_is_as_it_was(chromium):
    page = chromium.contexts[0].pages[0]
    assert page.evaluate("1 + 1") == 2
    page.goto("data:text/html,well")
    assert page.inner_text("body") == "well"
"""

BEYOND = """
import itertools

def test_what_python_cannot_reach():
    sum(itertools.repeat(0))

def test_others_of_its_file_are_run_by_another_worker():
    pass
"""

ENDLESS = {  # by name: the phase that fails, and what stands in the stacks
    "test_two_tasks_wait_for_each_other": ("call", "task Romeo"),
    "test_a_run_of_its_own": ("call", "trio.run(trio.sleep_forever)"),
    "test_a_mutex": ("call", "with mutex, mutex:"),
    "test_an_instruction_of_no_line": ("call", "in busy"),
    "test_a_shield": ("call", "await trio.sleep_forever()"),
    "test_a_task_that_lets_no_other_run": ("call", "while True:"),
    "test_tasks_that_are_never_done": ("call", "await trio.lowlevel.checkpoint()"),
    "test_one_that_swallows": ("call", "await trio.sleep_forever()"),
    "test_an_example": ("call", "time.sleep(600)"),
    "test_an_example_in_a_run": ("call", "await trio.sleep_forever()"),
    "test_a_fixture_that_is_never_made": ("setup", "time.sleep(600)"),
    "test_a_fixture_that_is_never_gone": ("teardown", "time.sleep(600)"),
    "test_a_fixture_that_is_never_gone_from_a_run": ("call", "await trio.sleep_forever()"),
    "test_a_failure_whose_fixture_is_never_gone": ("teardown", "time.sleep(600)"),
}
WELL = ("test_what_takes_longer_and_may", "test_the_worker_is_as_it_was")

Reports = dict[tuple[str, str], tuple[str, str]]


def run(place: Path, source: str) -> tuple[Reports, str]:
    """By test and phase: the outcome, and everything that was told of it; and what the whole run printed."""
    (place / "conftest.py").write_text(CONFTEST)
    (place / "pyproject.toml").write_text(PYPROJECT)
    (place / "test_planted.py").write_text(source)
    plain = ["-p", "no:randomly", "-p", "no:cacheprovider"]
    ended = run_pytest(place, "-n", "1", *plain, "--rootdir", str(place), seconds=DEADLINE)
    reports: Reports = {}
    for line in (place / "reports").read_text().splitlines():
        name, when, outcome, longrepr, sections = json.loads(line)
        reports[name, when] = (outcome, "\n".join([longrepr, *(f"{key}\n{text}" for key, text in sections.items())]))
    return reports, ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    reports, printed = run(tmp_path_factory.mktemp("tasks"), TASKS)
    assert "INTERNALERROR" not in printed
    return reports


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize(("name", "when", "named"), [(name, *expected) for name, expected in ENDLESS.items()])
def test_what_never_ends_fails_with_its_name_and_stacks(planted: Reports, name: str, when: str, named: str) -> None:
    outcome, told = planted[name, when]
    assert outcome == "failed"
    assert f"::{name} was not over after " in told
    _, _, stacks = told.partition("everything at work")
    assert named in stacks


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_nothing_else_fails_of_it(planted: Reports) -> None:
    failed = {(name, when) for (name, when), (outcome, _) in planted.items() if outcome != "passed"}
    own = ("test_a_failure_whose_fixture_is_never_gone", "call")
    assert failed == {(name, when) for name, (when, _) in ENDLESS.items()} | {own}
    assert "was not over" not in planted[own][1]
    assert all((name, "call") in planted for name in WELL)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.timeout(180)
def test_a_page_that_never_answers_leaves_the_browser_to_the_other_tests(tmp_path: Path) -> None:
    reports, _ = run(tmp_path, PAGES)
    outcome, told = reports["test_a_page_that_promises", "call"]
    assert outcome == "failed"
    assert "page.evaluate(" in told
    failed = [key for key, (outcome, _) in reports.items() if outcome == "failed"]
    assert failed == [("test_a_page_that_promises", "call")]
    assert reports["test_the_browser_is_as_it_was", "call"][0] == "passed"


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_what_python_cannot_reach_ends_its_worker_and_the_next_takes_over(tmp_path: Path) -> None:
    reports, printed = run(tmp_path, BEYOND)
    assert "crashed while running 'test_planted.py::test_what_python_cannot_reach'" in printed
    assert "Timeout (0:00:05)!" in printed
    assert 'test_planted.py", line 5 in test_what_python_cannot_reach' in printed
    assert reports["test_others_of_its_file_are_run_by_another_worker", "call"][0] == "passed"
