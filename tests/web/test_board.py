"""The ten components of the board, each with all its actions, in a real browser with a scripted server."""

import re
from collections.abc import Iterator
from typing import Any, cast

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.web.board_stage import BoardStage, Show, held, say, showing
from tests.web.board_words import CLEAR, fault, remove, spawn, update
from tests.web.stage import write

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    with showing(chromium) as show:
        yield show


def at(page: Page, key: str) -> Locator:
    return page.locator(f'[data-id="{key}"]')


def pixel(canvas: Locator, x: float, y: float) -> list[int]:
    """The colour at a point of a canvas, in CSS pixels."""
    return cast(
        list[int],
        canvas.evaluate(
            """(canvas, [x, y]) => {
                const scale = canvas.width / parseFloat(canvas.style.width);
                const eye = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
                eye.drawImage(canvas, -Math.floor(x * scale), -Math.floor(y * scale));
                return [...eye.getImageData(0, 0, 1, 1).data];
            }""",
            [x, y],
        ),
    )


# --- label, button, textbox


def test_a_label_shows_its_text_and_the_next_one(show: Show) -> None:
    page, stage = show(spawn("label", "l", text="one"))
    expect(at(page, "l")).to_have_text("one")
    say(page, stage, update("label", "l", "setText", text="two"))
    expect(at(page, "l")).to_have_text("two")


def test_a_button_without_words_has_a_name(show: Show) -> None:
    page, stage = show(spawn("button", "b", text=" "))
    expect(page.get_by_role("button", name="Button", exact=True)).to_be_visible()
    say(page, stage, update("button", "b", "setText", text="Go"))
    expect(page.get_by_role("button", name="Go", exact=True)).to_be_visible()


def test_words_run_as_their_own_first_letter_does(show: Show) -> None:
    arabic = "\u0645\u0631\u062d\u0628\u0627!"
    page, _ = show(spawn("label", "l", text=arabic), spawn("label", "m", text="hello!"))
    ends_before_it_begins = """(label) => {
        const text = label.querySelector(".text").firstChild;
        const place = (at) => {
            const range = new Range();
            range.setStart(text, at);
            range.setEnd(text, at + 1);
            return range.getBoundingClientRect().x;
        };
        return place(text.length - 1) < place(0);
    }"""
    assert at(page, "l").evaluate(ends_before_it_begins) is True
    assert at(page, "m").evaluate(ends_before_it_begins) is False


def test_a_button_says_that_it_was_clicked(show: Show) -> None:
    page, stage = show(spawn("button", "b", text="Go"))
    page.get_by_role("button", name="Go", exact=True).click()
    assert stage.events() == [{"src": "b", "event": "click"}]
    assert stage.heard("event")[0] == {
        "id": 0, "component": "button", "type": "event", "src": "b", "payload": {"event": "click"},
    }  # fmt: skip
    say(page, stage, update("button", "b", "setText", text="Stop"))
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()


def test_a_text_input_with_a_button_submits_what_stands_there_by_it(show: Show) -> None:
    page, stage = show(
        spawn("textbox", "t", initialValue="127.0.0.1", buttonText="Update IP"),
        spawn("textbox", "u", placeholder="unnamed", buttonText=""),
        spawn("button", "b", text="Go"),
    )
    page.get_by_role("button", name="Update IP").click()
    box = page.get_by_role("textbox", name="Text")
    box.press("Enter")
    write(box, "new")
    page.get_by_role("button", name="Go").click()  # leaving the box sends nothing
    page.get_by_role("button", name="Update IP").click()
    write(page.get_by_role("textbox", name="unnamed"), "once")
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("button", name="Go").click()
    said = [(each["src"], each.get("value")) for each in stage.events(6)]
    left, gone = ("t", "127.0.0.1"), ("b", None)
    assert said == [left, left, gone, ("t", "new"), ("u", "once"), gone]


