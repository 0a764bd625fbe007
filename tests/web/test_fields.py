"""Every field of every page can be reached with Tab, accepts typed text, key by key, and can be left with Tab.

The fields are not listed here: they are found on the pages, wide and narrow, connected, cut off, and while they
reconnect. The tests know which line in `web/` makes each field. If a line makes a field that no scene below shows, a
test fails. So a new field is tested from the beginning.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.house.agent_kit import agent_server
from tests.house.running import Server
from tests.web.field_scenes import SCENES, Props, Scene
from tests.web.looks import looked_at
from tests.web.stage import WEB

TESTS = Path(__file__).parents[1]

TYPED = "rx fg1/?jk[s é"
"""It contains the letters of the pages' shortcuts."""

MOST_TABS = 200

MADE_AT = """(() => {
    const make = document.createElement;
    document.createElement = function (name, ...rest) {
        const element = make.call(this, name, ...rest);
        if (!["input", "select", "textarea"].includes(name)) return element;
        const places = [...new Error().stack.matchAll(/\\/web\\/([\\w/]+\\.js):(\\d+)/g)];
        const [, file, line] = places.find(([, file]) => file !== "house/element.js");
        element.madeAt = `${file}:${line}`;
        return element;
    };
})()"""

FIELDS = """() => {
    const FIELDS = "input:not([type=file], [type=hidden]), select, textarea, [contenteditable]";
    const stands = ({ type, name, checked }) => type !== "radio" || checked ||
        !document.querySelector(`input[type=radio][name="${name}"]:checked`);
    const open = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document;
    return [...open.querySelectorAll(FIELDS)].filter((field) => field.checkVisibility({ visibilityProperty: true }))
        .map((field, number) => {
            if (!field.disabled && stands(field)) field.lawNumber = number;
            return [field.lawNumber ?? null, field.madeAt ?? `.${field.className}`];
        });
}"""
"""All visible fields: a number (none for a field that accepts nothing now), and the line that makes it. Only one of a
group of radio buttons is reached with Tab."""

FORGET = "() => document.querySelectorAll('*').forEach((element) => delete element.lawNumber)"

FOCUSED = """() => {
    const { activeElement: field } = document;
    const isText = field.matches("textarea, [contenteditable], input:not([type=radio], [type=checkbox])");
    return { number: field.lawNumber ?? null, isText, title: field.title };
}"""

VALUE = "() => document.activeElement.value"


# --- the walk


def type_over(page: Page, text: str) -> None:
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text)


def connected(scene: Scene) -> None:
    type_over(scene.page, TYPED)


def cut_off(scene: Scene) -> None:
    type_over(scene.page, TYPED)


def reconnecting(scene: Scene) -> None:
    """Type half of the text without a connection, and the rest when the server has sent everything again."""
    scene.cut_off()
    type_over(scene.page, TYPED[:6])
    scene.reconnect()
    scene.page.keyboard.type(TYPED[6:])


def walk(scene: Scene, type_: Callable[[Scene], None]) -> set[str]:
    """Tab through the page, typing into every field. Returns the places that make those which were there at first."""
    page = scene.page
    page.evaluate(FORGET)
    found = page.evaluate(FIELDS)
    left = {number: place for number, place in found if number is not None}
    assert left or type_ is cut_off, "no field is in sight"  # without a connection some accept nothing
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("Tab")
    for _ in range(MOST_TABS):
        focused = page.evaluate(FOCUSED)
        place = left.pop(focused["number"], None)
        if place is not None and focused["isText"]:
            type_(scene)
            assert page.evaluate(VALUE) == TYPED, place
            page.evaluate(FIELDS)  # elements that were drawn anew get their numbers again
        if not left:
            break
        leave(page)
    assert not left, f"not reached by Tab: {left}"
    leave(page)
    return {place for _, place in found}


def leave(page: Page) -> None:
    """Leave the field with Tab, or with Escape and Tab if the field says so."""
    still = "() => document.activeElement !== document.body && document.activeElement === window.lawLeft"
    page.evaluate("() => { window.lawLeft = document.activeElement; }")
    page.keyboard.press("Tab")
    if page.evaluate(still):
        assert "Escape, then Tab leaves" in page.evaluate(FOCUSED)["title"]
        page.keyboard.press("Escape")
        page.keyboard.press("Tab")
    assert not page.evaluate(still)


