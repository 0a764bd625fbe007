"""The released clients, unmodified, in environments of their own, against a real server and a real browser.

They are installed from PyPI once and kept between runs.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.fetched import done, environment, fetched
from tests.house.running import Server, server
from tests.web.stage import write

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PATIENCE = 60


def python_with(larder: Path, version: str) -> str:
    """An interpreter that has this release of the client."""

    def install(folder: Path) -> None:
        pip = [sys.executable, "-m", "pip", "--python", str(environment(folder))]
        done(*pip, "install", "--quiet", "--disable-pip-version-check", f"sidekick-py=={version}", folder=folder)

    return str(fetched(larder / f"sidekick-py-{version}", install) / "env/bin/python")


@contextmanager
def script(python: str, house: Server, text: str) -> Iterator[subprocess.Popen[str]]:
    """A hero at work. It is killed in the end: 0.0.7 hangs when it exits."""
    url = house.url_of("sidekick").replace("http", "ws")
    begin = f"import time, sidekick\nsidekick.set_url({url!r})\n"
    end = "\nprint('drawn', flush=True)\ntime.sleep(120)\n"
    hero = subprocess.Popen([python, "-u", "-c", begin + text + end], stdout=subprocess.PIPE, text=True)
    try:
        yield hero
    finally:
        hero.kill()
        hero.communicate()


def said(hero: subprocess.Popen[str], line: str) -> None:
    """Wait until the script prints this line."""
    assert hero.stdout is not None
    for each in hero.stdout:
        if each.strip() == line:
            return
    pytest.fail(f"the script ended without saying {line!r}")


def board(page: Page, house: Server) -> None:
    page.set_default_timeout(PATIENCE * 1000)
    page.goto(house.url_of("sidekick"))


OLD = """
grid = sidekick.Grid(4, 3)
grid.set_color(1, 1, "red")
console = sidekick.Console()
console.print("hello from an old release")
"""

NEW = """
grid = sidekick.Grid(4, 3, on_click=lambda e: print("clicked", e.x, e.y, flush=True))
grid.set_color(1, 1, "red")
console = sidekick.Console("first line\\n", show_input=True, on_submit=lambda e: print("typed", e.value, flush=True))
canvas = sidekick.Canvas(200, 100)
canvas.draw_rect(10, 10, 50, 30, fill_color="orange")
markdown = sidekick.Markdown("# A heading\\n\\n|a|b|\\n|-|-|\\n|1|2|")
viz = sidekick.Viz()
viz.show("numbers", [3, 1, 2])
row = sidekick.Row(
    sidekick.Button("Go", on_click=lambda e: print("went", flush=True)),
    sidekick.Label("a label"),
    sidekick.Textbox(placeholder="a word", on_submit=lambda e: print("word", e.value, flush=True)),
)
column = sidekick.Column(sidekick.Label("in a column"))
"""


@pytest.mark.parametrize("version", ["0.0.2", "0.0.5"])
def test_an_old_release_draws_on_the_board(version: str, tmp_path: Path, larder: Path, chromium: Browser) -> None:
    python = python_with(larder, version)
    with server(tmp_path) as house, chromium.new_context() as context:
        house.ready()
        page = context.new_page()
        with script(python, house, OLD) as hero:
            said(hero, "drawn")
            board(page, house)
            expect(page.get_by_text("hello from an old release")).to_be_visible()
            page.reload()
            expect(page.get_by_text("hello from an old release")).to_be_visible()


def test_the_newest_release_drives_every_component_and_hears_what_is_done(
    tmp_path: Path, larder: Path, chromium: Browser
) -> None:
    python = python_with(larder, "0.0.7")
    with server(tmp_path) as house, chromium.new_context() as context:
        house.ready()
        page = context.new_page()
        with script(python, house, NEW) as hero:
            said(hero, "drawn")
            board(page, house)
            for text in ("first line", "A heading", "numbers", "a label", "in a column"):
                expect(page.get_by_text(text, exact=False).first).to_be_visible()
            page.get_by_role("button", name="Go").click()
            said(hero, "went")
            write(page.get_by_placeholder("a word"), "tree")
            page.get_by_placeholder("a word").press("Enter")
            said(hero, "word tree")
            before = page.locator("board-canvas canvas").first.screenshot()
            page.reload()
            expect(page.get_by_text("A heading").first).to_be_visible()
            expect(page.locator("board-canvas canvas").first).to_be_visible()
            assert page.locator("board-canvas canvas").first.screenshot() == before
