"""The console page in a real browser, with a scripted server."""

import re
import time
from typing import cast

import pytest
from msgspec.structs import replace
from playwright.sync_api import Locator, Page, expect

from codec.console import DeadNote, StopNote, System
from tests.web import scenes
from tests.web.conftest import Visit
from tests.web.looks import looked_at
from tests.web.scenes import NOW, change, hello, node, supervisor
from tests.web.stage import FRAMES, WEB, says_in_passing, write

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SMALL = [each.path for each in scenes.small().nodes]


def row(page: Page, path: str) -> Locator:
    return page.locator(f'.row[data-key="{path}"]')


def keys(page: Page) -> list[str]:
    return cast(
        list[str],
        page.locator(".row").evaluate_all(
            "rows => rows.sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map(row => row.dataset.key)"
        ),
    )


def expect_rows(page: Page, paths: list[str]) -> None:
    """Expect exactly these rows, from top to bottom. A search shows its results only in the next frame."""
    inside = ", ".join(f'[data-key="{path}"]' for path in paths)
    expect(page.locator(f".row:is({inside})")).to_have_count(len(paths))
    expect(page.locator(".row")).to_have_count(len(paths))
    page.evaluate(FRAMES)  # rows that only change places do so in the next frame
    assert keys(page) == paths


# --- the tree


def test_the_tree_shows_every_actor_under_its_supervisor(visit: Visit) -> None:
    page, _ = visit(scenes.small())
    expect_rows(page, SMALL)
    levels = page.locator(".row").evaluate_all("rows => rows.map(row => row.ariaLevel)")
    assert levels == ["1", "2", "2", "3", "4", "4", "3"]


def test_a_row_tells_state_restarts_mailbox_rate_and_last_error(visit: Visit) -> None:
    page, _ = visit(scenes.small())
    door = row(page, "troupe/sidekick/door")
    expect(door.locator("house-pill")).to_have_text("backoff")
    expect(door.locator(".restarts")).to_have_text("3")
    expect(door.locator(".last")).to_have_text("OSError: port 5163 is in use")
    lobby = row(page, "troupe/sidekick/rooms/lobby")
    expect(lobby.locator(".mailbox")).to_have_text("12 / 256")
    expect(lobby.locator(".rate .number")).to_have_text("3.0")


def test_a_folded_supervisor_hides_what_is_below_it_and_says_how_much(visit: Visit) -> None:
    page, _ = visit(scenes.small())
    row(page, "troupe/sidekick").locator(".twist").click()
    expect_rows(page, SMALL[:3])
    expect(row(page, "troupe/sidekick").locator(".inside")).to_have_text("2")
    expect(row(page, "troupe/sidekick")).to_have_attribute("aria-expanded", "false")
    expect(row(page, "troupe/sidekick").locator(".twist .icon")).to_be_visible()
    row(page, "troupe/sidekick").locator(".twist").click()
    expect_rows(page, SMALL)


def test_everything_folds_and_unfolds_at_once(visit: Visit) -> None:
    page, _ = visit(scenes.small())
    expect_rows(page, SMALL)
    page.get_by_role("button", name="Fold all", exact=True).click()
    expect_rows(page, SMALL[:3])
    page.get_by_role("button", name="Unfold all").click()
    expect_rows(page, SMALL)


def test_children_left_out_by_the_server_are_counted_in_a_row_of_their_own(visit: Visit) -> None:
    page, _ = visit(hello([supervisor("troupe", folded=823), node("troupe/first")]))
    write(page.get_by_role("searchbox"), "second")
    expect(page.get_by_text("but not at the 823 that long lists leave out", exact=False)).to_be_visible()
    write(page.get_by_role("searchbox"), "")
    expect_rows(page, ["troupe", "troupe/first", "troupe//more"])
    expect(row(page, "troupe//more").locator(".name")).to_have_text("+ 823 more")


