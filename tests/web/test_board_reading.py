"""Things that belong together stay together on a board: a value and its type, a task and its box."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from actors.sidekick.prose import prose
from tests.web.board_stage import Show, say, showing
from tests.web.board_words import node, spawn, viz
from tests.web.looks import LOOKS, looked_at
from tests.web.stage import FRAMES
from tests.web.test_design import CONTRASTS, NAMELESS

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    with showing(chromium) as show:
        yield show


TASKS = "- [ ] to do, see https://example.org\n- [x] done\n- plain\n"


def test_a_list_of_tasks_has_boxes_that_are_read_and_not_ticked(show: Show) -> None:
    page, stage = show()
    stage.rendered[TASKS] = prose(TASKS)
    say(page, stage, spawn("markdown", "m", initialSource=TASKS))
    boxes = page.get_by_role("checkbox")
    expect(boxes).to_have_count(2)
    link = page.get_by_role("link", name="https://example.org")
    first, _, plain = page.locator("house-prose li").all()
    for width, colors in LOOKS:
        with looked_at(page, width, colors):
            assert [(box.is_checked(), box.is_disabled(), box.get_attribute("aria-label")) for box in boxes.all()] == [
                (False, True, "to do"),
                (True, True, "done"),
            ]
            expect(link).to_have_attribute("href", "https://example.org/")
            expect(first).to_have_css("list-style-type", "none")
            expect(plain).to_have_css("list-style-type", "disc")
            assert page.evaluate(CONTRASTS) == []
            assert page.evaluate(NAMELESS) == []


APART = """() => [...document.querySelectorAll("board-viz .what")].map((what) => {
    const lines = (element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return [...range.getClientRects()];
    };
    const [value, type] = [lines(what.querySelector(".value")), lines(what.querySelector(".type"))];
    if (!value.length || !type.length) return 0;
    const last = value.at(-1);
    const isOneWord = !what.querySelector(".value").textContent.slice(-40).includes(" ");
    const room = what.parentElement.getBoundingClientRect().right - last.right;
    if (isOneWord && room < type[0].width + 20) return 0; // its last line is full
    return Math.abs(last.bottom - type[0].bottom) > last.height / 2 ? Infinity : type[0].left - last.right;
})"""
"""The distance of each type from its value in pixels; Infinity if the type is on another line. It is 0 if a single long
word fills the value's last line, because then the type has to be on the next one."""


@pytest.fixture(scope="module")
def variables(chromium: Browser) -> Iterator[Page]:
    """A board with variables, for all widths."""
    values = [7, "one two three four five six seven " * 3, [1, 2], {"a long key of a dictionary": "x" * 90}, None, 1.5]
    shown = [viz("set", name=f"variable {number}", value=node(value)) for number, value in enumerate(values)]
    with showing(chromium) as show:
        page, _ = show(spawn("viz", "v"), *shown, viewport={"width": 300, "height": 900})
        yield page


@pytest.mark.drawn(7)
@pytest.mark.parametrize("width", range(320, 700, 20))
def test_a_type_follows_its_value_on_the_same_line(variables: Page, width: int) -> None:
    variables.set_viewport_size({"width": width, "height": 900})
    variables.evaluate(FRAMES)
    assert variables.evaluate("innerWidth") == width
    apart = variables.evaluate(APART)
    assert len(apart) > 6
    assert max(apart) < 30
    assert min(apart) >= 0