def test_the_button_of_a_textbox_wraps_its_words_as_every_button_does(show: Show) -> None:
    words = "Tell the script what has been written in the box beside this button, or above it"
    boxes = [spawn("textbox", f"t{at}", buttonText=text) for at, text in enumerate((words, "W" * 80))]
    page, _ = show(*boxes, viewport={"width": 400, "height": 800})
    expect(page.get_by_role("button", name=words)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    for button in page.locator("board-textbox button").all():
        box = button.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 400


def test_a_textbox_submits_on_enter_and_when_it_is_left_but_only_what_is_new(show: Show) -> None:
    page, stage = show(spawn("textbox", "t", initialValue="old", placeholder="Name"), spawn("button", "b", text="Go"))
    box = page.get_by_role("textbox", name="Name")
    expect(box).to_have_value("old")
    box.focus()
    box.press("Enter")
    write(box, "new")
    box.press("Enter")
    box.press("Enter")
    box.blur()
    write(box, "newer")
    box.blur()
    page.get_by_role("button", name="Go", exact=True).click()
    assert stage.events(3) == [
        {"src": "t", "event": "submit", "value": "new"},
        {"src": "t", "event": "submit", "value": "newer"},
        {"src": "b", "event": "click"},
    ]


def test_what_a_script_sets_is_shown_where_nobody_has_a_draft(show: Show) -> None:
    page, stage = show(spawn("textbox", "t"), spawn("button", "b", text="Go"))
    box = at(page, "t").locator("input")
    box.focus()
    say(
        page, stage, update("textbox", "t", "setValue", value="set"),
        update("textbox", "t", "setPlaceholder", placeholder="hint"),
    )  # fmt: skip
    expect(box).to_have_value("set")
    expect(box).to_have_attribute("placeholder", "hint")
    box.press("Tab")
    page.get_by_role("button", name="Go", exact=True).click()
    assert stage.events() == [{"src": "b", "event": "click"}]


def test_what_was_submitted_comes_back_and_leaves_the_next_draft_alone(show: Show) -> None:
    page, stage = show(spawn("textbox", "t"))
    box = at(page, "t").locator("input")
    write(box, "one")
    box.press("Enter")
    write(box, "one two")
    say(page, stage, update("textbox", "t", "setValue", value="one"))
    expect(box).to_have_value("one two")
    say(page, stage, update("textbox", "t", "setValue", value="another's"))
    expect(box).to_have_value("one two")
    write(box, "mine")
    box.press("Enter")
    say(page, stage, update("textbox", "t", "setValue", value="another's"))
    expect(box).to_have_value("another's")
    say(page, stage, update("textbox", "t", "setValue", value="mine"))
    expect(box).to_have_value("mine")


# --- console


def log(page: Page) -> str:
    return cast(str, page.locator("board-console .text").evaluate("text => text.textContent"))


def test_a_console_continues_its_text_until_it_has_a_new_line(show: Show) -> None:
    page, stage = show(spawn("console", "k", showInput=False, text="a"))
    say(page, stage, *[update("console", "k", "append", text=text) for text in ["b", "c\n", "\n", "d\r\n", "", "e"]])
    assert log(page) == "abc\n\nd\ne"
    assert at(page, "k").locator(".block").inner_text() == "abc\n\nd\ne"
    expect(page.get_by_role("textbox")).to_have_count(0)
    say(page, stage, update("console", "k", "clear"), update("console", "k", "append", text="new"))
    assert log(page) == "new"


TOP_LINE = """log => new Promise(known => {
    const first = () => {
        const box = log.getBoundingClientRect();
        const { startContainer, startOffset } = document.caretRangeFromPoint(box.left + 12, box.top + 12);
        const text = startContainer.textContent;
        return text.slice(text.lastIndexOf("\\n", startOffset - 1) + 1).split("\\n")[0];
    };
    const look = (before, times) => {
        const now = first();
        if (now === before && times === 3) known(now);
        else requestAnimationFrame(() => look(now, now === before ? times + 1 : 0));
    };
    look(first(), 0);
})"""
"""The first line that the reader sees, once the scroll position is stable. A block that was out of sight is laid out
one frame after it was scrolled to, and the browser changes its position in pixels when it measures the blocks above."""

SCROLL_UP = """log => new Promise(seen => {
    log.addEventListener("scroll", () => seen(), {once: true});
    log.scrollTop = log.scrollHeight / 2;
})"""


def test_a_console_stays_at_its_end_unless_the_reader_has_scrolled_up(show: Show) -> None:
    page, stage = show(spawn("console", "k", showInput=False))
    lines = [update("console", "k", "append", text=f"line {n}\n") for n in range(3000)]
    say(page, stage, *lines[:2000])
    frame = at(page, "k").locator(".log")
    at_end = "log => log.scrollHeight - log.scrollTop - log.clientHeight < 2"
    assert frame.evaluate(at_end)
    frame.evaluate(SCROLL_UP)
    expect(page.get_by_role("button", name="Latest")).to_be_hidden()
    before = frame.evaluate(TOP_LINE)
    assert before.startswith("line ")
    say(page, stage, *lines[2000:])
    assert frame.evaluate(TOP_LINE) == before
    page.get_by_role("button", name="Latest").click()
    expect(page.get_by_role("button", name="Latest")).to_be_hidden()
    assert frame.evaluate(at_end)


def test_a_console_keeps_ten_thousand_lines(show: Show) -> None:
    page, stage = show(spawn("console", "k", showInput=False))
    say(page, stage, update("console", "k", "append", text="".join(f"line {n}\n" for n in range(12_345))))
    text = log(page)
    assert 9_900 <= text.count("\n") <= 10_000
    assert text.endswith("line 12344\n")
    expect(page.get_by_text("Earlier lines are no longer kept.")).to_be_attached()


def test_a_console_is_copied_as_it_was_written(show: Show) -> None:
    text = "".join(f"{n}\n\n" for n in range(120))
    page, _ = show(spawn("console", "k", showInput=False, text=text))
    copied = page.locator("board-console .text").evaluate(
        """text => {
            getSelection().selectAllChildren(text);
            const clipboardData = new DataTransfer();
            text.dispatchEvent(new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true }));
            return clipboardData.getData("text/plain");
        }"""
    )
    assert copied == text


def test_a_console_submits_what_is_typed_untrimmed_and_never_nothing(show: Show) -> None:
    page, stage = show(spawn("console", "k", showInput=True))
    field = page.get_by_role("textbox", name="Console input")
    write(field, "   ")
    field.press("Enter")
    write(field, " hello ")
    field.press("Enter")
    expect(field).to_have_value("")
    write(field, "again")
    page.get_by_role("button", name="Send").click()
    assert stage.events(2) == [
        {"src": "k", "event": "submit", "value": " hello "},
        {"src": "k", "event": "submit", "value": "again"},
    ]


# --- markdown


def test_markdown_shows_its_source_until_the_server_has_rendered_it(show: Show) -> None:
    page, stage = show(spawn("label", "l", text="x"))
    stage.rendered |= {"# A": "<h1>A</h1>", "# B": "<h2>B</h2><table><tr><td align=right>1</td></tr></table>"}
    asked: list[Route] = []
    page.route("**/markdown", lambda route: asked.append(route))
    say(page, stage, spawn("markdown", "m", initialSource="# A"))
    expect(at(page, "m").locator("pre")).to_have_text("# A")
    held(page, asked).continue_()
    expect(page.get_by_role("heading", name="A", exact=True)).to_be_visible()
    page.unroute("**/markdown")
    say(page, stage, update("markdown", "m", "setSource", source="# B"))
    expect(page.get_by_role("heading", name="B", exact=True)).to_be_visible()
    expect(at(page, "m").locator("td")).to_have_css("text-align", "end")


def test_markdown_that_changes_all_the_time_is_asked_for_one_at_a_time(show: Show) -> None:
    page, stage = show()
    asked: list[Route] = []
    page.route("**/markdown", lambda route: asked.append(route), times=1)
    say(page, stage, spawn("markdown", "m", initialSource="start"))
    first = held(page, asked)
    say(page, stage, *[update("markdown", "m", "setSource", source=str(n)) for n in range(200)])
    first.continue_()
    expect(at(page, "m").locator("p")).to_have_text("199")
    assert stage.asked == ["start", "199"]


def test_markdown_without_a_server_to_render_it_stays_readable(show: Show) -> None:
    page, stage = show()
    page.route("**/markdown", lambda route: route.abort())
    say(page, stage, spawn("markdown", "m", initialSource="# plain"))
    expect(at(page, "m").locator("pre")).to_have_text("# plain")


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://127.0.0.1:9/x.png", "only pictures from https are shown"),
        ("https://127.0.0.1:9/x.png", "this picture could not be loaded"),
    ],
)
def test_a_picture_that_is_not_shown_is_a_link_and_says_why(chromium: Browser, address: str, why: str) -> None:
    with showing(chromium, tolerated="Content Security Policy") as show:
        page, stage = show()
        stage.rendered["text"] = f"<p>See <img src='{address}' alt='a cat'>.</p>"
        say(page, stage, spawn("markdown", "m", initialSource="text"))
        expect(at(page, "m")).to_have_text(f"See a cat ({why}).")
        expect(at(page, "m").get_by_role("link", name="a cat")).to_have_attribute("href", address)


