"""A page of a scripted server, in a real Chromium."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page

from codec.console import Hello
from tests.web.stage import Stage
from tests.web.windows import window

BROWSERS_OWN = "WebSocket connection to "
"""How Chromium reports a socket that could not be opened: the only error that a page without a server cannot avoid."""


class Visit(Protocol):
    def __call__(self, hello: Hello | None, path: str = "", **context: Any) -> tuple[Page, Stage]: ...


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visit]:
    with visiting(chromium) as visit:
        yield visit


@contextmanager
def visiting(chromium: Browser) -> Iterator[Visit]:
    """Opens the console of a scripted server. At the end, no page may have reported an error."""
    errors: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(BROWSERS_OWN):
            errors.append(message.text)

    with ExitStack() as stack:

        def open_page(hello: Hello | None, path: str = "", **context: Any) -> tuple[Page, Stage]:
            stage = stack.enter_context(Stage(hello))
            page = stack.enter_context(window(chromium, **context)).new_page()
            page.on("console", hear)
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(stage.url + path)
            return page, stage

        yield open_page
    assert errors == []
