"""What holds for every page: contrast, names, themes, room on a narrow screen, no inline code."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web import scenes
from tests.web.conftest import Visit
from tests.web.looks import LOOKS, looked_at
from tests.web.stage import WEB, write

CONTRASTS = """() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (color, under = [0, 0, 0]) => {
        canvas.fillStyle = `rgb(${under})`;
        canvas.fillRect(0, 0, 1, 1);
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const ground = (element) => {
        const above = element.parentElement ? ground(element.parentElement) : [255, 255, 255];
        return rgba(getComputedStyle(element).backgroundColor, above);
    };
    const light = (color) => {
        const [r, g, b] = color.map((part) => {
            const share = part / 255;
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const poor = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        const text = walker.currentNode.data.trim();
        if (!text || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
        const under = ground(element);
        const [one, other] = [light(rgba(getComputedStyle(element).color, under)), light(under)].sort((a, b) => b - a);
        const contrast = (one + 0.05) / (other + 0.05);
        if (contrast < 4.5) poor.push(`${text} (${element.className}): ${contrast.toFixed(2)}`);
    }
    return poor;
}"""

# The same, with the opacity of `.live` elements.
SEEN_THROUGH = CONTRASTS.replace(
    "const [one, other] =",
    """const through = Number(getComputedStyle(element.closest(".live") ?? document.body).opacity);
        const [r, g, b] = rgba(getComputedStyle(element).color, under);
        const mixed = [r, g, b].map((part, at) => part * through + under[at] * (1 - through));
        const [one, other] =""",
).replace("light(rgba(getComputedStyle(element).color, under))", "light(mixed)")

NAMELESS = """() => [...document.querySelectorAll("button, a[href], input")]
    .filter((element) => element.checkVisibility())
    .filter((element) => !(element.ariaLabel || element.textContent.trim() || element.title))
    .map((element) => element.outerHTML)"""


def ready(page: Page) -> None:
    expect(page.locator(".row").first).to_be_visible()


def scheme(page: Page) -> str:
    """The theme that is really drawn."""
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    lightness = float(re.findall(r"[\d.]+", ground)[0])
    return "light" if lightness > 0.5 else "dark"


@pytest.mark.browser
@pytest.mark.slow
def test_all_text_can_be_read(visit: Visit) -> None:
    page, _ = visit(scenes.evening(), "#/troupe/judge")
    ready(page)

    def can_be_read() -> None:
        for width, colors in LOOKS:
            with looked_at(page, width, colors, height=1600):
                assert scheme(page) == colors
                assert page.evaluate(CONTRASTS) == []

    can_be_read()
    write(page.get_by_role("searchbox"), "port")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".row mark").first).to_be_visible()
    can_be_read()


@pytest.mark.browser
@pytest.mark.slow
def test_no_page_is_wider_than_its_window(visit: Visit) -> None:
    page, _ = visit(scenes.evening())
    ready(page)
    tabs = page.get_by_role("tab")
    for width in (320, 400, 700, 1280, 1920):
        with looked_at(page, width):
            for view in range(tabs.count()):
                tabs.nth(view).click()
                assert page.evaluate("document.documentElement.scrollWidth") == width
                assert page.locator("house-tree").evaluate("tree => tree.scrollWidth <= tree.clientWidth")
            assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.browser
@pytest.mark.slow
def test_the_bar_shows_the_name_of_the_page_one_is_on_whole(visit: Visit) -> None:
    page, _ = visit(scenes.evening(), viewport={"width": 320, "height": 800})
    ready(page)
    here = page.get_by_role("navigation", name="Pages").get_by_role("link", name="console")
    for width in (320, 400, 1280):
        with looked_at(page, width):
            expect(here).to_be_in_viewport(ratio=0.98)


@pytest.mark.browser
@pytest.mark.slow
def test_a_field_has_one_ring(visit: Visit) -> None:
    page, _ = visit(scenes.small())
    ready(page)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    styles = page.locator("house-search *").evaluate_all(
        "all => all.map(each => [each.localName, getComputedStyle(each).outlineStyle])"
    )
    assert [name for name, style in styles if style != "none"] == ["label"]


@pytest.mark.browser
@pytest.mark.slow
def test_a_narrow_page_shows_one_view_at_a_time(visit: Visit) -> None:
    page, _ = visit(scenes.evening(), viewport={"width": 400, "height": 800})
    ready(page)
    views = {"Tree": "Actors", "Systems": "Systems", "Stops": "Recent stops", "Dead letters": "Dead letters",
             "Gone": "Departures"}  # fmt: skip
    for tab in views:
        page.get_by_role("tab", name=re.compile(f"^{tab}")).click()
        for other, region in views.items():
            expect(page.get_by_role("region", name=region)).to_be_visible(visible=other == tab)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Tree")).to_be_focused()
    expect(page.get_by_role("tab", name="Tree")).to_have_attribute("aria-selected", "true")


@pytest.mark.browser
@pytest.mark.slow
def test_the_reader_may_choose_a_theme_and_it_is_kept(visit: Visit) -> None:
    page, _ = visit(scenes.small(), color_scheme="dark")
    button = page.get_by_role("button", name="Theme: auto")
    assert scheme(page) == "dark"
    button.click()
    assert scheme(page) == "light"
    page.reload()
    expect(page.get_by_role("button", name="Theme: light")).to_be_visible()
    assert scheme(page) == "light"


@pytest.mark.browser
@pytest.mark.slow
def test_colours_of_vs_code_take_over_unless_the_reader_has_chosen(visit: Visit) -> None:
    page, _ = visit(scenes.small(), color_scheme="light")
    ready(page)
    page.evaluate("""() => {
        document.documentElement.style.setProperty("--vscode-editor-background", "rgb(1, 2, 3)");
        document.body.classList.add("vscode-dark");
    }""")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(1, 2, 3)"
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    page.get_by_role("button", name="Theme: auto").click()
    assert scheme(page) == "light"
    assert page.evaluate(ground) != "rgb(1, 2, 3)"


@pytest.mark.browser
@pytest.mark.slow
def test_everything_that_can_be_used_has_a_name(visit: Visit) -> None:
    page, _ = visit(scenes.evening(), "#/troupe/store")
    ready(page)
    assert page.evaluate(NAMELESS) == []
    assert (
        page.evaluate("""() => {
        const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
        return ids.filter((id, index) => ids.indexOf(id) !== index);
    }""")
        == []
    )
    for role, name in [("navigation", "Pages"), ("treegrid", "Tree of actors"), ("region", "Recent stops"),
                       ("region", "Dead letters"), ("searchbox", "Filter actors"), ("heading", "Console")]:  # fmt: skip
        expect(page.get_by_role(role, name=name, exact=True).first).to_be_attached()  # type: ignore[arg-type]


@pytest.mark.browser
@pytest.mark.slow
def test_what_can_be_switched_on_says_so_while_it_is_off(visit: Visit) -> None:
    page, _ = visit(scenes.evening())
    ready(page)
    for name in ("Pause", "Trouble"):
        page.get_by_role("button", name=re.compile(f"^{name}")).click()
        page.get_by_role("button", pressed=True).click()
        expect(page.get_by_role("button", name=re.compile(f"^{name}"))).to_have_attribute("aria-pressed", "false")
    tabs = page.locator("[role=tab]").evaluate_all("tabs => tabs.map(tab => tab.ariaSelected)")
    assert tabs == ["true", *["false"] * 5]


@pytest.mark.browser
@pytest.mark.slow
def test_the_bar_is_a_landmark(visit: Visit) -> None:
    page, _ = visit(scenes.small())
    ready(page)
    expect(page.get_by_role("banner").get_by_role("button", name="Theme: auto")).to_be_visible()


@pytest.mark.browser
@pytest.mark.slow
def test_what_is_told_by_its_ground_is_seen_in_the_system_s_own_colours(visit: Visit) -> None:
    page, _ = visit(scenes.evening(), "#/troupe/store", forced_colors="active")
    ready(page)
    write(page.get_by_role("searchbox"), "store")
    look = "(element) => [getComputedStyle(element).color, getComputedStyle(element).backgroundColor]"
    ground = page.locator("body").evaluate(look)[1]
    letters, marked = page.locator(".row mark").first.evaluate(look)
    assert len({letters, marked, ground}) == 3
    assert page.locator(".row[aria-selected=true]").evaluate(look)[1] not in (ground, "rgba(0, 0, 0, 0)")
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    edges = links.evaluate_all("all => all.map(each => getComputedStyle(each).borderBottomColor)")
    assert len(edges) > 1
    assert sum(edge != ground for edge in edges) == 1


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("theme", ["auto", "dark"])
def test_a_page_is_printed_on_white(visit: Visit, theme: str) -> None:
    page, _ = visit(scenes.small(), color_scheme="dark")
    ready(page)
    if theme == "dark":
        page.get_by_role("button", name="Theme: auto").click()
        page.get_by_role("button", name="Theme: light").click()
    assert scheme(page) == "dark"
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(CONTRASTS) == []


@pytest.mark.browser
@pytest.mark.slow
def test_everything_is_reached_by_the_tab_key(visit: Visit) -> None:
    page, _ = visit(scenes.evening(), "#/troupe/sidekick/rooms/lobby")
    ready(page)
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.ariaLabel || document.activeElement.textContent.trim()"))
    assert {"Theme: auto", "sidekick", "Filter actors", "Trouble 3", "Fold all", "Pause", "Tree of actors", "Copy path",
            "Close", "Last error", "troupe/sidekick/rooms/lobby"} <= reached  # fmt: skip


def files(*suffixes: str) -> list[Path]:
    return [path for path in sorted(WEB.rglob("*")) if path.suffix in suffixes]


@pytest.mark.parametrize("path", files(".html"), ids=lambda path: path.relative_to(WEB).as_posix())
def test_a_page_holds_no_code_and_no_style_of_its_own(path: Path) -> None:
    text = path.read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)[^>]*>|<style\b|\sstyle=|\son\w+=", text) == []


@pytest.mark.parametrize("path", files(".js"), ids=lambda path: path.relative_to(WEB).as_posix())
def test_a_script_makes_no_markup_and_fetches_nothing_from_elsewhere(path: Path) -> None:
    text = re.sub(r"/\*.*?\*/|//.*", "", path.read_text(), flags=re.DOTALL)
    forbidden = r"(?:inner|outer|insertAdjacent)HTML|document\.write|\beval\(|new Function|import\s*\("
    assert re.findall(forbidden, text) == []
    assert all(found.startswith(".") for found in re.findall(r"""(?:from|import) ["']([^"']+)["']""", text))