def test_html_that_was_not_cleaned_does_no_harm(chromium: Browser) -> None:
    html = (
        f"{HOSTILE}<p onclick=alert(3) style=color:red id=x class=y>kept</p><a href='javascript:alert(4)'>no</a>"
        "<iframe src=/></iframe><svg onload=alert(5)><text>gone</text></svg><form action=/x><b>in</b></form>"
        "<a href='https://example.org/'>out</a><math><mi>gone</mi></math><style>p{color:red}</style>"
    )
    dialogs: list[str] = []
    with showing(chromium, tolerated="The action has been blocked.") as show:  # said of parsed HTML
        page, stage = show()
        stage.rendered["bad"] = html
        page.on("dialog", lambda dialog: dialog.dismiss())
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        page.route("**/x", lambda route: route.fulfill(status=200, body=""))
        say(page, stage, spawn("markdown", "m", initialSource="bad"))
        expect(at(page, "m").locator("b")).to_have_text("in")
        prose = at(page, "m").locator("house-prose")
        inside = prose.evaluate("prose => [...prose.querySelectorAll('*')].map(({ outerHTML }) => outerHTML)")
        foul = re.compile(r"script|style|iframe|svg|form|\son|javascript|\sid=|class=")
        assert [each for each in inside if foul.search(each)] == []
        expect(prose.get_by_role("link", name="image")).to_be_visible()  # in place of an image that could not be shown
        why = "(this picture could not be loaded)"
        assert prose.inner_text().split() == ["image", *why.split(), "kept", "noinout"]
        out = prose.get_by_role("link", name="out")
        expect(out).to_have_attribute("href", "https://example.org/")
        expect(out).to_have_attribute("rel", "noopener noreferrer")
    assert dialogs == []


