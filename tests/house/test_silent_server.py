"""A real server whose process is halted: its connections stand, and nothing is answered. Pages in a real browser."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.house.agent_kit import agent_server, fake_model
from tests.house.agent_page import begin, feet, link, say, visiting
from tests.house.running import Server

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(150)]


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with fake_model("--rate", "120") as url:
        yield url


@pytest.fixture(scope="module")
def house(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("silent")
    desk = ("--set", "ipc.port=0", "--set", f'ipc.base="{folder / "desk"}"')
    with agent_server(folder, model, *desk) as house:
        yield house


@contextmanager
def stopped(house: Server) -> Iterator[None]:
    """In the block, the server's process does nothing."""
    house.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        house.process.send_signal(signal.SIGCONT)


def is_said_to_be(page: Page, word: str) -> None:
    expect(page.locator("house-bar > house-pill")).to_have_text(word)


def test_every_page_says_that_its_server_does_not_answer_and_when_it_does_again(
    near: Path, house: Server, chromium: Browser
) -> None:
    with visiting(chromium) as visitor:
        agent = visitor.page(link(house))
        begin(agent, near / "work")
        addresses = [house.url_of("sidekick") + "/session/quiet", house.url_of("judge"), house.url_of("ipc")]
        pages = [agent, *(visitor.page(address) for address in addresses)]
        for page in pages:
            is_said_to_be(page, "live")
        with stopped(house):
            for page in pages:
                is_said_to_be(page, "not answering")
                expect(page.get_by_role("alert")).to_have_text("The server does not answer.")
                expect(page.locator("house-banner")).to_contain_text("It has been silent for ")
        for page in pages:
            is_said_to_be(page, "live")
            expect(page.locator("house-banner")).to_be_hidden()


def test_a_page_on_which_no_session_is_chosen_says_it_too(house: Server, chromium: Browser) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        is_said_to_be(page, "live")
        with stopped(house):
            is_said_to_be(page, "not answering")
        is_said_to_be(page, "live")


def test_what_is_said_to_a_server_that_does_not_answer_waits_and_arrives_once(
    near: Path, house: Server, chromium: Browser
) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        said, waiting = page.locator("agent-transcript .said"), page.locator("agent-composer .queue li")
        say(page, "One")
        expect(feet(page)).to_contain_text("Done")
        with stopped(house):
            say(page, "Two")
            expect(waiting).to_contain_text("Two")
            is_said_to_be(page, "not answering")
        is_said_to_be(page, "live")
        expect(feet(page)).to_have_count(2)
        expect(waiting).to_have_count(0)
        with stopped(house):
            say(page, "Three")
            expect(waiting).to_contain_text("Three")
            page.evaluate("void setTimeout(() => location.reload())")
        expect(feet(page)).to_have_count(3)
        expect(waiting).to_have_count(0)
        is_said_to_be(page, "live")
        expect(said).to_have_count(3)
        for place, text in enumerate(("One", "Two", "Three")):
            expect(said.nth(place)).to_contain_text(text)
