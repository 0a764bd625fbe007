"""What was pressed in a list is what counts, whatever comes above it or is drawn anew: in the tree of the console, the
list of the desk, and that of the problems (web/house/press.js)."""

import time
from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, expect

from codec.ipc.desk import RequestDetail
from codec.judge import OpenProblem, StateProblems
from tests.ipc.desk_kit import fact
from tests.web import scenes
from tests.web.conftest import Visit
from tests.web.desk_stage import ShowDesk, showing_desk
from tests.web.judge_stage import Show, contest, init, listed, problem, showing
from tests.web.scenes import change, node
from tests.web.test_press import press, release

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture
def judge(chromium: Browser) -> Iterator[Show]:
    with showing(chromium) as show:
        yield show


@pytest.fixture(scope="module")
def desk(chromium: Browser) -> Iterator[ShowDesk]:
    with showing_desk(chromium) as show:
        yield show


def test_a_row_of_the_tree_that_moves_under_the_pointer_is_the_one_that_is_chosen(visit: Visit) -> None:
    page, stage = visit(scenes.small())
    target = page.locator('.row[data-key="troupe/sidekick/door"]')
    press(target.locator(".label"))
    stage.tell(change(*(node(f"troupe/sidekick/rooms/new-{number}") for number in range(3))))
    expect(page.get_by_role("treegrid")).to_have_attribute("aria-rowcount", "11")
    release(page)
    expect(target).to_have_attribute("aria-selected", "true")
    expect(page.locator(".row[aria-selected=true]")).to_have_count(1)


@pytest.mark.parametrize("at", [".command", ".pick"])
def test_a_request_that_moves_under_the_pointer_is_the_one_that_is_chosen(desk: ShowDesk, at: str) -> None:
    """Its row is drawn in another element then, and in its own there is another request."""
    now = time.time()
    page, stage = desk(*(RequestDetail(fact=fact(name, "waiting", now - 9)) for name in ("first", "second", "third")))
    target = page.locator('desk-list .row[data-id="second"]')
    press(target.locator(at))
    stage.note(RequestDetail(fact=fact("fourth", "waiting", now)))
    expect(page.locator("desk-list .row")).to_have_count(4)
    release(page)
    chosen = "aria-selected" if at == ".pick" else "aria-current"
    expect(target).to_have_attribute(chosen, "true")
    expect(page.locator(f"desk-list .row[{chosen}=true]")).to_have_count(1)


def test_a_problem_whose_list_is_drawn_anew_is_the_one_that_is_opened(judge: Show) -> None:
    shown = problem("a")
    page, stage = judge(init(shown), contest())
    target = page.locator('[data-key="problem abc999/abc999_b"]')
    press(target)
    known = contest().problems
    stage.say(StateProblems((replace(listed(problem("z")), id="abc999/abc999_z"), *known), shown.id))
    expect(page.locator('[data-key="problem abc999/abc999_z"]')).to_be_visible()
    release(page)
    assert stage.heard(OpenProblem)[0].id == "abc999/abc999_b"
