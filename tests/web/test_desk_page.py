"""The desk's page in a real browser, on a real door, with a journal on paper."""

import re
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Locator, Page, Route, expect

from actors.ipc.messages import EditorNow, PeerNow
from codec.ipc import Failure, Success
from codec.ipc.desk import RequestDetail
from tests.ipc.desk_kit import attempt, fact
from tests.web.desk_stage import ShowDesk, archive, batch, failed_one, healthy, showing_desk
from tests.web.looks import LOOKS, looked_at
from tests.web.stage import FRAMES, says_in_passing, write
from tests.web.test_design import CONTRASTS, NAMELESS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NOW = time.time()
EVIL = "<img src=x onerror='window.harmed=1'><b>bold</b>"


@pytest.fixture(scope="module")
def desk(chromium: Browser) -> Iterator[ShowDesk]:
    with showing_desk(chromium) as show:
        yield show


def details(*facts: Any) -> list[RequestDetail]:
    return [RequestDetail(fact=each) for each in facts]


def few() -> list[RequestDetail]:
    return details(
        fact("first", "success", NOW - 90, seconds=12.5),
        fact("second", "gave up", NOW - 60, attempts=3, message="The model was busy.", command="submitPrompt"),
        fact("third", "polling", NOW - 30, submitter="nightly.py"),
        fact("fourth", "waiting", NOW - 3),
    )


def rows(page: Page) -> Locator:
    return page.locator("desk-list .row")


def ids(page: Page) -> list[str]:
    return list(
        page.locator("desk-list .row").evaluate_all(
            "rows => rows.sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map(row => row.dataset.id ?? '')"
        )
    )


def row(page: Page, id: str) -> Locator:  # noqa: A002
    return page.locator(f'desk-list .row[data-id="{id}"]')


def active(page: Page) -> Locator:
    return page.locator("desk-list .row.active")


# -- the list


def test_every_request_has_a_row_and_every_state_its_count(desk: ShowDesk) -> None:
    page, _ = desk(*few())
    expect(rows(page)).to_have_count(4)
    assert ids(page) == ["fourth", "third", "second", "first"]
    expect(row(page, "second").locator("house-pill")).to_have_text("gave up")
    expect(row(page, "second").locator(".message")).to_have_text("The model was busy.")
    expect(row(page, "second").locator(".tries")).to_have_text("3")
    expect(row(page, "first").locator(".lasted")).to_have_text("12.5 s")
    expect(page.get_by_role("button", name="gave up 1")).to_be_visible()
    expect(page.get_by_role("button", name="All 4")).to_have_attribute("aria-pressed", "true")


def test_what_happens_is_seen_at_once(desk: ShowDesk) -> None:
    page, stage = desk(*few())
    expect(rows(page)).to_have_count(4)
    stage.note(*details(fact("fifth", "waiting", NOW)))
    expect(rows(page).first).to_contain_text("fifth")
    stage.note(*details(fact("fifth", "success", NOW, seconds=0.25)))
    expect(row(page, "fifth").locator("house-pill")).to_have_text("success")
    expect(row(page, "fifth").locator(".lasted")).to_have_text("250 ms")