# --- grid


def cell(page: Page, x: int, y: int) -> list[int]:
    """The colour in the upper left corner of a cell."""
    size = page.locator("board-grid").evaluate("grid => parseFloat(grid.style.getPropertyValue('--cell'))")
    return pixel(page.locator("board-grid canvas"), x * size + 3, y * size + 3)


RED, BLUE, WHITE = [255, 0, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255]


def test_a_grid_colours_its_cells_and_clears_them(show: Show) -> None:
    page, stage = show(spawn("grid", "g", numColumns=4, numRows=3), color_scheme="light")
    say(page, stage, update("grid", "g", "setColor", x=1, y=2, color="red"),
        update("grid", "g", "setColor", x=3, y=0, color="blue"), update("grid", "g", "setText", x=1, y=2, text="A"),
        update("grid", "g", "setColor", x=9, y=0, color="red"),
        update("grid", "g", "setColor", x=0, y=0, color="no"))  # fmt: skip
    assert [cell(page, 1, 2), cell(page, 3, 0), cell(page, 0, 0)] == [RED, BLUE, WHITE]
    say(page, stage, update("grid", "g", "setColor", x=1, y=2, color=None))
    assert cell(page, 1, 2) == WHITE
    say(page, stage, update("grid", "g", "setColor", x=1, y=2, color="red"),
        update("grid", "g", "clearCell", x=1, y=2))  # fmt: skip
    assert cell(page, 1, 2) == WHITE
    say(page, stage, update("grid", "g", "clear"))
    assert cell(page, 3, 0) == WHITE


def test_text_and_colour_of_a_cell_leave_each_other_alone(show: Show) -> None:
    page, stage = show(spawn("grid", "g", numColumns=2, numRows=1))
    say(page, stage, update("grid", "g", "setText", x=0, y=0, text="A"),
        update("grid", "g", "setColor", x=0, y=0, color="red"))  # fmt: skip
    active = page.get_by_role("gridcell")
    expect(active).to_have_text("column 0, row 0, A, red")
    say(page, stage, update("grid", "g", "setText", x=0, y=0, text=""))
    expect(active).to_have_text("column 0, row 0, red")
    say(page, stage, update("grid", "g", "setColor", x=0, y=0, color=None))
    expect(active).to_have_text("column 0, row 0")


def test_a_click_on_a_grid_tells_the_cell(show: Show) -> None:
    page, stage = show(spawn("grid", "g", numColumns=8, numRows=8))
    canvas = page.locator("board-grid canvas")
    canvas.click(position={"x": 3.5 * 80, "y": 1.5 * 80})
    assert stage.events() == [{"src": "g", "event": "click", "x": 3, "y": 1}]