def test_a_supervisor_with_a_crowd_of_children_starts_folded(visit: Visit) -> None:
    page, _ = visit(
        hello([supervisor("troupe"), supervisor("troupe/peers"), *[node(f"troupe/peers/{n}") for n in range(41)]])
    )
    expect_rows(page, ["troupe", "troupe/peers"])
    expect(row(page, "troupe/peers").locator(".inside")).to_have_text("41")


@pytest.mark.drawn(6)
@pytest.mark.parametrize(
    ("pressed", "active"),
    [
        ("", "troupe"),
        ("ArrowDown", "troupe/store"),
        ("ArrowDown ArrowDown ArrowUp", "troupe/store"),
        ("End", "troupe/sidekick/door"),
        ("End Home", "troupe"),
        ("PageDown", "troupe/sidekick/door"),
        ("End PageUp", "troupe"),
        ("ArrowRight", "troupe/store"),
        ("End ArrowLeft", "troupe/sidekick"),
        ("g", "troupe/sidekick/rooms/garden"),
        ("s s s", "troupe/store"),
        ("ArrowDown ArrowDown ArrowLeft ArrowDown", "troupe/sidekick"),
        ("ArrowDown ArrowDown ArrowLeft ArrowRight ArrowDown", "troupe/sidekick/rooms"),
        ("ArrowDown ArrowDown Space ArrowDown", "troupe/sidekick"),
        ("ArrowDown ArrowDown Space Space ArrowDown", "troupe/sidekick/rooms"),
    ],
)
def test_keys_walk_the_tree(visit: Visit, pressed: str, active: str) -> None:
    page, _ = visit(scenes.small())
    expect_rows(page, SMALL)
    tree = page.get_by_role("treegrid", name="Tree of actors")
    tree.focus()
    for key in pressed.split():
        page.keyboard.press(key)
        page.evaluate("() => new Promise(requestAnimationFrame)")
    expect(row(page, active)).to_have_class("row active")
    expect(tree).to_have_attribute("aria-activedescendant", row(page, active).get_attribute("id") or "")


def test_enter_opens_the_details_of_the_active_row(visit: Visit) -> None:
    page, _ = visit(scenes.small())
    expect_rows(page, SMALL)
    page.get_by_role("treegrid").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Chosen actor").get_by_role("heading", name="door")).to_be_visible()


# --- search


def test_a_search_keeps_the_way_to_what_it_finds_and_marks_it(visit: Visit) -> None:
    page, _ = visit(scenes.small())
    page.keyboard.press("/")
    page.keyboard.type("GARD")
    expect_rows(page, ["troupe", "troupe/sidekick", "troupe/sidekick/rooms", "troupe/sidekick/rooms/garden"])
    expect(page.locator("mark")).to_have_text(["gard"])  # a search for "ga" would show the same rows
    page.keyboard.press("Escape")
    expect_rows(page, SMALL)


def test_a_search_finds_what_is_folded_and_leaves_the_folds_as_they_were(visit: Visit) -> None:
    page, _ = visit(scenes.small())
    row(page, "troupe/sidekick").locator(".twist").click()
    search = page.get_by_role("searchbox", name="Filter actors")
    write(search, "lobby")
    expect(row(page, "troupe/sidekick/rooms/lobby")).to_be_visible()
    write(search, "")
    expect_rows(page, SMALL[:3])


@pytest.mark.parametrize("words", ["backoff", "in use 5163", "door back"])
def test_a_search_looks_at_states_and_errors_too(visit: Visit, words: str) -> None:
    page, _ = visit(scenes.small())
    write(page.get_by_role("searchbox"), words)
    expect_rows(page, ["troupe", "troupe/sidekick", "troupe/sidekick/door"])


def test_a_search_without_a_find_says_so(visit: Visit) -> None:
    page, _ = visit(scenes.small())
    write(page.get_by_role("searchbox"), "nobody")
    expect(page.get_by_text("Nothing matches “nobody”.")).to_be_visible()


