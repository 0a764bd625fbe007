"""In a low window, too, one sees where one writes, and what a key approves, whatever else there is to see."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page, expect

from codec.agent.client_messages import ApprovalResponse
from codec.agent.events import PlanPresented, PlanStep, QueuedMessage
from tests.web.agent_stage import AgentStage, ShowAgent, command, meant, patch, plan, request, showing_agent

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TOPS_AND_BOTTOMS = """(names) => names.map((name) => {
  const { top, bottom } = document.querySelector(name).getBoundingClientRect();
  return [top, bottom];
})"""
IN_ORDER = ("house-bar", "agent-head", "agent-transcript", "house-notices", "agent-waiting", "agent-composer")
ALL_OF_IT = """(part) => {
  const words = document.createRange();
  words.selectNodeContents(part);
  const isSeen = (x, y) => part.contains(document.elementFromPoint(x, y));
  return [...words.getClientRects()].every(({ left, right, top, bottom }) =>
    [left + 1, (left + right) / 2, right - 1].every((x) => isSeen(x, top + 1) && isSeen(x, bottom - 1)));
}"""
"""Nothing lies over any of its words, and no edge cuts them."""


@pytest.fixture
def show(chromium: Browser) -> Iterator[ShowAgent]:
    with showing_agent(chromium) as show:
        yield show


def is_in_sight(page: Page, height: int) -> None:
    places = page.evaluate(TOPS_AND_BOTTOMS, [*IN_ORDER])
    assert places[0][0] == 0
    assert all(one[1] <= other[0] + 1 for one, other in pairwise(places)), places
    assert places[-1][1] <= height, places
    for name in ("agent-composer textarea", "agent-composer .send"):
        ((top, bottom),) = page.evaluate(TOPS_AND_BOTTOMS, [name])
        assert places[-1][0] <= top < bottom <= height, name


@pytest.mark.parametrize(("width", "height"), [(400, 360), (400, 700), (1280, 300), (1280, 800)])
def test_the_field_is_in_sight_with_a_plan_messages_that_wait_and_a_long_text(
    show: ShowAgent, width: int, height: int
) -> None:
    page, stage = show(viewport={"width": width, "height": height})
    stage.begin()
    plan(stage)
    stage.say(command("k1", "first"), patch("p1", "one.py"))
    queued = [QueuedMessage(message_id=f"m{number}", message=f"And {number}?", delivery="queue") for number in range(4)]
    stage.change(queued=tuple(queued))
    page.reload()
    expect(page.locator("agent-composer .queue li")).to_have_count(4)
    expect(page.locator("agent-waiting")).to_be_visible()
    field = page.get_by_role("textbox", name="Message")
    for number in range(12):
        field.press_sequentially(f"line {number}")
        field.press("Shift+Enter")
    is_in_sight(page, height)
    page.set_viewport_size({"width": height, "height": width})  # it is turned
    page.set_viewport_size({"width": width, "height": height})
    is_in_sight(page, height)


def answers(stage: AgentStage) -> list[tuple[str, bool]]:
    return [(said.request_id, said.approved) for said in stage.heard if isinstance(said, ApprovalResponse)]


def crowded(page: Page, stage: AgentStage, draft: int) -> None:
    """All that the page has beside what is asked, at once: a plan, messages that wait, a draft of so many lines."""
    stage.begin("Do it. " * 200)
    steps = tuple(PlanStep(step_number=at, description=f"Step {at}", files_involved=("a.py",)) for at in range(1, 9))
    stage.say(PlanPresented(steps=steps, rationale="First things first."))
    queued = [QueuedMessage(message_id=f"m{number}", message=f"And {number}?", delivery="queue") for number in range(6)]
    stage.change(queued=tuple(queued))
    expect(page.locator("agent-composer .queue li")).to_have_count(6)
    field = page.get_by_role("textbox", name="Message")
    field.focus()
    for number in range(draft):
        field.press_sequentially(f"{number}")
        field.press("Shift+Enter")
    stage.say(command("k1", "first", reason="It is not listed."), patch("p1", "one.py"), patch("p2", "two.py"))
    expect(page.locator("agent-waiting")).to_be_visible()
    page.evaluate("document.activeElement.blur()")


SIZES = [(400, 360), (1280, 360), (640, 440), (400, 620), (1280, 620), (1280, 800)]


@pytest.mark.drawn(4)
@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("draft", [0, 12])
def test_all_gives_way_to_what_is_to_be_decided(show: ShowAgent, width: int, height: int, draft: int) -> None:
    page, stage = show(viewport={"width": width, "height": height})
    crowded(page, stage, draft)
    page.keyboard.press("w")
    meant(request(page, "Run first"))
    asked = page.locator("agent-request pre.command", has_text="first")
    assert asked.evaluate(ALL_OF_IT)
    page.keyboard.press("a")
    stage.hears(lambda said: isinstance(said, ApprovalResponse))
    assert answers(stage) == [("k1", True)]


@pytest.mark.drawn(4)
@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("key", ["a", "Enter on Approve", "Space on Approve"])
def test_no_key_approves_what_is_out_of_sight(show: ShowAgent, width: int, height: int, key: str) -> None:
    """The focus is there, and the reader has scrolled away. The first press brings it back, the next one means it."""
    page, stage = show(viewport={"width": width, "height": height})
    crowded(page, stage, 0)
    page.keyboard.press("w")
    card = request(page, "Run first")
    meant(card)
    name, _, on = key.partition(" on ")
    if on:
        button = card.get_by_role("button", name=on, exact=True)
        expect(button).to_be_enabled()
        button.focus()
    asked = page.locator("agent-request pre.command", has_text="first")
    transcript = page.locator("agent-transcript")
    transcript.hover(position={"x": 5, "y": 5})
    page.mouse.wheel(0, -5_000)
    page.wait_for_function("(place) => place.scrollTop === 0", arg=transcript.element_handle())
    assert not asked.evaluate(ALL_OF_IT)
    page.keyboard.press(name)
    meant(card)
    assert asked.evaluate(ALL_OF_IT)
    assert answers(stage) == []
    page.keyboard.press("a")
    stage.hears(lambda said: isinstance(said, ApprovalResponse))
    assert answers(stage) == [("k1", True)]


def test_a_long_change_is_approved_by_who_has_read_to_its_end(show: ShowAgent) -> None:
    """Its beginning is out of sight by then."""
    page, stage = show(viewport={"width": 400, "height": 480})
    lines = "".join(f"+line {number}\n" for number in range(200))
    stage.begin()
    stage.say(patch("p1", "one.py", f"--- /dev/null\n+++ b/one.py\n@@ -0,0 +1,200 @@\n{lines}", action="create"))
    page.keyboard.press("w")
    card = request(page, "New file one.py")
    meant(card)
    page.locator("agent-transcript").hover(position={"x": 5, "y": 5})
    page.mouse.wheel(0, 20_000)
    expect(card.get_by_role("button", name="Reject…", exact=False)).to_be_in_viewport()
    page.keyboard.press("a")
    stage.hears(lambda said: isinstance(said, ApprovalResponse))
    assert answers(stage) == [("p1", True)]


@pytest.mark.parametrize(("width", "height"), [(400, 400), (400, 700), (1280, 800)])
def test_what_is_told_for_a_moment_covers_nothing(show: ShowAgent, width: int, height: int) -> None:
    page, stage = show(viewport={"width": width, "height": height})
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("w")
    told = page.locator("house-notices").get_by_text("Nothing waits for an answer.")
    expect(told).to_be_visible()
    crowded(page, stage, 1)
    page.keyboard.press("e")
    stage.tell_refused("It cannot be done now, for reasons that take more than one line of a narrow window to tell.")
    expect(page.locator("house-notices").get_by_text("It cannot be done", exact=False)).to_be_visible()
    is_in_sight(page, height)
    page.keyboard.press("w")
    assert page.locator("agent-request pre.command", has_text="first").evaluate(ALL_OF_IT)