def test_keys_walk_a_grid(show: Show) -> None:
    page, stage = show(spawn("grid", "g", numColumns=5, numRows=4))
    page.get_by_role("grid").focus()
    walk = "ArrowRight ArrowRight ArrowDown ArrowUp ArrowUp ArrowDown Enter Control+End Space Home ArrowLeft Enter"
    for key in walk.split():
        page.keyboard.press(key)
    clicks = [(each["x"], each["y"]) for each in stage.events(3)]
    assert clicks == [(2, 1), (4, 3), (0, 3)]


@pytest.mark.parametrize(
    ("columns", "rows", "width", "size"),
    [(3, 3, 1280, 100), (8, 8, 1280, 80), (40, 10, 1280, 31), (200, 200, 1280, 10), (8, 8, 400, 46), (3, 60, 1280, 28)],
)
def test_cells_fit_the_page_from_ten_to_a_hundred_pixels(
    show: Show, columns: int, rows: int, width: int, size: int
) -> None:
    page, _ = show(spawn("grid", "g", numColumns=columns, numRows=rows), viewport={"width": width, "height": 800})
    assert page.locator("board-grid").evaluate("grid => parseFloat(grid.style.getPropertyValue('--cell'))") == size


def test_a_large_grid_scrolls_in_its_own_frame_and_draws_what_is_in_sight(show: Show) -> None:
    page, stage = show(spawn("grid", "g", numColumns=500, numRows=500),
                       update("grid", "g", "setColor", x=499, y=499, color="red"))  # fmt: skip
    frame = page.get_by_role("grid")
    frame.evaluate("frame => { frame.scrollLeft = frame.scrollTop = 1e6 }")
    say(page, stage)
    canvas = page.locator("board-grid canvas")
    width, height = canvas.evaluate("canvas => [canvas.clientWidth, canvas.clientHeight]")
    assert width <= 1280
    assert height <= 800
    assert pixel(canvas, width - 5, height - 5) == RED
    canvas.click(position={"x": width - 5, "y": height - 5})
    assert stage.events() == [{"src": "g", "event": "click", "x": 499, "y": 499}]


# --- canvas

THIN, BLACK = {"lineWidth": 0}, [0, 0, 0, 255]
NOTHING = [0, 0, 0, 0]
SQUARE = [{"x": 10, "y": 10}, {"x": 50, "y": 10}, {"x": 50, "y": 50}, {"x": 10, "y": 50}]
DRAWINGS: dict[str, tuple[str, dict[str, Any], dict[tuple[int, int], list[int]]]] = {
    "line": ("drawLine", {"x1": 0, "y1": 20, "x2": 90, "y2": 20, "lineColor": "red", "lineWidth": 6},
             {(40, 20): RED, (40, 30): NOTHING}),
    "rectangle": ("drawRect", {"x": 10, "y": 10, "width": 40, "height": 40, "fillColor": "blue", "lineWidth": 4},
                  {(30, 30): BLUE, (10, 30): BLACK, (60, 30): NOTHING}),
    "rectangle without outline": ("drawRect", {"x": 10, "y": 10, "width": 40, "height": 40, "fillColor": "blue",
                                  **THIN}, {(10, 30): BLUE, (9, 30): NOTHING}),
    "rectangle without fill": ("drawRect", {"x": 10, "y": 10, "width": 40, "height": 40, "fillColor": None,
                               "lineWidth": 4}, {(30, 30): NOTHING, (10, 30): BLACK}),
    "circle": ("drawCircle", {"cx": 30, "cy": 30, "radius": 20, "fillColor": "red", **THIN},
               {(30, 30): RED, (12, 12): NOTHING, (45, 30): RED}),
    "ellipse": ("drawEllipse", {"cx": 50, "cy": 30, "radiusX": 40, "radiusY": 10, "fillColor": "red", **THIN},
                {(85, 30): RED, (50, 45): NOTHING}),
    "polyline": ("drawPolyline", {"points": SQUARE, "lineWidth": 4, "lineColor": "blue"},
                 {(30, 10): BLUE, (50, 30): BLUE, (10, 30): NOTHING, (30, 30): NOTHING}),
    "polygon": ("drawPolygon", {"points": SQUARE, "lineWidth": 4, "lineColor": "blue", "fillColor": "red"},
                {(10, 30): BLUE, (30, 30): RED}),
    "text": ("drawText", {"x": 0, "y": 60, "text": "████", "textSize": 60, "textColor": "red"}, {(20, 40): RED}),
}  # fmt: skip


