"""Every page leads to every other one: in the bar, by mouse and by keyboard, on wide and narrow screens."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.house.running import LISTENING, Server, server
from tests.web.looks import LOOKS, looked_at
from tests.web.test_design import CONTRASTS, NAMELESS
from tests.web.windows import window

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGES = {
    "board": ("sidekick", ""),
    "session": ("sidekick", "/session/a-room-with-a-rather-long-name"),
    "script": ("sidekick", "/script"),
    "judge": ("judge", ""),
    "agent": ("agent", ""),
    "console": ("console", ""),
    "no page": ("judge", "/nowhere/at/all"),
    "no script": ("sidekick", "/script/none"),
    "no session": ("sidekick", "/session/with%20blanks"),
}
WIDTHS = [1280, 400, 320]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("pages")) as house:
        yield house.ready()


@contextmanager
def opened(chromium: Browser, house: Server, name: str, **context: Any) -> Iterator[Page]:
    system, path = PAGES[name]
    with window(chromium, **context) as browsing:
        page = browsing.new_page()
        page.goto(house.url_of(system).rstrip("/") + path)
        yield page


def ways(page: Page) -> Locator:
    """The links of the bar, where they are folded after they have been unfolded."""
    button = page.get_by_role("banner").get_by_role("button", name="Pages")
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    expect(button.or_(links.first).filter(visible=True).first).to_be_visible()
    if button.is_visible():
        button.focus()
        page.keyboard.press("Enter")
    return links


@pytest.mark.drawn(4)
@pytest.mark.parametrize("name", PAGES)
def test_every_page_leads_to_the_others_and_says_which_one_it_is(chromium: Browser, house: Server, name: str) -> None:
    system, path = PAGES[name]
    current = {"": "page", "/script": "true"}.get(path, "page" if name == "session" else None)
    here = house.url_of(system).rstrip("/") + path
    other = "judge" if system != "judge" else "console"
    with opened(chromium, house, name) as page:
        for width in WIDTHS:
            if page.url.rstrip("/") != here:
                page.goto(here)
            with looked_at(page, width, height=700):
                links = ways(page)
                expect(links).to_have_text(["sidekick", "judge", "agent", "console"])
                there = [link.rstrip("/") for link in links.evaluate_all("all => all.map(each => each.href)")]
                assert there == [house.url_of(each).rstrip("/") for each in ("sidekick", "judge", "agent", "console")]
                marked = links.evaluate_all("all => all.map(each => [each.textContent, each.ariaCurrent])")
                assert [pair for pair in marked if pair[1]] == ([[system, current]] if current else [])
                for link in links.all() if width >= 400 else []:  # below that, they are scrolled to
                    expect(link).to_be_in_viewport(ratio=0.98)
                assert page.evaluate("document.documentElement.scrollWidth") == width
                assert page.evaluate(NAMELESS) == []
                links.get_by_text(other).focus()
                page.keyboard.press("Enter")
                page.wait_for_url(house.url_of(other).rstrip("/") + "/**", wait_until="commit")
        page.wait_for_load_state()  # closed while it comes, a page was once not gone after a minute (Chromium 156)


def test_only_what_is_switched_on_and_there_is_led_to(chromium: Browser, tmp_path: Path) -> None:
    with server(tmp_path, "--set", "judge.enabled=false") as house:
        house.ready()
        with opened(chromium, house, "board") as page:
            expect(ways(page)).to_have_text(["sidekick", "agent", "console"])


def test_a_page_that_is_not_there_says_so_to_be_read(chromium: Browser, house: Server) -> None:
    with opened(chromium, house, "no page") as page:
        expect(page.get_by_role("heading")).to_have_text("There is no page '/nowhere/at/all' here.")
        for width, colors in LOOKS:
            with looked_at(page, width, colors, height=700):
                expect(ways(page).first).to_be_visible()
                assert page.evaluate(CONTRASTS) == []
                page.keyboard.press("Escape")  # what unfolded them
        page.get_by_role("link", name="Go to the start page").click()
        page.wait_for_url(house.url_of("judge").rstrip("/") + "/**")
        expect(page).to_have_title("Judge")


LINES = """code => {
    const range = document.createRange();
    range.selectNodeContents(code);
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
}"""


def test_an_empty_board_does_not_break_the_address_for_scripts(chromium: Browser, house: Server) -> None:
    with opened(chromium, house, "session") as page:
        code = page.get_by_role("group", name="Script").locator("code")
        expect(code).to_contain_text("/?session=a-room-with-a-rather-long-name")
        for width in WIDTHS:
            with looked_at(page, width, height=700):
                assert code.evaluate(LINES) == len(code.inner_text().splitlines()) == 4
                assert page.evaluate("document.documentElement.scrollWidth") == width


HOSTILE = "/%3Cimg%20src=x%20onerror=alert(1)%3E%7Broot%7D"


@pytest.mark.parametrize("system", LISTENING)
def test_who_does_not_ask_for_a_page_is_told_in_text(house: Server, system: str) -> None:
    url = house.url_of(system).rstrip("/") + HOSTILE
    told = httpx.get(url)
    assert (told.status_code, told.headers["content-type"]) == (404, "text/plain; charset=utf-8")
    assert told.text == "There is no page '/<img src=x onerror=alert(1)>{root}' here.\n"
    shown = httpx.get(url, headers={"accept": "text/html,*/*;q=0.8"})
    assert (shown.status_code, shown.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "<h1>There is no page &#x27;/&lt;img src=x onerror=alert(1)&gt;{root}&#x27; here.</h1>" in shown.text
    assert shown.headers["content-security-policy"].startswith("default-src 'self'")
    assert shown.headers["vary"] == told.headers["vary"] == "Accept"


def test_a_refused_post_is_answered_in_text_whoever_posts_it(house: Server) -> None:
    refused = httpx.post(house.url_of("judge"), content=b"no task", headers={"accept": "text/html"})
    assert (refused.status_code, refused.headers["content-type"]) == (400, "text/plain; charset=utf-8")
