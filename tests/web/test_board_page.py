"""The board page around its components: rooms, peers, reconnecting, exports, themes, narrow windows."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.board_stage import Show, say, showing
from tests.web.board_words import CLEAR, Message, announce, fault, node, spawn, update, viz
from tests.web.looks import LOOKS, SCHEMES, looked_at
from tests.web.stage import FRAMES, write
from tests.web.test_design import CONTRASTS, NAMELESS, SEEN_THROUGH, scheme

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    with showing(chromium) as show:
        yield show


def lesson() -> list[Message]:
    """A board with a component of each kind."""
    wave = [{"x": n * 4, "y": 60 + n % 7 * 8} for n in range(80)]
    return [
        announce(),
        spawn("markdown", "m", initialSource="# Lesson"),
        spawn("row", "r"),
        spawn("column", "left", parent="r"),
        spawn("grid", "g", parent="left", numColumns=8, numRows=8),
        *[update("grid", "g", "setColor", x=n, y=n, color=c) for n, c in enumerate(["gold", "#123", "teal", "plum"])],
        update("grid", "g", "setText", x=1, y=1, text="A"),
        update("grid", "g", "setText", x=5, y=1, text="a long text in a cell"),
        spawn("canvas", "c", parent="r", width=320, height=200),
        update("canvas", "c", "drawPolyline", points=wave, lineColor="crimson", lineWidth=2),
        spawn("console", "k", showInput=True, text="".join(f"line {n}\n" for n in range(300))),
        spawn("viz", "v"),
        viz("set", name="numbers", value=node([3, 1, 2]), length=3),
        viz("set", name="words", value=node({"a": [1, 2], "b": None, "c": "text"}), length=3),
        spawn("row", "controls"),
        spawn("button", "b", parent="controls", text="Start"),
        spawn("textbox", "t", parent="controls", placeholder="Your name"),
        spawn("label", "l", text="Ready"),
        spawn("gauge", "u", value=3),
        fault("grid", "g", "setColor: x must be from 0 to 7, not 9"),
        fault("grid", "missing", "spawn: numRows must be above 0"),
    ]


# --- rooms and peers


@pytest.mark.parametrize(
    ("path", "asked", "name"),
    [("", "/?bundles=1", None), ("session/41", "/?session=41&bundles=1", "Room 41"),
     ("?session=41", "/?session=41&bundles=1", "Room 41"),
     ("session/a%20b%2Fc", "/?session=a%20b%2Fc&bundles=1", "Room a b/c")],
)  # fmt: skip
def test_the_address_names_the_room(show: Show, path: str, asked: str, name: str | None) -> None:
    page, stage = show(path=path)
    assert stage.rooms == [asked]
    room = page.locator("house-bar .room")
    if name is None:
        expect(room).to_be_hidden()
        expect(page).to_have_title("Sidekick")
    else:
        expect(room).to_have_text(name)
        expect(page).to_have_title(f"{name.removeprefix('Room ')} · Sidekick")


def test_a_page_announces_itself_and_says_goodbye(show: Show) -> None:
    page, stage = show()
    (hello,) = stage.heard("announce")
    assert (hello["id"], hello["component"]) == (0, "system")
    assert set(hello["payload"]) == {"peerId", "role", "status", "version", "timestamp"}
    assert (hello["payload"]["role"], hello["payload"]["status"]) == ("sidekick", "online")
    page.goto("about:blank")
    goodbye = stage.heard("announce", 2)[1]
    assert goodbye["payload"]["status"] == "offline"
    assert goodbye["payload"]["peerId"] == hello["payload"]["peerId"]


def test_the_bar_says_which_scripts_are_there(show: Show) -> None:
    page, stage = show()
    button = page.locator("button.peers")
    expect(button).to_have_text("offlineNo script")
    say(page, stage, announce("one", version="0.0.7"))
    expect(button).to_have_text("onlineScript 0.0.7")
    say(page, stage, announce("two", version="0.0.5"), announce("tab", role="sidekick", version="0.1.0"))
    expect(button).to_have_text("online2 scripts")
    button.click()
    rows = page.locator("board-peers li")
    expect(rows).to_have_count(3)
    assert [text.split() for text in rows.all_inner_texts()] == [
        ["Script", "one", "0.0.7", "online"],
        ["Script", "two", "0.0.5", "online"],
        ["Page", "tab", "0.1.0", "online"],
    ]
    say(page, stage, announce("one", status="offline"), announce("tab", role="sidekick", status="offline"))
    expect(button).to_have_text("onlineScript 0.0.5")
    expect(rows).to_have_count(2)


def test_an_empty_board_says_how_to_begin(show: Show) -> None:
    page, stage = show(path="session/7")
    expect(page.get_by_role("heading", name="No script is drawing here yet")).to_be_visible()
    code = page.locator("board-welcome .script code")
    expect(code).to_contain_text(f'sidekick.set_url("{stage.url.replace("http", "ws", 1)}?session=7")')
    expect(code).to_contain_text("sidekick.run_forever()")
    say(page, stage, spawn("label", "l", text="x"))
    expect(page.locator("board-welcome")).to_be_hidden()


# --- troubles


def test_an_error_is_shown_where_it_happened_and_can_be_put_away(show: Show) -> None:
    page, stage = show(spawn("grid", "g", numColumns=2, numRows=2), fault("grid", "g", "first"),
                       fault("grid", "g", "second"), *[fault("grid", "gone", "unknown id")] * 3)  # fmt: skip
    note = page.locator("board-grid .note")
    expect(note).to_have_text("second")
    elsewhere = page.locator("board-notes .note")
    expect(elsewhere).to_have_text("unknown id3 times")
    elsewhere.get_by_role("button", name="Dismiss").click()
    expect(elsewhere).to_have_count(0)
    note.get_by_role("button", name="Dismiss").click()
    expect(note).to_have_count(0)
    say(page, stage, fault("grid", "g", "third"))
    expect(note).to_have_text("third")


# --- reconnecting

WATCH = """() => {
    window.seen = [];
    const look = () => {
        const texts = [...document.querySelectorAll("board-label")].map((label) => label.textContent);
        seen.push(texts.filter((text) => !text.startsWith("mark")).join(","));
        requestAnimationFrame(look);
    };
    look();
}"""


def seen(page: Page) -> list[str]:
    """The boards that were drawn, one after the other, including that of the last frame."""
    frames = page.evaluate(f"async () => {{ await ({FRAMES})(); return window.seen; }}")
    return [frames[0], *[now for before, now in pairwise(frames) if now != before]]


def test_a_board_that_is_shown_anew_never_blinks_though_it_comes_in_pieces(show: Show) -> None:
    labels = [spawn("label", f"l{n}", text=str(n)) for n in range(50)]
    page, stage = show(*labels)
    arrived: list[object] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: arrived.append(frame)))
    page.clock.install()
    page.reload()
    expect(page.locator("board-label")).to_have_count(len(labels))
    page.evaluate(WATCH)
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 60)  # a page may hear of it late
    for piece in ([CLEAR, *labels[:10]], labels[10:30], [*labels[30:], update("label", "l0", "setText", text="new")]):
        wanted = len(arrived) + len(piece)
        stage.tell_all(*piece)
        while len(arrived) < wanted:
            page.wait_for_timeout(10)
        page.clock.run_for(40)
    page.clock.resume()
    say(page, stage)
    whole = ",".join(map(str, range(50)))
    assert seen(page) == [whole, whole.replace("0", "new", 1)]


def test_messages_that_come_as_one_are_shown_as_those_that_come_alone(show: Show) -> None:
    """With the state of the board among them, which is no part of the board."""
    labels = [spawn("label", f"l{n}", text=str(n)) for n in range(50)]
    state: Message = {"id": 0, "component": "board", "type": "state", "payload": {"scripts": 0, "drawnAt": 1}}
    page, stage = show(*labels)
    page.evaluate(WATCH)
    stage.tell_all([CLEAR, *labels, state, update("label", "l0", "setText", text="new")])  # type: ignore[arg-type]
    expect(page.locator("board-label").first).to_have_text("new")
    expect(page.locator("board-standing")).to_contain_text("No script is connected")
    whole = ",".join(map(str, range(50)))
    assert seen(page) == [whole, whole.replace("0", "new", 1)]


def test_a_script_that_clears_and_draws_all_the_time_is_seen(show: Show) -> None:
    page, stage = show(spawn("label", "l", text="0"))
    page.evaluate(WATCH)
    for turn in range(1, 60):
        stage.tell_all(CLEAR, spawn("label", "l", text=str(turn)))
        page.wait_for_timeout(10)
    say(page, stage)
    assert len(seen(page)) > 3
    assert seen(page)[-1] == "59"


def test_a_page_that_lost_its_server_comes_back_to_the_present(show: Show) -> None:
    page, stage = show(announce(), *[spawn("label", f"l{n}", text=str(n)) for n in range(3)])
    say(page, stage, spawn("canvas", "tall", width=10, height=3000))
    page.evaluate(WATCH)
    page.evaluate("scrollTo(0, 2000)")
    stage.refusing = True
    stage.script = [announce("hero-2", version="0.0.5"), CLEAR, spawn("label", "l1", text="one")]
    stage.drop()
    banner = page.get_by_role("alert")
    expect(banner).to_be_in_viewport()
    expect(page.locator("button.peers")).to_have_text("offlineNo script")
    expect(page.locator("board-label")).to_have_count(3)
    stage.refusing = False
    expect(page.locator("board-label")).to_have_text(["one"])  # the page reconnects by itself
    expect(banner).to_be_hidden()
    expect(page.locator("button.peers")).to_have_text("onlineScript 0.0.5")
    assert seen(page) == ["0,1,2", "one"]


def test_a_quiet_server_is_not_taken_for_lost(show: Show) -> None:
    page, stage = show()
    page.clock.install()
    page.reload()
    stage.heard("announce", 3)
    page.clock.run_for(120_000)
    expect(page.locator("house-bar > house-pill")).to_have_text("live")
    assert stage.greeted == 2


def test_an_event_without_a_connection_is_not_lost_in_silence(show: Show) -> None:
    page, stage = show(spawn("button", "b", text="Go"))
    stage.refusing = True
    stage.drop()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.get_by_text("Not connected: the script has not been told.")).to_be_visible()


def test_what_could_not_be_told_stays_in_its_field_until_it_can_be(show: Show) -> None:
    board = [spawn("textbox", "t", initialValue="old"), spawn("console", "k", showInput=True)]
    page, stage = show(*board)
    box, line = page.get_by_role("textbox", name="Text"), page.get_by_role("textbox", name="Console input")
    stage.refusing = True
    stage.script = [CLEAR, *board, spawn("label", "l", text="back")]
    stage.drop()
    expect(page.get_by_role("alert")).to_be_visible()
    write(box, "new")
    write(line, "typed meanwhile")
    line.press("Enter")
    expect(page.get_by_text("Not connected: the script has not been told.")).to_be_visible()
    expect(line).to_have_value("typed meanwhile")
    stage.refusing = False
    expect(page.locator("board-label")).to_have_text("back")
    expect(box).to_have_value("new")
    expect(line).to_have_value("typed meanwhile")
    line.press("Enter")
    expect(line).to_have_value("")
    box.press("Enter")
    assert [told["value"] for told in stage.events(2)] == ["typed meanwhile", "new"]


def test_a_board_whose_connection_is_lost_can_be_read(show: Show) -> None:
    page, stage = show(*lesson())
    stage.refusing = True
    stage.drop()
    expect(page.get_by_role("region", name="Connection")).to_be_visible()
    expect(page.locator("main")).to_have_css("opacity", "0.9")
    for colors in SCHEMES:
        with looked_at(page, 1280, colors):
            assert page.evaluate(SEEN_THROUGH) == []


def test_what_is_the_reader_s_own_outlives_the_board(show: Show) -> None:
    board = [
        spawn("console", "k", showInput=True, text="".join(f"{n}\n" for n in range(500))),
        spawn("viz", "v"),
        viz("set", name="data", value=node([[1, 2]]), length=1),
        spawn("grid", "g", numColumns=4, numRows=4),
        spawn("textbox", "t", initialValue="old"),
    ]
    page, stage = show(*board)
    page.get_by_role("button", name=re.compile(r"^0 \[1, 2\]")).click()
    page.locator("board-console .log").evaluate("log => { log.scrollTop = 200 }")
    write(page.get_by_role("textbox", name="Console input"), "half a")
    page.get_by_role("grid").focus()
    page.keyboard.press("ArrowRight")
    draft = page.locator("board-textbox input")
    write(draft, "unfinished")
    say(page, stage, CLEAR, *board)
    expect(draft).to_have_value("unfinished")
    expect(draft).to_be_focused()
    expect(page.locator("board-viz .entry")).to_have_count(4)
    expect(page.get_by_role("textbox", name="Console input")).to_have_value("half a")
    assert page.locator("board-console .log").evaluate("log => log.scrollTop") == 200
    expect(page.get_by_role("gridcell")).to_have_text("column 1, row 0")
    draft.press("Enter")
    assert stage.events() == [{"src": "t", "event": "submit", "value": "unfinished"}]


def test_a_box_that_moves_keeps_focus_and_draft(show: Show) -> None:
    page, stage = show(spawn("row", "r"), spawn("textbox", "t"))
    draft = page.locator("board-textbox input")
    write(draft, "unfinished")
    say(page, stage, update("textbox", "t", "changeParent", parent="r"))
    expect(page.locator("board-row board-textbox input")).to_be_focused()
    expect(draft).to_have_value("unfinished")
    draft.press("Enter")
    assert len(stage.events()) == 1


# --- exports


def test_a_board_is_exported_as_json(show: Show) -> None:
    page, stage = show(spawn("row", "r"), spawn("grid", "g", parent="r", numColumns=3, numRows=2),
                       update("grid", "g", "setColor", x=1, y=1, color="red"), spawn("label", "l", text="x"),
                       spawn("viz", "v"), viz("set", value=node([1]), length=1))  # fmt: skip
    board = json.loads(exported(page, "Export as JSON"))
    row, label, variables = board["components"]
    assert row == {
        "component": "row", "id": "r", "children": [
            {"component": "grid", "id": "g", "numColumns": 3, "numRows": 2, "cells": [{"x": 1, "y": 1, "color": "red"}]}
        ],
    }  # fmt: skip
    assert label == {"component": "label", "id": "l", "text": "x"}
    assert variables["variables"]["data"]["length"] == 1
    assert stage.rooms == ["/?bundles=1"]


def test_a_board_is_exported_as_a_picture(show: Show) -> None:
    page, _ = show(*lesson(), color_scheme="light")
    png = exported(page, "Export as PNG")
    assert png.startswith(b"\x89PNG")
    width, height = (int.from_bytes(png[at : at + 4]) for at in (16, 20))
    board = page.locator("board-root").bounding_box()
    assert board is not None
    assert (width, height) == pytest.approx((board["width"] + 32, board["height"] + 32), abs=1)
    assert len(png) > 20_000


def exported(page: Page, choice: str) -> bytes:
    page.get_by_role("button", name="Board menu").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=choice).click()
    return download.value.path().read_bytes()


# --- what holds for every page


def test_a_board_can_be_read(show: Show) -> None:
    page, _ = show(*lesson())
    for width, colors in LOOKS:
        with looked_at(page, width, colors, height=900):
            assert scheme(page) == colors
            assert page.evaluate(CONTRASTS) == []
            assert page.evaluate(NAMELESS) == []


def test_no_board_is_wider_than_its_window(show: Show) -> None:
    wide = [
        spawn("canvas", "wide", width=2000, height=50),
        spawn("grid", "big", numColumns=200, numRows=5),
        spawn("label", "long", text="x" * 500),
        spawn("button", "far", text="y" * 300),
        spawn("row", "many"),
        *[spawn("button", f"b{n}", text=f"Button {n}", parent="many") for n in range(20)],
        spawn("console", "wrap", showInput=True, text="z" * 1000),
        spawn("viz", "v2"),
    ]
    page, _ = show(*lesson(), *wide, path="session/a-room-with-a-long-name")
    for width in (320, 400, 700, 1280):
        with looked_at(page, width, height=900):
            assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("room", ["demo", "a-room-with-a-name-as-long-as-anybody-may-give-to-one-0123456789"])
def test_a_narrow_bar_names_the_room_and_says_who_draws(show: Show, room: str) -> None:
    page, stage = show(path=f"session/{room}", viewport={"width": 400, "height": 800})
    widths = "(element) => [element.scrollWidth, element.clientWidth]"
    word, named = page.locator("button.peers > .word"), page.locator("house-bar .room")
    for drawing in ("No script", "Script 0.0.7", "2 scripts"):
        expect(word).to_have_text(drawing)
        wanted, given = word.evaluate(widths)
        assert 0 < wanted <= given
        wanted, given = named.evaluate(widths)
        assert given >= 80 if len(room) > 20 else wanted <= given
        assert page.get_by_role("link", name="Sidekick").is_visible()
        page.locator("button.peers").click()
        expect(page.get_by_role("heading", name=f"Room {room}")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == 400
        page.keyboard.press("Escape")
        expect(page.get_by_role("heading", name=f"Room {room}")).to_be_hidden()
        say(page, stage, announce(f"hero of {drawing}"))


def test_in_a_row_a_grid_takes_no_more_room_than_it_can_use(show: Show) -> None:
    page, _ = show(spawn("row", "r"), spawn("grid", "g", parent="r", numColumns=4, numRows=2),
                   spawn("canvas", "c", parent="r", width=100, height=100))  # fmt: skip
    grid, canvas = (page.locator(each).bounding_box() for each in ("board-grid .frame", "board-canvas"))
    assert grid is not None
    assert canvas is not None
    assert grid["width"] == 403
    assert canvas["x"] == grid["x"] + grid["width"] + 10


def test_a_grid_follows_the_theme_and_keeps_the_script_s_colours(show: Show) -> None:
    page, stage = show(spawn("grid", "g", numColumns=2, numRows=1),
                       update("grid", "g", "setColor", x=0, y=0, color="gold"), color_scheme="dark")  # fmt: skip
    look = """canvas => {
        const eye = new OffscreenCanvas(200, 40).getContext("2d", { willReadFrequently: true });
        eye.drawImage(canvas, 0, 0);
        return [10, 110].map((x) => [...eye.getImageData(x, 10, 1, 1).data].slice(0, 3));
    }"""
    canvas = page.locator("board-grid canvas")
    dark = canvas.evaluate(look)
    page.emulate_media(color_scheme="light")
    say(page, stage)
    light = canvas.evaluate(look)
    assert dark[0] == light[0] == [255, 215, 0]
    assert max(dark[1]) < 60
    assert light[1] == [255, 255, 255]


def test_a_board_is_used_by_keyboard(show: Show) -> None:
    page, _ = show(*lesson())
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.ariaLabel || document.activeElement.textContent.trim()"))
    for name in ["Board menu", "Grid", "Console", "Console input", "Start", "Your name"]:
        assert name in reached


def test_what_scrolls_in_a_window_is_printed_whole_and_stands_afterwards_where_it_stood(show: Show) -> None:
    columns = "|".join(f"column {n}" for n in range(14))
    source = f"|{columns}|\n|{'-|' * 14}\n|{columns}|\n\n```\n{'x' * 300}\n```\n"
    page, stage = show(*lesson(), spawn("markdown", "wide", initialSource=source))
    say(page, stage)
    log = page.locator("board-console .log")
    is_at_its_end = "log => log.scrollTop > 0 && log.scrollTop + log.clientHeight >= log.scrollHeight - 2"
    assert log.evaluate(is_at_its_end)
    page.pdf()
    page.wait_for_function(is_at_its_end, arg=page.locator("board-console .log").element_handle())
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 900})
    assert log.evaluate("log => log.clientHeight >= 300 * 19")
    expect(page.get_by_role("textbox", name="Console input")).to_be_hidden()
    cut = """() => [...document.querySelectorAll("board-console .log, house-prose pre, house-prose .table")]
        .filter((part) => part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight + 1)
        .map((part) => part.outerHTML.slice(0, 80))"""
    assert page.evaluate(cut) == []