@pytest.fixture(scope="module", params=[1, 2])
def sharp(request: pytest.FixtureRequest, chromium: Browser) -> Iterator[tuple[Page, BoardStage, int]]:
    """A page for all drawings, with so many pixels to a pixel."""
    with showing(chromium) as show:
        yield *show(device_scale_factor=request.param), request.param


@pytest.mark.drawn(8)
@pytest.mark.parametrize("drawing", DRAWINGS)
def test_a_canvas_draws(sharp: tuple[Page, BoardStage, int], drawing: str) -> None:
    page, stage, density = sharp
    action, options, points = DRAWINGS[drawing]
    say(page, stage, CLEAR, spawn("canvas", "c", width=100, height=80), update("canvas", "c", action, **options))
    canvas = page.get_by_role("img")
    assert canvas.evaluate("canvas => canvas.width") == 100 * density
    assert {point: pixel(canvas, *point) for point in points} == points


def test_a_canvas_is_cleared(show: Show) -> None:
    page, _ = show(spawn("canvas", "c", width=100, height=80),
                   update("canvas", "c", "drawRect", x=0, y=0, width=50, height=50, fillColor="red"),
                   update("canvas", "c", "clear"))  # fmt: skip
    assert pixel(page.get_by_role("img"), 20, 20) == NOTHING


def test_buffers_are_drawn_out_of_sight_and_laid_over_the_canvas(show: Show) -> None:
    square = {"x": 10, "y": 10, "width": 20, "height": 20, **THIN}
    page, stage = show(spawn("canvas", "c", width=100, height=80), update("canvas", "c", "createBuffer", bufferId=1),
                       update("canvas", "c", "createBuffer", bufferId=2),
                       update("canvas", "c", "drawRect", **square, fillColor="red", bufferId=1),
                       update("canvas", "c", "drawRect", **{**square, "x": 50}, fillColor="blue"))  # fmt: skip
    canvas = page.get_by_role("img")
    assert [pixel(canvas, 20, 20), pixel(canvas, 60, 20)] == [NOTHING, BLUE]
    say(page, stage, update("canvas", "c", "drawBuffer", sourceBufferId=1, targetBufferId=2),
        update("canvas", "c", "createBuffer", bufferId=1),
        update("canvas", "c", "drawBuffer", sourceBufferId=1, targetBufferId=0))  # fmt: skip
    assert [pixel(canvas, 20, 20), pixel(canvas, 60, 20)] == [NOTHING, BLUE]
    say(page, stage, update("canvas", "c", "drawBuffer", sourceBufferId=2, targetBufferId=0),
        update("canvas", "c", "clear", bufferId=2),
        update("canvas", "c", "drawBuffer", sourceBufferId=2, targetBufferId=0))  # fmt: skip
    assert [pixel(canvas, 20, 20), pixel(canvas, 60, 20)] == [RED, BLUE]


def test_what_is_seen_can_be_kept_in_a_buffer_and_laid_over_the_canvas_again(show: Show) -> None:
    page, _ = show(spawn("canvas", "c", width=100, height=80), update("canvas", "c", "createBuffer", bufferId=1),
                   update("canvas", "c", "drawRect", x=10, y=10, width=20, height=20, fillColor="red", **THIN),
                   update("canvas", "c", "drawBuffer", sourceBufferId=0, targetBufferId=1),
                   update("canvas", "c", "clear"),
                   update("canvas", "c", "drawRect", x=50, y=10, width=20, height=20, fillColor="blue", **THIN),
                   update("canvas", "c", "drawBuffer", sourceBufferId=1, targetBufferId=0))  # fmt: skip
    canvas = page.get_by_role("img")
    assert [pixel(canvas, 20, 20), pixel(canvas, 60, 20)] == [RED, BLUE]
    expect(page.locator(".note")).to_have_count(0)


