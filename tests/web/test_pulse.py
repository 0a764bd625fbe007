"""When a page asks whether its server answers, and what it makes of that (web/house/pulse.js); the clock jumps."""

import pytest
from playwright.sync_api import Page

from tests.web.conftest import Visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ANYWHERE = "web/house/tokens.css"
BEGIN = """async () => {
    const { Pulse } = await import("/web/house/pulse.js");
    Object.assign(window, { asked: [], changes: [] });
    window.fetch = (place, { method, signal }) => new Promise((answer, refuse) => {
        window.asked.push({ place: String(place), method, answer, refuse });
        signal.addEventListener("abort", () => refuse(signal.reason));
    });
    window.pulse = new Pulse(() => window.changes.push(window.pulse.silentSince !== null));
    window.pulse.begin();
}"""


@pytest.fixture
def page(visit: Visit) -> Page:
    """A page whose pulse has begun; what it asks is answered by the test."""
    page, stage = visit(None, ANYWHERE)
    page.clock.install(time=0)
    page.clock.pause_at(1_000)
    page.evaluate(BEGIN)
    assert stage.greeted == 0
    return page


def asked(page: Page) -> int:
    return int(page.evaluate("window.asked.length"))


def changes(page: Page) -> list[bool]:
    """Whether the server was found silent, each time that this changed."""
    found = page.evaluate("window.changes")
    assert isinstance(found, list)
    return found


def answer(page: Page) -> None:
    page.evaluate("window.asked.at(-1).answer(true)")


def test_an_idle_page_asks_every_twelve_seconds_for_the_head_of_a_small_file(page: Page) -> None:
    for number in range(1, 4):
        page.clock.run_for(11_900)
        assert asked(page) == number - 1
        page.clock.run_for(200)
        assert asked(page) == number
        answer(page)
        page.clock.run_for(0)
    assert page.evaluate("window.asked.map(({ method, place }) => `${method} ${new URL(place).pathname}`)") == [
        "HEAD /web/house/mark.svg"
    ] * 3
    assert changes(page) == []


def test_who_hears_something_asks_nothing(page: Page) -> None:
    for _ in range(20):
        page.clock.run_for(6_000)
        page.evaluate("window.pulse.heard()")
    assert (asked(page), changes(page)) == (0, [])


def test_who_has_said_something_and_hears_nothing_asks_a_second_later(page: Page) -> None:
    page.evaluate("window.pulse.said()")
    page.clock.run_for(900)
    page.evaluate("window.pulse.heard()")
    page.clock.run_for(1_000)
    assert asked(page) == 0
    page.evaluate("window.pulse.said()")
    page.clock.run_for(900)
    page.evaluate("window.pulse.said()")
    page.clock.run_for(200)
    assert asked(page) == 1


@pytest.mark.parametrize("by", ["its answer", "its word"])
def test_a_server_is_silent_that_has_not_answered_for_four_seconds_until_it_does(page: Page, by: str) -> None:
    page.evaluate("window.pulse.said()")
    page.clock.run_for(4_900)
    assert changes(page) == []
    page.clock.run_for(200)
    assert changes(page) == [True]
    assert page.evaluate("Date.now() - window.pulse.silentSince") == 4_100
    page.clock.run_for(20_000)
    assert (asked(page), changes(page)) == (1, [True])
    if by == "its answer":
        answer(page)
    else:
        page.evaluate("window.pulse.heard()")
    page.clock.run_for(11_000)
    assert (asked(page), changes(page)) == (1, [True, False])


def test_a_request_that_is_lost_is_made_again_and_the_silence_goes_on(page: Page) -> None:
    page.evaluate("window.pulse.said()")
    page.clock.run_for(32_100)
    assert (asked(page), changes(page)) == (2, [True])
    page.evaluate("window.asked.at(-1).refuse(new TypeError('no network'))")
    page.clock.run_for(1_100)
    assert (asked(page), changes(page)) == (3, [True])
    assert page.evaluate("Date.now() - window.pulse.silentSince") > 30_000
    answer(page)
    page.clock.run_for(0)
    assert changes(page) == [True, False]


def test_a_page_that_nobody_sees_asks_nothing_and_asks_when_it_is_seen_again(page: Page) -> None:
    turn = """(hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(turn, True)
    page.clock.run_for(600_000)
    assert asked(page) == 0
    page.evaluate(turn, False)
    assert asked(page) == 1


def test_of_a_connection_that_is_closed_nothing_is_asked_or_announced(page: Page) -> None:
    page.evaluate("window.pulse.said()")
    page.clock.run_for(2_000)
    page.evaluate("window.pulse.end()")
    page.evaluate("window.pulse.said()")
    page.clock.run_for(60_000)
    assert (asked(page), changes(page)) == (1, [])
