"""Sessions that come and go: what is written before the first connection is there; and the focus when one is deleted,
which goes to what took its place, in whatever order the page hears of it; and Escape, which stops
a turn that the page has not heard of yet."""

import threading
from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Locator, Page, expect

from codec.agent.client_messages import CancelTurn, UserSays
from codec.agent.events import QueuedMessage, UserMessage
from tests.patience import PATIENCE
from tests.web.agent_stage import AgentStage, ShowAgent, opened, showing_agent

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
    message = says(page, "Where is it?")
    expect(message).to_have_value("Where is it?")
    stage.open("POST tickets")
    assert stage.hears(lambda said: isinstance(said, UserSays)).message == "Where is it?"
    expect(message).to_have_value("")


def test_what_is_written_on_meanwhile_is_not_sent_by_itself(show: ShowAgent) -> None:
    page, stage = show()
    stage.shut("POST tickets")
    page.reload()
    stage.stands("POST tickets")
    message = says(page, "Where")
    message.press_sequentially(" is it?")
    stage.open("POST tickets")
    expect(page.locator("house-bar")).to_contain_text("live")
    message.press("Enter")
    stage.hears(lambda said: isinstance(said, UserSays))
    assert [said.message for said in messages(stage)] == ["Where is it?"]


def says(page: Page, text: str) -> Locator:
    """Into the field for messages."""
    message = page.get_by_role("textbox", name="Message")
    message.press_sequentially(text)
    message.press("Enter")
    return message


def messages(stage: AgentStage) -> list[UserSays]:
    return [each for each in stage.heard if isinstance(each, UserSays)]


def forgotten(page: Page, stage: AgentStage, text: str) -> UserSays:
    """It is said, and the connection is lost before the server has shown it."""
    stage.forgets, stage.refusing = True, True
    says(page, text)
    said: UserSays = stage.hears(lambda said: isinstance(said, UserSays) and said.message == text)
    stage.drop()
    are_doubtful(page, text)
    return said


def are_doubtful(page: Page, *texts: str) -> None:
    """These, and no others, are shown as what may not have arrived."""
    expect(page.locator("agent-composer .queue li")).to_have_text(list(texts))
    expect(page.get_by_text("may not have arrived", exact=False)).to_be_visible(visible=bool(texts))


def comes_back(page: Page, stage: AgentStage) -> None:
    windows = stage.attended
    connects(page, stage)
    stage.attends(windows + 1)


def connects(page: Page, stage: AgentStage) -> None:
    stage.forgets, stage.refusing = False, False
    page.evaluate("dispatchEvent(new Event('online'))")  # it waits no longer than it has to


def is_connected_and_knows_nothing(page: Page, stage: AgentStage) -> None:
    """There is a connection again, on which nothing was heard yet of what was taken on the one before."""
    stage.shut("hello")
    connects(page, stage)
    stage.stands("hello")
    expect(page.locator("house-bar")).to_contain_text("live")


def nothing_is_said_but_what_is_written_instead(page: Page, stage: AgentStage) -> None:
    """Of "Delete it!", which was taken back."""
    message = page.get_by_role("textbox", name="Message")
    message.press("Control+a")
    message.press_sequentially("Keep it!")
    message.press("Enter")
    expect(page.locator("agent-transcript .said")).to_have_text(["Keep it!"])
    stage.hears(lambda said: isinstance(said, UserSays) and said.message == "Keep it!")
    assert [each.message for each in messages(stage)] == ["Delete it!", "Keep it!"]


def test_what_was_lost_with_its_connection_is_said_again_with_its_id_and_once(show: ShowAgent) -> None:
    page, stage = show()
    said = forgotten(page, stage, "Where is it?")
    comes_back(page, stage)
    expect(page.locator("agent-transcript .said")).to_have_text(["Where is it?"])
    are_doubtful(page)
    stage.hears(lambda _: len(messages(stage)) == 2)
    assert messages(stage) == [said, said]
    stage.end()
    stage.drop()
    stage.attends(3)
    expect(page.locator("agent-transcript .said")).to_have_text(["Where is it?"])
    assert len(messages(stage)) == 2, "what was shown is not said again"


def test_what_was_kept_before_its_connection_was_lost_is_not_said_again(show: ShowAgent) -> None:
    page, stage = show()
    said = forgotten(page, stage, "Where is it?")
    stage.begin("Where is it?")
    stage.log[-1] = replace(stage.log[-1], message_id=said.message_id)
    comes_back(page, stage)
    expect(page.locator("agent-transcript .said")).to_have_text(["Where is it?"])
    are_doubtful(page)
    stage.end()
    expect(page.locator("agent-transcript .foot")).to_contain_text("Done")
    assert messages(stage) == [said]


def test_what_was_stopped_while_there_was_no_connection_is_written_again_and_not_said(show: ShowAgent) -> None:
    page, stage = show()
    forgotten(page, stage, "Delete it!")
    message = page.get_by_role("textbox", name="Message")
    message.press("Escape")
    expect(message).to_have_value("Delete it!")
    are_doubtful(page)
    comes_back(page, stage)
    nothing_is_said_but_what_is_written_instead(page, stage)