def test_trouble_is_counted_and_can_be_shown_alone(visit: Visit) -> None:
    page, _ = visit(scenes.small())
    button = page.get_by_role("button", name="Trouble 1")
    button.click()
    expect_rows(page, ["troupe", "troupe/sidekick", "troupe/sidekick/door"])
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    expect_rows(page, SMALL)


# --- changes


def test_a_change_alters_a_row_in_place(visit: Visit) -> None:
    page, stage = visit(scenes.small())
    store = row(page, "troupe/store")
    expect(store.locator(".rate .number")).to_have_text("12.5")
    store.evaluate("row => { row.dataset.seen = 'yes' }")
    stage.tell(change(node("troupe/store", state="paused", rate=900.0, restarts=7, error="Boom")))
    expect(store.locator(".rate .number")).to_have_text("900")
    expect(store.locator("house-pill")).to_have_text("paused")
    expect(store.locator(".restarts")).to_have_text("7")
    expect(store).to_have_attribute("data-seen", "yes")
    expect_rows(page, SMALL)


def test_actors_come_and_go(visit: Visit) -> None:
    page, stage = visit(scenes.small())
    new = "troupe/sidekick/rooms/maze"
    stage.tell(change(node(new), gone=["troupe/sidekick/rooms/lobby"]))
    expect(row(page, new)).to_be_visible()
    expect_rows(page, [*SMALL[:4], "troupe/sidekick/rooms/garden", new, "troupe/sidekick/door"])


def test_the_numbers_of_the_house_follow(visit: Visit) -> None:
    page, stage = visit(scenes.small())
    stage.tell(change(totals=replace(scenes.TOTALS, actors=12_345, rate=0.5, lag=0.25, memory=1_250_000_000)))
    shown = ["0.5", "12,345", "0", "0", "0", "0", "250 ms", "1.3 GB"]
    expect(page.locator("console-totals .value")).to_have_text(shown)


def test_wider_numbers_move_nothing(visit: Visit) -> None:
    page, stage = visit(scenes.small())
    expect_rows(page, SMALL)
    places = "cells => cells.map(cell => { const box = cell.getBoundingClientRect(); return [box.x, box.width] })"
    cells = page.locator(".row [role=gridcell], .head [role=columnheader], console-totals .value")
    before = cells.evaluate_all(places)
    stage.tell(
        change(node("troupe/store", rate=88_888.8, restarts=4_444, queued=255, capacity=65_536, error="x" * 500))
    )
    expect(row(page, "troupe/store").locator(".rate .number")).to_have_text("88,889")
    assert cells.evaluate_all(places) == before


def test_the_row_being_read_stays_where_it_is_when_rows_come_above_it(visit: Visit) -> None:
    page, stage = visit(scenes.crowd(1_000))
    expect(row(page, "troupe")).to_be_visible()
    page.get_by_role("button", name="Unfold all").click()
    page.get_by_role("treegrid").evaluate("tree => { tree.scrollTop = 15_000 }")
    target = row(page, "troupe/group-25/actor-001")
    expect(target).to_be_visible()
    before = target.bounding_box()
    stage.tell(change(*[node(f"troupe/group-00/new-{n}") for n in range(30)]))
    expect(page.get_by_role("treegrid")).to_have_attribute("aria-rowcount", "1032")
    assert target.bounding_box() == before


def test_a_picture_told_by_changes_is_the_picture_told_at_once(visit: Visit) -> None:
    page, _ = visit(scenes.small())
    same = page.evaluate(
        """async () => {
            const { Picture } = await import("./web/console/picture.js");
            const node = (path, inside) => ({ path, parent: path.includes("/") ? "top" : null, inside });
            const hello = (nodes, history) => ({ type: "hello", at: 10, interval: 1, totals: { rate: 5 }, systems: [],
                nodes, history, stops: [], dead: [], crashes: [], departures: [] });
            const told = new Picture(), once = new Picture();
            told.hear(hello([node("top", 1), node("top/a", 2), node("top/b", 3)], { "": [4], "top/b": [9] }), 0);
            told.hear({ type: "change", at: 12, totals: { rate: 5 }, systems: null,
                nodes: [node("top/b", 4), node("top/c", 6)], gone: ["top/a"], stops: [], dead: [],
                crashes: [], departures: [] }, 0);
            once.hear(hello([node("top", 1), node("top/b", 4), node("top/c", 6)],
                { "": [4, 5, 5], top: [0, 1, 1], "top/b": [9, 4, 4], "top/c": [6, 6] }), 0);
            const plain = (picture) => JSON.stringify([[...picture.nodes], picture.children("top"),
                [...picture.histories].map(([path, values]) => [path, [...values]]).sort()]);
            return [plain(told), plain(once)];
        }"""
    )
    assert same[0] == same[1]


