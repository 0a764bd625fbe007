"""A key that is held answers no question that has come meanwhile, presses nothing twice and writes into no field that
it has led to (web/house/held.js): on each page where a key or a button asks, leads or does something."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, expect

from codec.ipc.desk import RequestDetail
from tests.ipc.desk_kit import fact
from tests.web import scenes
from tests.web.agent_stage import ShowAgent, showing_agent
from tests.web.conftest import Visit
from tests.web.desk_stage import ShowDesk, showing_desk
from tests.web.judge_stage import Show, contest, init, problem, showing
from tests.web.stage import FRAMES

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]

REPEATS = 15


@pytest.fixture(scope="module")
def desk(chromium: Browser) -> Iterator[ShowDesk]:
    with showing_desk(chromium) as show:
        yield show


@pytest.fixture
def agent(chromium: Browser) -> Iterator[ShowAgent]:
    with showing_agent(chromium) as show:
        yield show


@pytest.fixture
def judge(chromium: Browser) -> Iterator[Show]:
    with showing(chromium) as show:
        yield show


def hold(page: Page, key: str, until: Callable[[], Any]) -> None:
    """It is held until this is so, and then for a good while longer."""
    page.keyboard.down(key)
    until()
    for _ in range(REPEATS):
        page.keyboard.down(key)  # playwright repeats a key that is down
        page.evaluate(FRAMES)
    page.keyboard.up(key)
    page.evaluate(FRAMES)


def is_asked(page: Page) -> Callable[[], None]:
    return lambda: expect(page.locator("dialog[open]")).to_be_visible()


def posts(page: Page) -> list[str]:
    asked: list[str] = []

    def hear(request: Request) -> None:
        if request.method == "POST":
            asked.append(request.url)

    page.on("request", hear)
    return asked


def failed(count: int) -> list[RequestDetail]:
    now = time.time()
    return [RequestDetail(fact=fact(f"f{at}", "gave up", now - at, attempts=3, message="Busy.")) for at in range(count)]


def pick_two(page: Page) -> None:
    page.locator("desk-list").focus()
    for key in ("x", "j", "x"):
        page.keyboard.press(key)
    expect(page.locator(".picked b")).to_have_text("2 picked")


def by_button(name: str) -> Callable[[Page], str]:
    def reach(page: Page) -> str:
        page.get_by_role("button", name=name).focus()
        return "Enter"

    return reach


def by_button_of_two(page: Page) -> str:
    pick_two(page)
    page.locator(".picked").get_by_role("button", name="Archive").focus()
    return "Enter"


def by_key_of_two(page: Page) -> str:
    pick_two(page)
    page.locator("desk-list").focus()
    return "a"


DESK = {
    "Requeue all": by_button("Requeue all"),
    "Archive…": by_button("Archive…"),
    "two that are picked": by_button_of_two,
    "a on two that are picked": by_key_of_two,
}


@pytest.mark.parametrize("way", DESK)
def test_the_desk_asks_and_the_key_that_asked_does_not_answer(desk: ShowDesk, way: str) -> None:
    page, _ = desk(*failed(4))
    expect(page.locator("desk-list .row")).to_have_count(4)
    asked = posts(page)
    hold(page, DESK[way](page), is_asked(page))
    expect(page.locator("dialog[open]")).to_be_visible()
    assert asked == []
    with page.expect_request(lambda request: request.method == "POST"):
        page.locator("dialog[open] .yes").press("Enter")  # whoever presses it anew answers
    assert len(asked) == 1


def test_a_request_is_requeued_once_however_long_the_key_is_held(desk: ShowDesk) -> None:
    page, _ = desk(*failed(1), path="#/f0")
    button = page.locator("desk-detail").get_by_role("button", name="Requeue")
    button.focus()
    asked = posts(page)
    with page.expect_request(lambda request: request.method == "POST"):
        hold(page, "Enter", lambda: None)
    assert len(asked) == 1


def test_the_agent_asks_and_the_key_that_asked_does_not_answer(agent: ShowAgent) -> None:
    page, stage = agent()
    page.get_by_role("button", name="Delete: A session").focus()
    hold(page, "Enter", is_asked(page))
    expect(page.get_by_role("dialog")).to_be_visible()
    assert stage.asked == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Rename: A session").focus()
    hold(page, "Enter", is_asked(page))
    expect(page.get_by_role("textbox", name="Name of the session")).to_have_value("A session")
    assert stage.asked == []


def test_escape_that_is_held_closes_one_thing(agent: ShowAgent) -> None:
    page, stage = agent()
    stage.begin()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    dialog = page.locator("dialog[open]")
    expect(dialog).to_be_visible()
    hold(page, "Escape", lambda: expect(dialog).to_have_count(0))
    assert stage.heard == []


def holds_one_slash(page: Page, field: Locator) -> None:
    page.evaluate("document.activeElement.blur()")
    hold(page, "/", lambda: expect(field).to_be_focused())
    expect(field).to_have_value("")
    page.keyboard.down("x")
    page.keyboard.down("x")  # in its own field a key goes on
    page.keyboard.up("x")
    expect(field).to_have_value("xx")


def test_the_key_that_leads_to_the_consoles_search_writes_nothing_there(visit: Visit) -> None:
    page, _ = visit(scenes.small())
    holds_one_slash(page, page.get_by_role("searchbox"))


def test_the_key_that_leads_to_the_desks_search_writes_nothing_there(desk: ShowDesk) -> None:
    page, _ = desk(*failed(1))
    holds_one_slash(page, page.get_by_role("searchbox"))


def test_the_key_that_leads_to_the_judges_search_writes_nothing_there(judge: Show) -> None:
    page, _ = judge(init(problem("a")), contest())
    holds_one_slash(page, page.get_by_role("searchbox"))


def test_the_key_that_leads_to_the_agents_search_writes_nothing_there(agent: ShowAgent) -> None:
    page, _ = agent()
    page.evaluate("document.activeElement.blur()")
    holds_one_slash(page, page.locator("agent-search input").first)


def test_a_command_that_enter_has_completed_is_not_sent_by_the_same_press(agent: ShowAgent) -> None:
    page, stage = agent()
    field = page.get_by_role("textbox", name="Message")
    field.press_sequentially("/expl")
    hold(page, "Enter", lambda: expect(field).to_have_value("/explain "))
    expect(field).to_have_value("/explain ")
    assert stage.heard == []
    page.keyboard.down("Shift")
    for _ in range(3):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    page.keyboard.up("Shift")
    expect(field).to_have_value("/explain \n\n\n")