WIDTHS = [1280, 400]
STATES = [connected, cut_off, reconnecting]
ALONE = ("script", "agent")
"""The script page needs no connection; the agent's is tried without its server in tests/house/test_agent_page.py."""
ENOUGH = {
    ("agent, asking", 1280), ("agent, policy", 1280), ("judge, settings", 1280), ("agent, searching", 1280),
    ("board", 1280), ("agent, models", 1280), ("agent, planning", 400), ("console", 1280), ("script", 1280),
    ("agent, token", 400), ("judge", 1280), ("desk", 1280), ("desk, archiving", 1280), ("agent, folder", 1280),
    ("agent, answer", 1280), ("agent, name", 400),
}  # fmt: skip
"""The scenes, and the width at which each is opened, that together showed every field when this was written."""
SEEN: dict[tuple[str, int], set[str]] = {}
"""The places that make the fields of a connected scene of this width, once it has been walked through."""
TRIED = [
    (name, state, widths)
    for name in SCENES
    for state in STATES
    if not name.startswith(ALONE) or state is connected
    # What is open on the agent's page depends on its width. The others are dragged narrow.
    for widths in ([WIDTHS] if not name.startswith("agent") else [[width] for width in WIDTHS])
]


@pytest.fixture(scope="module")
def stamping(chromium: Browser) -> Browser:
    """A browser whose pages mark each field with the line that made it."""

    class Stamping:
        def new_context(self, **settings: Any) -> BrowserContext:
            context = chromium.new_context(**settings)
            context.add_init_script(MADE_AT)
            return context

    return cast(Browser, Stamping())


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with agent_server(tmp_path_factory.mktemp("fields"), "") as house:
        yield house


@pytest.mark.drawn(9)
@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize(("name", "state", "widths"), TRIED)
def test_every_field_is_reached_by_tab_typed_into_and_left(
    stamping: Browser, house: Server, near: Path, name: str, state: Callable[[Scene], None], widths: list[int]
) -> None:
    with SCENES[name](stamping, Props(near, house), viewport={"width": widths[0], "height": 800}) as scene:
        if state is cut_off:
            scene.cut_off()
        for width in widths:
            with looked_at(scene.page, width):
                places_there = walk(scene, state)
            if state is connected:
                SEEN[name, width] = places_there


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.last
@pytest.mark.timeout(200)  # alone, it opens nearly every page with every scene
def test_no_place_makes_a_field_that_is_not_tried(stamping: Browser, house: Server, near: Path) -> None:
    everywhere = set(places())
    for number, (name, state, widths) in enumerate(sorted(TRIED, key=lambda it: (it[0], it[2][0]) not in ENOUGH)):
        if everywhere <= set().union(*SEEN.values()):
            break
        if state is connected and not all((name, width) in SEEN for width in widths):
            folder = near / str(number)
            folder.mkdir()
            viewport = {"width": widths[0], "height": 800}
            with SCENES[name](stamping, Props(folder, house), viewport=viewport) as shown:
                for width in widths:
                    with looked_at(shown.page, width):
                        SEEN[name, width] = {place for _, place in shown.page.evaluate(FIELDS)}
    assert set().union(*SEEN.values()) == everywhere


def places() -> Iterator[str]:
    """All places where the pages make fields: a file and a line, or a class in a page's HTML."""
    for path in sorted(WEB.rglob("*.js")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(r"""(\bh|createElement)\(["'](input|select|textarea)\b|contenteditable\s*[:=]""", line, re.I):
                yield f"{path.relative_to(WEB)}:{number}"
    for path in sorted(WEB.rglob("*.html")):
        for field in re.findall(r"<(?:input|select|textarea)\b[^>]*>", path.read_text()):
            if 'type="file"' not in field:  # a button opens it
                yield "." + re.findall(r'class="([^"]*)"', field)[0]


# --- the tests themselves


def test_no_test_writes_into_a_field_past_the_keyboard() -> None:
    past = {"fill", "insert_text", "set_value"}
    for path in TESTS.rglob("*.py"):
        text = path.read_text()
        if not any(name in text for name in past):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and node.attr in past:
                pytest.fail(f"{path.name}:{node.lineno}: {node.attr}() types no key; `write` (tests/web/stage.py) does")


def test_what_a_handler_does_is_not_what_it_returns() -> None:
    """`onkeydown = (event) => a && b()` returns false for every other key, and a handler that returns false cancels the
    event, so nothing can be typed. A handler that returns nothing, or is added as a listener, cannot do that."""
    cancels = "key|click|dblclick|input|beforeinput|submit|paste|cut|copy|drag|drop|pointer|mouse|touch|wheel|context"
    handler = re.compile(rf"\bon(?:{cancels})[a-z]*\s*[:=]\s*(?:async\s*)?(?:\([^=]*?\)|\w+)\s*=>\s*([^{{;\n][^;\n]*)")
    for path in WEB.rglob("*.js"):
        for found in handler.finditer(path.read_text()):
            value = found[1]
            while value != (value := re.sub(r"\([^()]*\)", "", value)):
                pass  # a value inside of brackets is not the returned one
            assert not re.search(r"&&|\|\||[!=]==|!", value), f"{path.relative_to(WEB)}: {found[0]}"