# --- pause


def test_a_paused_page_stands_still_and_says_what_waits(visit: Visit) -> None:
    page, stage = visit(scenes.small())
    expect_rows(page, SMALL)
    page.get_by_role("button", name="Pause").click()
    stage.tell(change(node("troupe/store", rate=77.0), gone=["troupe/sidekick/door"]))
    stage.tell(change(node("troupe/store", rate=78.0)))
    expect(page.locator(".pausing")).to_contain_text("2 changes wait")
    expect(row(page, "troupe/store").locator(".rate .number")).to_have_text("12.5")
    expect_rows(page, SMALL)
    page.get_by_role("button", name="Resume").click()
    expect(row(page, "troupe/store").locator(".rate .number")).to_have_text("78.0")
    expect_rows(page, SMALL[:-1])
    expect(page.locator(".pausing")).to_have_text("")


def test_a_paused_page_can_still_be_folded_and_searched(visit: Visit) -> None:
    page, stage = visit(scenes.small())
    page.get_by_role("button", name="Pause").click()
    stage.tell(change(node("troupe/sidekick/rooms/lobby-2")))
    expect(page.locator(".pausing")).to_contain_text("1 change waits")
    write(page.get_by_role("searchbox"), "lobby")
    expect_rows(page, SMALL[:1] + SMALL[2:5])


# --- one actor


def is_in_the_clear(page: Page, path: str) -> None:
    """Check that the row is in sight and nothing covers it."""
    expect(row(page, path)).to_be_visible()
    page.wait_for_function(
        """path => {
            const row = document.querySelector(`house-tree .row[data-key="${path}"]`);
            const { top, bottom, left } = row?.getBoundingClientRect() ?? {};
            return row && [top + 2, bottom - 2].every((y) => row.contains(document.elementFromPoint(left + 60, y)));
        }""",
        arg=path,
    )


@pytest.mark.parametrize("width", [400, 1280])
def test_an_actor_of_a_link_is_in_sight_and_so_is_one_that_is_chosen(visit: Visit, width: int) -> None:
    page, _ = visit(scenes.evening(), "#/troupe/sidekick/rooms", viewport={"width": width, "height": 800})
    is_in_the_clear(page, "troupe/sidekick/rooms")
    expect(page.get_by_role("heading", name="rooms", exact=True)).to_be_visible()
    assert page.get_by_role("treegrid").evaluate("tree => tree.scrollTop") == 0
    page.get_by_role("button", name="Close").click()
    paths = page.locator("house-tree .row").evaluate_all("""rows => rows.filter((row) => {
        const { left, bottom } = row.getBoundingClientRect();
        return row.contains(document.elementFromPoint(left + 60, bottom - 2));
    }).sort((one, other) => one.ariaRowIndex - other.ariaRowIndex).map((row) => row.dataset.key)""")
    lowest = [path for path in paths if not path.endswith("//more")][-1]
    row(page, lowest).click()  # on a narrow page, its details take half of the tree's room
    expect(page.get_by_role("button", name="Close")).to_be_visible()
    is_in_the_clear(page, lowest)


