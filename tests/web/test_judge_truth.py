"""The judge's page shows the truth, and stays with the user's problem: in a real browser, with a scripted judge."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from playwright.sync_api import Browser, Locator, Page, expect

from actors.kernel.testing import run_schedule
from codec.judge import (
    Cancel,
    Forget,
    LastRun,
    Look,
    OpenProblem,
    Outdated,
    RequestInit,
    RunAll,
    RunSettings,
    StateArrived,
    StateProblems,
    StateUpdate,
)
from tests.judge.test_truth import CUT_OFF, IN_THE_MIDDLE, ISSUE, ONE_AFTER_ALL, STEPS, Model, play
from tests.web.judge_page import MIXED, PASSES, SUMS, WRONG, badge, item, lines, no_wider_than_its_window, standing
from tests.web.judge_stage import (
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
from tests.web.looks import LOOKS, looked_at
from tests.web.test_design import CONTRASTS
from tests.web.test_judge_page import TOWERS

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    with showing(chromium) as show:
        yield show


def marks(page: Page) -> list[str]:
    return page.locator("judge-case .stale").all_text_contents()


def outdated(*reasons: Any, indices: tuple[int, ...] = (1, 2, 3)) -> tuple[Outdated, ...]:
    return tuple(Outdated(index=index, reasons=reasons) for index in indices)


# --- the law ----------------------------------------------------------------------------------------------------------

FOLD = """async (said) => {
  const { Panel } = await import("/web/judge/panel.js");
  const { standing } = await import("/web/judge/sentence.js");
  const panel = new Panel();
  for (const message of said) panel.hear(message);
  const { id, cases, results, run, last, summary, cancelled } = panel;
  return {
    id, summary, cancelled, run: run && [run.number, [...run.wanted]], last: last && [last.number, [...last.wanted]],
    cases: [...cases.values()].map((each) => [each.index, each.inputContent, each.expectedContent]),
    results: [...results.values()].map((each) => [each.index, each.run, each.actual, each.status, each.outdated ?? []]),
    stale: [...panel.stale], standing: standing(panel),
  };
}"""


def folded(page: Page, model: Model, said: list[Any]) -> None:
    """Fold messages in the page and in the model, and check that the results are the same."""
    known = page.evaluate(FOLD, said)
    assert known["id"] == model.id
    assert known["cases"] == [[index, *texts] for index, texts in sorted(model.cases.items())]
    results = {index: each for index, *each in known["results"]}
    assert results == {
        index: [each["run"], each["actual"], each["status"], each.get("outdated", [])]
        for index, each in model.results.items()
    }
    run, last = model.run, model.last
    assert known["run"] == (run and [run["run"], run["indices"]])
    assert known["last"] == (last and [last["run"], last["indices"]])
    assert known["summary"] == (None if run else model.summary)
    now = run or last
    older = {i for i, each in model.results.items() if now and i in now["indices"] and each["run"] != now["run"]}
    assert set(known["stale"]) == older
    counted = {i: each for i, each in model.results.items() if i not in older and not each.get("outdated")}
    if run:
        counted = {index: each for index, each in counted.items() if each["run"] == run["run"]}
    passed, text = sum(each["status"] == "pass" for each in counted.values()), known["standing"]["text"]
    assert known["standing"]["score"] in ("", f"{passed}/{len(model.cases)}"), text
    assert (known["standing"]["tone"] == "good") == (run is None and passed == len(model.cases) > 0), text
    assert "-" not in text
    if not run and " ms" in text:  # a time is only shown with the result of a single run
        assert model.summary is not None
        assert f"{model.summary['durationMs']:,} ms" in text
        assert last is not None
        own = [each for each in counted.values() if each["run"] == last["run"]]
        assert len(own) == model.summary["total"]
        assert ("in all" in text) == (len(own) < len(counted)), text


@pytest.mark.timeout(300)
def test_the_page_makes_of_all_that_it_is_told_what_is_so(show: Show) -> None:
    page, _ = show(init(SUMS))

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(st.tuples(STEPS, st.booleans()), max_size=14), st.integers(0, 5))
    @example(ISSUE, 0)
    @example(ONE_AFTER_ALL, 0)
    @example(CUT_OFF, 0)
    @example(IN_THE_MIDDLE, 0)
    def law(steps: list[Any], seed: int) -> None:
        with ThreadPoolExecutor(1) as pool:  # a thread without Playwright's loop
            for said, model in pool.submit(partial(run_schedule, seed, play, steps)).result():
                folded(page, model, said)

    law()


# --- edits ------------------------------------------------------------------------------------------------------------


def test_an_edit_of_the_solution_marks_every_result_and_a_run_is_true_again(show: Show) -> None:
    page, stage = show(init(SUMS), *whole_run(SUMS, *MIXED))
    stage.say(StateUpdate(SUMS, outdated("solution")))
    expect(standing(page)).to_have_text("Not run since main.py was edited: 2/3 had passed")
    assert marks(page) == ["main.py edited since"] * 3
    expect(page).to_have_title("A - Sums")
    stage.say(*whole_run(SUMS, *PASSES))
    expect(standing(page)).to_have_text("3/3 passed, 120 ms")
    assert marks(page) == [""] * 3


def test_the_run_over_changed_tests_of_the_issue(show: Show) -> None:
    page, stage = show(init(SUMS), *whole_run(SUMS, PASSES[0], PASSES[1]))
    now = problem("a", case(1, "1 2\n", "4\n"), case(3))
    stage.say(StateUpdate(now, outdated("test", indices=(1,))))
    expect(page.locator("judge-case")).to_have_count(2)
    expect(badge(page, 3)).to_have_text("not run")
    expect(standing(page)).to_have_text("Not run since the tests were edited: 1/1 had passed · 1 not run")
    stage.say(begun(now), *told(now, result(1, "WA", "3\n", diff_summary="line 1: expected '4' got '3'"), result(3)))
    expect(standing(page)).to_have_text("Running: 2/2 done · 1 WA")
    stage.say(ended(now, result(1, "WA"), result(3)))
    expect(standing(page)).to_have_text("1/2 passed, 120 ms · 1 WA")
    expect(item(page, 1).locator(".brief")).to_have_text("line 1: expected '4' got '3'")
    assert lines(page, 1, "Expected") == ["4"]


def test_what_a_result_says_of_its_test_is_not_said_of_one_that_was_edited(show: Show) -> None:
    page, stage = show(init(SUMS), *whole_run(SUMS, *MIXED))
    expect(item(page, 2).locator("mark")).not_to_have_count(0)
    edited = replace(SUMS, cases=(SUMS.cases[0], case(2, "2 3\n", "6\n"), SUMS.cases[2]))
    stage.say(StateUpdate(edited, outdated("test", indices=(2,))))
    expect(item(page, 2).locator(".brief")).to_have_text("before: line 1: expected '5' got '6'")
    expect(item(page, 2).locator("mark")).to_have_count(0)
    expect(standing(page)).to_have_text("2/3 passed · 1 from before an edit")


@pytest.mark.parametrize(
    ("reason", "mark", "since"),
    [
        ("interpreter", "other interpreter", "the interpreter was changed"),
        ("settings", "other settings", "the settings were changed"),
        ("solution", "main.py edited since", "main.py was edited"),
    ],
)
def test_each_reason_is_said(show: Show, reason: Any, mark: str, since: str) -> None:
    results = tuple(replace(each, outdated=(reason,), run=1) for each in PASSES)
    page, _ = show(init(SUMS, results=results, summary=summary(PASSES), last=LastRun(run=1, indices=(1, 2, 3))))
    expect(standing(page)).to_have_text(f"Not run since {since}: 3/3 had passed")
    assert marks(page) == [mark] * 3


def test_a_cancelled_run_is_one_after_a_reload_too(show: Show) -> None:
    results = replace(PASSES[0], run=2), replace(WRONG, run=1), replace(PASSES[2], run=1)
    last = LastRun(run=2, indices=(1, 2, 3), cancelled=True)
    page, _ = show(init(SUMS, results=results, summary=summary(PASSES[:1]), last=last))
    expect(standing(page)).to_have_text("Cancelled: 1/3 passed, 120 ms · 2 not run again")
    assert marks(page) == ["", "earlier run", "earlier run"]


def test_a_folder_that_is_gone_is_said_with_what_to_do(show: Show) -> None:
    page, stage = show(init(SUMS))
    stage.say(StateUpdate(replace(SUMS, cases=(), gone=True, main_path="/contest/abc999/abc999_a/main.py")))
    expect(page.get_by_text(re.compile("^Its folder is gone: /contest/abc999/abc999_a. Put it back"))).to_be_visible()
    expect(page.get_by_text("This problem has no cases.")).to_be_hidden()
    expect(page.get_by_role("button", name="Run all")).to_be_disabled()


def test_who_comes_back_to_the_page_makes_the_server_look(show: Show) -> None:
    page, stage = show(init(SUMS))
    expect(standing(page)).to_be_visible()
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    assert stage.heard(Look) == [Look()]


# --- staying with a problem -------------------------------------------------------------------------------------------

ARRIVED = StateArrived(listed(TOWERS))


def news(page: Page) -> Locator:
    return page.get_by_role("status", name="News of the list")


def stays(page: Page, stage: JudgeStage) -> None:
    expect(news(page)).to_have_text("New: B - Two Towers")
    assert stage.so_far(OpenProblem) == []


def test_an_idle_page_asks_for_what_has_come_in(show: Show) -> None:
    page, stage = show(init(SUMS), contest())
    assert stage.heard(RequestInit)[0].follow is False
    stage.say(ARRIVED)
    assert stage.heard(OpenProblem) == [OpenProblem(TOWERS.id)]
    stage.say(init(TOWERS))
    expect(page.get_by_role("heading", level=1)).to_have_text("B - Two Towers")
    expect(news(page)).to_be_hidden()


def test_who_types_stays_and_follows_the_link_by_keyboard(show: Show) -> None:
    page, stage = show(init(SUMS), contest())
    expect(standing(page)).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("lan")
    stage.say(ARRIVED)
    stays(page, stage)
    page.keyboard.type("terns")
    expect(page.locator("judge-problems .problem .name")).to_have_text(["C - Lanterns along the River"])
    page.keyboard.press("Tab")
    news(page).get_by_role("link", name="B - Two Towers").press("Enter")
    assert stage.heard(OpenProblem) == [OpenProblem(TOWERS.id)]


def test_who_runs_stays(show: Show) -> None:
    page, stage = show(init(SUMS), contest(), begun(SUMS))
    expect(page.get_by_role("button", name="Cancel")).to_be_enabled()
    stage.say(ARRIVED)
    stays(page, stage)
    news(page).get_by_role("button", name="Close what is new").click()
    expect(news(page)).to_be_hidden()
    assert stage.so_far(Cancel) == []


def test_who_has_a_dialog_open_stays(show: Show) -> None:
    page, stage = show(init(SUMS), contest())
    expect(standing(page)).to_be_visible()
    page.get_by_role("button", name="Settings").click()
    stage.say(ARRIVED)
    stays(page, stage)


def test_who_has_pinned_stays_also_after_a_reload_and_until_it_is_loosened(show: Show) -> None:
    page, stage = show(init(SUMS), contest())
    expect(standing(page)).to_be_visible()
    page.keyboard.press("t")
    pin = page.get_by_role("button", name="pinned")
    expect(pin).to_have_attribute("aria-pressed", "true")
    page.reload()
    stage.heard(RequestInit, 2)
    expect(pin).to_be_visible()
    stage.say(ARRIVED)
    stays(page, stage)
    pin.click()
    stage.say(replace(ARRIVED, problem=listed(problem("c", name="C"))))
    assert stage.heard(OpenProblem) == [OpenProblem("abc999/abc999_c")]


def test_many_that_came_in_are_counted(show: Show) -> None:
    page, stage = show(init(SUMS), contest(), begun(SUMS))
    expect(page.get_by_role("button", name="Cancel")).to_be_enabled()
    stage.say(*(StateArrived(listed(problem(task, name=task.upper()))) for task in "bcdef"))
    expect(news(page)).to_have_text("New: F, E, D and 2 more, in the list")


def test_what_came_while_the_page_was_away_does_not_move_who_has_pinned(show: Show) -> None:
    page, stage = show(init(SUMS), contest())
    expect(standing(page)).to_be_visible()
    page.keyboard.press("t")
    came = listed(problem("g", name="G"))
    stage.opening = [StateProblems((*contest().problems, came), came.id), init(SUMS)]
    stage.drop()
    stage.heard(RequestInit, 2)
    expect(news(page)).to_have_text("New: G")
    assert stage.so_far(OpenProblem) == []


# --- the list ---------------------------------------------------------------------------------------------------------


def many(*names: str) -> StateProblems:
    four = [(at, at // 4, name) for at, name in enumerate(names)]
    each = [problem(f"p{at}", name=name, contest_id=f"c{group}", group=f"Round {group}") for at, group, name in four]
    return StateProblems(tuple(listed(replace(one, id=f"{one.contest_id}/{one.task_id}")) for one in each))


NUMBERS = 21, 14, 12, 11, 10, 100, 1, 13, 2
NUMBERED = many(*(f"Problem {number}" for number in NUMBERS), "All of Problem 1", "1 Problem")


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("problem 1", ["Problem 1", "All of Problem 1"]),
        ("Problem 10", ["Problem 10"]),
        ("c1/abc999_p6", ["Problem 1"]),
        ("round 0 problem 1", ["Problem 14", "Problem 12", "Problem 11", "Problem 21"]),
        ("problem 2", ["Problem 2"]),
        ("(", []),
    ],
)
def test_the_best_find_is_the_first(show: Show, typed: str, first: list[str]) -> None:
    page, stage = show(init(SUMS), NUMBERED)
    expect(standing(page)).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type(typed)
    found = page.locator("judge-problems .problem .name")
    expect(page.locator("judge-problems .nothing")).to_be_visible(visible=not first)
    if typed == "problem 1":
        expect(found).to_have_count(10)
    assert found.all_text_contents()[: len(first)] == first
    page.keyboard.press("Enter")
    if first:
        assert stage.heard(OpenProblem)[0].id == next(one.id for one in NUMBERED.problems if one.name == first[0])


def test_escape_leaves_the_search_and_keys_mean_what_they_meant_before(show: Show) -> None:
    page, stage = show(init(SUMS), NUMBERED, begun(SUMS))
    expect(page.get_by_role("button", name="Cancel")).to_be_enabled()
    page.keyboard.press("/")
    page.keyboard.type("problem 1")
    expect(page.locator("judge-problems .problem")).to_have_count(10)
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox")).not_to_be_focused()
    expect(page.get_by_role("searchbox")).to_have_value("")
    assert stage.so_far(Cancel) == []  # that key was for the search
    stage.say(ended(SUMS, *PASSES))
    expect(page.get_by_role("button", name="Run all")).to_be_enabled()
    page.keyboard.press("r")
    assert stage.heard(RunAll) == [RunAll(None, SUMS.id)]


def test_the_list_is_walked_from_the_search(show: Show) -> None:
    page, _ = show(init(SUMS), NUMBERED)
    expect(standing(page)).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("problem 1")
    page.keyboard.press("ArrowDown")
    expect(page.locator("judge-problems .problem").first).to_be_focused()
    page.keyboard.press("ArrowDown")  # past the head of the next contest
    page.keyboard.press("ArrowDown")
    expect(page.locator("judge-problems .problem", has_text="All of Problem 1")).to_be_focused()


def test_a_problem_is_taken_off_the_list_and_back(show: Show) -> None:
    page, stage = show(init(SUMS), contest())
    row = page.get_by_role("link", name=re.compile("^B - Two Towers"))
    row.focus()
    page.keyboard.press("Delete")
    assert stage.heard(Forget) == [Forget(TOWERS.id)]
    known = contest()
    stage.say(StateProblems(tuple(one for one in known.problems if one.id != TOWERS.id), known.current))
    words = "B - Two Towers is off the list. Its folder stays as it is; sending the problem again brings it back. Undo"
    expect(news(page)).to_have_text(words)
    expect(row).to_have_count(0)
    expect(page.get_by_role("link", name=re.compile("^C - Lanterns"))).to_be_focused()
    news(page).get_by_role("button", name="Undo").click()
    assert stage.heard(OpenProblem) == [OpenProblem(TOWERS.id)]
    stage.say(known)
    expect(row).to_have_count(1)
    expect(news(page)).to_be_hidden()


def test_the_mouse_takes_one_off_too_and_the_shown_one_leaves_the_page(show: Show) -> None:
    page, stage = show(init(SUMS), contest())
    page.get_by_role("link", name=re.compile("^A - Sums")).hover()
    page.get_by_role("button", name="Remove A - Sums from the list; its folder stays as it is").click()
    assert stage.heard(Forget) == [Forget(SUMS.id)]
    known = contest()
    stage.say(init(), StateProblems(known.problems[1:]))
    expect(page.get_by_role("heading", name="Choose a problem, or send another one")).to_be_visible()
    assert "#" not in page.url


# --- how it looks -----------------------------------------------------------------------------------------------------


def test_it_all_has_room(show: Show) -> None:
    name = "B - A Name of a Problem That Takes Much Room"
    shown = problem("a", count=8)
    results = [result(n, "WA" if n == 2 else "AC", diff_summary="line 1: expected '5' got '6'") for n in range(1, 9)]
    page, stage = show(init(shown, settings=RunSettings()), contest(), *whole_run(shown, *results))
    expect(standing(page)).to_contain_text("7/8 passed")
    page.keyboard.press("t")
    stage.say(StateUpdate(shown, (*outdated("test", indices=(2,)), *outdated("solution", indices=(3, 4)))))
    stage.say(StateArrived(listed(problem("b", name=name))))
    expect(news(page)).to_contain_text(name)
    for width, colors in LOOKS:
        with looked_at(page, width, colors, height=900):
            no_wider_than_its_window(page)
            assert page.evaluate(CONTRASTS) == []
