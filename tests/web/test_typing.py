"""Nothing disturbs the reader's typing: input methods, the clipboard, Escape, and changes by a script meanwhile."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.web import board_stage
from tests.web.board_stage import Show, say
from tests.web.board_words import CLEAR, spawn, update
from tests.web.field_scenes import BOARD, Props, console, script
from tests.web.stage import write

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def show(chromium: Browser) -> Iterator[Show]:
    with board_stage.showing(chromium) as show:
        yield show


LINE_FIELDS = {"Text": "t", "Console input": "k"}


def compose(page: Page, text: str) -> CDPSession:
    """Begin to compose a word as an input method does. The test then ends the composition through the session."""
    session = page.context.new_cdp_session(page)
    session.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
    return session


@pytest.mark.parametrize("name", LINE_FIELDS)
def test_the_enter_that_chooses_a_word_submits_nothing(show: Show, name: str) -> None:
    page, stage = show(*BOARD)
    field = page.get_by_role("textbox", name=name, exact=True)
    write(field, "")
    session = compose(page, "日本")
    field.press("Enter")
    session.send("Input.insertText", {"text": "日本"})
    expect(field).to_have_value("日本")
    field.press("Enter")
    assert stage.events() == [{"src": LINE_FIELDS[name], "event": "submit", "value": "日本"}]


def test_the_escape_that_gives_a_word_up_takes_no_draft_back(show: Show) -> None:
    page, _ = show(*BOARD)
    box = page.get_by_role("textbox", name="Text")
    write(box, "kept ")
    compose(page, "日本")
    box.press("Escape")
    expect(box).to_have_value("kept 日本")  # whether the word itself stays is up to the input method


def test_the_escape_that_gives_a_word_up_empties_no_search(chromium: Browser, tmp_path: Path) -> None:
    with console(chromium, Props(tmp_path)) as scene:
        search = scene.page.get_by_role("searchbox")
        write(search, "store")
        compose(scene.page, "日本")
        search.press("Escape")
        expect(search).to_have_value("store日本")


@pytest.mark.parametrize("name", LINE_FIELDS)
def test_what_is_pasted_is_there_as_if_it_had_been_typed(show: Show, name: str) -> None:
    page, stage = show(*BOARD)
    field = page.get_by_role("textbox", name=name, exact=True)
    write(field, "ab")
    for keys in ("ControlOrMeta+a", "ControlOrMeta+c", "End", "ControlOrMeta+v"):
        field.press(keys)
    expect(field).to_have_value("abab")
    field.press("Enter")
    assert stage.events() == [{"src": LINE_FIELDS[name], "event": "submit", "value": "abab"}]


def test_a_draft_is_the_readers_until_it_is_submitted_or_taken_back(show: Show) -> None:
    page, stage = show(*BOARD)
    box, hint = page.get_by_role("textbox", name="Text"), page.locator("board-textbox .hint").first
    box.focus()
    box.press("End")
    for number, letter in enumerate(" and new"):
        box.press_sequentially(letter)
        say(page, stage, update("textbox", "t", "setValue", value=f"set {number}"))
    expect(box).to_have_value("old and new")
    expect(hint).to_have_text("The script has set this to “set 7” meanwhile. Escape drops your draft for that.")
    box.press("Escape")
    expect(box).to_have_value("set 7")
    expect(hint).to_be_hidden()
    say(page, stage, update("textbox", "t", "setValue", value="now"))
    expect(box).to_have_value("now")
    write(box, "mine")
    say(page, stage, update("textbox", "t", "setValue", value=""))
    expect(hint).to_have_text("The script has emptied this meanwhile. Escape drops your draft for that.")
    say(page, stage, CLEAR, *BOARD)  # the script starts again
    expect(hint).to_contain_text("set this to “old” meanwhile")
    expect(box).to_have_value("mine")
    box.press("Tab")
    expect(hint).to_be_hidden()
    assert stage.events() == [{"src": "t", "event": "submit", "value": "mine"}]


def test_a_box_without_a_draft_shows_what_a_script_that_begins_anew_sets(show: Show) -> None:
    page, stage = show(*BOARD)
    box = page.get_by_role("textbox", name="Text")
    box.focus()
    say(page, stage, CLEAR, spawn("textbox", "t", initialValue="another"))
    expect(box).to_have_value("another")
    expect(box).to_be_focused()


def test_escape_without_a_draft_says_nothing(show: Show) -> None:
    page, stage = show(*BOARD)
    box = page.get_by_role("textbox", name="Text")
    write(box, "draft")
    box.press("Escape")
    expect(box).to_have_value("old")
    box.press("Escape")
    box.press("Tab")
    page.get_by_role("button", name="Go", exact=True).click()
    assert stage.events() == [{"src": "b", "event": "click"}]


def test_the_cursor_of_a_half_written_line_stays_where_it_is_when_the_board_is_shown_anew(show: Show) -> None:
    page, stage = show(*BOARD)
    line = page.get_by_role("textbox", name="Console input")
    write(line, "ad")
    line.press("ArrowLeft")
    say(page, stage, CLEAR, *BOARD)
    page.keyboard.type("bc")
    expect(line).to_have_value("abcd")


def test_shift_enter_begins_a_plain_line_in_the_editor_and_a_composed_word_keeps_its_tab(
    chromium: Browser, tmp_path: Path
) -> None:
    with script(chromium, Props(tmp_path)) as scene:
        editor = scene.page.get_by_role("textbox", name="Python")
        write(editor, "if x:")
        editor.press("Shift+Enter")
        editor.press_sequentially("y")
        expect(editor).to_have_value("if x:\ny")
        compose(scene.page, "日")
        editor.press("Escape")
        scene.page.context.new_cdp_session(scene.page).send("Input.insertText", {"text": "日"})
        editor.press("Tab")  # Escape was for the input method, so this indents
        expect(editor).to_have_value("if x:\ny日  ")
        expect(editor).to_be_focused()
