"""Edits beside the page, on a real disk, with a real server and browser: what the page shows is true without a run."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.house.running import Server, server
from tests.judge.test_in_the_browser import ADD, TASK, post, run_all, shows, solve
from tests.web.windows import window

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Server]:
    with server(tmp_path, "--set", f'judge.workspace="{tmp_path / "contests"}"') as house:
        yield house.ready()


@pytest.fixture
def page(house: Server, chromium: Browser) -> Iterator[Page]:
    with window(chromium) as context:
        page = context.new_page()
        page.goto(house.url_of("judge"))
        shows(page, "Competitive Companion")
        post(house)
        expect(page).to_have_title("A. Add")  # the list names it before it is shown, and hears keys
        yield page


def folder(house: Server) -> Path:
    return house.folder / "contests/abc999/abc999_a"


def standing(page: Page) -> Locator:
    return page.locator("judge-controls .standing .text")


def badges(page: Page) -> Locator:
    return page.locator("judge-case .letters")


def test_tests_that_are_added_changed_and_deleted_beside_the_page_are_shown_and_run_as_they_are(
    house: Server, page: Page
) -> None:
    solve(house, ADD)
    page.keyboard.press("r")
    shows(page, "3/3 passed")
    tests = folder(house) / "tests"
    (tests / "4.in").write_text("4 1\n")
    (tests / "4.out").write_text("5\n")
    draft = tests / "1.out.swp"  # an editor that saves by renaming
    draft.write_text("9\n")
    draft.rename(tests / "1.out")
    for kind in ("in", "out"):
        (tests / f"2.{kind}").unlink()
    expect(badges(page)).to_have_text(["AC", "AC", "not run"])
    expect(page.locator("judge-case .name")).to_have_text(["Case 1", "Case 3", "Case 4"])
    expect(page.locator("judge-case .stale").filter(visible=True)).to_have_text(["test edited since"])
    expect(standing(page)).to_have_text("1/3 passed · 1 from before an edit · 1 not run")
    page.keyboard.press("r")
    expect(badges(page)).to_have_text(["WA", "AC", "AC"])
    expect(standing(page)).to_contain_text("2/3 passed")
    expect(page.locator("judge-case .brief").first).to_have_text("line 1: expected '9' got '2'")
    expect(page.locator("judge-case .stale").filter(visible=True)).to_have_count(0)
    for number, kind in ((10, "in"), (10, "out"), (2, "in"), (2, "out"), (9, "in"), (9, "out")):
        (tests / f"{number}.{kind}").write_text(f"{number}\n")
    names = [f"Case {number}" for number in (1, 2, 3, 4, 9, 10)]
    expect(page.locator("judge-case .name")).to_have_text(names)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("judge-case:focus-within .name")).to_have_text("Case 2")


def test_an_edit_of_the_solution_is_seen_at_once_and_undone_it_never_was(house: Server, page: Page) -> None:
    solve(house, ADD)
    run_all(page)
    shows(page, "3/3 passed")
    solve(house, ADD + "print()\n")
    expect(standing(page)).to_have_text("Not run since main.py was edited: 3/3 had passed")
    solve(house, ADD)
    expect(standing(page)).to_contain_text("3/3 passed")


def test_in_a_run_that_is_edited_under_only_programs_after_the_edit_count_for_it(house: Server, page: Page) -> None:
    post(house, timeLimit=60_000)
    begun, gate = house.folder / "begun", house.folder / "gate"
    waits = f"open({str(begun)!r}, 'w')\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
    solve(house, "import os, time\n" + waits + ADD)
    run_all(page)
    expect(page.get_by_role("button", name="Cancel")).to_be_enabled()
    while not begun.exists():
        page.wait_for_timeout(20)
    solve(house, ADD)
    gate.touch()
    expect(page.get_by_role("button", name="Run all")).to_be_enabled()
    after = r"[12]/3 passed(, [\d,]+ ms)? · [12] from before an edit"
    none = "Not run since main.py was edited: 3/3 had passed"  # all three may run at once
    expect(standing(page)).to_have_text(re.compile(f"^({after}|{none})$"))


def test_two_tabs_show_the_same_also_after_a_reload(house: Server, page: Page, chromium: Browser) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    shows(other, "A. Add")
    solve(house, ADD)
    run_all(page)
    shows(other, "3/3 passed")
    solve(house, "print(2)\n")
    other.keyboard.press("1")
    for tab in (page, other):
        words = re.compile(r"^1/3 passed, [\d,]+ ms · 2 from before an edit$")
        expect(standing(tab)).to_have_text(words)
        tab.reload()
        expect(standing(tab)).to_have_text(words)


def test_a_folder_that_is_deleted_leaves_the_list_and_comes_back(house: Server, page: Page) -> None:
    post(house, name="B. Other", url=TASK["url"].removesuffix("a") + "b")
    rows = page.locator("judge-problems .problem .name")
    expect(rows).to_have_count(2)
    away = house.folder / "away"
    folder(house).rename(away)
    shutil.copytree(away, house.folder / "copy")
    page.evaluate("window.dispatchEvent(new Event('focus'))")  # nobody looks at it: seen when somebody is back
    expect(rows).to_have_text(["B. Other"])
    away.rename(folder(house))
    page.evaluate("setTimeout(() => window.dispatchEvent(new Event('focus')), 1100)")
    expect(rows).to_have_count(2)
    page.get_by_role("link", name=re.compile(r"^A\. Add")).click()
    expect(page).to_have_title("A. Add")
    shutil.rmtree(folder(house))  # somebody looks at it: seen at once
    shows(page, "Its folder is gone")
    expect(rows).to_have_text(["B. Other"])


def test_who_types_is_not_moved_by_a_post_and_follows_the_link(house: Server, page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("ad")
    post(house, name="B. Other", url=TASK["url"].removesuffix("a") + "b")
    shows(page, "New: ")
    expect(page).to_have_title("A. Add")
    page.keyboard.press("Escape")
    page.get_by_role("status", name="News of the list").get_by_role("link", name="B. Other").press("Enter")
    expect(page).to_have_title("B. Other")
