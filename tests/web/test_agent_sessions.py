"""Sessions that come and go: what is written before the first connection is there; and the focus when one is deleted,
which goes to what took its place, in whatever order the page hears of it; and Escape, which stops
a turn that the page has not heard of yet."""

import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from codec.agent.client_messages import CancelTurn, UserSays
from tests.web.agent_stage import PATIENCE, ShowAgent, showing_agent

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture
def show(chromium: Browser) -> Iterator[ShowAgent]:
    with showing_agent(chromium) as show:
        yield show


def delete(page: Page) -> None:
    page.get_by_role("button", name="Delete: A session").focus()
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Delete").focus()
    page.keyboard.press("Enter")


def is_left_well(page: Page) -> None:
    expect(page.locator("agent-sessions li")).to_have_count(0)
    expect(page.locator("agent-sessions .create")).to_be_focused()


def test_what_is_said_before_the_first_connection_is_sent_with_it(show: ShowAgent) -> None:
    """However long that takes: who is quick has written a message by then."""
    page, stage = show()
    stage.shut("POST tickets")
    page.reload()
    stage.stands("POST tickets")
    message = page.get_by_role("textbox", name="Message")
    message.press_sequentially("Where is it?")
    message.press("Enter")
    expect(message).to_have_value("Where is it?")
    stage.open("POST tickets")
    assert stage.hears(lambda said: isinstance(said, UserSays)).message == "Where is it?"
    expect(message).to_have_value("")


def test_what_is_written_on_meanwhile_is_not_sent_by_itself(show: ShowAgent) -> None:
    page, stage = show()
    stage.shut("POST tickets")
    page.reload()
    stage.stands("POST tickets")
    message = page.get_by_role("textbox", name="Message")
    message.press_sequentially("Where")
    message.press("Enter")
    message.press_sequentially(" is it?")
    stage.open("POST tickets")
    expect(page.locator("house-bar")).to_contain_text("live")
    message.press("Enter")
    stage.hears(lambda said: isinstance(said, UserSays))
    assert [said.message for said in stage.heard if isinstance(said, UserSays)] == ["Where is it?"]


def test_escape_stops_what_was_sent_a_moment_ago(show: ShowAgent) -> None:
    """The page has not been told yet that it runs."""
    page, stage = show()
    came, pressed = threading.Event(), threading.Event()

    def hold(_said: UserSays) -> tuple[()]:
        came.set()
        assert pressed.wait(PATIENCE)
        return ()

    stage.begins = hold
    message = page.get_by_role("textbox", name="Message")
    message.press_sequentially("Do it")
    message.press("Enter")
    assert came.wait(PATIENCE)
    message.press("Escape")
    pressed.set()
    stage.hears(lambda said: isinstance(said, CancelTurn))


def test_the_answer_comes_first_and_the_list_late(show: ShowAgent) -> None:
    page, stage = show()
    stage.shut("GET sessions")
    delete(page)
    stage.stands("GET sessions")
    stage.tell_gone()
    expect(page.get_by_role("button", name="Begin a session")).to_be_visible()
    stage.open("GET sessions")
    is_left_well(page)


def test_the_stream_tells_it_before_the_answer_comes_and_the_list_comes_last(show: ShowAgent) -> None:
    page, stage = show()
    stage.shut("DELETE sessions", "GET workspaces")
    delete(page)
    stage.stands("DELETE sessions")
    stage.tell_gone()
    stage.stands("GET workspaces")
    stage.open("DELETE sessions")
    expect(page.get_by_role("button", name="Begin a session")).to_be_visible()
    stage.open("GET workspaces")
    is_left_well(page)


def test_the_stream_and_the_list_tell_it_before_the_answer_comes(show: ShowAgent) -> None:
    page, stage = show()
    stage.shut("DELETE sessions")
    delete(page)
    stage.stands("DELETE sessions")
    stage.tell_gone()
    is_left_well(page)
    page.get_by_role("button", name="Add a folder").focus()
    stage.open("DELETE sessions")
    stage.hears(lambda asked: asked[0] == "DELETE")
    expect(page.get_by_role("button", name="Add a folder")).to_be_focused()  # whoever goes on meanwhile is left there


def test_a_list_that_is_overtaken_by_one_that_was_asked_for_later_is_waited_for(show: ShowAgent) -> None:
    page, stage = show()
    stage.shut("GET workspaces")
    delete(page)
    stage.stands("GET workspaces")
    page.get_by_role("combobox", name="Workspace").dispatch_event("change")  # asks again, and moves no focus
    stage.open("GET workspaces")
    is_left_well(page)


def test_a_session_that_is_deleted_elsewhere_takes_no_focus_with_it(show: ShowAgent) -> None:
    page, stage = show()
    page.get_by_role("button", name="Rename: A session").focus()
    stage.gone = True
    stage.tell_gone()
    is_left_well(page)