def test_one_of_the_doubtful_is_taken_back_and_the_others_are_said(show: ShowAgent) -> None:
    page, stage = show()
    forgotten(page, stage, "Where is it?")
    is_connected_and_knows_nothing(page, stage)
    message = says(page, "Delete it!")
    are_doubtful(page, "Where is it?", "Delete it!")
    page.get_by_role("button", name="Take back: Delete it!").focus()
    page.keyboard.press("Enter")
    are_doubtful(page, "Where is it?")
    expect(page.get_by_role("button", name="Take back: Where is it?")).to_be_focused()
    expect(message).to_have_value("Delete it!")
    stage.open("hello")
    expect(page.locator("agent-transcript .said")).to_have_text(["Where is it?"])
    are_doubtful(page)
    assert [each.message for each in messages(stage)] == ["Where is it?", "Where is it?"]


@pytest.mark.parametrize("taken", [False, True])
def test_what_is_said_on_a_new_connection_overtakes_nothing_and_is_said_once(show: ShowAgent, taken: bool) -> None:
    """Also while the page has not heard yet what became of what was said on the connection before."""
    page, stage = show()
    first = forgotten(page, stage, "Where is it?")
    if taken:
        stage.begin("Where is it?")
        stage.log[-1] = replace(stage.log[-1], message_id=first.message_id)
        stage.end()
    is_connected_and_knows_nothing(page, stage)
    message = says(page, "And why?")
    expect(message).to_have_value("")
    stage.open("hello")
    expect(page.locator("agent-transcript .said")).to_have_text(["Where is it?", "And why?"])
    stage.hears(lambda said: isinstance(said, UserSays) and said.message == "And why?")
    expected = ["Where is it?", "And why?"] if taken else ["Where is it?", "Where is it?", "And why?"]
    assert [each.message for each in messages(stage)] == expected


def test_what_is_said_on_a_connection_that_is_lost_at_once_is_said_on_the_next(show: ShowAgent) -> None:
    page, stage = show()
    stage.refusing = True
    stage.drop()
    expect(page.locator("house-bar")).not_to_contain_text("live")
    is_connected_and_knows_nothing(page, stage)
    says(page, "Where is it?")
    stage.refusing = True
    stage.drop()
    stage.open("hello")
    are_doubtful(page, "Where is it?")
    comes_back(page, stage)
    expect(page.locator("agent-transcript .said")).to_have_text(["Where is it?"])


def test_escape_takes_back_what_waits_to_be_said_again(show: ShowAgent) -> None:
    page, stage = show()
    forgotten(page, stage, "Delete it!")
    is_connected_and_knows_nothing(page, stage)
    message = page.get_by_role("textbox", name="Message")
    message.press("Escape")
    expect(message).to_have_value("Delete it!")
    windows = stage.attended
    stage.open("hello")
    stage.attends(windows + 1)
    stage.hears(lambda said: isinstance(said, CancelTurn))
    nothing_is_said_but_what_is_written_instead(page, stage)


def test_what_is_given_back_stands_above_what_has_been_written_meanwhile(show: ShowAgent) -> None:
    page, stage = show()
    forgotten(page, stage, "Where is it?")
    message = page.get_by_role("textbox", name="Message")
    message.press_sequentially("And")
    message.press("Escape")
    message.press_sequentially(" why?")
    expect(message).to_have_value("Where is it?\n\nAnd why?")


def test_what_is_refused_can_be_said_later_as_it_was_written(show: ShowAgent) -> None:
    page, stage = show()
    stage.why_not = "The message was not taken, because it cannot be kept: the disk is full. Say it again later."
    message = says(page, "Where is it?")
    expect(page.get_by_text(stage.why_not)).to_be_visible()
    expect(message).to_have_value("Where is it?")
    stage.why_not = ""
    message.press("Enter")
    expect(page.locator("agent-transcript .said")).to_have_text(["Where is it?"])
    expect(message).to_have_value("")


def test_escape_stops_what_was_sent_a_moment_ago(show: ShowAgent) -> None:
    """The page has not been told yet that it runs."""
    page, stage = show()
    came, pressed = threading.Event(), threading.Event()

    def hold(_said: UserSays) -> tuple[()]:
        came.set()
        assert pressed.wait(PATIENCE)
        return ()

    stage.begins = hold
    message = says(page, "Do it")
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


# -- nothing that was written goes without a word


def test_what_is_written_stays_over_a_reload(show: ShowAgent) -> None:
    page, _ = show()
    page.get_by_role("textbox", name="Message").press_sequentially("half a sentence")
    page.reload()
    expect(page.get_by_role("textbox", name="Message")).to_have_value("half a sentence")
    says(page, " and the rest")
    expect(page.locator("agent-transcript .said")).to_have_text(["half a sentence and the rest"])
    page.reload()
    expect(page.locator("agent-transcript .said")).to_have_text(["half a sentence and the rest"])
    expect(page.get_by_role("textbox", name="Message")).to_have_value("")


