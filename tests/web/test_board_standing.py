"""The board page without a script: the time of its picture, its controls, clearing it, other rooms."""

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.board_stage import Show, say, showing
from tests.web.board_words import CLEAR, Message, announce, spawn
from tests.web.looks import LOOKS, looked_at
from tests.web.test_design import CONTRASTS, NAMELESS, SEEN_THROUGH

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NOT_THERE = "the server responded with a status of 404"
CONTROLS = [
    spawn("button", "b", text="Start"),
    spawn("textbox", "t", placeholder="Your name"),
    spawn("console", "k", showInput=True, text="> "),
    spawn("grid", "g", numColumns=4, numRows=4),
    spawn("canvas", "c", width=100, height=50),
]


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    with showing(chromium, tolerated=NOT_THERE) as show:
        yield show


def state(scripts: int, drawn_at: float | None = None, **more: bool) -> Message:
    payload = {"scripts": scripts, "drawnAt": None if drawn_at is None else int(drawn_at * 1000), **more}
    return {"id": 0, "component": "board", "type": "state", "payload": payload}


def room(name: str, scripts: int = 0, pages: int = 0, drawn_at: float | None = None) -> Message:
    path = "/" if name == "default" else f"/session/{name}"
    return {"name": name, "path": path, "scripts": scripts, "pages": pages, "drawnAt": drawn_at}


def at(clock: str) -> float:
    """On the day of `on_that_day`."""
    return time.mktime(time.strptime(f"2022-03-02 {clock}", "%Y-%m-%d %H:%M"))


def on_that_day(page: Page) -> None:
    """Where a time is shown, it makes a difference whether it is of the same day: so no midnight may come."""
    page.clock.set_fixed_time(at("15:00"))


def line(page: Page) -> str:
    found = page.locator("board-standing > .line")
    expect(found).to_be_visible()
    return found.inner_text()


# -- the time of the picture


def test_a_board_whose_script_has_gone_says_from_when_it_is(show: Show) -> None:
    page, stage = show(*CONTROLS)
    on_that_day(page)
    expect(page.locator("board-standing > .line")).to_be_hidden()  # the state is not known yet
    say(page, stage, state(0, at("14:03")))
    assert line(page) == "As of 14:03. No script is connected, so clicks and typing have no effect."
    say(page, stage, state(0, time.mktime((2021, 11, 5, 9, 7, 0, 0, 0, -1))))
    assert line(page).startswith("As of 5 November 2021, 09:07. No script")
    say(page, stage, state(1, at("14:04")))
    expect(page.locator("board-standing > .line")).to_be_hidden()


@pytest.mark.parametrize("scripts", [0, 1])
def test_while_a_large_board_comes_in_a_part_of_it_is_not_taken_for_all(show: Show, scripts: int) -> None:
    page, stage = show(state(scripts, at("14:03"), showing=True))
    on_that_day(page)
    assert line(page) == "The board is still coming in."
    say(page, stage, *CONTROLS)
    assert line(page) == "The board is still coming in."
    expect(page.locator("board-welcome")).to_be_hidden()
    say(page, stage, state(scripts, at("14:03")))
    if scripts:
        expect(page.locator("board-standing > .line")).to_be_hidden()
    else:
        assert line(page).startswith("As of 14:03. No script is connected")


def test_an_empty_board_says_nothing_of_the_kind(show: Show) -> None:
    page, stage = show(state(0))
    expect(page.locator("board-welcome")).to_contain_text("No script is drawing here yet")
    expect(page.locator("board-standing > .line")).to_be_hidden()
    stage.tell_all(state(1))
    expect(page.locator("board-welcome")).to_contain_text("A script is connected, and nothing is drawn")


def test_while_the_connection_is_lost_only_that_is_said(show: Show) -> None:
    page, stage = show(*CONTROLS)
    say(page, stage, state(0, at("14:03")))
    line(page)
    stage.refusing = True
    stage.drop()
    expect(page.locator("house-banner")).to_be_visible()
    expect(page.locator("board-standing > .line")).to_be_hidden()


# -- its controls


def test_every_control_says_that_nobody_hears_it_and_nothing_typed_is_lost(show: Show) -> None:
    page, stage = show(*CONTROLS)
    say(page, stage, state(0, at("14:03")))
    notes = page.locator("board-root .note")
    page.get_by_role("button", name="Start").press("Enter")
    expect(notes).to_have_text(["No script is connected, so this was not sent."])
    box = page.get_by_placeholder("Your name")
    box.press_sequentially("Ada")
    box.press("Tab")
    expect(notes.nth(1)).to_have_text("No script is connected, so this was not sent. It stays here.")
    expect(box).to_have_value("Ada")
    answer = page.get_by_label("Console input")
    answer.press_sequentially("yes")
    answer.press("Enter")
    expect(answer).to_have_value("yes")
    page.locator("board-grid .frame").press("Enter")
    page.locator("board-canvas .frame").press("Enter")
    expect(notes).to_have_count(5)
    expect(page.get_by_role("button", name="Start")).to_have_attribute("title", re.compile("so this has no effect"))
    assert stage._of("event") == []

    say(page, stage, announce(), state(1, at("14:04")))  # a script is connected: everything is normal
    expect(notes).to_have_count(0)
    assert page.get_by_role("button", name="Start").get_attribute("title") is None
    box.press("Enter")
    answer.press("Enter")
    assert stage.events(2) == [
        {"src": "t", "event": "submit", "value": "Ada"},
        {"src": "k", "event": "submit", "value": "yes"},
    ]


