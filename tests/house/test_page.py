"""The console page of a real server, in a real browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from tests.house.running import server

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_console_shows_the_living_tree(tmp_path: Path, chromium: Browser) -> None:
    errors: list[str] = []
    tall: ViewportSize = {"width": 1280, "height": 2400}  # all rows are in sight
    with server(tmp_path) as house, chromium.new_context(viewport=tall) as context:
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(house.ready().url)
        for name in ("troupe", "store", "observer", "viewers", "door"):
            expect(page.get_by_role("row", name=re.compile(rf"^{name}\b")).first).to_be_visible()
        expect(page.get_by_text("listening on", exact=False).first).to_be_visible()
        assert errors == []


def test_the_console_finds_the_server_again_after_a_restart(tmp_path: Path, chromium: Browser) -> None:
    with server(tmp_path / "first") as house, chromium.new_context() as context:
        page = context.new_page()
        page.goto(house.ready().url)
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        port = house.url.rpartition(":")[2]
        house.process.kill()
        house.ended()
        expect(page.get_by_text("live", exact=True)).to_be_hidden()
        with server(tmp_path / "second", "--set", f"console.port={port}") as again:
            again.ready()
            expect(page.get_by_text("live", exact=True)).to_be_visible()
