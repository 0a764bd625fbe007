"""How the console page shows crashes, branches and names, and in which order."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from codec.console import Hello, StopNote, System
from tests.web.conftest import Visit
from tests.web.scenes import NOW, change, hello, node, supervisor
from tests.web.test_console_page import expect_rows, row

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def busy() -> Hello:
    return hello(
        [
            supervisor("troupe", inside=70.0),
            node("troupe/store", rate=5.0, queued=3),
            supervisor("troupe/rooms", inside=60.0),
            node("troupe/rooms/room 10", rate=20.0, restarts=1),
            node("troupe/rooms/room 9", rate=40.0, queued=7),
            supervisor("troupe/judge", inside=5.0, restarts=1),
            node("troupe/judge/launcher", rate=5.0, restarts=4),
            node("troupe/judge/4-ab12", called="page abc999_a", queued=1),
        ]
    )


STANDING = [each.path for each in busy().nodes]
ORDERS = {
    "Actor": ["judge", "judge/launcher", "judge/4-ab12", "rooms", "rooms/room 9", "rooms/room 10", "store"],
    "Restarts": ["judge", "judge/launcher", "judge/4-ab12", "rooms", "rooms/room 10", "rooms/room 9", "store"],
    "Mailbox": ["rooms", "rooms/room 9", "rooms/room 10", "store", "judge", "judge/4-ab12", "judge/launcher"],
    "Messages/s": ["rooms", "rooms/room 9", "rooms/room 10", "store", "judge", "judge/launcher", "judge/4-ab12"],
}
DIRECTIONS = {"Actor": "ascending"}


def in_order(by: str) -> list[str]:
    return ["troupe", *(f"troupe/{path}" for path in ORDERS[by])]


@pytest.mark.parametrize("by", ORDERS)
def test_the_head_of_a_column_sorts_and_sets_back_and_says_so(visit: Visit, by: str) -> None:
    page, _ = visit(busy())
    expect_rows(page, STANDING)
    head = page.get_by_role("columnheader", name=by)
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", DIRECTIONS.get(by, "descending"))
    expect_rows(page, in_order(by))
    head.get_by_role("button").click()
    expect(head).not_to_have_attribute("aria-sort", "descending")
    expect_rows(page, STANDING)


def test_rows_are_sorted_by_keyboard_and_stay_so_after_a_reload(visit: Visit) -> None:
    page, _ = visit(busy())
    expect_rows(page, STANDING)
    page.get_by_role("treegrid").focus()
    for _ in range(3):  # the column heads that sort: actor, restarts, mailbox
        page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Mailbox")).to_be_focused()
    page.keyboard.press("Enter")
    expect_rows(page, in_order("Mailbox"))
    page.reload()
    expect_rows(page, in_order("Mailbox"))
    expect(page.get_by_role("columnheader", name="Mailbox")).to_have_attribute("aria-sort", "descending")


def test_a_narrow_page_which_has_no_heads_is_sorted_by_a_list(visit: Visit) -> None:
    page, _ = visit(busy(), viewport={"width": 400, "height": 800})
    expect_rows(page, STANDING)
    page.get_by_role("button", name=re.compile("^Trouble")).focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("combobox", name="Sort by")).to_be_focused()
    page.keyboard.type("Mess")
    page.keyboard.press("Tab")
    expect_rows(page, in_order("Messages/s"))
    page.reload()
    expect_rows(page, in_order("Messages/s"))
    expect(page.get_by_role("combobox", name="Sort by")).to_have_value("rate")


def test_what_changes_moves_to_where_it_belongs(visit: Visit) -> None:
    page, stage = visit(busy())
    page.get_by_role("columnheader", name="Messages/s").get_by_role("button").click()
    expect_rows(page, in_order("Messages/s"))
    stage.tell(change(node("troupe/store", rate=90.0)))
    moved = ["troupe", "troupe/store", *(path for path in in_order("Messages/s")[1:] if path != "troupe/store")]
    expect(row(page, "troupe/store").locator(".rate .number")).to_have_text("90.0")
    expect_rows(page, moved)


def test_a_search_keeps_the_order(visit: Visit) -> None:
    page, _ = visit(busy())
    page.get_by_role("columnheader", name="Actor").get_by_role("button").click()
    page.keyboard.press("/")
    page.keyboard.type("room")
    expect_rows(page, ["troupe", "troupe/rooms", "troupe/rooms/room 9", "troupe/rooms/room 10"])


# --- the content of a row


def test_a_branch_shows_the_sum_of_its_messages_folded_or_not(visit: Visit) -> None:
    page, stage = visit(busy())
    rate = row(page, "troupe/rooms").locator(".rate .number")
    expect(rate).to_have_text("60.0")
    row(page, "troupe/rooms").locator(".twist").click()
    expect_rows(page, [path for path in STANDING if not path.startswith("troupe/rooms/")])
    expect(rate).to_have_text("60.0")
    stage.tell(change(supervisor("troupe/rooms", inside=61.5)))
    expect(rate).to_have_text("61.5")


def test_an_empty_mailbox_takes_no_ink(visit: Visit) -> None:
    page, stage = visit(busy())
    meter = row(page, "troupe/judge/launcher").locator("console-meter")
    expect(row(page, "troupe/store").locator("console-meter")).to_be_visible()
    expect(meter).to_be_hidden()
    stage.tell(change(node("troupe/judge/launcher", queued=2)))
    expect(meter).to_be_visible()
    expect(meter).to_have_text("2 / 256")
    stage.tell(change(node("troupe/judge/launcher")))
    expect(meter).to_be_hidden()
    row(page, "troupe/judge/launcher").click()
    expect(page.get_by_role("region", name="Chosen actor").locator("console-meter")).to_have_text("0 / 256")


def test_an_actor_is_shown_as_people_call_it_and_found_by_either_name(visit: Visit) -> None:
    page, _ = visit(busy())
    path = "troupe/judge/4-ab12"
    expect(row(page, path).locator(".label")).to_have_text("page abc999_a")
    for words in ("page abc", "ab12"):
        page.keyboard.press("/")
        page.keyboard.type(words)
        expect_rows(page, ["troupe", "troupe/judge", path])
        page.keyboard.press("Escape")
        expect_rows(page, STANDING)
        page.keyboard.press("Escape")
    row(page, path).click()
    details = page.get_by_role("region", name="Chosen actor")
    expect(details.get_by_role("heading", name="page abc999_a")).to_be_visible()
    expect(details.locator(".trail")).to_have_text(path)


def fallen(**given: Any) -> Any:
    trouble = "it crashed lately, and 4 times in all"
    facts = {"restarts": 4, "crashes": 4, "restarted": NOW - 130, "lately": "crashed", "trouble": trouble}
    return node("troupe/judge/launcher", **{**facts, "error": "crashed: LauncherLost: it has ended", **given})


def test_what_crashed_lately_says_so_and_is_trouble(visit: Visit) -> None:
    page, stage = visit(busy())
    card = System("judge", "up", "listening", None, "restarted lately: launcher")
    stage.tell(change(fallen(), systems=[card]))
    launcher = row(page, "troupe/judge/launcher")
    expect(launcher.locator("house-pill")).to_have_text("restarted")
    expect(launcher.locator(".restarts .number")).to_have_attribute("data-tone", "warn")
    expect(page).to_have_title("(1) Troupe console")
    expect(page.locator("console-systems .card .lately")).to_have_text("restarted lately: launcher")
    page.get_by_role("button", name="Trouble 1").click()
    expect_rows(page, ["troupe", "troupe/judge", "troupe/judge/launcher"])
    launcher.click()
    details = page.get_by_role("region", name="Chosen actor")
    expect(details).to_contain_text("It crashed lately, and 4 times in all.")
    expect(details.locator(".standing")).to_contain_text("restarted 2 min ago")
    page.get_by_role("button", name="Trouble 1").click()
    stage.tell(change(fallen(lately=None, trouble=None), systems=[System("judge", "up", "listening", None)]))
    expect(launcher.locator("house-pill")).to_have_text("running")
    expect(launcher.locator(".restarts")).to_have_text("4")
    expect(page).to_have_title("Troupe console")
    expect(page.locator("console-systems .card .lately")).to_be_hidden()


def test_ordinary_ends_push_out_no_crash_and_departures_no_other_end(visit: Visit) -> None:
    crash = StopNote(NOW - 60, "troupe/judge/launcher", "crashed", "LauncherLost: it has ended", None, True)
    page, stage = visit(hello([], crashes=[crash]))
    for number in range(3):
        ends = [StopNote(NOW, f"troupe/peers/{number}-{n}", "shutdown", None, None, False) for n in range(100)]
        stage.tell(change(stops=ends[:30], departures=ends))
    expect(page.locator("console-departures .path").first).to_have_text("troupe/peers/2-99")
    expect(page.locator("console-departures h2 .badge")).to_have_text("100")
    expect(page.locator("console-stops .path").first).to_have_text("troupe/peers/2-29")
    expect(page.locator("console-stops h2 .badge")).to_have_text("90")
    expect(page.locator("console-crashes .path")).to_have_text(["troupe/judge/launcher"])
    expect(page.locator("console-crashes time .ago")).to_have_text("1 min ago")
    newer = StopNote(NOW, "troupe/store", "never started", "OSError: no room", None, False)
    stage.tell(change(crashes=[newer]))
    expect(page.locator("console-crashes .path")).to_have_text(["troupe/store", "troupe/judge/launcher"])
    expect(page.locator("console-crashes .what").first).to_have_text("did not start")


def test_a_note_names_who_ended_as_people_call_it(visit: Visit) -> None:
    path = "troupe/sidekick/peers/4-ab12"
    ends = {why: StopNote(NOW, path, why, None, None, False, "script grid-demo") for why in ("peer gone", "crashed")}
    page, _ = visit(hello([supervisor("troupe")], stops=[ends["peer gone"]], crashes=[ends["crashed"]]))
    for kind in ("stops", "crashes"):
        note = page.locator(f"console-{kind} .path")
        expect(note).to_have_text("troupe/sidekick/peers/script grid-demo")
        expect(note).to_have_attribute("title", path)
