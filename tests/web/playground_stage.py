"""The script page of a real server, in a real Chromium."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.house.running import server
from tests.patience import PATIENCE
from tests.web.stage import write
from tests.web.windows import window

BROWSERS_OWN = "Failed to load resource"


class ScriptPage:
    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.state = page.locator(".state")
        self.output = page.get_by_role("log", name="Output")
        self.editor = page.get_by_role("textbox", name="Python")
        self.run_button = page.get_by_role("button", name="Run", exact=True)
        self.stop_button = page.get_by_role("button", name="Stop", exact=True)

    def run(self, *lines: str) -> None:
        write(self.editor, "\n".join(lines))
        self.run_button.click()

    def comes_to(self, state: str, patience: float = PATIENCE * 1000) -> None:
        expect(self.state).to_have_text(state, timeout=patience)


@contextmanager
def playground(chromium: Browser, folder: Path, *options: str) -> Iterator[Any]:
    """`open_page(path, **context)` opens a page of a server with these options, and closes the page before it. At the
    end, no page may have reported an error."""
    errors: list[str] = []
    with server(folder, *options) as house, ExitStack() as stack:
        house.ready()
        shown = stack.enter_context(ExitStack())

        def open_page(path: str = "script", **context: Any) -> ScriptPage:
            shown.close()  # and so the worker of the page before
            page = shown.enter_context(window(chromium, **context)).new_page()
            page.on(
                "console",
                lambda said: errors.append(said.text)
                if said.type in ("error", "warning") and not said.text.startswith(BROWSERS_OWN)
                else None,
            )
            page.on("pageerror", lambda error: errors.append(str(error)))
            address = house.url_of("sidekick").rstrip("/")
            page.goto(f"{address}/{path}")
            return ScriptPage(page, address)

        yield open_page
    assert errors == []