def test_states_and_a_text_choose_what_is_shown(desk: ShowDesk) -> None:
    page, _ = desk(*few())
    page.get_by_role("button", name=re.compile("^gave up")).click()
    expect(rows(page)).to_have_count(1)
    page.get_by_role("button", name=re.compile("^polling")).click()
    expect(rows(page)).to_have_count(2)
    page.get_by_role("button", name="All 4").click()
    expect(rows(page)).to_have_count(4)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("NIGHTLY")
    expect(rows(page)).to_have_count(1)
    assert ids(page) == ["third"]
    page.keyboard.type("x")
    expect(page.get_by_text("Nothing matches “NIGHTLYx”.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(rows(page)).to_have_count(4)
    page.get_by_label("Sort by").select_option("slowest")
    expect(rows(page).first).to_contain_text("first")


def test_the_keyboard_walks_opens_leaves_and_picks(desk: ShowDesk) -> None:
    page, _ = desk(*few())
    expect(rows(page)).to_have_count(4)
    page.keyboard.press("j")  # the first press takes the list
    expect(page.locator("desk-list")).to_be_focused()
    expect(active(page)).to_contain_text("fourth")
    for key, where in [("j", "third"), ("ArrowDown", "second"), ("k", "third"), ("ArrowUp", "fourth"),
                       ("End", "first"), ("Home", "fourth"), ("PageDown", "first"), ("PageUp", "fourth")]:  # fmt: skip
        page.keyboard.press(key)
        expect(active(page)).to_contain_text(where)
    named = page.locator("desk-list").get_attribute("aria-activedescendant")
    expect(page.locator(f"#{named}")).to_contain_text("fourth")
    page.keyboard.press("Enter")
    opened = page.get_by_role("region", name="Chosen request")
    expect(opened.locator("h2")).to_have_text("fourth")
    assert page.url.endswith("#/fourth")
    page.keyboard.press("Escape")
    expect(opened).to_be_hidden()
    expect(page.locator("desk-list")).to_be_focused()
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("Space")
    expect(page.locator(".picked b")).to_have_text("2 picked")
    expect(page.locator('.row[aria-selected="true"]')).to_have_count(2)
    page.keyboard.press("Escape")
    expect(page.locator(".picked")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    expect(rows(page)).to_have_count(1)


def test_a_key_changes_no_request_that_the_reader_does_not_see_marked(desk: ShowDesk) -> None:
    old = details(fact("old", "success", NOW - 9_000, seconds=1.0))
    page, stage = desk(*old, viewport={"width": 1280, "height": 500})
    expect(rows(page)).to_have_count(1)
    for press in ("a", "x"):  # nobody has walked to it yet
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press(press)
        expect(page.locator("desk-list")).to_be_focused()
        expect(active(page)).to_contain_text("old")
    expect(page.locator(".picked")).to_be_hidden()
    stage.note(*details(*(fact(f"new-{number:02}", "success", NOW - number) for number in range(60))))
    expect(page.get_by_role("button", name="All 61")).to_be_visible()
    expect(row(page, "old")).to_have_count(0)  # it has gone out of sight
    page.keyboard.press("a")
    expect(row(page, "old")).to_be_in_viewport()
    expect(active(page)).to_contain_text("old")
    assert "old" in stage.journal.details
    page.keyboard.press("a")
    expect(page.get_by_text("Request old moved to the archive.")).to_be_visible()
    expect(page.get_by_role("button", name="All 60")).to_be_visible()


@pytest.mark.parametrize("count", [1, 40, 1_300])
@pytest.mark.parametrize("steps", [0, 3])
def test_a_key_means_the_request_that_the_reader_has_marked_however_many_come_in_above(
    desk: ShowDesk, steps: int, count: int
) -> None:
    page, stage = desk(*archive(200))
    expect(page.get_by_role("button", name="All 200")).to_be_visible()
    marked = f"evaluation-{199 - steps:06}"
    page.locator("desk-list").focus()
    page.keyboard.press("Home")
    for _ in range(steps):
        page.keyboard.press("j")
    expect(active(page)).to_contain_text(marked)
    before = active(page).bounding_box()
    stage.note(*details(*(fact(f"new-{number:04}", "success", NOW + number) for number in range(count))))
    expect(page.get_by_role("button", name=f"All {200 + count:,}")).to_be_visible()
    page.evaluate(FRAMES)
    if steps:
        expect(active(page)).to_contain_text(marked)
        assert active(page).bounding_box() == before
    page.keyboard.press("a")
    if steps or count == 1:
        expect(page.get_by_text(f"Request {marked} moved to the archive.")).to_be_visible()
    else:  # it is out of sight: the next press would mean the one that is marked then
        page.evaluate(FRAMES)
        expect(page.get_by_role("button", name=f"All {200 + count:,}")).to_be_visible()
        assert len(stage.journal.details) == 200 + count


@pytest.mark.parametrize("press", ["Enter", "ArrowDown"])
def test_from_the_filter_a_key_leads_on_to_what_was_found(desk: ShowDesk, press: str) -> None:
    page, _ = desk(*few())
    page.keyboard.press("/")
    page.keyboard.type("second")
    expect(rows(page)).to_have_count(1)
    page.keyboard.press(press)
    expect(page.locator("desk-list")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Chosen request").locator("h2")).to_have_text("second")


# -- a hundred thousand


def test_a_hundred_thousand_requests_are_scrolled_and_searched(desk: ShowDesk) -> None:
    page, stage = desk(*archive(100_000))
    expect(page.get_by_role("button", name="All 100,000")).to_be_visible()
    expect(page.locator("desk-list")).to_have_attribute("aria-rowcount", "100001")
    expect(row(page, "evaluation-099999")).to_be_visible()
    page.locator("desk-list").focus()
    page.keyboard.press("End")
    expect(row(page, "evaluation-000000")).to_be_visible()
    assert rows(page).count() < 60
    page.locator("desk-list").evaluate("list => (list.scrollTop = list.scrollHeight / 2)")
    expect(row(page, "evaluation-050000")).to_be_visible()
    expect(page.locator(".row.coming")).to_have_count(0)
    write(page.get_by_role("searchbox"), "evaluation-0123")
    expect(page.locator("desk-list")).to_have_attribute("aria-rowcount", "101")
    expect(row(page, "evaluation-012399")).to_be_visible()
    assert stage.journal.details


def test_what_the_reader_looks_at_stays_while_others_come_in_above(desk: ShowDesk) -> None:
    page, stage = desk(*archive(2_000))
    expect(page.locator("desk-list")).to_have_attribute("aria-rowcount", "2001")
    expect(page.get_by_role("button", name="All 2,000")).to_be_visible()  # the totals have their room above the list
    scroll_top = partial(page.locator("desk-list").evaluate, "list => list.scrollTop")
    page.locator("desk-list").evaluate("list => (list.scrollTop = 500 * 32 + 7)")
    watched = row(page, "evaluation-001495")
    expect(watched).to_be_visible()
    before = watched.bounding_box()
    assert scroll_top() == 500 * 32 + 7  # the browser moves nothing besides
    stage.note(*details(*(fact(f"new{number:04d}", "waiting", NOW + number) for number in range(700))))
    expect(page.locator("desk-list")).to_have_attribute("aria-rowcount", "2701")
    page.evaluate(FRAMES)
    assert watched.bounding_box() == before
    assert scroll_top() == 1_200 * 32 + 7
    page.locator("desk-list").evaluate("list => (list.scrollTop = 0)")
    expect(row(page, "new0699")).to_be_visible()
    stage.note(*details(fact("newest", "waiting", NOW + 9_000)))
    expect(rows(page).locator("visible=true").first).to_be_visible()
    expect(row(page, "newest")).to_be_in_viewport()


def test_a_link_brings_its_request_into_sight(desk: ShowDesk) -> None:
    page, _ = desk(*archive(2_000), path="#/evaluation-000700")
    expect(row(page, "evaluation-000700")).to_be_in_viewport()
    expect(row(page, "evaluation-000700")).to_have_attribute("aria-current", "true")
    page.locator("desk-list").focus()
    page.keyboard.press("j")
    expect(active(page)).to_contain_text("evaluation-000699")


# -- one request


def test_its_attempts_stand_side_by_side_with_their_answers(desk: ShowDesk) -> None:
    one = failed_one(NOW)
    page, _ = desk(one, *few())
    row(page, one.fact.id).click()
    opened = page.get_by_role("region", name="Chosen request")
    expect(opened.locator("h2")).to_have_text(one.fact.id)
    cards = opened.locator(".attempts > li")
    expect(cards).to_have_count(3)
    expect(cards.nth(0).locator("house-pill")).to_have_text("no answer")
    expect(cards.nth(1).locator("pre")).to_contain_text("TypeError: Cannot read properties")
    expect(cards.nth(2)).to_contain_text("26.4 s")
    boxes = [cards.nth(number).bounding_box() for number in range(3)]
    assert len({box["y"] for box in boxes if box}) == 1
    expect(opened.locator("desk-timeline li")).to_have_count(3)
    expect(opened.locator(".notes li")).to_have_text(list(one.notes))
    expect(opened.get_by_label("Parameters")).to_contain_text('"mode": "agent"')
    expect(opened.get_by_label("Evaluation")).to_contain_text("0.31")


def test_of_a_request_that_could_not_be_read_nothing_is_shown_that_nobody_knows(desk: ShowDesk) -> None:
    spoiled = fact("spoiled", "gave up", message="this is not JSON", command="")
    page, _ = desk(RequestDetail(fact=spoiled))
    row(page, "spoiled").click()
    opened = page.get_by_role("region", name="Chosen request")
    expect(opened).to_contain_text("Last change")
    expect(opened.get_by_text("Command", exact=False)).to_have_count(0)
    expect(opened.get_by_text("Parameters", exact=False)).to_be_hidden()


def test_an_open_request_is_followed_to_its_end(desk: ShowDesk) -> None:
    page, stage = desk(*few(), path="#/third")
    opened = page.get_by_role("region", name="Chosen request")
    expect(opened.locator("house-pill").first).to_have_text("polling")
    expect(opened.get_by_role("button", name="Requeue")).to_be_hidden()
    line = fact("third", "success", NOW - 30, attempts=2, seconds=30.0)
    tried = (attempt(1, Failure("busy"), NOW - 29), attempt(2, Success({"content": "Done."}), NOW - 20))
    stage.note(RequestDetail(fact=line, tried=tried))
    expect(opened.locator("house-pill").first).to_have_text("success")
    expect(opened.get_by_label("Answer 2")).to_contain_text('"content": "Done."')
    stage.do(stage.house.desk.order, "archive", b'{"ids": ["third"]}')
    stage.journal.details.pop("third", None)
    expect(opened).to_contain_text("It was archived: its files are in archive/")
    expect(opened.locator(".since")).to_have_text("")
    page.evaluate("document.querySelector('desk-detail').tick(Date.now() / 1000)")
    expect(opened.locator(".since")).to_have_text("")
    expect(opened.locator("desk-timeline")).to_be_hidden()


def test_an_address_leads_to_its_request_and_back(desk: ShowDesk) -> None:
    page, _ = desk(*few())
    row(page, "second").click()
    row(page, "first").click()
    opened = page.get_by_role("region", name="Chosen request")
    expect(opened.locator("h2")).to_have_text("first")
    page.go_back()
    expect(opened.locator("h2")).to_have_text("second")
    page.reload()
    expect(opened.locator("h2")).to_have_text("second")
    page.get_by_role("button", name="Close").click()
    expect(opened).to_be_hidden()
    page.goto(page.url + "#/nobody")
    expect(opened).to_contain_text("There is no such request here.")


# -- orders


def test_one_that_gave_up_is_requeued_by_a_key(desk: ShowDesk) -> None:
    page, _ = desk(*few())
    row(page, "second").click()
    page.keyboard.press("r")
    expect(page.get_by_text("Request second requeued.")).to_be_visible()
    expect(row(page, "second").locator("house-pill")).to_have_text("waiting")
    opened = page.get_by_role("region", name="Chosen request")
    expect(opened.locator(".notes")).to_contain_text("turned to waiting from the page")
    opened.get_by_role("button", name="Cancel").click()
    expect(row(page, "second").locator("house-pill")).to_have_text("cancelled")


@pytest.mark.parametrize("what", ["Requeue", "Archive"])
def test_the_focus_stays_in_the_request_when_its_button_has_gone(desk: ShowDesk, what: str) -> None:
    page, _ = desk(*few())
    row(page, "second").click()
    opened = page.get_by_role("region", name="Chosen request")
    button = opened.get_by_role("button", name=what)
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_be_hidden()
    expect(opened.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Enter")
    expect(opened).to_be_hidden()


def test_what_is_picked_is_done_together_and_refusals_are_said(desk: ShowDesk) -> None:
    page, _ = desk(*few())
    for each in ("first", "second"):
        row(page, each).locator(".pick").click()
    expect(page.get_by_role("region", name="Chosen request")).to_be_hidden()
    page.locator(".picked").get_by_role("button", name="Requeue").click()
    expect(page.get_by_text("Request second requeued.")).to_be_visible()
    expect(page.get_by_text("first: it has not failed")).to_be_visible()
    expect(page.locator(".picked")).to_be_hidden()


def test_all_are_requeued_or_archived_only_after_a_question(desk: ShowDesk) -> None:
    page, stage = desk(*few(), *details(*(fact(f"bad{number}", "gave up", NOW - 99) for number in range(30))))
    expect(page.get_by_role("button", name="gave up 31")).to_be_visible()
    page.get_by_role("button", name="Requeue all").click()
    asked = page.get_by_role("dialog", name="Requeue 31 requests?")
    asked.get_by_role("button", name="Leave it").click()
    expect(asked).to_be_hidden()
    assert stage.journal.details["bad1"].fact.state == "gave up"
    page.get_by_role("button", name="Requeue all").click()
    asked.get_by_role("button", name="Requeue all").click()
    expect(page.get_by_text("31 requests requeued.")).to_be_visible()
    expect(page.get_by_role("button", name="gave up 0")).to_be_visible()
    expect(page.get_by_role("button", name="Requeue all")).to_be_disabled()
    page.get_by_role("button", name="Archive…").click()
    page.get_by_role("dialog").get_by_role("button", name="Archive").click()
    expect(page.get_by_text("Request first moved to the archive.")).to_be_visible()
    expect(row(page, "first")).to_have_count(0)


# -- how the desk is


def test_trouble_is_a_banner_and_the_rest_stands_beside_the_list(desk: ShowDesk) -> None:
    page, stage = desk(*few())
    healthy(stage)
    health = page.get_by_role("region", name="How the desk is")
    expect(health.locator("house-pill")).to_have_text("works")
    expect(health).to_contain_text("The editor has been up for 3 h")
    stage.tell(PeerNow("Nobody has taken a request for 2 min.", alive=False))
    expect(health.locator("house-pill")).to_have_text("nobody answers")
    stage.base.gone = "The folder has been removed. Make it again, and the desk goes on."
    expect(page.locator(".trouble")).to_have_text(stage.base.gone)
    expect(page.locator(".trouble")).to_have_attribute("role", "alert")
    expect(health.locator("house-pill")).to_have_text("stands still")
    stage.base.gone = None
    expect(page.locator(".trouble")).to_be_hidden()
    stage.base.quarantined.append(("x", "It is a link."))
    expect(health.locator(".badge")).to_have_text("1")
    expect(health.locator(".withheld")).to_be_hidden()
    stage.base.withheld = ("requests/x.json: <b>Input/output error</b>", "responses/y.json: Stale file handle")
    expect(health.locator(".withheld")).to_have_text("2 files cannot be read now, and will be tried again:")
    expect(health.get_by_text(stage.base.withheld[0])).to_be_visible()
    expect(health.get_by_text("more.", exact=False)).to_have_count(0)
    stage.base.withheld = tuple(f"requests/{number}.json: Input/output error" for number in range(25))
    expect(health.locator(".withheld + .reasons li")).to_have_count(21)
    expect(health.get_by_text("and 5 more.")).to_be_visible()
    stage.base.withheld = ()
    expect(health.locator(".withheld")).to_be_hidden()


def test_a_page_whose_folder_another_server_has_invites_nobody_to_submit_there(desk: ShowDesk) -> None:
    page, stage = desk()
    expect(page.get_by_text("No requests yet.")).to_be_visible()
    stage.journal.other_client = "process 7 answers the requests"
    expect(page.get_by_text("No requests are known here.")).to_be_visible()
    expect(page.get_by_text("No requests yet.")).to_be_hidden()
    expect(page.locator(".trouble")).to_have_text("Process 7 answers the requests.")
    expect(page.get_by_role("region", name="How the desk is").locator("house-pill")).to_have_text("stands still")
    stage.journal.other_client = None
    expect(page.get_by_text("No requests yet.")).to_be_visible()


def test_the_editor_is_ended_after_a_question_and_launched_without_one(desk: ShowDesk) -> None:
    page, stage = desk(*few())
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.post_data or "")
        route.fulfill(json={"editor": "The editor is asked to end."})

    page.route("**/editor", answer)
    health = page.get_by_role("region", name="How the desk is")
    stage.tell(EditorNow("The editor is managed by process 7; this one stands by."))
    expect(health).to_contain_text("this one stands by")
    expect(health.locator(".editor")).to_be_hidden()
    stage.tell(EditorNow("The editor is up (process 8).", "stop"))
    health.get_by_role("button", name="End the editor…").click()
    dialog = page.get_by_role("dialog", name="End the editor?")
    dialog.get_by_role("button", name="Leave it").click()
    health.get_by_role("button", name="End the editor…").click()
    dialog.get_by_role("button", name="End it").click()
    expect(page.get_by_text("The editor is asked to end.")).to_be_visible()
    stage.tell(EditorNow("The editor was ended, as it was asked for.", "start"))
    with page.expect_response("**/editor"):  # by then it was asked
        health.get_by_role("button", name="Launch the editor").click()
    assert asked == ['{"order":"stop"}', '{"order":"start"}']


def test_a_narrow_page_shows_how_the_desk_is_over_its_list(desk: ShowDesk) -> None:
    page, _ = desk(*few(), viewport={"width": 400, "height": 800})
    health = page.get_by_role("region", name="How the desk is")
    expect(rows(page)).to_have_count(4)
    expect(health).to_be_hidden()
    opener = page.get_by_role("button", name="How the desk is")
    opener.click()
    expect(opener).to_have_attribute("aria-expanded", "true")
    expect(health).to_be_in_viewport()
    health.get_by_role("button", name="Close").click()
    expect(health).to_be_hidden()
    expect(opener).to_be_focused()
    page.keyboard.press("Enter")
    expect(health).to_be_visible()
    page.keyboard.press("Escape")
    expect(health).to_be_hidden()


def test_an_empty_desk_says_how_the_first_request_is_submitted(desk: ShowDesk) -> None:
    page, stage = desk()
    expect(page.get_by_text("No requests yet.")).to_be_visible()
    expect(page.locator("desk-welcome pre").first).to_have_text("troupe ipc submit ping --wait")
    assert page.locator("desk-welcome pre").nth(1).inner_text().count("\n") == 2
    stage.note(*few())
    expect(page.get_by_text("No requests yet.")).to_be_hidden()
    expect(rows(page)).to_have_count(4)


def test_a_lost_connection_comes_back_with_the_same_filter_and_request(desk: ShowDesk) -> None:
    page, stage = desk(*few(), path="#/second")
    page.get_by_role("button", name=re.compile("^gave up")).click()
    expect(rows(page)).to_have_count(1)
    page.evaluate("window.kept = 1")
    with says_in_passing(page.locator("house-bar house-pill"), "disconnected"):
        stage.drop()
    expect(page.locator("house-bar house-pill")).to_have_text("live")
    stage.note(*details(fact("sixth", "gave up", NOW), fact("seventh", "success", NOW)))
    expect(rows(page)).to_have_count(2)
    stage.note(*details(fact("second", "success", NOW - 60, seconds=61.0)))
    expect(page.locator("desk-detail house-pill").first).to_have_text("success")
    assert page.evaluate("window.kept") == 1


# -- what every page owes its readers


def test_markup_in_names_and_answers_is_text(desk: ShowDesk) -> None:
    line = fact("evil", "gave up", NOW, command=EVIL, submitter=EVIL, message=EVIL)
    evil = RequestDetail(fact=line, params={EVIL: EVIL}, tried=(attempt(1, Failure(EVIL)),), notes=(EVIL,))
    page, stage = desk(evil, path="#/evil")
    stage.tell(PeerNow(EVIL, alive=False))
    expect(page.get_by_label("Answer 1")).to_have_text(EVIL)
    expect(row(page, "evil").locator(".command")).to_have_text(EVIL)
    expect(page.locator(".notes li")).to_have_text(EVIL)
    assert page.evaluate("window.harmed") is None
    assert page.locator("main img, main b:not(.count, .badge)").count() == 0


def test_what_would_turn_a_text_round_is_shown_as_its_code(desk: ShowDesk) -> None:
    said = "paid \u202e99.1 \u2066$"
    asked = RequestDetail(fact=fact("turned"), params={"prompt": said}, tried=(attempt(1, Failure(said)),))
    page, _ = desk(asked, path="#/turned")
    expect(page.get_by_label("Answer 1")).to_have_text(r"paid \u202e99.1 \u2066$")
    expect(page.get_by_label("Parameters")).to_contain_text(r'"prompt": "paid \u202e99.1 \u2066$"')


def test_all_text_can_be_read_and_every_control_has_a_name(desk: ShowDesk) -> None:
    one = failed_one(NOW)
    page, stage = desk(one, *few())
    healthy(stage)
    expect(row(page, one.fact.id)).to_be_visible()
    for width, colors in LOOKS:
        with looked_at(page, width, colors, height=1400):
            assert page.evaluate(CONTRASTS) == []
    row(page, one.fact.id).click()
    for width, colors in LOOKS:
        with looked_at(page, width, colors, height=1400):
            expect(page.locator(".attempts > li")).to_have_count(3)
            assert page.evaluate(CONTRASTS) == []
            assert page.evaluate(NAMELESS) == []


def test_no_page_is_wider_than_its_window(desk: ShowDesk) -> None:
    one = failed_one(NOW)
    page, _ = desk(one, *few())
    expect(row(page, one.fact.id)).to_be_visible()
    widths = (320, 400, 700, 1000, 1280, 1920)
    for width in widths:
        with looked_at(page, width):
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert page.locator("desk-list").evaluate("list => list.scrollWidth <= list.clientWidth")
    row(page, one.fact.id).click()
    for width in widths:
        with looked_at(page, width):
            expect(page.locator(".attempts > li")).to_have_count(3)
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert page.locator("aside").evaluate("aside => aside.scrollWidth <= aside.clientWidth")


def test_a_long_id_is_clipped_in_the_list_and_whole_in_its_detail(desk: ShowDesk) -> None:
    long = replace(failed_one(NOW), fact=fact("x" * 128, "success", NOW, message="word " * 200))
    page, _ = desk(long)
    cell = row(page, "x" * 128).locator(".id")
    expect(cell).to_have_attribute("title", "x" * 128)
    assert cell.evaluate("cell => cell.scrollWidth > cell.clientWidth")
    cell.click()
    expect(page.locator("desk-detail h2")).to_have_text("x" * 128)


@pytest.mark.parametrize("width", [1280, 1360])
def test_the_usual_commands_are_whole_beside_an_open_request(desk: ShowDesk, width: int) -> None:
    asked = replace(failed_one(NOW), fact=fact("a", "success", NOW, command="submitPrompt"))
    page, _ = desk(asked, viewport={"width": width, "height": 800})
    row(page, "a").click()
    expect(page.locator("desk-detail h2")).to_have_text("a")
    command = row(page, "a").locator(".command")
    expect(command).to_have_text("submitPrompt")
    assert command.evaluate("cell => cell.scrollWidth <= cell.clientWidth")


def test_a_running_batch_is_followed_without_a_fault(desk: ShowDesk) -> None:
    page, stage = desk(*archive(500))
    stage.begin(batch, stage.house, 60, 0.005)
    expect(page.get_by_role("button", name="All 560")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("waiting 0"))).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("polling 0"))).to_be_visible()


def test_moments_in_notes_are_by_the_readers_own_clock(desk: ShowDesk) -> None:
    told = replace(failed_one(time.time()), notes=("2026-11-22T17:28:49Z: it was requeued.",))
    page, _ = desk(told, path=f"#/{told.fact.id}", timezone_id="Asia/Tokyo")
    expect(page.get_by_text("2026-11-23 02:28:49: it was requeued.")).to_be_visible()


@pytest.mark.parametrize("width", [400, 340])
def test_on_a_narrow_page_the_other_systems_are_behind_a_button(desk: ShowDesk, width: int) -> None:
    page, _ = desk(viewport={"width": width, "height": 700})
    expect(page.locator("house-bar > nav")).to_be_hidden()
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Pages").press("Enter")
    for name in ("sidekick", "judge", "desk", "console"):
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