def test_a_link_opens_the_way_to_its_actor_and_shows_its_details(visit: Visit) -> None:
    crowd = [node(f"troupe/rooms/{n:03d}") for n in range(300)]
    path = "troupe/rooms/250"
    page, _ = visit(hello([supervisor("troupe"), supervisor("troupe/rooms"), *crowd]), f"#/{path}")
    expect(row(page, path)).to_be_in_viewport()
    expect(row(page, path)).to_have_attribute("aria-selected", "true")
    expect(page.locator("console-details .trail")).to_have_text(path)


def test_a_chosen_row_gives_the_page_its_address(visit: Visit) -> None:
    page, _ = visit(scenes.small())
    row(page, "troupe/sidekick/door").locator(".last").click()
    expect(page).to_have_url(page.url.split("#")[0] + "#/troupe/sidekick/door")
    details = page.get_by_role("region", name="Chosen actor")
    expect(details.locator("pre")).to_have_text("OSError: port 5163 is in use")
    details.get_by_role("button", name="Close").click()
    expect(details).to_be_hidden()
    assert "#" not in page.url


def test_strange_names_survive_the_address(visit: Visit) -> None:
    path = "troupe/100% ünïcode #1?&"
    page, _ = visit(hello([supervisor("troupe"), node(path)]))
    page.locator(".row").nth(1).click()
    expect(page.locator("console-details h2")).to_have_text("100% ünïcode #1?&")
    page.reload()
    expect(page.locator("console-details .trail")).to_have_text(path)


@pytest.mark.parametrize("address", ["#/troupe/nobody", "#/%E0%A4%A", "#nonsense"])
def test_an_address_of_nobody_does_no_harm(visit: Visit, address: str) -> None:
    page, _ = visit(scenes.small(), address)
    expect_rows(page, SMALL)
    details = page.get_by_role("region", name="Chosen actor")
    if "nobody" in address:
        expect(details).to_contain_text("Not in the tree now.")
    else:
        expect(details).to_be_hidden()


def test_a_chosen_actor_that_goes_is_remembered_as_gone(visit: Visit) -> None:
    page, stage = visit(scenes.small(), "#/troupe/sidekick/door")
    details = page.get_by_role("region", name="Chosen actor")
    expect(details.locator("house-pill")).to_have_text("backoff")
    stage.tell(change(gone=["troupe/sidekick/door"]))
    expect(details.locator("house-pill")).to_have_text("gone")
    expect(details.locator("pre")).to_have_text("OSError: port 5163 is in use")


def test_the_path_can_be_copied(visit: Visit) -> None:
    page, _ = visit(scenes.small(), "#/troupe/store", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy path").click()
    expect(page.get_by_text("Copied troupe/store")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "troupe/store"


def test_a_path_that_may_not_be_copied_is_selected_for_the_reader(visit: Visit) -> None:
    page, _ = visit(scenes.small(), "#/troupe/store")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('not here')); }")
    page.get_by_role("button", name="Copy path").click()
    expect(page.get_by_text("The text is selected: press Ctrl+C or ⌘C.", exact=False)).to_be_visible()
    assert page.evaluate("getSelection().toString().replace(/\\s/g, '')") == "troupe/store"


def test_every_page_copies_in_the_same_way() -> None:
    copying = [path for path in WEB.rglob("*.js") if "navigator.clipboard" in path.read_text()]
    assert copying == [WEB / "house/copying.js"]


# --- recent stops, crashes and dead letters


def test_stops_and_dead_letters_are_listed_newest_first(visit: Visit) -> None:
    page, stage = visit(hello([], stops=[StopNote(NOW - 61, "troupe/a", "done", None, None, False)]))
    expect(page.locator("console-stops time .ago")).to_have_text("1 min ago")
    stage.tell(
        change(
            stops=[StopNote(NOW, "troupe/b", "shutdown", None, None, False)],
            crashes=[StopNote(NOW, "troupe/d", "crashed", "ValueError: no", "Joined", True)],
            dead=[DeadNote(NOW, "troupe/c", "Said", "the actor has ended")],
        )
    )
    expect(page.locator("console-stops .path")).to_have_text(["troupe/b", "troupe/a"])
    expect(page.locator("console-stops li").first).to_contain_text("was stopped")
    expect(page.locator("console-crashes li")).to_contain_text("crashed while handling Joined, is restarted")
    expect(page.locator("console-dead li")).to_contain_text("Said: the actor has ended")


