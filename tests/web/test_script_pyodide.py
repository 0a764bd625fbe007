"""Scripts in a real Pyodide with the released client."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.web.playground_stage import ScriptPage, playground
from tests.web.pyodide_stage import CLIENT, LONG, pyodide_in
from tests.web.stage import write

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Open = Callable[..., ScriptPage]

A_PYTHON = pytest.mark.drawn(2, of="pages with a Python of their own")


@pytest.fixture(scope="module")
def visit(chromium: Browser, larder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    folder = tmp_path_factory.mktemp("real")
    with playground(chromium, folder, f"--set=sidekick.pyodide={pyodide_in(larder)}") as open_page:
        yield open_page


DRAWING = """
import sidekick
grid = sidekick.Grid(4, 3, on_click=lambda e: print("clicked", e.x, e.y))
grid.set_color(1, 1, "red")
sidekick.Markdown("# A heading")
sidekick.Textbox("old", placeholder="a word", on_submit=lambda e: print("word", e.value))
viz = sidekick.Viz()
viz.show("numbers", [1, float("inf")])
sidekick.Button("Fail", on_click=lambda e: 1 / 0)
print("drawn")
sidekick.run_forever()
"""


def test_the_released_client_draws_and_hears_and_its_failures_are_seen(visit: Open) -> None:
    at = visit()
    at.comes_to("Ready", LONG)
    at.run(DRAWING)
    at.comes_to("Ended; the board still answers", LONG)
    expect(at.output).to_contain_text("drawn")
    expect(at.page.get_by_role("heading", name="A heading")).to_be_visible()
    expect(at.page.locator("board-viz")).to_contain_text("Infinity")
    expect(at.page.locator("button.peers")).to_contain_text(f"Script {CLIENT}")
    at.page.get_by_role("grid").focus()
    at.page.keyboard.press("Enter")
    expect(at.output).to_contain_text("clicked 0 0")
    write(at.page.get_by_placeholder("a word"), "tree")
    at.page.get_by_placeholder("a word").press("Enter")
    expect(at.output).to_contain_text("word tree")
    at.page.get_by_role("button", name="Fail", exact=True).click()
    expect(at.output).to_contain_text("ZeroDivisionError")
    expect(at.output).not_to_contain_text("run_service_forever")


@A_PYTHON
@pytest.mark.parametrize(
    "script",
    [
        "while True: pass",
        "n = 0\nwhile True:\n    n += 1\n    print(n)",
        "import time\nwhile True: time.sleep(100)",
        "import asyncio\nawait asyncio.sleep(100)",
        "n = 0\nwhile True:\n    try:\n        while n >= 0: n += 1\n    except BaseException: pass",
    ],
    ids=["busy", "flood", "sleep", "await", "stubborn"],
)
def test_a_script_that_never_ends_is_stopped(visit: Open, script: str) -> None:
    at = visit()
    at.run(f"print('begun')\n{script}")
    at.comes_to("Running", LONG)
    if "print(n)" not in script:  # its output has scrolled away by then
        expect(at.output).to_contain_text("begun", timeout=LONG)
    at.stop_button.click()
    at.comes_to("Stopped")
    expect(at.page.get_by_role("alert")).to_have_count(0)


@A_PYTHON
def test_what_a_script_does_when_it_is_stopped_is_done(visit: Open) -> None:
    at = visit()
    # Python 3.12 does not count the jump back of a one-line `while True` to the try around it.
    at.run("n = 0\nprint('begun')\ntry:\n    while n >= 0: n += 1\nfinally:\n    print('put away')")
    expect(at.output).to_contain_text("begun", timeout=LONG)
    at.stop_button.click()
    at.comes_to("Stopped")
    expect(at.output).to_contain_text("put away")


@A_PYTHON
@pytest.mark.parametrize(
    ("script", "state", "printed"),
    [
        ("def f():\n    return 1 / 0\nf()", "Failed", 'File "script.py", line 2, in f'),
        ("input('Name? ')", "Failed", "input() cannot wait here. Ask on the board"),
        ("from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\nprint(A(1), end='')", "Ended", "A(x=1)"),
        ("import numpy", "Failed", "No module named 'numpy'"),
    ],
    ids=["raise", "input", "end", "package"],
)
def test_the_end_of_a_script_is_told_in_its_own_lines(visit: Open, script: str, state: str, printed: str) -> None:
    at = visit()
    at.run(script)
    at.comes_to(state, LONG)
    expect(at.output).to_contain_text(printed)
    expect(at.output).not_to_contain_text("_pyodide")
