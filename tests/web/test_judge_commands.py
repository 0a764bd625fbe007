"""The user chooses a command from those that the configuration names; there is no field to write one."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from codec.judge import Commands, RunSettings, UpdateSettings
from tests.web.judge_stage import Show, init, problem, showing

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NAMED = Commands(python_command=("python3", "python3.12", "/opt/py/bin/python"))


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    with showing(chromium) as show:
        yield show


def test_a_command_is_chosen_by_keyboard_and_sent_alone(show: Show) -> None:
    page, stage = show(init(problem(), commands=NAMED))
    page.get_by_role("button", name="Settings").click()
    dialog = page.get_by_role("dialog", name="Settings")
    field = dialog.get_by_label("CPython command", exact=True)
    expect(field.locator("option")).to_have_text(list(NAMED.python_command))
    page.keyboard.press("Tab")
    expect(field).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    assert stage.heard(UpdateSettings) == [UpdateSettings({"pythonCommand": "python3.12"})]


def test_the_one_that_is_in_use_is_shown_and_who_names_the_others_is_said(show: Show) -> None:
    page, stage = show(init(problem(), settings=RunSettings(python_command="python3.12"), commands=NAMED))
    page.get_by_role("button", name="Settings").click()
    dialog = page.get_by_role("dialog", name="Settings")
    expect(dialog.get_by_label("CPython command", exact=True)).to_have_value("python3.12")
    expect(dialog.get_by_label("PyPy command", exact=True).locator("option")).to_have_text(["pypy3"])
    expect(dialog).to_contain_text("Others can be named in the configuration: pypy_command under [judge]")
    stage.say(init(problem(), settings=RunSettings(python_command="/opt/py/bin/python"), commands=NAMED))
    expect(dialog.get_by_label("CPython command", exact=True)).to_have_value("/opt/py/bin/python")