def test_a_peer_that_went_is_no_failure(visit: Visit) -> None:
    gone = StopNote(NOW, "troupe/a", "peer gone", "Closed: WebSocket closed with 1001", "Picture", False)
    page, _ = visit(hello([], stops=[gone], crashes=[StopNote(NOW, "troupe/b", "crashed", "no", None, True)]))
    ends, crashes = (page.locator(f"console-{kind} house-clip") for kind in ("stops", "crashes"))
    expect(crashes.locator(".body")).to_have_text(["no"])
    expect(ends.locator(".body")).to_have_text(["Closed: WebSocket closed with 1001"])
    expect(crashes).to_have_attribute("data-tone", "bad")
    expect(ends).not_to_have_attribute("data-tone", "bad")


def test_the_exact_time_of_a_note_stands_under_the_pointer_and_the_focus(visit: Visit) -> None:
    page, _ = visit(hello([], dead=[DeadNote(NOW, "troupe/c", "Said", "gone")]))
    exact = page.locator("console-dead time .exact")
    expect(exact).to_be_hidden()
    page.locator("console-dead li").hover()
    expect(exact).to_be_visible()
    page.mouse.move(0, 0)
    expect(exact).to_be_hidden()
    page.locator("console-dead .path").focus()
    expect(exact).to_be_visible()


def test_only_the_latest_notes_are_shown_until_all_are_asked_for(visit: Visit) -> None:
    page, _ = visit(hello([], dead=[DeadNote(NOW - n, f"troupe/{n}", "Said", "gone") for n in range(100)]))
    notes = page.locator("console-dead li")
    expect(notes).to_have_count(6)
    page.get_by_role("button", name="Show all 100").click()
    expect(notes).to_have_count(100)


def test_a_long_error_is_cut_and_can_be_read_whole(visit: Visit) -> None:
    page, _ = visit(hello([], crashes=[StopNote(NOW, "troupe/a", "crashed", scenes.LONG_ERROR, None, True)]))
    body = page.locator("console-crashes house-clip .body")
    short = body.bounding_box()
    page.get_by_role("button", name="Show all").click()
    tall = body.bounding_box()
    assert short is not None
    assert tall is not None
    assert tall["height"] > 2 * short["height"]
    expect(body).to_have_text(scenes.LONG_ERROR, use_inner_text=True)


def test_a_note_leads_to_its_actor(visit: Visit) -> None:
    nodes = [supervisor("troupe"), supervisor("troupe/peers"), *[node(f"troupe/peers/{n:03d}") for n in range(200)]]
    page, _ = visit(hello(nodes, dead=[DeadNote(NOW, "troupe/peers/150", "Said", "full")]))
    page.locator("console-dead .path").click()
    expect(row(page, "troupe/peers/150")).to_be_in_viewport()


# --- systems


def test_a_system_is_a_card_with_a_sentence_and_a_link_to_its_page(visit: Visit) -> None:
    page, stage = visit(scenes.small())
    card = page.locator("console-systems .card").first
    expect(card).to_contain_text("Two rooms, three peers.")
    expect(card.get_by_role("link", name="sidekick")).to_have_attribute("href", "http://127.0.0.1:5163/")
    expect(page.get_by_role("navigation").get_by_role("link")).to_have_text(["sidekick"])
    stage.tell(change(systems=[System("sidekick", "down", "Port 5163 is in use.", None)]))
    expect(page.locator("console-systems .card")).to_have_count(1)
    expect(card.locator("house-pill")).to_have_text("down")
    expect(page.get_by_role("navigation").get_by_role("link")).to_have_count(0)
    stage.tell(change(systems=[System("store", "failing", "There is no space left on the disk.", None)]))
    expect(card.locator("house-pill")).to_have_text("failing")
    expect(card.locator("house-pill")).to_have_attribute("data-tone", "bad")


