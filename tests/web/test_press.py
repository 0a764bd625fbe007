"""A click counts for the button on which it was begun, whatever arrives before the release (web/house/press.js)."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from codec.agent.action_events import ApprovalResolved, RequestApproval
from codec.agent.client_messages import ApprovalResponse, Withdraw
from codec.agent.events import QueuedMessage, Token
from tests.web.agent_stage import AgentStage, ShowAgent, command, patch, request, showing_agent
from tests.web.stage import FRAMES

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture
def show(chromium: Browser) -> Iterator[ShowAgent]:
    with showing_agent(chromium) as show:
        yield show


WATCHED = "addEventListener('pointermove', ({ clientX, clientY }) => (window.pointer = [clientX, clientY]), true)"
IS_BELOW = "target => target.contains(document.elementFromPoint(...window.pointer))"


def press(target: Locator) -> None:
    """The pointer comes and goes down, and stays where it is."""
    target.page.evaluate(WATCHED)
    for _ in range(20):
        target.hover()
        target.page.evaluate(FRAMES)
        if target.evaluate(IS_BELOW):  # the page stands still
            break
    target.page.mouse.down()
    assert target.evaluate(IS_BELOW)


def release(page: Page) -> None:
    page.evaluate(FRAMES)
    page.mouse.up()


def settle_above(page: Page, stage: AgentStage) -> None:
    """Another window has answered: its card folds, and all below it moves up."""
    stage.change(requests=stage.state.requests[1:])
    stage.say(ApprovalResolved(request_id="p0", approved=True, by="another"))
    expect(request(page, "Change of above.py")).to_have_attribute("data-state", "settled")


def write_on(page: Page, stage: AgentStage) -> None:
    """The end of the transcript stays in view, so all moves up."""
    stage.say(Token(token="\n\nA line." * 60))
    expect(page.locator("agent-transcript")).to_contain_text("A line.")


def ask_more(page: Page, stage: AgentStage) -> None:
    stage.say(patch("p8", "more.py"), RequestApproval(request_id="x8", tool_name="delete_file", args={"path": "a.py"}))
    expect(request(page, "Use delete_file")).to_be_visible()


ARRIVES = pytest.mark.parametrize("arrives", [settle_above, write_on, ask_more])
Arrives = Callable[[Page, AgentStage], None]


def asked(page: Page, stage: AgentStage) -> None:
    stage.begin()
    stage.say(patch("p0", "above.py"), patch("p1", "it.py"), patch("p2", "it.py"), command("k1"))
    expect(page.locator("agent-request .hunk")).to_have_count(9)
    for approve in page.get_by_role("button", name="Approve", exact=True).all():
        expect(approve).to_be_enabled()


def answers(stage: AgentStage) -> Any:
    return stage.hears(lambda said: isinstance(said, ApprovalResponse))


@ARRIVES
@pytest.mark.parametrize("at", ["p1", "k1"])
def test_an_approval_that_was_begun_counts_whatever_arrives(show: ShowAgent, arrives: Arrives, at: str) -> None:
    page, stage = show()
    asked(page, stage)
    part = request(page, "Run python") if at == "k1" else request(page, "Change of it.py").first
    press(part.get_by_role("button", name="Approve", exact=True))
    arrives(page, stage)
    release(page)
    said = answers(stage)
    assert (said.request_id, said.approved) == (at, True)
    expect(part).to_have_attribute("data-state", "settled")
    assert len([each for each in stage.heard if isinstance(each, ApprovalResponse)]) == 1


def test_who_takes_the_pointer_away_from_the_button_has_thought_better_of_it(show: ShowAgent) -> None:
    page, stage = show()
    asked(page, stage)
    approve = request(page, "Run python").get_by_role("button", name="Approve", exact=True)
    press(approve)
    page.mouse.move(2, 2)
    release(page)
    press(approve)
    release(page)
    assert answers(stage).request_id == "k1"
    assert len([each for each in stage.heard if isinstance(each, ApprovalResponse)]) == 1


def test_what_was_answered_meanwhile_is_not_answered_again(show: ShowAgent) -> None:
    page, stage = show()
    asked(page, stage)
    press(request(page, "Change of above.py").get_by_role("button", name="Approve", exact=True))
    settle_above(page, stage)
    release(page)
    page.evaluate(FRAMES)
    stage.say(Token(token="the end"))
    expect(page.locator("agent-transcript")).to_contain_text("the end")
    assert not [each for each in stage.heard if isinstance(each, ApprovalResponse)]


def test_a_button_of_a_list_that_is_drawn_anew_is_the_one_that_was_pressed(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    waiting = [QueuedMessage(message_id=f"q{number}", message=f"message {number}") for number in range(4)]
    stage.change(queued=tuple(waiting))
    press(page.get_by_role("button", name="Take back: message 2"))
    stage.change(queued=tuple(waiting[1:]))
    expect(page.locator("agent-composer .queue li")).to_have_count(3)
    release(page)
    assert stage.hears(lambda said: isinstance(said, Withdraw)).message_id == "q2"
    expect(page.get_by_role("textbox", name="Message")).to_have_value("message 2")
