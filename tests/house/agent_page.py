"""What somebody does on the agent's page: come with the token, add a folder, choose a model, ask."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.house.agent_kit import MODEL
from tests.house.running import Server
from tests.web.stage import write
from tests.web.windows import window


class Visitor:
    """Somebody with a browser."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.errors: list[str] = []

    def page(self, url: str) -> Page:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(url)
        return page


@contextmanager
def visiting(chromium: Browser, **options: object) -> Iterator[Visitor]:
    with window(chromium, **options) as context:
        visitor = Visitor(context)
        yield visitor
        assert visitor.errors == []


def link(house: Server) -> str:
    return f"{house.url_of('agent')}/#token={(house.state / 'agent.token').read_text().strip()}"


def add_folder(page: Page, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    page.get_by_role("button", name="Add a folder").click()
    write(page.get_by_role("textbox", name="Folder"), str(folder))
    page.keyboard.press("Enter")
    chosen = page.locator("agent-sessions select option:checked")
    expect(chosen).to_have_attribute("title", os.path.realpath(folder))


def choose_model(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Model")).click()
    page.get_by_role("radio", name=re.compile(MODEL)).check()
    page.get_by_role("button", name="Use it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def begin(page: Page, folder: Path) -> None:
    """A folder, a model, a session."""
    add_folder(page, folder)
    choose_model(page)
    page.get_by_role("button", name="New session", exact=True).click()
    expect(field(page)).to_be_focused()


def field(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message")


def say(page: Page, text: str) -> None:
    write(field(page), text)
    page.keyboard.press("Enter")


def feet(page: Page) -> Locator:
    return page.locator("agent-transcript .foot")


def transcript(page: Page) -> str:
    return re.sub(r"\s+", " ", page.locator("agent-transcript .content").inner_text())