def is_there_once(page: Page, stage: AgentStage, *texts: str) -> None:
    """In the transcript, and nowhere else on the page."""
    expect(page.locator("agent-transcript .said")).to_have_text(list(texts))
    expect(page.locator("agent-composer .queue li")).to_have_count(0)
    expect(page.get_by_role("textbox", name="Message")).to_have_value("")


def test_what_may_not_have_arrived_stays_over_a_reload_and_is_said_again_with_its_ids(show: ShowAgent) -> None:
    page, stage = show()
    forgotten(page, stage, "Where is it?")
    is_connected_and_knows_nothing(page, stage)
    says(page, "and this")
    page.reload()
    are_doubtful(page, "Where is it?", "and this")
    stage.open("hello")
    is_there_once(page, stage, "Where is it?", "and this")
    first, again, other = messages(stage)
    assert first == again
    assert other.message == "and this"


def leaves_by_reload(page: Page, _stage: AgentStage) -> Page:
    page.reload()
    return page


def leaves_for_another_session(page: Page, stage: AgentStage) -> Page:
    windows = stage.attended
    page.evaluate("location.hash = '#/other'")
    stage.attends(windows + 1)
    page.go_back()
    return page


def closes_the_tab(page: Page, stage: AgentStage) -> Page:
    context = page.context
    with page.expect_event("close"):
        page.close(run_before_unload=True)
    return opened(context, stage)


LEAVES = {"a reload": leaves_by_reload, "another session": leaves_for_another_session, "a closed tab": closes_the_tab}


@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("taken", [False, True])
def test_what_a_silent_server_has_not_shown_is_there_once_when_one_comes_back(
    show: ShowAgent, leaves: str, taken: bool
) -> None:
    """The connection seems to live: the server may be stopped, and then be killed, or take it when it goes on."""
    page, stage = show()
    stage.forgets = True
    says(page, "Where is it?")
    said: UserSays = stage.hears(lambda said: isinstance(said, UserSays))
    stage.forgets = False
    if taken:
        stage.say(UserMessage(message=said.message, message_id=said.message_id or "", turn_id="t1", by="web"))
    page = LEAVES[leaves](page, stage)
    is_there_once(page, stage, "Where is it?")
    assert messages(stage) == [said] * (1 if taken else 2)


def test_what_is_found_much_later_is_written_again_and_not_said(show: ShowAgent) -> None:
    page, stage = show()
    stage.forgets = True
    says(page, "Where is it?")
    stage.hears(lambda said: isinstance(said, UserSays))
    page.evaluate("location.hash = '#/other'")
    page.wait_for_function("() => 'agent-unconfirmed' in localStorage")
    page.evaluate(
        """() => {
            const kept = JSON.parse(localStorage['agent-unconfirmed']);
            for (const each of Object.values(kept).flat()) each.at -= 3_600_000;
            localStorage['agent-unconfirmed'] = JSON.stringify(kept);
        }"""
    )
    page.go_back()
    message = page.get_by_role("textbox", name="Message")
    expect(message).to_have_value("Where is it?")
    expect(page.locator("agent-composer .queue li")).to_have_count(0)
    assert len(messages(stage)) == 1


def test_what_was_sent_is_shown_at_once_as_not_confirmed(show: ShowAgent) -> None:
    page, stage = show()
    stage.forgets = True
    message = says(page, "Where is it?")
    expect(message).to_have_value("")
    listed = page.locator("agent-composer .queue li")
    expect(listed).to_have_text("Where is it?not confirmed yet", timeout=3_000)
    said: UserSays = stage.hears(lambda said: isinstance(said, UserSays))
    stage.say(UserMessage(message=said.message, message_id=said.message_id or "", turn_id="t1", by="web"))
    is_there_once(page, stage, "Where is it?")


def test_escape_says_nothing_where_nothing_runs(show: ShowAgent) -> None:
    page, stage = show()
    message = page.get_by_role("textbox", name="Message")
    message.press_sequentially("Where")
    for _ in range(3):
        message.press("Escape")
    expect(message).to_have_value("Where")
    message.press("Enter")
    stage.hears(lambda said: isinstance(said, UserSays))
    assert stage.heard == messages(stage)
    message.press("Escape")
    stage.hears(lambda said: isinstance(said, CancelTurn))


def test_what_a_silent_server_does_not_show_is_listed_and_no_more_once_it_is_shown(show: ShowAgent) -> None:
    page, stage = show()
    stage.forgets = True
    says(page, "Where is it?")
    are_doubtful(page, "Where is it?")  # after a while
    said = messages(stage)[0]
    stage.say(UserMessage(message=said.message, message_id=said.message_id or "", turn_id="t1", by="browser"))
    are_doubtful(page)


def test_to_take_back_one_by_keyboard_leads_to_no_other_that_goes_by_itself(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    queued = [QueuedMessage(message_id=f"m{n}", message=f"message {n}", delivery="queue") for n in range(3)]
    stage.change(queued=tuple(queued))
    third = page.get_by_role("button", name="Take back: message 2")
    third.focus()
    stage.change(queued=tuple(queued[1:]))
    expect(page.locator("agent-composer .queue li")).to_have_count(2)
    expect(third).to_be_focused()
    stage.change(queued=(queued[1],))
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
