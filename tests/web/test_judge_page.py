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
    Batch,
    Cancel,
    Commands,
    Compare,
    Notice,
    OpenProblem,
    RequestCase,
    RequestInit,
    RunAll,
    Running,
    RunOne,
    RunProgress,
    RunSettings,
    Standing,
    StateCase,
    StateProblems,
    StateUpdate,
    SwitchInterpreter,
    UpdateSettings,
)
from tests.web.judge_stage import (
    TRACEBACK,
    JudgeStage,
    Show,
    begun,
    case,
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
from tests.web.looks import SCHEMES, looked_at
from tests.web.stage import write
from tests.web.test_design import CONTRASTS

NAMELESS = """() => [...document.querySelectorAll("button, a[href], input, select")]
    .filter((element) => element.checkVisibility())
    .filter((element) => !(element.ariaLabel || element.textContent.trim() || element.labels?.length))
    .map((element) => element.outerHTML)"""

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SUMS = problem("a", count=3)
PASSES = [result(1, actual="3\n"), result(2, actual="5\n"), result(3, actual="7\n")]
WRONG = result(2, "WA", "6\n", diff_summary="line 1: expected '5' got '6'")
MIXED = [PASSES[0], WRONG, PASSES[2]]


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    with showing(chromium) as show:
        yield show


def item(page: Page, index: int) -> Locator:
    return page.locator(f'judge-case[data-index="{index}"]')


def standing(page: Page) -> Locator:
    return page.locator("judge-controls .standing .text")


def badge(page: Page, index: int) -> Locator:
    return item(page, index).locator(".letters")


def text(page: Page, index: int, label: str) -> Locator:
    return item(page, index).get_by_role("group", name=label, exact=True)


def lines(page: Page, index: int, label: str) -> list[str]:
    """The lines of a text, as soon as there are any: they are drawn when they come into sight."""
    drawn = text(page, index, label).locator(".line")
    expect(drawn).not_to_have_count(0)
    return drawn.all_text_contents()


def is_open(page: Page, index: int, expected: bool = True) -> None:
    expect(item(page, index).locator(".fold")).to_have_attribute("aria-expanded", str(expected).lower())


def no_wider_than_its_window(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".desk").evaluate("desk => desk.scrollWidth <= desk.clientWidth")


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


# --- texts and differences --------------------------------------------------------------------------------------------


def failing(expected: str, actual: str, **fields: Any) -> list[Any]:
    shown = problem("a", case(1, "1 2\n", expected), case(2))
    settings = fields.pop("settings", RunSettings())
    return [init(shown, settings=settings), *whole_run(shown, result(1, "WA", actual, **fields), result(2))]


def test_a_difference_is_marked_on_either_side_word_by_word(show: Show) -> None:
    page, _ = show(*failing("Yes\n1 2 3 4\nend\n", "Yes\n1 2 5 4\nend\n"))
    expect(text(page, 1, "Expected").locator("mark")).to_have_text("3")
    expect(text(page, 1, "Actual").locator("mark")).to_have_text("5")
    expect(text(page, 1, "Expected").locator("[data-tone=good]")).to_have_text("1 2 3 4")
    expect(text(page, 1, "Actual").locator("[data-tone=bad]")).to_have_text("1 2 5 4")
    assert lines(page, 1, "Input") == ["1 2"]


def test_blanks_that_differ_can_be_seen_and_are_not_part_of_the_text(show: Show) -> None:
    page, _ = show(*failing("1\t2\n3\n", "1 2 \n3"))
    actual, expected = text(page, 1, "Actual"), text(page, 1, "Expected")
    assert lines(page, 1, "Actual") == ["1 2 ", "3"]
    signs = "blanks => blanks.map(({ dataset }) => dataset.sign)"
    assert actual.locator(".blank").evaluate_all(signs) == ["·", "·"]
    assert lines(page, 1, "Expected") == ["1\t2", "3"]
    assert expected.locator(".blank").evaluate_all(signs) == ["→"]
    expect(actual.locator(".remark")).to_have_attribute("data-sign", "no newline at end")
    expect(expected.locator(".remark")).to_have_count(0)
    ends = "lines => lines.map(line => getComputedStyle(line, '::after').content)"
    assert expected.locator(".line").evaluate_all(ends) == ['"↵"', '"↵"']


def test_blanks_are_shown_everywhere_when_asked_for(show: Show) -> None:
    page, _ = show(*failing("a b\nc\n", "a b\nd\n"))
    expect(text(page, 1, "Actual").locator("mark")).to_have_text("d")
    expect(text(page, 1, "Input").locator(".blank")).to_have_count(0)
    page.get_by_role("button", name="Show all blanks").click()
    expect(text(page, 1, "Input").locator(".blank")).to_have_count(1)
    expect(text(page, 1, "Actual").locator(".blank")).to_have_count(1)


def test_a_character_that_cannot_be_seen_is_shown_by_its_number(show: Show) -> None:
    page, _ = show(*failing("a b\n", "a\u00a0b\u202e\r\n\u200b\n"))
    odd = text(page, 1, "Actual").locator(".odd")
    expect(odd).to_have_count(3)
    signs = odd.evaluate_all("signs => signs.map(({ dataset }) => dataset.sign)")
    assert signs == ["U+00A0", "U+202E", "U+200B"]


def test_text_that_contains_html_is_shown_and_not_run(show: Show) -> None:
    evil = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>&amp;"
    shown = problem("a", case(1, f"{evil}\n", f"{evil}\n"), name=evil, group=evil, url="javascript:alert(1)")
    wrong = result(1, "RE", f"{evil}!\n", console=f"{evil}\n", reason=evil, diff_summary=evil)
    page, _ = show(
        init(shown), StateProblems((listed(shown),)), Notice("warn", evil), *whole_run(shown, wrong)
    )  # fmt: skip
    expect(page.get_by_role("heading", level=1)).to_have_text(evil)
    for label in ("Input", "Expected", "Console"):
        assert lines(page, 1, label) == [evil]
    assert lines(page, 1, "Actual") == [f"{evil}!"]
    expect(page.locator("judge-notices p")).to_have_text(evil)
    expect(page.locator("judge-problem a:visible, main img, main script")).to_have_count(0)
    assert page.title().endswith(evil)


def test_copying_gives_the_text_as_the_program_wrote_it(show: Show) -> None:
    page, _ = show(*failing("1\t2\n", "1  2 \n3"), permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy actual").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "1  2 \n3"


def test_a_text_that_was_cut_is_fetched_whole_on_request(show: Show) -> None:
    long = "".join(f"{n}\n" for n in range(20_000))
    shown = problem("a", case(1, long, "3\n"))
    page, stage = show(init(shown), *whole_run(shown, result(1, "WA", "4\n")))
    expect(item(page, 1).locator(".input .size")).to_have_text("the first 16.4 kB of 109 kB")
    page.get_by_role("button", name="Show all of input").click()
    assert stage.heard(RequestCase) == [RequestCase(1, shown.id)]
    whole = replace(shown.cases[0], input_content=long, input_cut=False)
    stage.say(StateCase(problem_id=shown.id, case=whole))
    expect(item(page, 1).locator(".input .size")).to_have_text("109 kB")
    expect(page.get_by_role("button", name="Show all of input")).to_be_hidden()
    stage.say(StateUpdate(shown))
    expect(item(page, 1).locator(".input .size")).to_have_text("109 kB")


def test_a_text_that_was_cut_is_copied_whole(show: Show) -> None:
    long = "".join(f"{n}\n" for n in range(20_000))
    shown = problem("a", case(1, long, "3\n"))
    page, stage = show(
        init(shown), *whole_run(shown, result(1, "WA", "4\n")), permissions=["clipboard-read", "clipboard-write"]
    )
    page.get_by_role("button", name="Copy input").click()
    stage.heard(RequestCase)
    stage.say(StateCase(problem_id=shown.id, case=replace(shown.cases[0], input_content=long, input_cut=False)))
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == long


def test_what_the_server_has_no_more_of_is_said_so(show: Show) -> None:
    page, stage = show(*failing("3\n", "4\n" * 20_000))
    page.get_by_role("button", name="Show all of actual").click()
    stage.heard(RequestCase)
    stage.say(StateCase(problem_id="abc999/abc999_a", case=case(1, "1 2\n", "3\n")))
    expect(item(page, 1).locator(".actual .size")).to_have_text(
        "the first 16.4 kB of 40.0 kB; the server has no more"
    )  # fmt: skip


def test_a_difference_behind_the_cut_is_said_to_be_there(show: Show) -> None:
    same = "0123456789\n" * 2_000
    page, _ = show(*failing(f"{same}1\n", f"{same}2\n"))
    expect(page.get_by_text("The first difference comes after the part that is shown here.")).to_be_visible()
    expect(item(page, 1).locator("[data-tone=good].line, [data-tone=bad].line")).to_have_count(0)


def test_the_first_difference_is_scrolled_into_sight_and_the_next_can_be_gone_to(show: Show) -> None:
    expected = [f"line {n}" for n in range(1, 1001)]
    actual = [f"{line}!" if n in (600, 900) else line for n, line in enumerate(expected, 1)]
    page, _ = show(*failing("\n".join(expected) + "\n", "\n".join(actual) + "\n"))
    for label, word in (("Expected", "line 600"), ("Actual", "line 600!")):
        expect(text(page, 1, label).get_by_text(word, exact=True)).to_be_in_viewport()
    expect(page.get_by_text("Difference 1 of 2")).to_be_visible()
    page.keyboard.press("n")
    expect(text(page, 1, "Actual").locator(".line[data-tone]")).to_have_text("line 900!")
    expect(text(page, 1, "Actual").locator(".line[data-tone]")).to_be_in_viewport()
    expect(page.get_by_text("Difference 2 of 2")).to_be_visible()
    page.get_by_role("button", name="Next difference").click()
    expect(text(page, 1, "Expected").get_by_text("line 600", exact=True)).to_be_in_viewport()


def test_the_two_sides_scroll_together(show: Show) -> None:
    expected = "".join(f"line {n}\n" for n in range(1, 1001))
    page, _ = show(*failing(expected, expected.replace("line 3\n", "line three\n")))
    expect(text(page, 1, "Actual").get_by_text("line three")).to_be_in_viewport()
    text(page, 1, "Actual").evaluate("lines => { lines.scrollTop = 9000 }")
    expect(text(page, 1, "Expected").get_by_text("line 505", exact=True)).to_be_in_viewport()


def test_a_difference_far_out_in_a_long_line_is_in_sight(show: Show) -> None:
    numbers = [str(n) for n in range(3_000)]
    wrong = [*numbers[:2_500], "x", *numbers[2_501:]]
    page, _ = show(*failing(" ".join(numbers) + "\n", " ".join(wrong) + "\n"))
    for label, word in (("Expected", "2500"), ("Actual", "x")):
        expect(text(page, 1, label).locator("mark")).to_have_text(word)
        expect(text(page, 1, label).locator("mark")).to_be_in_viewport()
        assert len(lines(page, 1, label)[0]) < 5_000


def test_the_two_sides_stand_beside_each_other_where_there_is_room(show: Show) -> None:
    page, _ = show(*failing("1\n", "2\n"))
    expect(text(page, 1, "Actual").locator("mark")).to_be_visible()
    for width, beside in ((1280, True), (400, False)):
        with looked_at(page, width):
            expected, actual = (text(page, 1, label).bounding_box() for label in ("Expected", "Actual"))
            assert expected is not None
            assert actual is not None
            assert (expected["y"] == actual["y"]) == beside


def test_outputs_of_ten_thousand_lines_are_drawn_where_they_are_looked_at(show: Show) -> None:
    expected = "".join(f"{n} {n * n}\n" for n in range(10_000))
    actual = expected.replace("9990 99800100\n", "9990 0\n")
    big = replace(case(1, "1\n", expected), expected_content=expected, expected_cut=False)
    shown = problem("a", big)
    wrong = replace(result(1, "WA", ""), actual=actual, actual_size=len(actual), actual_cut=False)
    page, _ = show(init(shown), *whole_run(shown, wrong))
    expect(text(page, 1, "Actual").locator("mark")).to_have_text("0")
    expect(text(page, 1, "Actual").locator("mark")).to_be_in_viewport()
    assert page.locator(".line").count() < 300
    text(page, 1, "Actual").evaluate("lines => { lines.scrollTop = 0 }")
    expect(text(page, 1, "Actual").get_by_text("3 9", exact=True)).to_be_in_viewport()
    assert page.locator(".line").count() < 300


def test_a_hundred_failed_cases_are_drawn_where_they_are_looked_at(show: Show) -> None:
    texts = ["".join(f"{n} {k}\n" for n in range(100)) for k in range(2)]
    shown = problem("a", *[case(n, texts[0], texts[0]) for n in range(1, 101)])
    page, _ = show(init(shown), *whole_run(shown, *[result(n, "WA", texts[1]) for n in range(1, 101)]))
    expect(standing(page)).to_have_text("0/100 passed, 120 ms · 100 WA")
    expect(text(page, 1, "Actual").locator("mark").first).to_be_visible()
    assert page.locator(".line").count() < 1_500  # the text has thirty thousand
    page.keyboard.press("k")
    expect(text(page, 100, "Actual").locator("mark").first).to_be_attached()


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
    nav.get_by_role("link", name="C - Lanterns").click()
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
    nav.get_by_role("link", name="B - Two").click()
    stage.heard(OpenProblem)
    expect(nav).to_be_hidden()


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
    expect(page.get_by_text("The server was stopped in the middle of this run.")).to_be_visible()
    expect(standing(page)).to_have_text("Interrupted: 1/3 passed · 2 not run")
    stage.say(begun(SUMS))
    expect(page.get_by_text("The server was stopped")).to_be_hidden()


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
    page.get_by_role("link", name="B - Two Towers").click()
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


def test_a_problem_of_the_list_opens_in_a_tab_of_its_own(show: Show) -> None:
    page, stage = show(init(SUMS), contest())
    stage.opening = [init(TOWERS), contest()]  # the new tab asks for it
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="B - Two Towers").click(modifiers=["ControlOrMeta"])
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
    expect(dialog.get_by_text("from 1 to 256, or empty for as many as there are cores, not -3")).to_be_visible()
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
    expect(page.get_by_text('not "soon"')).to_be_visible()
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


# --- the keyboard -----------------------------------------------------------------------------------------------------


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
    nav.get_by_role("link", name="B - Two").focus()
    page.keyboard.press(key)
    expect(nav).to_be_hidden()
    expect(button).to_be_focused()
    assert stage.so_far(Cancel) == []
    page.keyboard.press("Escape")
    assert stage.heard(Cancel) == [Cancel(SUMS.id)]


def test_a_button_s_name_holds_what_is_written_on_it(show: Show) -> None:
    page, _ = show(init(SUMS), *whole_run(SUMS, *MIXED))
    expect(page.locator("judge-controls").get_by_role("button", name="to case 2")).to_have_text("to case 2")


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