def test_what_is_drawn_on_an_ended_board_looks_ended_too(show: Show) -> None:
    page, stage = show(state(0, at("14:03")), *CONTROLS)
    line(page)
    stage.tell_all(CLEAR, spawn("button", "new", text="Another"))  # as when the whole board is sent again
    button = page.get_by_role("button", name="Another")
    expect(button).to_have_attribute("title", re.compile("so this has no effect"))


# -- clearing


def to_clear(page: Page) -> None:
    """Open the question about clearing with the keyboard."""
    page.get_by_role("button", name="Board menu").press("Enter")
    page.get_by_role("button", name="Clear board…").press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()


def test_clearing_is_asked_once_begins_at_cancel_and_works_by_keyboard(show: Show) -> None:
    page, stage = show(*CONTROLS, state(2, at("14:03")))
    to_clear(page)
    expect(page.get_by_role("dialog")).to_contain_text("The 2 connected scripts are told")
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    to_clear(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert stage._of("clear") == []
    to_clear(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert stage.heard("clear") == [{"id": 0, "component": "board", "type": "clear"}]
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_an_empty_board_is_not_cleared(show: Show) -> None:
    page, stage = show()
    page.get_by_role("button", name="Board menu").press("Enter")
    page.get_by_role("button", name="Clear board…").press("Enter")
    expect(page.get_by_text("There is nothing on the board.")).to_be_visible()
    assert stage._of("clear") == []


# -- the rooms


def rows(page: Page, place: str) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(f"{place} room-list li").all_inner_texts()]


def test_the_rooms_are_listed_in_the_bar_and_who_has_gone_leaves_the_list(show: Show) -> None:
    page, stage = show(*CONTROLS, path="session/b")
    on_that_day(page)
    stage.listed = [room("default"), room("a", 2, 1, 1000 * at("14:03")), room("b", 0, 1)]
    page.get_by_role("button", name="Rooms").press("Enter")
    expect(page.locator("board-rooms li")).to_have_count(3)
    assert rows(page, "board-rooms") == [
        "default nobody there empty",
        "a 2 scripts, 1 page drawn 14:03",
        "b 1 page empty",
    ]
    expect(page.locator("board-rooms [aria-current=page]")).to_have_text("b")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="default")).to_be_focused()
    page.keyboard.press("Tab")
    stage.listed = [room("default"), room("a", 1, 1, 1000 * at("14:05"))]
    expect(page.locator("board-rooms li")).to_have_count(2)
    assert rows(page, "board-rooms")[1] == "a 1 script, 1 page drawn 14:05"
    link = page.get_by_role("link", name="a", exact=True)
    expect(link).to_be_focused()
    link.press("Enter")
    expect(page).to_have_url(stage.url + "session/a")
    page.wait_for_load_state()  # as in tests/house/test_pages.py


def test_a_list_that_cannot_be_told_shows_nobody(show: Show) -> None:
    page, stage = show(*CONTROLS)
    stage.listed = [room("default"), room("a", 1)]
    page.get_by_role("button", name="Rooms").press("Enter")
    expect(page.locator("board-rooms li")).to_have_count(2)
    stage.listed = None
    expect(page.locator("board-rooms li")).to_have_count(0)
    expect(page.locator("board-rooms .hint")).to_have_text("The list of rooms is not available at the moment.")


def test_an_empty_board_lists_the_other_rooms(show: Show) -> None:
    page, stage = show()
    expect(page.get_by_role("heading", name="Other rooms")).to_be_hidden()
    stage.listed = [room("default", 0, 1), room("a", 1)]
    expect(page.get_by_role("heading", name="Other rooms")).to_be_visible()
    assert rows(page, "board-welcome") == ["a 1 script empty"]


# -- how it looks


def test_all_of_it_is_named_readable_and_fits(show: Show) -> None:
    page, stage = show(*CONTROLS, state(0, at("14:03")))
    stage.listed = [room("default", 0, 1), room("a-rather-long-name-of-a-room-that-somebody-gave", 1)]
    line(page)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Rooms").click()
    expect(page.locator("board-rooms li")).to_have_count(2)
    for width, colors in LOOKS:
        with looked_at(page, width, colors):
            for question in (CONTRASTS, NAMELESS, SEEN_THROUGH):
                assert page.evaluate(question) == []
    page.keyboard.press("Escape")
    to_clear(page)
    for width, colors in LOOKS:
        with looked_at(page, width, colors):
            for question in (CONTRASTS, NAMELESS):
                assert page.evaluate(question) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