FAULTS = [
    ("drawBuffer", {"sourceBufferId": 9, "targetBufferId": 0},
     'Error processing action "drawBuffer" for buffer 0: Source buffer 9 not found for drawBuffer.'),
    ("drawPolyline", {"points": [{"x": 1, "y": 1}]},
     'Error processing action "drawPolyline" for buffer 0: Polyline requires at least 2 points'),
    ("drawPolygon", {"points": SQUARE[:2]},
     'Error processing action "drawPolygon" for buffer 0: Polygon requires at least 3 points'),
    ("drawLine", {"bufferId": 3, "x1": 0, "y1": 0, "x2": 1, "y2": 1},
     'Error processing action "drawLine" for buffer 3: Target context for buffer 3 not found for action "drawLine".'),
]  # fmt: skip


@pytest.mark.parametrize(("action", "options", "words"), FAULTS)
def test_what_a_canvas_cannot_do_is_told_and_noted(
    show: Show, action: str, options: dict[str, Any], words: str
) -> None:
    page, stage = show(spawn("canvas", "c", width=100, height=80), update("canvas", "c", action, **options))
    assert stage.heard("error") == [
        {"id": 0, "component": "canvas", "type": "error", "src": "c", "payload": {"message": words}}
    ]
    expect(at(page, "c").get_by_role("status")).to_have_text(words)


@pytest.mark.parametrize("width", [1280, 400])
def test_a_click_on_a_canvas_tells_the_point_in_the_script_s_coordinates(show: Show, width: int) -> None:
    page, stage = show(spawn("canvas", "c", width=600, height=300), viewport={"width": width, "height": 800})
    box = page.get_by_role("img").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 4)
    (click,) = stage.events()
    assert click["x"] == pytest.approx(300, abs=1)
    assert click["y"] == pytest.approx(75, abs=1)
    assert isinstance(click["x"], int)


def test_a_canvas_is_clicked_by_keyboard_and_says_where_the_cross_is(show: Show) -> None:
    page, stage = show(spawn("canvas", "c", width=100, height=60))
    cross = at(page, "c").locator(".cross")
    expect(cross).to_be_hidden()
    page.keyboard.press("Tab")
    while not page.evaluate("document.activeElement.closest('board-canvas') !== null"):
        page.keyboard.press("Tab")
    expect(cross).to_be_visible()
    for key in ["ArrowRight", "Shift+ArrowUp", "Enter", *["ArrowDown"] * 9, *["ArrowLeft"] * 9, " "]:
        page.keyboard.press(key)
    assert stage.events(2) == [
        {"src": "c", "event": "click", "x": 60, "y": 29},
        {"src": "c", "event": "click", "x": 0, "y": 59},
    ]
    expect(at(page, "c").locator(".unseen")).to_have_text("0, 59")
    say(page, stage, CLEAR, spawn("canvas", "c", width=100, height=60))
    page.keyboard.press("Enter")
    assert stage.events(3)[2] == {"src": "c", "event": "click", "x": 0, "y": 59}


def test_a_canvas_that_moves_keeps_its_pixels_and_its_buffers(show: Show) -> None:
    page, stage = show(spawn("canvas", "c", width=100, height=80), update("canvas", "c", "createBuffer", bufferId=1),
                       update("canvas", "c", "drawRect", x=0, y=0, width=20, height=20, fillColor="blue", bufferId=1),
                       update("canvas", "c", "drawCircle", cx=50, cy=40, radius=30, fillColor="red"),
                       spawn("row", "r"), spawn("column", "k", parent="r"))  # fmt: skip
    picture = "canvas => canvas.toDataURL()"
    before = page.get_by_role("img").evaluate(picture)
    for parent in ["r", "k", "root", "k"]:
        say(page, stage, update("canvas", "c", "changeParent", parent=parent))
        expect(page.locator(f'[data-id="{parent}"] > [data-id="c"]')).to_have_count(1)
        assert page.get_by_role("img").evaluate(picture) == before
    say(page, stage, update("canvas", "c", "drawBuffer", sourceBufferId=1, targetBufferId=0))
    assert pixel(page.get_by_role("img"), 10, 10) == BLUE


# --- rows, columns, and the order of components


def children(page: Page, key: str) -> list[str]:
    return cast(
        list[str],
        at(page, key).evaluate("box => [...box.children].filter(each => each.dataset.id).map(each => each.dataset.id)"),
    )