CUT = """all => all.filter((one) => one.scrollHeight > one.clientHeight || one.scrollWidth > one.clientWidth
    || one.getBoundingClientRect().right > one.closest(".card").getBoundingClientRect().right)
    .map((one) => one.textContent)"""
BROKEN = """all => all.flatMap((one) => [...one.querySelectorAll(".address")]).flatMap((one) => [...one.childNodes])
    .flatMap((piece) => {
    const range = document.createRange();
    return [...piece.textContent.matchAll(/\\S+/g)].filter((word) => {
        range.setStart(piece, word.index);
        range.setEnd(piece, word.index + word[0].length);
        return range.getClientRects().length !== 1;
    }).map(([word]) => word);
})"""


def test_the_address_of_a_system_is_read_whole_however_wide_the_window_is(visit: Visit) -> None:
    names = ("store", "sidekick", "judge", "ipc", "agent", "console")
    said = "listening on http://127.0.0.1:65535 and http://[::1]:65535"
    page, _ = visit(hello([], systems=[System(name, "up", said, "http://127.0.0.1:65535") for name in names]))
    expect(page.locator("console-systems .card .sentence")).to_have_text([said] * 6)
    page.evaluate("document.body.dataset.view = 'systems'")
    for width in (320, 360, 400, 480, 640, 760, 896, 897, 960, 1000, 1100, 1200, 1280):
        with looked_at(page, width):
            sentences = page.locator("console-systems .card .sentence")
            assert sentences.evaluate_all(CUT) == []
            assert sentences.evaluate_all(BROKEN) == []
            expect(sentences.locator(".address")).to_have_count(12)


# --- lost connections


def test_the_page_reconnects_by_itself_and_keeps_what_the_reader_did(visit: Visit) -> None:
    page, stage = visit(scenes.small(), "#/troupe/store")
    row(page, "troupe/sidekick/rooms").locator(".twist").click()
    expect_rows(page, [*SMALL[:4], SMALL[-1]])
    stage.refusing = True
    stage.drop()
    expect(page.get_by_role("alert")).to_contain_text("Connection lost")
    expect(page.locator("html")).to_have_attribute("data-stale", "")
    expect_rows(page, [*SMALL[:4], SMALL[-1]])
    stage.hello = hello([*scenes.small().nodes, node("troupe/new")], pid=4712)
    stage.refusing = False
    expect(row(page, "troupe/new")).to_be_visible()
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(page.locator("house-bar house-pill")).to_have_text("live")
    expect(page.get_by_text("The server has been restarted.")).to_be_visible()
    expect_rows(page, [*SMALL[:4], SMALL[-1], "troupe/new"])
    expect(page.locator("console-details .trail")).to_have_text("troupe/store")
    assert stage.greeted == 2


def test_a_server_that_leaves_is_quoted(visit: Visit) -> None:
    page, stage = visit(scenes.small())
    expect_rows(page, SMALL)
    stage.refusing = True
    stage.leave("Troupe is stopping.")
    expect(page.get_by_role("alert")).to_contain_text("“Troupe is stopping.”")


def test_the_reader_need_not_wait_for_the_next_attempt(visit: Visit) -> None:
    page, stage = visit(scenes.small())
    expect(page.locator("house-bar house-pill")).to_have_text("live")
    page.clock.install()
    page.clock.pause_at(time.time() + 60)  # from now on no timer ends a wait
    stage.drop()
    expect(page.locator("house-banner")).to_contain_text("Trying again in 1 s.")
    page.get_by_role("button", name="Try now").dispatch_event("click")
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_lost_connection_is_read_out_once_and_not_with_every_second(visit: Visit) -> None:
    page, stage = visit(scenes.small())
    expect(page.locator("house-bar house-pill")).to_have_text("live")
    stage.refusing = True
    stage.leave("Troupe is stopping.")
    expect(page.get_by_role("alert")).to_have_text("Connection lost. “Troupe is stopping.”")
    page.evaluate("""() => {
        window.said = 0;
        const watcher = new MutationObserver((news) => (window.said += news.length));
        const everything = { childList: true, characterData: true, subtree: true };
        watcher.observe(document.querySelector("[role=alert]"), everything);
    }""")
    expect(page.locator("house-banner")).to_contain_text(re.compile(r"Offline for [1-9]\d* s\."))
    assert page.evaluate("window.said") == 0


