"""Text is no answer: whoever types why something is rejected, at whatever moment, in whatever order of what happens
beside it, approves nothing by that, and does nothing else. In Chromium, key by key."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from codec.agent.action_events import ApprovalResolved
from codec.agent.client_messages import ApprovalResponse
from tests.web.agent_stage import AgentStage, ShowAgent, command, meant, patch, request, showing_agent

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]

REASON = "has bad names, was right in june; ask me up"
"""Nearly every letter of it is a key of the page."""
EACH_MS = 40.0
LONG_MS = 900
"""Longer than a key is not meant for what has just come."""


@pytest.fixture
def show(chromium: Browser) -> Iterator[ShowAgent]:
    with showing_agent(chromium) as show:
        yield show


def answers(stage: AgentStage) -> list[ApprovalResponse]:
    return [said for said in stage.heard if isinstance(said, ApprovalResponse)]


def answered(stage: AgentStage, count: int) -> list[tuple[str, bool, str | None]]:
    stage.hears(lambda said: isinstance(said, ApprovalResponse) and len(answers(stage)) >= count)
    return [(each.request_id, each.approved, each.reason) for each in answers(stage)]


def at_ease(page: Page) -> None:
    """The focus is nowhere, and the session has begun."""
    page.evaluate("document.activeElement.blur()")


def nothing_else(page: Page, stage: AgentStage) -> None:
    assert [said for said in stage.heard if not isinstance(said, ApprovalResponse)] == []
    assert page.locator("dialog[open]").count() == 0
    expect(page.get_by_role("textbox", name="Message")).to_have_value("")


@pytest.mark.drawn(3)
@pytest.mark.parametrize("pause", [0, 50, 300, 500, 650, LONG_MS])
def test_a_reason_that_is_begun_as_soon_as_something_is_asked_is_its_reason(show: ShowAgent, pause: int) -> None:
    page, stage = show()
    at_ease(page)
    stage.begin()
    stage.say(command("k1", "first"))
    expect(request(page, "Run first")).to_be_focused()
    page.wait_for_timeout(pause)
    page.keyboard.type(f"r{REASON}", delay=EACH_MS)
    page.keyboard.press("Enter")
    assert answered(stage, 1) == [("k1", False, REASON)]
    nothing_else(page, stage)


def asked_thrice(page: Page, stage: AgentStage) -> list[str]:
    at_ease(page)
    stage.begin()
    names = [f"k{number}" for number in range(3)]
    stage.say(*(command(name, f"say {name}") for name in names))
    return names


@pytest.mark.drawn(3)
@pytest.mark.parametrize("gap", [0, 50, 300, 500, LONG_MS])
def test_one_reason_after_another_goes_each_to_its_request(show: ShowAgent, gap: int) -> None:
    page, stage = show()
    names = asked_thrice(page, stage)
    expect(request(page, f"Run say {names[0]}")).to_be_focused()
    for name in names:
        page.keyboard.type(f"r{REASON} {name}", delay=EACH_MS)
        page.keyboard.press("Enter")
        page.wait_for_timeout(gap)
    assert answered(stage, 3) == [(name, False, f"{REASON} {name}") for name in names]
    nothing_else(page, stage)


def settles(**resolution: Any) -> Callable[[AgentStage], None]:
    def happens(stage: AgentStage) -> None:
        stage.change(requests=tuple(each for each in stage.state.requests if each.request_id != "k1"))
        stage.say(ApprovalResolved(request_id="k1", **resolution))

    return happens


BESIDE: dict[str, Callable[[AgentStage], None]] = {
    "another window approves": settles(approved=True, by="vscode"),
    "another window rejects": settles(approved=False, by="vscode", reason="no"),
    "its time is over": settles(approved=False, ended="timed_out"),
    "the turn ends": lambda stage: stage.end(success=False, interrupted=True),
}


@pytest.mark.drawn(4)
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("others", [0, 2])
def test_a_reason_whose_request_is_over_meanwhile_answers_no_other(show: ShowAgent, beside: str, others: int) -> None:
    page, stage = show()
    at_ease(page)
    stage.begin()
    stage.say(command("k1", "first"), *(patch(f"p{number}", f"{number}.py") for number in range(others)))
    meant(request(page, "Run first"))
    page.keyboard.press("r")
    half = len(REASON) // 2
    page.keyboard.type(REASON[:half], delay=EACH_MS)
    BESIDE[beside](stage)
    page.keyboard.type(REASON[half:], delay=EACH_MS)
    expect(page.locator("house-notices")).to_contain_text("The agent does not hear “has bad")
    for letter in "A W":
        page.keyboard.press(f"Shift+{letter}" if letter.strip() else "Space")
    page.keyboard.type(REASON, delay=EACH_MS)
    page.keyboard.press("Enter")
    page.wait_for_timeout(LONG_MS)
    assert answers(stage) == []
    nothing_else(page, stage)
    if others and beside != "the turn ends":
        page.wait_for_timeout(LONG_MS)  # after a rest, keys are keys again
        page.keyboard.press("w")
        page.keyboard.press("a")
        assert answered(stage, 1)[0][1] is True


@pytest.mark.parametrize("leaves", ["a reload", "another session"])
def test_a_reason_that_was_begun_is_there_when_one_comes_back(show: ShowAgent, leaves: str) -> None:
    page, stage = show()
    names = asked_thrice(page, stage)
    meant(request(page, f"Run say {names[0]}"))
    page.keyboard.type(f"r{REASON[:9]}")
    if leaves == "a reload":
        page.reload()
    else:
        page.evaluate("location.hash = '#/other'")
        expect(page.locator("agent-request").first.get_by_role("textbox")).to_be_hidden()
        page.go_back()
        page.locator("agent-head h1").click()  # text whose field has gone is no key, until something else is done
    first = request(page, f"Run say {names[0]}")
    expect(first.get_by_role("textbox")).to_have_value(REASON[:9])
    expect(first.get_by_role("textbox")).not_to_be_focused()
    expect(request(page, f"Run say {names[1]}").get_by_role("textbox")).to_be_hidden()
    page.keyboard.press("w")
    page.keyboard.type(f"r{REASON[9:]}")
    page.keyboard.press("Enter")
    assert answered(stage, 1) == [(names[0], False, REASON)]
    page.reload()
    for name in names[1:]:
        expect(request(page, f"Run say {name}").get_by_role("button", name="Reject…", exact=False)).to_be_visible()
    expect(page.locator("agent-request").get_by_role("textbox")).to_have_count(0)
    nothing_else(page, stage)


def test_a_reason_for_nothing_is_no_row_of_keys(show: ShowAgent) -> None:
    page, stage = show()
    at_ease(page)
    stage.begin()
    page.keyboard.type(f"r{REASON}", delay=EACH_MS)
    page.keyboard.press("Enter")
    nothing_else(page, stage)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("key", ["a", "r", "Enter on Approve", "Enter on Reject"])
def test_a_key_that_is_held_answers_once_at_most(show: ShowAgent, key: str) -> None:
    page, stage = show()
    asked_thrice(page, stage)
    first = request(page, "Run say k0")
    meant(first)
    if " on " in key:
        button = first.get_by_role("button", name=key.split(" on ")[1], exact=False).first
        expect(button).to_be_enabled()
        button.focus()
    held = key.split(" ")[0]
    for _ in range(40):
        page.keyboard.down(held)
        page.wait_for_timeout(50)
    page.keyboard.up(held)
    assert len(answers(stage)) == (1 if key in ("a", "Enter on Approve") else 0)
    if key in ("r", "Enter on Reject"):
        expect(first.get_by_role("textbox")).to_be_focused()
        expect(first.get_by_role("textbox")).to_have_value("")
        page.keyboard.type("no")
        page.keyboard.press("Enter")
        assert answered(stage, 1) == [("k0", False, "no")]
    nothing_else(page, stage)
