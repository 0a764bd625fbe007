"""The agent's page in a real browser, at a real server with a fake model: a whole turn, and what may come between."""

import re
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.house.agent_kit import agent_server, fake_model
from tests.house.agent_page import begin, feet, field, link, say, transcript, visiting
from tests.house.running import Server
from tests.web.looks import LOOKS, looked_at
from tests.web.stage import write
from tests.web.test_design import CONTRASTS, NAMELESS

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(150)]

EVIL = "<img src=x onerror='window.harmed=1'><b>bold</b>"


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with fake_model("--rate", "120") as url:
        yield url


@pytest.fixture(scope="module")
def house(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with agent_server(tmp_path_factory.mktemp("page"), model) as house:
        yield house


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_whole_turn_is_asked_watched_and_found_again_after_a_reload(
    near: Path, house: Server, chromium: Browser
) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        expect(page).to_have_url(re.compile(r"/$"))
        begin(page, near / "work")
        say(page, f"Say **this** and {EVIL}")
        expect(feet(page)).to_contain_text("Done")
        expect(page.locator("agent-transcript .said")).to_contain_text(EVIL)
        expect(page.locator("agent-transcript .text strong").first).to_have_text("this")
        assert page.evaluate("window.harmed") is None
        before = transcript(page)
        page.reload()
        expect(feet(page)).to_contain_text("Done")
        # What comes into sight has its text from the next frame on.
        expect(page.locator("agent-transcript .said")).to_contain_text(EVIL, use_inner_text=True)
        assert transcript(page) == before
        expect(page.locator("agent-sessions [aria-current]")).to_contain_text("Say **this**")


def test_escape_stops_a_turn_and_a_reload_in_the_middle_goes_on(
    near: Path, house: Server, chromium: Browser
) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        say(page, "!endless")
        expect(page.locator("agent-transcript .text")).to_contain_text("word20")
        page.reload()
        expect(page.locator("agent-transcript .text")).to_contain_text("word40")
        page.keyboard.press("Escape")
        expect(feet(page)).to_contain_text("Stopped")
        expect(page.get_by_role("button", name="Stop")).to_be_hidden()


def test_two_windows_show_the_same_and_either_may_stop_it(near: Path, house: Server, chromium: Browser) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        other = visitor.page(page.url)
        say(page, "!endless")
        expect(other.locator("agent-transcript .text")).to_contain_text("word10")
        expect(other.locator("agent-head .others")).to_contain_text("2 windows")
        other.get_by_role("button", name="Stop").click()
        for each in (page, other):
            expect(feet(each)).to_contain_text("Stopped")
        assert transcript(page) == transcript(other)


def test_what_is_said_meanwhile_waits_and_can_be_taken_back(near: Path, house: Server, chromium: Browser) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        say(page, "!endless")
        expect(page.get_by_role("button", name="Queue")).to_be_visible()
        say(page, "first of two")
        say(page, "second of two")
        waiting = page.locator("agent-composer .queue li")
        expect(waiting).to_have_count(2)
        page.get_by_role("button", name="Take back: second of two").click()
        expect(waiting).to_have_count(1)
        expect(field(page)).to_have_value("second of two")
        page.get_by_role("button", name="Stop").click()
        expect(feet(page)).to_contain_text(["Stopped", "Done"])
        expect(page.locator("agent-transcript .said")).to_have_text(["!endless", "first of two"])


def test_a_server_that_was_killed_is_found_again_and_the_turn_is_told_as_interrupted(
    near: Path, model: str, chromium: Browser
) -> None:
    port = ("--set", f"agent.port={free_port()}")
    with visiting(chromium) as visitor, ExitStack() as stack:
        house = stack.enter_context(agent_server(near, model, *port))
        page = visitor.page(link(house))
        begin(page, near / "work")
        say(page, "!endless")
        expect(page.locator("agent-transcript .text")).to_contain_text("word30")
        write(field(page), "a draft")
        house.process.send_signal(signal.SIGKILL)
        house.ended()
        expect(page.locator("house-banner")).to_be_visible()
        stack.enter_context(agent_server(near, model, *port))
        expect(feet(page)).to_contain_text("Interrupted")
        expect(page.locator("house-banner")).to_be_hidden()
        expect(field(page)).to_have_value("a draft")
        page.keyboard.press("Control+a")
        say(page, "and now?")
        expect(feet(page)).to_have_count(2)
        expect(feet(page).last).to_contain_text("Done")


def test_without_the_token_nothing_is_shown(house: Server, chromium: Browser) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(house.url_of("agent"))
        token = page.get_by_label("Token")
        expect(token).to_be_focused()
        write(token, "wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("The token is wrong.")
        write(token, (house.state / "agent.token").read_text().strip())
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="New session", exact=True)).to_be_visible()


def test_the_page_can_be_read_and_named_and_fits(near: Path, house: Server, chromium: Browser) -> None:
    narrow = {"width": 400, "height": 800}
    with visiting(chromium, viewport=narrow) as visitor:
        page = visitor.page(link(house))
        page.get_by_role("button", name="Sessions").click()
        begin(page, near / "work")
        page.keyboard.press("Escape")
        say(page, '!call read_file {"file_path": "no such file"}')
        expect(feet(page)).to_have_count(1)
        say(page, "!die")
        expect(feet(page).last).to_contain_text("Failed")
        for summary in page.locator("agent-transcript summary").all():
            summary.click()
        for width, colors in LOOKS:
            with looked_at(page, width, colors):
                assert page.evaluate(CONTRASTS) == []
                assert page.evaluate(NAMELESS) == []
                assert page.evaluate("document.documentElement.scrollWidth") == width