def test_rows_stand_side_by_side_and_columns_below_each_other(show: Show) -> None:
    page, _ = show(spawn("row", "r"), spawn("column", "k"),
                   *[spawn("button", f"{box}{n}", text="x", parent=box) for box in "rk" for n in (1, 2)])  # fmt: skip
    boxes = {key: at(page, key).bounding_box() for key in ["r1", "r2", "k1", "k2"]}
    assert boxes["r1"]["y"] == boxes["r2"]["y"]  # type: ignore[index]
    assert boxes["r1"]["x"] < boxes["r2"]["x"]  # type: ignore[index]
    assert boxes["k1"]["y"] < boxes["k2"]["y"]  # type: ignore[index]


def test_components_move_to_where_they_are_put(show: Show) -> None:
    page, stage = show(spawn("row", "r"), *[spawn("label", key, text=key) for key in "abc"])
    assert children(page, "root") == ["r", "a", "b", "c"]
    say(page, stage, update("label", "c", "changeParent", parent="root", insertBefore="a"))
    assert children(page, "root") == ["r", "c", "a", "b"]
    say(page, stage, update("label", "a", "changeParent", parent="r"), update("label", "b", "changeParent", parent="r"),
        update("label", "c", "changeParent", parent="r", insertBefore="b"))  # fmt: skip
    assert children(page, "r") == ["a", "c", "b"]
    say(page, stage, update("label", "a", "changeParent", parent="r"), fault("row", "r", "a note"),
        update("label", "c", "changeParent", parent="r", insertBefore=None))  # fmt: skip
    assert children(page, "r") == ["b", "a", "c"]
    say(page, stage, update("label", "b", "changeParent", parent="root", insertBefore="r"))
    assert children(page, "root") == ["b", "r"]


def test_what_makes_no_sense_leaves_the_board_as_it_was(show: Show) -> None:
    page, stage = show(spawn("row", "r"), spawn("column", "k", parent="r"), spawn("label", "l", text="first"))
    say(page, stage, spawn("label", "l", text="second"), update("label", "nobody", "setText", text="x"),
        update("row", "r", "changeParent", parent="k"), update("row", "r", "changeParent", parent="r"),
        update("label", "l", "changeParent", parent="nowhere"), update("label", "l", "changeParent", parent="l"),
        remove("label", "nobody"), {"id": 0, "component": "row", "type": "update", "target": "r"})  # fmt: skip
    assert children(page, "root") == ["r", "l"]
    assert children(page, "r") == ["k"]
    expect(at(page, "l")).to_have_text("first")


def test_a_child_without_its_parent_stands_on_the_board(show: Show) -> None:
    page, _ = show(spawn("label", "l", text="here", parent="later"), spawn("row", "later"))
    expect(at(page, "l")).to_be_visible()


def test_a_container_takes_its_children_with_it(show: Show) -> None:
    page, stage = show(spawn("row", "r"), spawn("column", "k", parent="r"), spawn("label", "l", text="x", parent="k"))
    say(page, stage, remove("row", "r"), spawn("label", "l", text="again"))
    assert children(page, "root") == ["l"]


def test_what_the_page_does_not_know_keeps_its_place_quietly(show: Show) -> None:
    page, stage = show(spawn("gauge", "u", value=3), spawn("label", "l", text="x", parent="u"))
    expect(page.get_by_text("This page cannot show a “gauge”.")).to_be_visible()
    say(page, stage, update("gauge", "u", "setValue", value=4))
    assert children(page, "u") == ["l"]
    say(page, stage, {"id": 0, "component": "label", "type": "update", "target": "l", "payload": {"action": "spin"}})
    expect(at(page, "l").get_by_role("status")).to_have_text('A label of this page has no action "spin".')


def test_text_from_outside_is_never_markup(show: Show) -> None:
    page, _ = show(
        spawn("label", "l", text=HOSTILE),
        spawn("button", "b", text=HOSTILE),
        spawn("textbox", "t", initialValue=HOSTILE, placeholder=HOSTILE),
        spawn("console", "k", showInput=True, text=HOSTILE),
        spawn(HOSTILE, HOSTILE),
        spawn("markdown", "m", initialSource=HOSTILE),
        spawn("grid", "g", numColumns=2, numRows=2),
        update("grid", "g", "setText", x=0, y=0, text=HOSTILE),
        fault("label", "l", HOSTILE),
        fault("label", "nobody", HOSTILE),
    )
    expect(page.locator("board-notes")).to_contain_text("<img")
    expect(at(page, "m").locator("p")).to_have_text(HOSTILE)
    expect(at(page, "l").locator(".text")).to_have_text(HOSTILE)
    assert page.locator("main img, main script").count() == 0
