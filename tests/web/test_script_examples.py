"""The examples, unchanged, in the browser's Python: with the script page of a real server, a real Pyodide, and the
released client in it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.house.running import ROOT
from tests.web.playground_stage import ScriptPage, playground
from tests.web.pyodide_stage import LONG, pyodide_in
from tests.web.stage import write

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EXAMPLES = ROOT / "examples" / "sidekick"
Open = Callable[..., ScriptPage]


@pytest.fixture(scope="module")
def visit(chromium: Browser, larder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    options = [f"--set=sidekick.pyodide={pyodide_in(larder)}", f"--set=sidekick.scripts={EXAMPLES}"]
    with playground(chromium, tmp_path_factory.mktemp("examples"), *options) as open_page:
        yield open_page


def play_lights_out(page: Page) -> None:
    label = page.locator("board-label")
    expect(label).to_contain_text("0 moves")
    page.get_by_role("grid").focus()
    page.keyboard.press("Enter")
    expect(label).to_contain_text("1 move,")


def read_the_plot(page: Page) -> None:
    page.locator("board-canvas .frame").focus()
    page.keyboard.press("Enter")
    expect(page.locator("board-label")).to_contain_text("π: a swing that dies away ")


def look_at_the_sorting(page: Page) -> None:
    expect(page.locator("board-label")).to_contain_text("Sorted with", timeout=LONG)
    values = page.locator("board-viz li li .value").all_inner_texts()
    assert len(values) == 10
    assert values == sorted(values)


def talk(page: Page) -> None:
    line = page.get_by_role("textbox", name="Console input")
    write(line, "6 * 7")
    line.press("Enter")
    expect(page.locator("board-console")).to_contain_text("6 * 7 = 42")


PLAYED = {"chat": talk, "lights_out": play_lights_out, "plot": read_the_plot, "sorting": look_at_the_sorting}


@pytest.mark.drawn(1)
@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_an_example_runs_beside_its_board(visit: Open, name: str) -> None:
    at = visit(f"script/{name}")
    at.comes_to("Ready", LONG)
    at.run_button.click()
    at.comes_to("Ended; the board still answers", LONG)
    PLAYED[name](at.page)
    expect(at.output).to_have_text("", use_inner_text=True)
    at.stop_button.click()
    at.comes_to("Stopped")
