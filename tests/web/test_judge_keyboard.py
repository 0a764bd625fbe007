"""The judge's page by the keyboard, and for every reader: in a real browser, with a scripted judge."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect

from codec.judge import (
    Batch,
    Cancel,
    Notice,
    OpenProblem,
    RunAll,
    RunOne,
    StateCase,
    StateProblems,
)
from tests.web.judge_page import (
    MIXED,
    SUMS,
    WRONG,
    badge,
    failing,
    is_open,
    item,
    no_wider_than_its_window,
    standing,
    text,
)
from tests.web.judge_stage import (
    TRACEBACK,
    JudgeStage,
    Show,
    begun,
    case,
    contest,
    init,
    listed,
    problem,
    result,
    showing,
    whole_run,
)
from tests.web.looks import SCHEMES, looked_at
from tests.web.test_design import CONTRASTS

NAMELESS = """() => [...document.querySelectorAll("button, a[href], input, select")]
    .filter((element) => element.checkVisibility())
    .filter((element) => !(element.ariaLabel || element.textContent.trim() || element.labels?.length))
    .map((element) => element.outerHTML)"""

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    with showing(chromium) as show:
        yield show


def pressing(show: Show, *keys: str) -> tuple[Page, JudgeStage]:
    page, stage = show(init(SUMS), contest(), *whole_run(SUMS, *MIXED))
    is_open(page, 2)
    for key in keys:
        page.keyboard.press(key)
    return page, stage


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("r", RunAll(None, SUMS.id)),
        ("f", RunAll((2,), SUMS.id)),
        ("3", RunOne(3, SUMS.id)),
        ("x", RunOne(1, SUMS.id)),
        ("j j x", RunOne(2, SUMS.id)),
        ("k x", RunOne(3, SUMS.id)),
        ("g x", RunOne(2, SUMS.id)),
        ("]", OpenProblem("abc999/abc999_b")),
    ],
)
def test_keys_run_and_walk(show: Show, keys: str, said: Any) -> None:
    _, stage = pressing(show, *keys.split())
    assert stage.heard(type(said)) == [said]


@pytest.mark.parametrize("key", ["c", "Escape"])
def test_a_key_cancels(show: Show, key: str) -> None:
    page, stage = show(init(SUMS), begun(SUMS))
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    page.keyboard.press(key)
    assert stage.heard(Cancel) == [Cancel(SUMS.id)]


def test_keys_walk_and_fold_the_cases(show: Show) -> None:
    page, _ = pressing(show, "j")
    expect(page.get_by_role("button", name="Case 1", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    is_open(page, 1)
    page.keyboard.press("j")
    expect(page.get_by_role("button", name="Case 2", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    is_open(page, 2, False)
    page.keyboard.press("o")
    is_open(page, 1, False)
    page.keyboard.press("o")
    for index in (1, 2, 3):
        is_open(page, index)


@pytest.mark.parametrize("key", ["Escape", "b", "Enter"])
def test_who_was_in_a_list_that_closes_is_at_its_button(show: Show, key: str) -> None:
    page, stage = show(init(SUMS), contest(), begun(SUMS), viewport={"width": 400, "height": 800})
    nav, button = page.get_by_role("navigation", name="Problems"), page.get_by_role("button", name="Problems")
    button.press("Enter")
    nav.get_by_role("link", name=re.compile("^B - Two")).focus()
    page.keyboard.press(key)
    expect(nav).to_be_hidden()
    expect(button).to_be_focused()
    assert stage.so_far(Cancel) == []
    page.keyboard.press("Escape")
    assert stage.heard(Cancel) == [Cancel(SUMS.id)]


def test_a_button_s_name_holds_what_is_written_on_it(show: Show) -> None:
    page, _ = show(init(SUMS), *whole_run(SUMS, *MIXED))
    expect(page.locator("judge-controls").get_by_role("button", name=re.compile("to case 2"))).to_have_text("to case 2")


def test_no_level_of_headings_is_left_out(show: Show) -> None:
    page, _ = show(init(SUMS), *whole_run(SUMS, *MIXED))
    is_open(page, 2)
    levels = page.locator(".desk").locator("h1, h2, h3, h4").evaluate_all(
        "all => all.filter(each => each.checkVisibility()).map(each => Number(each.localName[1]))"
    )  # fmt: skip
    assert levels[:2] == [1, 2]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert 3 in levels


def test_what_is_open_is_printed_on_white_also_where_it_was_not_in_sight(show: Show) -> None:
    many = problem("a", count=20)
    wrong = [replace(WRONG, index=index) for index in range(1, 21)]
    page, _ = show(init(many), *whole_run(many, *wrong), color_scheme="dark")
    is_open(page, 20)
    expect(item(page, 20).locator("judge-lines .line")).to_have_count(0)
    page.emulate_media(media="print")
    printing(page)
    expect(item(page, 20).locator("judge-lines .line").first).to_be_attached()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollHeight > 2 * innerHeight")
    expect(page.get_by_role("navigation", name="Problems")).to_be_hidden()
    expect(page.locator("button:visible:not(.fold, .file)")).to_have_count(0)
    assert page.locator("judge-controls .progress").bounding_box()["y"] < 300  # type: ignore[index]


def printing(page: Page, when: str = "before") -> None:
    """Make the page believe that it is printed, without a printer."""
    page.evaluate(f"window.dispatchEvent(new Event('{when}print'))")


def test_a_long_text_is_printed_whole_and_stands_afterwards_where_it_stood(show: Show) -> None:
    expected = "".join(f"{number}\n" for number in range(1_000))
    long = problem("a", case(1, "1\n", expected), case(2, "x" * 6_000 + "\n", "1\n" * 20))
    wrong = result(1, "WA", expected.replace("\n500\n", "\n-500\n"))
    page, _ = show(init(long), *whole_run(long, wrong, result(2, "WA", "2 " * 3_000)))
    actual = text(page, 1, "Actual")
    expect(actual.locator("mark")).to_have_text("-")
    place = actual.evaluate("lines => lines.scrollTop")
    assert place > 0
    pages = re.findall(rb"/Type\s*/Page\b", page.pdf())
    assert len(pages) > 1_000 * 18 / 1_123  # lines of 18 pixels, on pages of 1,123
    page.wait_for_function("([lines, place]) => lines.scrollTop === place", arg=[actual.element_handle(), place])
    expect(actual.locator("mark")).to_have_text("-")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 900})
    printing(page)
    expect(actual.locator(".line")).to_have_count(1_000)
    endless = text(page, 2, "Input").locator(".line")
    assert len(endless.text_content() or "") == 6_000
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(OVERFLOWING) == []
    page.emulate_media(media="screen")  # as it is when a browser says so; on paper every line is in sight
    printing(page, "after")
    expect(actual.locator(".line").nth(200)).not_to_be_attached()


OVERFLOWING = """() => [...document.querySelectorAll("judge-lines")]
    .filter((lines) => lines.scrollWidth > lines.clientWidth || lines.scrollHeight > lines.clientHeight + 1)
    .map((lines) => `${lines.ariaLabel} ${lines.scrollWidth} ${lines.clientWidth}`)"""


def test_of_more_lines_than_a_book_the_rest_is_counted_on_paper(show: Show) -> None:
    shown = problem("a", count=1)
    page, stage = show(init(shown), *whole_run(shown, result(1, "WA", "6\n", actual_size=99_999, actual_cut=True)))
    whole = replace(result(1, "WA"), actual="6\n" * 30_000, actual_size=60_000)
    stage.say(StateCase(problem_id=shown.id, case=shown.cases[0], result=whole))
    expect(text(page, 1, "Actual").locator(".line").first).to_be_visible()
    printing(page)
    expect(page.locator("judge-lines .line:nth-child(9000)").first).to_be_attached()
    expect(page.locator("judge-lines p.left").first).to_contain_text("more lines")
    assert page.locator("judge-lines .line").count() <= 10_000 + 120


def test_keys_open_the_list_the_settings_and_the_help(show: Show) -> None:
    page, _ = pressing(show, "b")
    expect(page.get_by_role("navigation", name="Problems")).to_be_hidden()
    page.keyboard.press("s")
    expect(page.get_by_role("dialog", name="Settings")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard").get_by_text("Run the failed cases")).to_be_visible()


@pytest.mark.parametrize("where", ["search", "settings", "help", "control"])
def test_keys_mean_nothing_while_somebody_types_or_reads_a_dialog(show: Show, where: str) -> None:
    page, stage = pressing(show)
    opening = {"search": ["/"], "settings": ["s"], "help": ["?"], "control": []}[where]
    for key in opening:
        page.keyboard.press(key)
    page.keyboard.press("Control+r" if where == "control" else "r")
    for _ in range(2):  # the first empties a search, the second leaves it
        page.keyboard.press("Escape")
    if where == "control":  # that is the browser's key, and has reloaded the page
        expect(standing(page)).to_be_visible()
    page.keyboard.press("3")
    stage.heard(RunOne)
    assert stage.so_far(RunAll) == []


# --- for every reader -------------------------------------------------------------------------------------------------

FULL = [
    init(problem("a", case(1, "1 2\n", "3 4\nx\n"), *[case(n) for n in range(2, 8)])),
    contest(),
    *whole_run(
        problem("a"),
        result(1, "WA", "3 5 \nx", diff_summary="line 1: expected '3 4' got '3 5 '"),
        result(2, "TLE", "", cpu_ms=2500, reason="stopped after 2,400 ms", contended=True),
        result(3, "RE", "", console=TRACEBACK, exit_code=1),
        result(4),
    ),
    begun(problem("a"), 2),
    Notice("warn", "pypy3 is not installed."),
]  # fmt: skip


@pytest.mark.parametrize(
    "opening",
    [
        [init()],
        FULL,
        [init(replace(SUMS, unsupported="x" * 400, name="N" * 200, group="G" * 200)), contest()],
        failing("1 " * 3_000 + "\n", "2 " * 3_000),
    ],
    ids=["empty", "full", "endless words", "endless lines"],
)
def test_the_page_is_no_wider_than_its_window(show: Show, opening: list[Any]) -> None:
    page, _ = show(*opening)
    expect(page.get_by_role("heading", level=1).filter(visible=True)).to_be_visible()
    for width in (1280, 700, 400, 320):
        page.set_viewport_size({"width": width, "height": 800})
        page.keyboard.press("b")
        no_wider_than_its_window(page)
        page.keyboard.press("s")
        expect(page.get_by_role("dialog", name="Settings")).to_be_visible()
        no_wider_than_its_window(page)
        page.keyboard.press("Escape")


@pytest.mark.parametrize("opening", [[init()], FULL[:-2]], ids=["empty", "full"])
def test_all_text_can_be_read(show: Show, opening: list[Any]) -> None:
    page, _ = show(*opening)
    expect(page.get_by_role("heading", level=1).filter(visible=True)).to_be_visible()
    for colors in SCHEMES:
        with looked_at(page, 1280, colors, height=2400):
            assert page.evaluate(CONTRASTS) == []


def test_everything_that_can_be_used_has_a_name_and_every_id_is_one_of_its_kind(show: Show) -> None:
    page, _ = show(*FULL)
    expect(badge(page, 3)).to_have_text("RE")
    page.keyboard.press("s")
    assert page.evaluate(NAMELESS) == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(({ id }) => id)")
    assert len(ids) == len(set(ids))
    described = page.evaluate(
        "[...document.querySelectorAll('[aria-controls]')].every((each) =>"
        " document.getElementById(each.getAttribute('aria-controls')))"
    )
    assert described


def test_a_batch_that_is_complete_says_nothing_of_its_size(show: Show) -> None:
    page, _ = show(init(SUMS), StateProblems((listed(SUMS, batch=Batch("x", 1)),)))
    expect(page.locator("judge-problems .problem")).to_have_count(1)
    expect(page.locator("judge-problems .missing")).to_have_count(0)
