"""The links of the bar while systems come and go: what is up is led to, without anybody's doing."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.web.board_stage import Show, showing

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LONGEST_WAIT = 15_000
STEPS = (2_500, 1_000, 500, 250)
"""Of the clock. Each divides the longest wait."""
NAMES = ("sidekick", "judge", "console")


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    with showing(chromium) as show:
        yield show


class Systems:
    """What the server answers of its systems: `up` have an address."""

    def __init__(self, page: Page, *up: str) -> None:
        self.up = up
        self.asked = 0
        page.route("**/pages.json", self._answer)

    def _answer(self, route: Route) -> None:
        self.asked += 1
        there = [{"name": name, "url": f"http://{name}.test/" if name in self.up else None} for name in NAMES]
        route.fulfill(status=200, content_type="application/json", body=json.dumps(there))


def led_to(page: Page, *names: str) -> None:
    expect(page.locator("house-bar > nav a")).to_have_text(list(names))


def passes(page: Page, systems: Systems) -> None:
    """Time passes on the page until it has asked again. (The wait for that begins when it has heard the answer to what
    it asked before, so the first step may be in vain.)"""
    before = systems.asked
    while systems.asked == before:
        page.clock.run_for(LONGEST_WAIT)
        page.evaluate("fetch('/')")  # an answer that is under way has come


def test_a_system_that_comes_up_after_the_page_gets_its_link(show: Show) -> None:
    page, _ = show()
    systems = Systems(page, "sidekick")
    page.clock.install()
    page.reload()
    led_to(page, "sidekick")
    for up in (("sidekick", "console"), NAMES):
        systems.up = up
        passes(page, systems)
        led_to(page, *up)


def test_a_page_that_was_back_before_the_rest_of_the_server_gets_all_links_again(show: Show) -> None:
    page, stage = show()
    systems = Systems(page, *NAMES)
    page.clock.install()
    page.reload()
    led_to(page, *NAMES)
    systems.up = ("sidekick",)
    stage.drop()
    page.clock.run_for(1_000)  # until the connection is tried again
    led_to(page, "sidekick")
    systems.up = NAMES
    passes(page, systems)
    led_to(page, *NAMES)


def test_a_server_that_is_whole_is_asked_once_and_one_that_is_not_ever_more_rarely(show: Show) -> None:
    page, _ = show()
    systems = Systems(page, *NAMES)
    page.clock.install()
    page.reload()
    led_to(page, *NAMES)
    page.clock.run_for(600_000)
    assert systems.asked == 1
    systems.up = ("sidekick",)
    page.reload()
    led_to(page, "sidekick")
    gaps = [0]
    for _ in range(10):
        before, waited = systems.asked, 0
        step = next((step for step in STEPS if step <= gaps[-1] / 4), STEPS[-1])
        while systems.asked == before:
            page.clock.run_for(step)
            page.evaluate("fetch('/')")  # an answer that is under way has come
            waited += step
        gaps.append(waited)
    assert gaps == sorted(gaps)
    assert gaps[-2:] == [LONGEST_WAIT, LONGEST_WAIT]
