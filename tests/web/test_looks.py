"""A page that is looked at in several ways really is in each of them, and a failure names the one at which it was."""

import pytest
from playwright.sync_api import Page

from tests.web import scenes
from tests.web.conftest import Visit
from tests.web.looks import LOOKS, looked_at
from tests.web.test_design import CONTRASTS, ready, scheme

pytestmark = [pytest.mark.browser, pytest.mark.slow]

POOR = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`
        @media (prefers-color-scheme: dark) and (width <= 400px) { .row .name { color: rgb(20 20 20) } }
        body { transition: background-color 60s }
    `);
    document.adoptedStyleSheets.push(sheet);
}"""
"""Letters that cannot be read at one look of four."""


@pytest.fixture
def page(visit: Visit) -> Page:
    page, _ = visit(scenes.evening())
    ready(page)
    return page


def test_a_page_is_drawn_in_the_width_and_the_scheme_in_which_it_is_looked_at(page: Page) -> None:
    for width, colors in LOOKS:
        with looked_at(page, width, colors):
            assert scheme(page) == colors
            assert page.locator("body").evaluate("body => body.getBoundingClientRect().width") == width


def test_what_cannot_be_read_at_one_look_is_found_there_and_said_to_be_there(page: Page) -> None:
    page.evaluate(POOR.replace("body { transition: background-color 60s }", ""))
    failed = {}
    for width, colors in LOOKS:
        try:
            with looked_at(page, width, colors):
                assert page.evaluate(CONTRASTS) == []
        except AssertionError as error:
            failed[width, colors] = error.__notes__
    assert failed == {(400, "dark"): ["This was at a width of 400 in the dark scheme."]}
