"""The judge's page in a real browser, with a scripted judge."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Locator, Page, expect

from actors.judge.telling import unknown
from codec.judge import (
    Cancel,
    Commands,
    Compare,
    Notice,
    OpenProblem,
    RequestInit,
    RunAll,
    Running,
    RunOne,
    RunProgress,
    RunSettings,
    Standing,
    StateProblems,
    StateProblemsChanged,
    StateUpdate,
    SwitchInterpreter,
    UpdateSettings,
)
from tests.web.judge_page import (
    MIXED,
    PASSES,
    SUMS,
    WRONG,
    badge,
    is_open,
    item,
    lines,
    no_wider_than_its_window,
    standing,
    text,
)
from tests.web.judge_stage import (
    TRACEBACK,
    Show,
    begun,
    contest,
    ended,
    init,
    listed,
    problem,
    result,
    showing,
    summary,
    told,
    whole_run,
)
from tests.web.looks import looked_at
from tests.web.stage import write

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    with showing(chromium) as show:
        yield show


# --- runs -------------------------------------------------------------------------------------------------------------


def test_run_all_asks_for_the_shown_problem_and_ends_green(show: Show) -> None:
    page, stage = show(init(SUMS))
    expect(standing(page)).to_have_text("3 cases, not run yet")
    page.get_by_role("button", name="Run all").click()
    assert stage.heard(RunAll) == [RunAll(None, SUMS.id)]
    stage.say(begun(SUMS))
    expect(page.get_by_role("button", name="Cancel")).to_be_enabled()
    expect(standing(page)).to_have_text("Running: 0/3 done")
    stage.say(*told(SUMS, *PASSES), ended(SUMS, *PASSES))
    expect(standing(page)).to_have_text("3/3 passed, 120 ms")
    expect(page.get_by_role("button", name="Run all")).to_be_enabled()
    for index in (1, 2, 3):
        expect(badge(page, index)).to_have_text("AC")
        is_open(page, index, False)


def test_results_come_one_by_one_and_none_takes_the_place_of_another(show: Show) -> None:
    page, stage = show(init(SUMS), begun(SUMS))
    expect(badge(page, 1)).to_have_text("running")
    expect(badge(page, 3)).to_have_text("waiting")
    stage.say(*told(SUMS, PASSES[0]), begun(SUMS, 2))
    expect(badge(page, 1)).to_have_text("AC")
    expect(badge(page, 2)).to_have_text("running")
    stage.say(*told(SUMS, WRONG), begun(SUMS, 3))
    expect(badge(page, 1)).to_have_text("AC")
    expect(badge(page, 2)).to_have_text("WA")
    expect(standing(page)).to_have_text("Running: 2/3 done · 1 WA")
    expect(page.get_by_role("progressbar", name="Cases run")).to_have_attribute("aria-valuenow", "2")


def test_results_of_an_earlier_run_are_marked_until_their_case_has_been_run_again(show: Show) -> None:
    page, stage = show(init(SUMS), *whole_run(SUMS, *MIXED))
    expect(standing(page)).to_have_text("2/3 passed, 120 ms · 1 WA")
    expect(page.get_by_text("earlier run").filter(visible=True)).to_have_count(0)
    stage.say(begun(SUMS))
    expect(page.get_by_text("earlier run").filter(visible=True)).to_have_count(3)
    expect(badge(page, 2)).to_have_text("WA")
    stage.say(*told(SUMS, *PASSES[:2]))
    expect(page.get_by_text("earlier run").filter(visible=True)).to_have_count(1)
    stage.say(*told(SUMS, PASSES[2]), ended(SUMS, *PASSES))
    expect(page.get_by_text("earlier run").filter(visible=True)).to_have_count(0)


def test_one_case_is_run_alone(show: Show) -> None:
    page, stage = show(init(SUMS), *whole_run(SUMS, *PASSES))
    page.get_by_role("button", name="Run case 2").click()
    assert stage.heard(RunOne) == [RunOne(2, SUMS.id)]
    stage.say(begun(SUMS, 2, "one"))
    expect(badge(page, 2)).to_have_text("running")
    expect(badge(page, 3)).to_have_text("AC")
    stage.say(*told(SUMS, WRONG, scope="one"), ended(SUMS, WRONG, scope="one"))
    expect(standing(page)).to_have_text("Case 2: WA, 120 ms · in all 2/3 passed · 1 WA")


def test_only_the_failed_are_run_again_and_the_others_stay(show: Show) -> None:
    page, stage = show(init(SUMS), *whole_run(SUMS, *MIXED))
    page.get_by_role("button", name="Run failed 1").click()
    assert stage.heard(RunAll) == [RunAll((2,), SUMS.id)]
    stage.say(begun(SUMS, 2))
    expect(page.get_by_text("earlier run").filter(visible=True)).to_have_count(1)
    expect(standing(page)).to_have_text("Running: 0/1 done")
    stage.say(*told(SUMS, PASSES[1]), ended(SUMS, PASSES[1]))
    expect(standing(page)).to_have_text("Case 2: AC, 120 ms · in all 3/3 passed")
    expect(page.get_by_role("button", name="Run failed")).to_be_disabled()


def test_a_cancelled_run_keeps_what_it_had_and_says_what_is_missing(show: Show) -> None:
    page, stage = show(init(SUMS), begun(SUMS), *told(SUMS, PASSES[0]))
    page.get_by_role("button", name="Cancel").click()
    assert stage.heard(Cancel) == [Cancel(SUMS.id)]
    stage.say(ended(SUMS, PASSES[0], cancelled=True))
    expect(standing(page)).to_have_text("Cancelled: 1/3 passed, 120 ms · 2 not run")
    expect(badge(page, 1)).to_have_text("AC")
    expect(badge(page, 3)).to_have_text("not run")


def test_a_run_is_asked_for_once_however_often_the_key_is_pressed(show: Show) -> None:
    page, stage = show(init(SUMS))
    expect(standing(page)).to_have_text("3 cases, not run yet")
    for key in "rrr":
        page.keyboard.press(key)
    page.get_by_role("radiogroup", name="Interpreter").get_by_text("PyPy").click()
    stage.heard(SwitchInterpreter)
    assert len(stage.so_far(RunAll)) == 1


@pytest.mark.parametrize("running", [False, True])
def test_the_second_click_of_a_double_one_is_meant_for_what_the_button_said_at_the_first(
    show: Show, running: bool
) -> None:
    page, stage = show(init(SUMS), *([begun(SUMS)] if running else []))
    button = page.get_by_role("button", name="Cancel" if running else "Run all")
    button.hover()
    page.mouse.down(click_count=1)
    page.mouse.up(click_count=1)
    stage.heard(Cancel if running else RunAll)
    stage.say(ended(SUMS, PASSES[0], cancelled=True) if running else begun(SUMS))
    other = page.get_by_role("button", name="Run all" if running else "Cancel")
    expect(other).to_be_enabled()
    for count in (2, 3):
        page.mouse.down(click_count=count)
        page.mouse.up(click_count=count)
    page.get_by_role("radiogroup", name="Interpreter").get_by_text("PyPy").click()
    stage.heard(SwitchInterpreter)
    assert stage.so_far(RunAll if running else Cancel) == []
    other.click()
    assert len(stage.heard(RunAll if running else Cancel)) == 1


def test_enter_that_is_held_presses_once(show: Show) -> None:
    page, stage = show(init(SUMS))
    page.get_by_role("button", name="Run all").focus()
    page.keyboard.down("Enter")
    stage.heard(RunAll)
    stage.say(begun(SUMS))
    expect(page.get_by_role("button", name="Cancel")).to_be_enabled()
    for _ in range(3):
        page.keyboard.down("Enter")  # playwright repeats a key that is down
    page.keyboard.up("Enter")
    page.get_by_role("radiogroup", name="Interpreter").get_by_text("PyPy").click()
    stage.heard(SwitchInterpreter)
    assert stage.so_far(Cancel) == []


def test_a_refused_run_can_be_asked_for_again(show: Show) -> None:
    page, stage = show(init(SUMS))
    button = page.get_by_role("button", name="Run all")
    button.click()
    stage.heard(RunAll)
    stage.say(Notice("error", "main.py is missing: write it at /contest/abc999/abc999_a/main.py, then run again."))
    expect(page.get_by_role("alert")).to_contain_text("main.py is missing")
    button.click()
    assert len(stage.heard(RunAll, 2)) == 2


def test_a_run_of_another_problem_shows_in_the_list_only(show: Show) -> None:
    other = problem("b", name="B - Two Towers")
    page, stage = show(init(SUMS), contest(), *whole_run(SUMS, *PASSES))
    stage.say(begun(other), *told(other, WRONG))
    expect(page.get_by_role("link", name="B - Two Towers … running")).to_be_visible()
    expect(badge(page, 2)).to_have_text("AC")
    stage.say(ended(other, WRONG))
    expect(page.get_by_role("link", name="B - Two Towers 3/3 passed")).to_be_visible()
    expect(standing(page)).to_have_text("3/3 passed, 120 ms")


def test_the_end_of_a_run_is_said_aloud_and_its_steps_are_not(show: Show) -> None:
    page, stage = show(init(SUMS), begun(SUMS))
    said = page.locator("judge-controls").get_by_role("status")
    expect(said).to_have_text("Running 3 cases")
    stage.say(*told(SUMS, MIXED[0]))
    expect(standing(page)).to_have_text("Running: 1/3 done")
    expect(said).to_have_text("Running 3 cases")
    stage.say(*told(SUMS, *MIXED[1:]), ended(SUMS, *MIXED))
    expect(said).to_have_text("2/3 passed, 120 ms · 1 WA")


@pytest.mark.parametrize(
    ("messages", "title", "sign"),
    [
        ([], "A - Sums", "mark.svg"),
        ([begun(SUMS), *told(SUMS, PASSES[0])], "… 1/3 · A - Sums", "sign-info.svg"),
        (whole_run(SUMS, *PASSES), "✓ 3/3 · A - Sums", "sign-good.svg"),
        (whole_run(SUMS, *MIXED), "✗ 2/3 · A - Sums", "sign-bad.svg"),
    ],
    ids=["idle", "running", "green", "red"],
)
def test_the_tab_shows_how_it_stands(show: Show, messages: list[Any], title: str, sign: str) -> None:
    page, _ = show(init(SUMS), *messages)
    expect(page).to_have_title(title)
    href = page.locator("link[rel=icon]").get_attribute("href")
    assert href is not None
    assert href.endswith(sign)
    assert page.request.get(href).ok


# --- verdicts ---------------------------------------------------------------------------------------------------------


OUTCOMES: list[tuple[dict[str, Any], str, str, str]] = [
    ({"verdict": "AC"}, "AC", "good", "Accepted"),
    ({"verdict": "WA"}, "WA", "bad", "Wrong answer"),
    ({"verdict": "TLE"}, "TLE", "warn", "Time limit exceeded"),
    ({"verdict": "MLE"}, "MLE", "warn", "Memory limit exceeded"),
    ({"verdict": "OLE"}, "OLE", "warn", "Output limit exceeded"),
    ({"verdict": "RE"}, "RE", "bad", "Runtime error"),
    ({"verdict": "CE"}, "CE", "bad", "The program cannot be started"),
    ({"verdict": "IE"}, "IE", "bad", "The judge itself failed"),
    ({"verdict": "PE", "status": "fail"}, "PE", "bad", "Failed"),
    ({"verdict": None, "status": "pass"}, "pass", "good", "Passed"),
    ({"verdict": None, "status": "fail"}, "fail", "bad", "Failed"),
    ({"verdict": None, "status": "timeout"}, "timeout", "warn", "Timed out"),
    ({"verdict": None, "status": "re"}, "re", "bad", "Runtime error"),
]


def test_every_outcome_has_letters_a_tone_and_words(show: Show) -> None:
    shown = problem("a", count=len(OUTCOMES))
    results = [result(index, **fields) for index, (fields, *_) in enumerate(OUTCOMES, 1)]
    page, _ = show(init(shown), *whole_run(shown, *results))
    expect(standing(page)).to_contain_text("2/13 passed")
    for index, (_, letters, tone, words) in enumerate(OUTCOMES, 1):
        expect(badge(page, index)).to_have_text(letters)
        expect(item(page, index).locator(".verdict")).to_have_attribute("data-tone", tone)
        expect(item(page, index).locator(".verdict")).to_have_attribute("title", words)


def test_a_timeout_says_why_and_fills_its_bar(show: Show) -> None:
    slow = result(1, "TLE", "", cpu_ms=2401, duration_ms=2420, reason="stopped after 2,400 ms", contended=True)
    page, _ = show(init(SUMS), *whole_run(SUMS, slow, *PASSES[1:]))
    expect(item(page, 1).locator(".brief")).to_have_text("stopped after 2,400 ms")
    time = item(page, 1).locator("judge-meter.time")
    expect(time).to_have_text("2,401 ms*")
    expect(time).to_have_attribute("data-tone", "bad")
    expect(item(page, 1).locator(".facts")).to_contain_text("machine was busy")
    is_open(page, 1)


@pytest.mark.parametrize(
    ("settings", "cpu", "memory", "tones"),
    [
        (RunSettings(), 100, 100_000, [None, None]),
        (RunSettings(), 1_700, 900_000, ["warn", "warn"]),
        (RunSettings(), 2_100, 1_100_000, ["bad", "bad"]),
        (RunSettings(timeout_ms=10_000, memory_limit_mb=4_096), 2_100, 1_100_000, [None, None]),
        (RunSettings(timeout_ms=50, memory_limit_mb=0), 100, 1_100_000, ["bad", None]),
    ],
)
def test_time_and_memory_are_shown_against_their_limits(
    show: Show, settings: RunSettings, cpu: int, memory: int, tones: list[str | None]
) -> None:
    page, _ = show(init(SUMS, settings=settings), *whole_run(SUMS, result(1, cpu_ms=cpu, memory_kb=memory)))
    expect(item(page, 1).locator("judge-meter.time")).to_be_visible()
    meters = item(page, 1).locator("judge-meter")
    assert meters.evaluate_all("meters => meters.map(({ dataset }) => dataset.tone ?? null)") == tones


def test_a_runtime_error_shows_its_last_line_and_its_traceback_first(show: Show) -> None:
    failed = result(1, "RE", "", console=TRACEBACK, reason="ended with exit code 1", exit_code=1)
    page, _ = show(init(SUMS), *whole_run(SUMS, failed))
    expect(item(page, 1).locator(".brief")).to_have_text("ZeroDivisionError: integer division or modulo by zero")
    assert lines(page, 1, "Console") == TRACEBACK.splitlines()
    console, given = (text(page, 1, label).bounding_box() for label in ("Console", "Input"))
    assert console is not None
    assert given is not None
    assert console["y"] < given["y"]
    expect(item(page, 1).locator(".facts")).to_have_text("Ended with exit code 1")


# --- folding ----------------------------------------------------------------------------------------------------------


def test_what_failed_is_open_and_what_passed_is_closed(show: Show) -> None:
    page, _ = show(init(SUMS), *whole_run(SUMS, *MIXED))
    is_open(page, 2)
    is_open(page, 1, False)
    is_open(page, 3, False)


def test_what_the_reader_folded_stays_so_while_the_outcome_is_the_same(show: Show) -> None:
    page, stage = show(init(SUMS), *whole_run(SUMS, *MIXED))
    is_open(page, 2)
    page.get_by_role("button", name="Case 2", exact=True).click()
    page.get_by_role("button", name="Case 1", exact=True).click()
    stage.say(*whole_run(SUMS, *MIXED))
    is_open(page, 1)
    is_open(page, 2, False)
    stage.say(*whole_run(SUMS, *PASSES), *whole_run(SUMS, result(1, "WA"), *PASSES[1:]))
    is_open(page, 1)
    expect(badge(page, 1)).to_have_text("WA")


def test_failed_cases_can_be_shown_alone(show: Show) -> None:
    many = problem("a", count=8)
    results = [result(n, "WA" if n in (3, 7) else "AC") for n in range(1, 9)]
    page, stage = show(init(many), *whole_run(many, *results))
    expect(page.locator("judge-case:visible")).to_have_count(8)
    page.get_by_role("button", name="Only failed").click()
    expect(page.locator("judge-case:visible")).to_have_count(2)
    stage.say(*whole_run(many, *[result(n) for n in range(1, 9)]))
    expect(page.locator("judge-case:visible")).to_have_count(8)


# --- the problem and the list -----------------------------------------------------------------------------------------


def test_the_head_tells_name_group_address_and_limits(show: Show) -> None:
    page, _ = show(init(replace(SUMS, test_type="multiNumber")))
    head = page.locator("judge-problem")
    expect(head.get_by_role("heading", level=1)).to_have_text("A - Sums")
    expect(head.locator(".group")).to_have_text("AtCoder Beginner Contest 999")
    expect(head.get_by_role("link")).to_have_attribute("href", SUMS.url)
    expect(head.get_by_role("link")).to_have_text("atcoder.jp")
    expect(head.locator(".limits")).to_have_text("2 s · 1,024 MB · several tests in one input")


def test_the_list_shows_each_contest_with_what_is_solved_and_what_has_not_come(show: Show) -> None:
    page, stage = show(init(SUMS), contest())
    nav = page.get_by_role("navigation", name="Problems")
    expect(nav.locator(".contest")).to_have_text(["AtCoder Beginner Contest 9992/6", "Kattis2/2"])
    expect(nav.get_by_text("6 of 7 have come")).to_be_visible()
    stands = ["3/3 passed", "3/3 passed", "1/3 passed", "1/3 passed, the others not run yet"]
    cases = ["3 cases, not run yet"] * 2
    expect(nav.locator("section").first.locator(".score")).to_have_text(stands + cases)
    expect(nav.locator("[aria-current=true]")).to_contain_text("A - Sums")
    nav.get_by_role("link", name=re.compile("^C - Lanterns")).click()
    assert stage.heard(OpenProblem) == [OpenProblem("abc999/abc999_c")]
    nav.locator(".contest").first.click()
    expect(nav.locator(".problem")).to_have_count(2)


def test_a_folder_into_which_nobody_has_looked_has_no_number_of_cases(show: Show) -> None:
    found = [replace(listed(problem(task, url="")), cases=None) for task in "ab"]
    found[1] = replace(found[1], standing=Standing(passed=2, failed=1))
    page, _ = show(init(SUMS), StateProblems(tuple(found)))
    nav = page.get_by_role("navigation", name="Problems")
    expect(nav.locator(".score")).to_have_text([" not run yet", "2/3 passed"])
    expect(nav.get_by_role("link").first).to_have_attribute("title", "A - Sums")


def test_the_whole_name_of_a_problem_is_told_where_it_is_cut(show: Show) -> None:
    shown = problem("a", name="N" * 100)
    page, _ = show(init(shown), StateProblems((listed(shown),)))
    expect(page.locator("judge-problems .problem")).to_have_attribute("title", f"{'N' * 100}\n{SUMS.url}")


def test_the_changes_of_a_long_list_are_shown(show: Show) -> None:
    one, two, three, four = (listed(problem(name, name=name)) for name in ("One", "Two", "Three", "Four"))
    page, stage = show(init(SUMS), StateProblems((one, two, three)))
    names = page.get_by_role("navigation", name="Problems").locator(".problem .name")
    stage.say(StateProblemsChanged(problems=(replace(two, name="Two again"), four)))
    expect(names).to_have_text(["One", "Two again", "Three", "Four"])
    stage.say(StateProblemsChanged(gone=(one.id, three.id), problems=(one,)))
    expect(names).to_have_text(["Two again", "Four", "One"])
    stage.say(StateProblemsChanged(gone=(one.id, two.id, four.id)))
    expect(page.get_by_role("navigation", name="Problems")).to_be_hidden()


def test_a_long_list_is_searched(show: Show) -> None:
    known = tuple(listed(problem(f"p{n}", name=f"P{n} - Task", contest_id=f"c{n // 5}", group=f"Round {n // 5}"))
                  for n in range(60))  # fmt: skip
    page, _ = show(init(problem("p7", contest_id="c1", id="abc999/abc999_p7")), StateProblems(known))
    nav = page.get_by_role("navigation", name="Problems")
    expect(nav.locator(".problem")).to_have_count(5)
    page.keyboard.press("/")
    page.keyboard.type("round 3 p17")
    expect(nav.locator(".problem .name")).to_have_text(["P17 - Task"])
    page.keyboard.press("Control+a")
    page.keyboard.type("nobody")
    expect(nav.get_by_text("Nothing matches “nobody”.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(nav.locator(".problem")).to_have_count(5)


def test_what_was_searched_for_in_vain_is_told_whole(show: Show) -> None:
    page, _ = show(init(SUMS), contest())
    expect(page.get_by_role("heading", level=1)).to_have_text("A - Sums")
    page.keyboard.press("/")
    write(page.get_by_role("searchbox"), "https://codeforces.com/contest/1/problem/B")
    told = page.get_by_text(re.compile("^Nothing matches"))
    expect(told).to_be_in_viewport(ratio=1)
    assert told.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_a_short_list_has_no_search_until_it_is_asked_for(show: Show) -> None:
    page, _ = show(init(SUMS), contest())
    expect(page.locator("judge-problems .problem").first).to_be_visible()
    expect(page.get_by_role("searchbox")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_on_a_narrow_page_the_list_lies_over_the_problem_and_goes_when_one_is_chosen(show: Show) -> None:
    page, stage = show(init(SUMS), contest(), viewport={"width": 400, "height": 800})
    nav = page.get_by_role("navigation", name="Problems")
    button = page.get_by_role("button", name="Problems")
    expect(button).to_have_attribute("aria-expanded", "false")
    expect(nav).to_be_hidden()
    button.click()
    nav.get_by_role("link", name=re.compile("^B - Two")).click()
    stage.heard(OpenProblem)
    expect(nav).to_be_hidden()


def test_the_list_is_as_it_was_when_the_window_is_wide_again(show: Show) -> None:
    page, _ = show(init(SUMS), contest(), viewport={"width": 1280, "height": 800})
    nav = page.get_by_role("navigation", name="Problems")
    button = page.get_by_role("button", name="Problems")
    for left_open in (True, False):
        expect(nav).to_be_visible(visible=left_open)
        page.set_viewport_size({"width": 400, "height": 800})
        expect(nav).to_be_hidden()
        expect(button).to_have_attribute("aria-expanded", "false")
        button.click()
        expect(nav).to_be_visible()  # over the problem, which says nothing of a wide window
        page.set_viewport_size({"width": 1280, "height": 800})
        expect(nav).to_be_visible(visible=left_open)
        if left_open:
            button.click()


COUNT = re.compile(r"[\d,]*\d(?:/\d+)? (?:not )?[^\W\d]+|Case \d+")


def test_no_line_breaks_within_a_count(show: Show) -> None:
    shown = problem("a", count=14)
    results = [result(at, "WA", "7\n") if at % 3 else result(at) for at in range(1, 11)]
    page, stage = show(init(shown), *whole_run(shown, *results))
    again = result(2, "TLE")
    stage.say(begun(shown, 2, "one"), *told(shown, again, scope="one"), ended(shown, again, scope="one"))
    expect(standing(page)).to_contain_text("in all")
    counts = COUNT.findall(standing(page).text_content() or "")
    assert len(counts) >= 5
    whole = standing(page).locator("span")
    expect(whole).to_have_text(counts)
    for width in (*range(320, 401), *range(409, 700, 9)):
        with looked_at(page, width):
            assert whole.evaluate_all("all => all.map((each) => each.getClientRects().length)") == [1] * len(counts)
            no_wider_than_its_window(page)


def test_new_cases_of_the_shown_problem_keep_its_results(show: Show) -> None:
    page, stage = show(init(SUMS), *whole_run(SUMS, *PASSES))
    stage.say(StateUpdate(problem("a", count=4)))
    expect(badge(page, 4)).to_have_text("not run")
    expect(badge(page, 1)).to_have_text("AC")
    expect(standing(page)).to_have_text("3/4 passed, 120 ms · 1 not run")


def test_another_problem_takes_the_place_of_the_shown_one_and_of_its_results(show: Show) -> None:
    page, stage = show(init(SUMS), *whole_run(SUMS, *MIXED))
    is_open(page, 2)
    stage.say(StateUpdate(problem("b", name="B - Two Towers", count=2)))
    expect(page.get_by_role("heading", level=1)).to_have_text("B - Two Towers")
    expect(badge(page, 1)).to_have_text("not run")
    expect(page.locator("judge-case")).to_have_count(2)
    is_open(page, 2, False)
    expect(standing(page)).to_have_text("2 cases, not run yet")
    stage.say(*told(SUMS, WRONG))
    stage.say(Notice("info", "after"))
    expect(page.get_by_text("after")).to_be_visible()
    expect(badge(page, 2)).to_have_text("not run")


# --- states of the page -----------------------------------------------------------------------------------------------


def test_an_empty_page_says_how_the_first_problem_comes(show: Show) -> None:
    page, stage = show(init())
    expect(page.get_by_role("heading", level=1).filter(visible=True)).to_have_text("No problem yet")
    expect(page.get_by_role("link", name="Competitive Companion")).to_be_visible()
    port = stage.url.rsplit(":", 1)[1].rstrip("/")
    expect(page.get_by_text(f"This judge listens on port {port}.")).to_be_visible()
    expect(page.get_by_role("img", name="green plus")).to_be_visible()
    expect(page.get_by_role("button", name="Run all")).to_be_hidden()
    stage.say(StateUpdate(SUMS))
    expect(page.get_by_role("heading", level=1).filter(visible=True)).to_have_text("A - Sums")


def test_a_problem_that_cannot_be_judged_says_why_and_is_not_run(show: Show) -> None:
    why = "This problem is interactive: its program talks with another one, which is not here."
    page, stage = show(init(replace(SUMS, interactive=True, unsupported=why)))
    expect(page.get_by_text(why)).to_be_visible()
    expect(page.get_by_role("button", name="Run all")).to_be_disabled()
    expect(page.get_by_role("button", name="Run case 1")).to_be_disabled()
    page.keyboard.press("r")
    expect(page.locator("judge-notices p")).to_have_text(why)
    assert stage.so_far(RunAll) == []


def test_what_is_wrong_with_the_folder_is_shown_as_long_as_it_is(show: Show) -> None:
    """Also to who has clicked: a notice that is not true any more goes, and no other."""
    why = "The folder of abc999/abc999_a cannot be read: Permission denied."
    page, stage = show(init(SUMS))
    expect(page.locator("judge-problem .unsupported")).to_be_hidden()
    stage.say(StateUpdate(replace(SUMS, trouble=why)), Notice("error", why), Notice("error", "another one"))
    expect(page.locator("judge-problem .unsupported")).to_have_text(why)
    expect(page.locator("judge-notices p")).to_have_text([why, "another one"])
    stage.say(StateUpdate(replace(SUMS, trouble="Test 2 is left out: 2.in is a link.")))
    expect(page.locator("judge-problem .unsupported")).to_have_text("Test 2 is left out: 2.in is a link.")
    expect(page.locator("judge-notices p")).to_have_text(["another one"])
    stage.say(StateUpdate(SUMS))
    expect(page.locator("judge-problem .unsupported")).to_be_hidden()


def test_a_problem_without_cases_says_where_to_put_them(show: Show) -> None:
    page, _ = show(init(replace(SUMS, cases=())))
    expect(page.get_by_text("This problem has no cases.")).to_be_visible()
    expect(page.get_by_role("button", name="Run all")).to_be_disabled()


def test_results_of_the_last_run_are_there_after_a_reload(show: Show) -> None:
    page, _ = show(init(SUMS, results=tuple(MIXED), summary=summary(MIXED)))
    expect(standing(page)).to_have_text("2/3 passed, 120 ms · 1 WA")
    expect(badge(page, 2)).to_have_text("WA")
    is_open(page, 2)


def test_an_interrupted_run_is_said_to_be_so_until_the_next(show: Show) -> None:
    page, stage = show(init(SUMS, results=(PASSES[0],), interrupted=True))
    expect(page.get_by_text("The server ended in the middle of this run.", exact=False)).to_be_visible()
    expect(standing(page)).to_have_text("Interrupted: 1/3 passed · 2 not run")
    stage.say(begun(SUMS))
    expect(page.get_by_text("The server ended", exact=False)).to_be_hidden()


def test_a_lost_connection_is_said_and_the_page_comes_back_by_itself(show: Show) -> None:
    page, stage = show(init(SUMS), *whole_run(SUMS, *MIXED))
    expect(badge(page, 2)).to_have_text("WA")
    stage.opening = [init(SUMS, results=tuple(MIXED), summary=summary(MIXED))]
    stage.refusing = True
    stage.drop()
    expect(page.get_by_role("alert")).to_contain_text("Connection lost")
    expect(page.get_by_role("button", name="Run all")).to_be_disabled()
    stage.refusing = False
    assert len(stage.heard(RequestInit, 2)) == 2
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(badge(page, 2)).to_have_text("WA")
    expect(page.get_by_role("button", name="Run all")).to_be_enabled()


def test_a_run_that_was_lost_from_sight_is_taken_up_again(show: Show) -> None:
    page, stage = show(init(SUMS), begun(SUMS), *told(SUMS, PASSES[0]))
    expect(standing(page)).to_have_text("Running: 1/3 done")
    stage.opening = [init(SUMS, results=tuple(MIXED), summary=summary(MIXED))]
    stage.drop()
    expect(standing(page)).to_have_text("2/3 passed, 120 ms · 1 WA")
    expect(page.get_by_role("button", name="Run all")).to_be_enabled()


# --- addresses --------------------------------------------------------------------------------------------------------

TOWERS = problem("b", name="B - Two Towers")
XOR = problem("f", name="F - Xor")


def shows(page: Page, name: str, address: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    expect(page).to_have_url(re.compile(f"#{re.escape(address)}$"))


def test_the_shown_problem_is_in_the_address_and_back_leads_to_the_one_before(show: Show) -> None:
    page, stage = show(init(SUMS), contest())
    shows(page, "A - Sums", "abc999/abc999_a")
    page.get_by_role("link", name=re.compile("^B - Two Towers")).click()
    stage.heard(OpenProblem)
    stage.say(init(TOWERS))
    shows(page, "B - Two Towers", "abc999/abc999_b")
    stage.say(StateUpdate(XOR))  # a problem that came in
    shows(page, "F - Xor", "abc999/abc999_f")
    page.go_back()
    page.go_back()
    assert [each.id[-1] for each in stage.heard(OpenProblem, 3)] == ["b", "b", "a"]
    stage.say(init(TOWERS), init(SUMS))
    shows(page, "A - Sums", "abc999/abc999_a")
    page.go_forward()
    assert stage.heard(OpenProblem, 4)[-1].id == TOWERS.id
    stage.say(init(TOWERS))
    page.go_forward()
    assert stage.heard(OpenProblem, 5)[-1].id == XOR.id
    stage.say(init(XOR))
    shows(page, "F - Xor", "abc999/abc999_f")


def test_what_is_gone_to_is_asked_for_once_and_shown_however_steps_and_answers_meet(show: Show) -> None:
    """The browser changes the address first, and tells of it later; answers come before, between and after."""
    page, _ = show()
    walks = page.evaluate(
        """async (seeds) => {
            const { Address } = await import("./web/judge/address.js");
            const walks = [];
            let [due, told] = [0, 0];
            addEventListener("hashchange", () => { told += 1; });
            for (let seed = 1; seed <= seeds; seed += 1) {
                let state = seed * 2654435761 % 4294967296;
                const draw = (below) => (state = (state * 1664525 + 1013904223) % 4294967296) / 4294967296 * below | 0;
                const turn = () => new Promise((later) => setTimeout(later));
                const asked = [], waiting = [], wanted = [];
                const address = new Address((id) => { asked.push(id); waiting.push(id); });
                address.show(`walk/${seed}`);
                for (let step = 0; step < 12; step += 1) {
                    const what = draw(3);
                    if (what === 0) {
                        wanted.push(`walk/${seed}/${draw(3)}`);
                        const { href } = location;
                        location.hash = wanted.at(-1);
                        due += location.href !== href;
                    } else if (what === 1 && waiting.length) address.show(waiting.shift());
                    else await turn();
                }
                while (told < due) await turn();
                for (const id of waiting) address.show(id);
                const shown = decodeURIComponent(location.hash.slice(1));
                walks.push({ wanted: wanted.at(-1), asked: [...asked], shown });
            }
            return walks;
        }""",
        24,  # Chromium lets a page go to two hundred places in ten seconds
    )
    for seed, walk in enumerate(walks, 1):
        if "wanted" in walk:
            assert (walk["asked"][-1], walk["shown"]) == (walk["wanted"], walk["wanted"]), seed
        assert all(one != other for one, other in pairwise(walk["asked"])), (seed, walk)


def test_a_problem_of_the_list_opens_in_a_tab_of_its_own(show: Show) -> None:
    page, stage = show(init(SUMS), contest())
    stage.opening = [init(TOWERS), contest()]  # the new tab asks for it
    with page.context.expect_page() as opened:
        page.get_by_role("link", name=re.compile("^B - Two Towers")).click(modifiers=["ControlOrMeta"])
    expect(opened.value).to_have_url(re.compile("#abc999/abc999_b$"))
    assert stage.heard(RequestInit, 2)[-1].problem_id == TOWERS.id
    assert stage.so_far(OpenProblem) == []


def test_a_page_that_lost_its_connection_asks_for_what_it_showed_and_then_for_what_came_meanwhile(show: Show) -> None:
    page, stage = show(init(SUMS), contest())
    shows(page, "A - Sums", "abc999/abc999_a")
    came = StateProblems((*contest().problems, listed(problem("g"))), "abc999/abc999_g")
    stage.opening = [came, init(SUMS)]
    stage.drop()
    assert stage.heard(RequestInit, 2)[-1].problem_id == SUMS.id
    assert stage.heard(OpenProblem) == [OpenProblem("abc999/abc999_g")]
    stage.opening = [replace(came, current=TOWERS.id), init(SUMS)]  # another page opened it, so it is not new
    stage.drop()
    stage.heard(RequestInit, 3)
    stage.say(StateProblems((), None))
    expect(page.get_by_role("navigation", name="Problems")).to_be_hidden()
    assert len(stage.so_far(OpenProblem)) == 1


def test_a_problem_that_is_not_in_the_list_yet_can_be_gone_back_to(show: Show) -> None:
    page, stage = show(init(SUMS), StateProblems((), None))
    shows(page, "A - Sums", "abc999/abc999_a")
    stage.say(init(TOWERS))
    shows(page, TOWERS.name, TOWERS.id)
    page.go_back()
    assert stage.heard(OpenProblem) == [OpenProblem(SUMS.id)]
    stage.say(init(SUMS))
    shows(page, "A - Sums", "abc999/abc999_a")


@pytest.mark.parametrize("address", ["#abc1/none", "#%E0%A4%A", "#" + "x" * 500])
def test_an_address_of_no_problem_is_said_to_be_so_and_does_not_stay(show: Show, address: str) -> None:
    page, stage = show(init(SUMS), contest())
    shows(page, "A - Sums", "abc999/abc999_a")
    page.evaluate("hash => (location.hash = hash)", "#abc1/none")
    assert stage.heard(OpenProblem) == [OpenProblem("abc1/none")]  # only the server knows which problems exist
    stage.say(Notice("error", unknown("abc1/none")))
    expect(page.get_by_role("alert")).to_contain_text("There is no problem 'abc1/none' here. Send it with")
    shows(page, "A - Sums", "abc999/abc999_a")
    page.goto("about:blank")
    page.goto(stage.url + address)
    shows(page, "A - Sums", "abc999/abc999_a")
    page.go_back()
    expect(page).to_have_url("about:blank")


# --- notices ----------------------------------------------------------------------------------------------------------


def test_what_informs_passes_by_and_an_error_stays(show: Show) -> None:
    page, stage = show(init(SUMS))
    expect(standing(page)).to_have_text("3 cases, not run yet")
    page.clock.install()
    stage.say(Notice("info", "3 new cases."), *[Notice("error", "2.in cannot be read.")] * 2)
    expect(page.get_by_text("3 new cases.")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(1)
    expect(page.get_by_text("×2")).to_be_visible()
    page.clock.run_for(30_000)
    expect(page.get_by_text("3 new cases.")).to_have_count(0)
    expect(page.get_by_text("2.in cannot be read.")).to_be_visible()
    page.get_by_role("button", name="Close this notice").click()
    expect(page.get_by_text("2.in cannot be read.")).to_have_count(0)


# --- settings ---------------------------------------------------------------------------------------------------------


def settings_of(page: Page) -> Locator:
    expect(standing(page)).to_be_visible()
    page.get_by_role("button", name="Settings").click()
    return page.get_by_role("dialog", name="Settings")


def test_a_field_that_may_stay_empty_is_told_so_and_not_of_null(show: Show) -> None:
    page, stage = show(init(SUMS))
    dialog = settings_of(page)
    field = dialog.get_by_label("Cases at once")
    write(field, "-3")
    field.blur()
    told = dialog.get_by_text("from 1 to 256, or empty for as many as there are cores, not -3", exact=False)
    expect(told).to_be_visible()
    assert "or null for as many" in stage.refused[0]


@pytest.mark.drawn(3)
@pytest.mark.parametrize(
    ("label", "value", "change"),
    [
        ("Interpreter", "pypy", {"interpreter": "pypy"}),
        ("CPython command", "python3.12", {"pythonCommand": "python3.12"}),
        ("PyPy command", "/opt/pypy/bin/pypy3.10", {"pypyCommand": "/opt/pypy/bin/pypy3.10"}),
        ("Working folder", "task", {"runCwdMode": "task"}),
        ("Time limit", "3000", {"timeoutMs": 3000}),
        ("Memory limit", "0", {"memoryLimitMb": 0}),
        ("Cases at once", "2", {"jobs": 2}),
        ("Comparison", "tokens", {"compare": {"mode": "tokens"}}),
        ("Tolerance", "1e-9", {"compare": {"tolerance": 1e-9}}),
    ],
)
def test_a_changed_setting_is_sent_alone(show: Show, label: str, value: str, change: dict[str, Any]) -> None:
    commands = Commands(python_command=("python3", "python3.12"), pypy_command=("pypy3", "/opt/pypy/bin/pypy3.10"))
    page, stage = show(init(SUMS, settings=RunSettings(compare=Compare(mode="float")), commands=commands))
    field = settings_of(page).get_by_label(label, exact=True)
    if field.evaluate("field => field.localName") == "select":
        field.select_option(value)
    else:
        write(field, value)
        field.press("Enter")
    assert stage.heard(UpdateSettings) == [UpdateSettings(change)]


def test_an_emptied_limit_is_the_problems_own_again(show: Show) -> None:
    page, stage = show(init(SUMS, settings=RunSettings(timeout_ms=500)))
    field = settings_of(page).get_by_label("Time limit")
    expect(field).to_have_value("500")
    write(field, "")
    field.press("Tab")
    assert stage.heard(UpdateSettings) == [UpdateSettings({"timeoutMs": None})]


def test_a_flag_is_a_setting_too(show: Show) -> None:
    page, stage = show(init(SUMS))
    settings_of(page).get_by_label("Capitals matter").uncheck()
    assert stage.heard(UpdateSettings) == [UpdateSettings({"compare": {"caseSensitive": False}})]


def test_what_the_server_refuses_is_said_at_the_field(show: Show) -> None:
    page, stage = show(init(SUMS))
    field = settings_of(page).get_by_label("Time limit")
    write(field, "soon")
    field.press("Tab")
    expect(page.get_by_text('not "soon"', exact=False)).to_be_visible()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_value("soon")
    expect(page.locator("judge-notices p")).to_have_count(0)
    assert len(stage.refused) == 1
    write(field, "3000")
    field.press("Tab")
    assert stage.heard(UpdateSettings) == [UpdateSettings({"timeoutMs": 3000})]
    expect(field).not_to_have_attribute("aria-invalid", "true")


def test_what_another_page_changes_is_shown_but_not_over_what_is_being_typed(show: Show) -> None:
    page, stage = show(init(SUMS))
    dialog = settings_of(page)
    typed = dialog.get_by_label("Time limit")
    write(typed, "77")
    stage.say(init(SUMS, settings=RunSettings(timeout_ms=5, jobs=4)))
    expect(dialog.get_by_label("Cases at once")).to_have_value("4")
    expect(typed).to_have_value("77")


def test_what_another_page_changes_is_shown_also_where_the_focus_is_but_nothing_was_typed(show: Show) -> None:
    page, stage = show(init(SUMS))
    dialog = settings_of(page)
    field = dialog.get_by_label("Time limit")
    field.focus()
    for limit in (5, 6, None):
        stage.say(init(SUMS, settings=RunSettings(timeout_ms=limit)))
        expect(field).to_have_value("" if limit is None else str(limit))
    write(field, "77")
    field.press("Tab")
    assert stage.heard(UpdateSettings) == [UpdateSettings({"timeoutMs": 77})]


def test_changed_settings_leave_results_and_folds_as_they_were(show: Show) -> None:
    page, stage = show(init(SUMS), *whole_run(SUMS, *MIXED))
    is_open(page, 2)
    page.get_by_role("button", name="Case 3", exact=True).click()
    stage.say(init(SUMS, settings=RunSettings(interpreter="pypy"), results=tuple(MIXED), summary=summary(MIXED)))
    expect(page.get_by_role("radio", name="PyPy")).to_be_checked()
    is_open(page, 2)
    is_open(page, 3)
    expect(standing(page)).to_have_text("2/3 passed, 120 ms · 1 WA")


def test_settings_that_change_in_the_middle_of_a_run_leave_it_as_it_was(show: Show) -> None:
    page, stage = show(init(SUMS), *whole_run(SUMS, *MIXED), begun(SUMS), *told(SUMS, PASSES[0]), begun(SUMS, 2))
    expect(page.get_by_text("earlier run").filter(visible=True)).to_have_count(2)
    stage.say(
        init(SUMS, settings=RunSettings(jobs=2), results=tuple(MIXED), running=Running(scope="all", current_index=2))
    )
    stage.say(Notice("info", "after"))
    expect(page.get_by_text("after")).to_be_visible()
    expect(page.get_by_text("earlier run").filter(visible=True)).to_have_count(2)
    expect(standing(page)).to_have_text("Running: 1/3 done")


def test_a_page_that_comes_in_the_middle_of_a_run_sees_what_is_done_and_what_is_not(show: Show) -> None:
    running = Running(scope="all", current_index=2)
    page, stage = show(init(SUMS, results=(PASSES[0],), running=running))
    expect(page.get_by_role("button", name="Cancel")).to_be_enabled()
    expect(badge(page, 1)).to_have_text("AC")
    expect(badge(page, 2)).to_have_text("running")
    expect(badge(page, 3)).to_have_text("waiting")
    stage.say(*told(SUMS, WRONG, PASSES[2]), RunProgress("all", False, None, SUMS.id), ended(SUMS, *MIXED))
    expect(standing(page)).to_have_text("2/3 passed, 120 ms · 1 WA")


def test_the_interpreter_is_switched(show: Show) -> None:
    page, stage = show(init(SUMS))
    page.get_by_role("radiogroup", name="Interpreter").get_by_text("PyPy").click()
    assert stage.heard(SwitchInterpreter) == [SwitchInterpreter("pypy")]
    expect(page.get_by_role("radio", name="PyPy")).to_be_checked()
