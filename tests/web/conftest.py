"""A real Chromium, and a page of it that is looked at by a test."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from codec.console import Hello
from tests.web.stage import Stage

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 10_000
BROWSERS_OWN = "WebSocket connection to "
"""How Chromium reports a socket that could not be opened: the one error a page without a server cannot avoid."""


class Visit(Protocol):
    def __call__(self, hello: Hello | None, path: str = "", **context: Any) -> tuple[Page, Stage]: ...


# Not for the whole session: while playwright runs, its loop counts as asyncio's running loop to other tests.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        reason = f"no Chromium: none of {', '.join(NAMES)} is on the PATH"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visit]:
    """Opens the console of a scripted server. In the end no page may have reported an error."""
    errors: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(BROWSERS_OWN):
            errors.append(message.text)

    with ExitStack() as stack:

        def open_page(hello: Hello | None, path: str = "", **context: Any) -> tuple[Page, Stage]:
            stage = stack.enter_context(Stage(hello))
            settings = {"viewport": {"width": 1280, "height": 800}} | context
            page = stack.enter_context(chromium.new_context(**settings)).new_page()
            page.set_default_timeout(PATIENCE)
            page.on("console", hear)
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(stage.url + path)
            return page, stage

        yield open_page
    assert errors == []
