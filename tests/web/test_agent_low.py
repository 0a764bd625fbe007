"""In a low window, too, one sees where one writes, whatever else there is to see."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page, expect

from codec.agent.events import QueuedMessage
from tests.web.agent_stage import ShowAgent, command, patch, plan, showing_agent

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TOPS_AND_BOTTOMS = """(names) => names.map((name) => {
  const { top, bottom } = document.querySelector(name).getBoundingClientRect();
  return [top, bottom];
})"""
IN_ORDER = ("house-bar", "agent-head", "agent-transcript", "agent-waiting", "agent-composer")


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
