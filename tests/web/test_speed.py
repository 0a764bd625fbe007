"""A tree of thousands of rows stays smooth: few rows are in the document, and no tick blocks the page for long."""

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect

from codec.console import Change
from tests.web import scenes
from tests.web.conftest import Visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROWS = 5_000
CHANGED = 500
TICKS = 12
MOST = 0.1  # seconds of processor time to draw one tick; it takes about a quarter of that


LONG_TASKS = """() => {
    window.tasks = [];
    new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({ duration }) => duration)))
        .observe({ type: "longtask" });
}"""


def ticks() -> list[Change]:
    """In every tick another tenth of the rows changes, and actors come and go."""
    actors = [each for each in scenes.crowd(ROWS).nodes if each.kind == "actor"]
    return [
        scenes.change(
            *[
                scenes.node(each.path, rate=(n * tick) % 97 / 3, queued=n % 200, handled=n * tick, restarts=n % 3)
                for n, each in enumerate(actors[tick * 100 : tick * 100 + CHANGED])
            ],
            scenes.node(f"troupe/group-00/new-{tick}"),
            at=scenes.NOW + tick,
            totals=replace(scenes.TOTALS, actors=tick),
            gone=[f"troupe/group-49/actor-{tick:03d}"],
        )
        for tick in range(1, TICKS + 1)
    ]


def test_five_thousand_rows_stay_smooth(visit: Visit) -> None:
    page, stage = visit(scenes.crowd(ROWS))
    expect(page.locator(".row").first).to_be_visible()
    page.get_by_role("button", name="Unfold all").click()
    tree = page.get_by_role("treegrid")
    expect(tree).to_have_attribute("aria-rowcount", str(ROWS + 2))
    page.evaluate(LONG_TASKS)
    metrics = page.context.new_cdp_session(page)
    metrics.send("Performance.enable", {"timeDomain": "threadTicks"})  # a busy machine makes no difference

    def busy() -> float:
        told = metrics.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in told if each["name"] == "TaskDuration"))

    before = busy()
    for tick in ticks():
        stage.tell(tick)
        expect(page.locator("console-totals .value").nth(1)).to_have_text(str(tick.totals.actors))
    each = (busy() - before) / TICKS
    longest = max(page.evaluate("window.tasks"), default=0)
    print(
        f"\n{ROWS} rows, {CHANGED} changed: {each * 1000:.0f} ms of the processor a tick, longest task {longest:.0f} ms"
    )
    assert each < MOST


def test_a_long_walk_through_the_tree_leaves_few_rows_in_the_document(visit: Visit) -> None:
    page, _ = visit(scenes.crowd(ROWS))
    expect(page.locator(".row").first).to_be_visible()
    page.get_by_role("button", name="Unfold all").click()
    tree = page.get_by_role("treegrid")
    expect(tree).to_have_attribute("aria-rowcount", str(ROWS + 2))
    for top in range(0, 150_000, 7_500):
        tree.evaluate("(tree, top) => { tree.scrollTop = top }", top)
        expect(page.locator(f'.row[aria-rowindex="{top // 30 + 5}"]')).to_be_in_viewport()
        assert page.locator(".row").count() < 60
