"""Makes the pictures in README: `.venv/bin/python -m tests.pictures [FOLDER]`, by default into docs/pictures/.

Nothing in them is staged. A real server runs, a script from examples/ draws, a problem is posted the way Competitive
Companion posts it, a solution runs, and Chromium opens the pages. The script's client is installed once, from PyPI into
pytest's cache folder.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.conftest import ARGUMENTS, NAMES
from tests.eyes import open_eyes
from tests.house.running import ROOT, Server, server
from tests.judge.test_in_the_browser import ADD, EXTENSION, TASK
from tests.sidekick.test_clients import python_with
from tests.sidekick.test_examples import started

PICTURES = ROOT / "docs" / "pictures"
CACHE = ROOT / ".pytest_cache" / "d" / "fetched"
PATIENCE = 60_000
WIDTH = 1000
LARGEST = 110_000
"""Bytes of one picture, so that README opens fast over a slow connection."""

SHOP = {
    "shop/configuration.py": """import tomllib


def read_configuration(path):
    '''Read the shop's configuration; what is missing there has its default.'''
    return DEFAULTS | tomllib.loads(path.read_text())


DEFAULTS = {"currency": "EUR", "port": 8000}
""",
    "shop/main.py": """from shop.configuration import read_configuration


def main(path):
    configuration = read_configuration(path)
    serve(configuration["port"])
""",
    "tests/test_configuration.py": """from shop.configuration import read_configuration


def test_what_is_missing_has_its_default(empty_file):
    assert read_configuration(empty_file)["port"] == 8000
""",
    "shop/basket.py": """import os
import tomllib


class Basket:
    def __init__(self):
        self.prices = []

    def put(self, price):
        self.prices.append(price)

    def total(self):
        if not self.prices:
            print(f"The basket is empty.")
        return sum(self.prices)
""",
}
"""The files of a small project."""

NEARLY_RIGHT = ADD + "if a == 2:\n    print('too much')\n"


def board(page: Page, house: Server) -> None:
    page.goto(house.url_of("sidekick") + "/session/plot")
    canvas = page.locator("canvas").first
    expect(canvas).to_be_visible()
    canvas.click(position={"x": 262, "y": 120})
    expect(page.get_by_text("x = ", exact=False)).to_be_visible()


def judge(page: Page, house: Server) -> None:
    page.goto(house.url_of("judge"))
    post(house)
    expect(page).to_have_title("A. Add")
    (house.folder / "contests/abc999/abc999_a/main.py").write_text(NEARLY_RIGHT)
    page.get_by_role("button", name="Run all").click()
    expect(page.get_by_text("2/3 passed").locator("visible=true").first).to_be_visible()


def agent(page: Page, house: Server) -> None:
    """A turn of the model that is built in."""
    page.goto(f"{house.url_of('agent')}/#token={(house.state / 'agent.token').read_text().strip()}")
    page.get_by_role("button", name="Choose a folder…").click()
    page.get_by_role("textbox", name="Folder").press_sequentially(str(shop(house.folder)))
    page.keyboard.press("Enter")
    ask(page, "Where is the configuration read?")
    expect(page.locator("agent-transcript .foot")).to_contain_text("Done")
    page.locator("agent-transcript details.retrieval summary").first.click()
    page.locator("agent-transcript").evaluate("transcript => transcript.scrollTo(0, 0)")
    page.locator("agent-transcript .to-end").evaluate("button => button.hidden = true")


def change(page: Page, house: Server) -> None:
    """The same model asks twice: about a command, and then about what it would change."""
    page.goto(f"{house.url_of('agent')}/#token={(house.state / 'agent.token').read_text().strip()}")
    ask(page, "/fix @shop/basket.py")
    asked = page.locator("agent-request")
    expect(asked.first).to_contain_text("ruff check")
    asked.first.get_by_role("button", name="Approve").click()
    expect(asked).to_have_count(2)
    expect(asked.last).to_contain_text("shop/basket.py")
    expect(asked.last.get_by_role("button", name="Approve")).to_be_enabled()
    asked.last.evaluate("card => card.scrollIntoView({ block: 'end' })")
    page.locator("agent-transcript .to-end").evaluate("button => button.hidden = true")


def ask(page: Page, question: str) -> None:
    page.get_by_role("button", name="Begin a session").click()
    page.get_by_role("textbox", name="Message").press_sequentially(question)
    page.keyboard.press("Enter")


def shop(folder: Path) -> Path:
    """A small project for the agent to read."""
    made = folder / "bookshop"
    for path, text in SHOP.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_text(text)
    return made


def console(page: Page, house: Server) -> None:
    page.goto(house.url)
    expect(page.get_by_role("treegrid").get_by_text("script plot", exact=False)).to_be_visible()


def desk(page: Page, house: Server) -> None:
    prompts = [
        {"id": f"explain-{number}", "command": "submitPrompt", "params": {"prompt": f"Explain file {number}."}}
        for number in range(1, 9)
    ]
    requests = [*prompts, {"id": "translate-1", "command": "translate", "params": {"text": "Good morning"}}]
    httpx.post(house.url_of("ipc") + "/requests", json={"requests": requests}).raise_for_status()
    page.goto(house.url_of("ipc") + "/#/translate-1")
    expect(page.locator("desk-detail .attempts li").first).to_be_visible()
    expect(page.get_by_role("button", name="success 8")).to_be_visible()


SHOWN: dict[str, tuple[int, Callable[[Page, Server], None]]] = {
    "board": (520, board),
    "judge": (560, judge),
    "desk": (480, desk),
    "agent": (560, agent),
    "change": (760, change),
    "console": (500, console),
}
"""For each picture its height, and the steps that lead to it."""


def post(house: Server, **changes: Any) -> None:
    httpx.post(house.url_of("judge"), json={**TASK, **changes}, headers=EXTENSION).raise_for_status()


@contextmanager
def drawn_on(folder: Path, larder: Path) -> Iterator[Server]:
    """A server, and a script that has drawn on one of its boards."""
    settings = (
        f'judge.workspace="{folder / "contests"}"',
        f'ipc.base="{folder / "desk"}"',
        "ipc.port=0",
        "ipc.model=echo",
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where ruff is
    words = (word for setting in settings for word in ("--set", setting))
    with server(folder, *words, environ={"PATH": path}) as house:
        house.ready()
        script = started(python_with(larder, "0.0.7"), "plot", house.url_of("sidekick"))
        try:
            assert script.stdout is not None
            assert script.stdout.readline().startswith("Open ")
            yield house
        finally:
            script.kill()
            script.communicate()


def take(browser: Browser, larder: Path, pictures: Path) -> None:
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="troupe-") as folder, drawn_on(Path(folder), larder) as house:
        for name, (height, lead) in SHOWN.items():
            with browser.new_context(viewport={"width": WIDTH, "height": height}, color_scheme="light") as context:
                page = context.new_page()
                page.set_default_timeout(PATIENCE)
                lead(page, house)
                page.screenshot(path=pictures / f"{name}.png", animations="disabled")


def main() -> None:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise SystemExit(f"No Chromium: none of {', '.join(NAMES)} is on the PATH.")
    pictures = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    open_eyes()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        take(browser, CACHE, pictures)
        browser.close()


if __name__ == "__main__":
    main()