def test_a_server_that_falls_silent_is_taken_for_lost(visit: Visit) -> None:
    page, stage = visit(None)
    page.clock.install()
    page.reload()
    stage.hello = scenes.small()
    stage.drop()
    page.clock.run_for(1_000)
    expect_rows(page, SMALL)
    stage.refusing = True
    page.clock.run_for(11_000)
    expect(page.get_by_role("alert")).to_contain_text("The server fell silent.")


def test_nonsense_from_the_server_leads_to_a_new_greeting(visit: Visit) -> None:
    page, stage = visit(scenes.small())
    expect_rows(page, SMALL)
    with says_in_passing(page.locator("house-bar house-pill"), "disconnected"):
        stage.send("{not json")
    expect(page.locator("house-bar house-pill")).to_have_text("live")
    assert stage.greeted == 2


def test_messages_of_an_unknown_kind_are_let_be(visit: Visit) -> None:
    page, stage = visit(scenes.small())
    stage.send('{"type": "weather", "sun": true}')
    stage.tell(change(node("troupe/new")))
    expect(row(page, "troupe/new")).to_be_visible()


def test_a_page_without_a_server_says_so(visit: Visit) -> None:
    page, stage = visit(None)
    expect(page.get_by_text("Connecting…")).to_be_visible()
    expect(page.get_by_text("No systems are configured.")).to_be_hidden()
    stage.refusing = True
    stage.drop()
    expect(page.get_by_role("alert")).to_contain_text("No connection.")


def test_an_empty_house_has_its_words(visit: Visit) -> None:
    page, _ = visit(hello([]))
    nothing = ("Nothing has crashed.", "Nothing has stopped.", "No dead letters.")
    for words in ("No actors are running.", "No systems are configured.", *nothing):
        expect(page.get_by_text(words)).to_be_visible()


def test_markup_in_names_and_errors_is_text(visit: Visit) -> None:
    evil = "<img src=x onerror='window.harmed=1'><script>window.harmed=1</script>"
    path = f"troupe/{evil}".replace("</", "<\\")
    page, _ = visit(
        hello(
            [supervisor("troupe"), node(path, name=evil, parent="troupe", error=evil, note=evil)],
            systems=[System(evil, "up", evil, "javascript:window.harmed=1")],
            stops=[StopNote(NOW, path, evil, evil, evil, True)],
            crashes=[StopNote(NOW, path, evil, evil, evil, True)],
            dead=[DeadNote(NOW, path, evil, evil)],
        )
    )
    page.locator(".row").nth(1).click()
    expect(page.locator("console-details pre")).to_have_text(evil)
    expect(page.locator(".row .label").nth(1)).to_have_text(evil)
    write(page.get_by_role("searchbox"), "img")
    expect(page.locator(".row mark").first).to_have_text("img")
    assert page.evaluate("window.harmed") is None
    assert page.locator("main img, main script").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0


def test_all_figures_are_within_the_window_however_wide_that_is(visit: Visit) -> None:
    small = scenes.small()
    page, _ = visit(replace(small, totals=replace(small.totals, memory=748_200_000, lag=0.0124, actors=1_024)))
    expect(page.locator("console-totals .about")).to_have_text(re.compile("Troupe"))
    for width in (320, 400, 640, 760, 850, 897, 920, 1000, 1100, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 700})
        page.evaluate(FRAMES)
        beyond = page.locator("console-totals *, console-systems *").evaluate_all(
            "(all, width) => all.filter(one => one.getBoundingClientRect().right > width).map(one => one.className)",
            width,
        )
        assert beyond == [], width
