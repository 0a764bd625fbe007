"""Floods: how long the browser takes for a board, measured in its own processor time, so that a busy machine matters
little."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.board_stage import Show, say, showing
from tests.web.board_words import Message, node, spawn, update, viz
from tests.web.test_speed import LONG_TASKS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

COLORS = ["crimson", "gold", "teal", "navy", "plum", "#123456", "rgb(10 200 30)"]
BURST = 20_000


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    with showing(chromium) as show:
        yield show


def flood(page: Page, messages: list[Message]) -> tuple[float, float, float]:
    """Give the page messages at once, as its socket would. Returns milliseconds in total, milliseconds of the longest
    task, and the number of layouts."""
    end = spawn("label", "end", text="end")
    page.evaluate("texts => { window.texts = texts }", [json.dumps(message) for message in [*messages, end]])
    page.evaluate(LONG_TASKS)
    metrics = page.context.new_cdp_session(page)
    metrics.send("Performance.enable", {"timeDomain": "threadTicks"})

    def told(name: str) -> float:
        return float(next(m["value"] for m in metrics.send("Performance.getMetrics")["metrics"] if m["name"] == name))

    before, layouts = told("TaskDuration"), told("LayoutCount")
    page.evaluate(
        """async () => {
            for (const [n, data] of texts.entries()) {
                window.socket.onmessage({ data });
                if (n % 100 === 99) await new Promise((turn) => setTimeout(turn));
            }
            while (document.querySelector("[data-id=end]") === null) await new Promise(requestAnimationFrame);
        }"""
    )
    longest = max(page.evaluate("window.tasks"), default=0)
    return (told("TaskDuration") - before) * 1000, float(longest), told("LayoutCount") - layouts


def catch_socket(page: Page) -> None:
    """Keep the page's socket, so that the test can feed it directly and does not measure its own server."""
    page.add_init_script(
        "window.WebSocket = class extends WebSocket { constructor(url) { super(url); window.socket = this; } };"
    )
    page.reload()
    expect(page.locator("board-root > *").first).to_be_attached()


def report(name: str, count: int, cost: tuple[float, float, float]) -> None:
    total, longest, layouts = cost
    print(f"\n{name}: {count} messages in {total:.0f} ms ({total / count * 1000:.1f} us each), "
          f"longest task {longest:.0f} ms, {layouts:.0f} layouts")  # fmt: skip


def test_a_grid_of_forty_thousand_cells_takes_a_burst(show: Show) -> None:
    page, stage = show(spawn("grid", "g", numColumns=200, numRows=200))
    catch_socket(page)
    say(page, stage)
    all_cells = [
        update("grid", "g", "setColor", x=n % 200, y=n // 200, color=COLORS[n % len(COLORS)]) for n in range(40_000)
    ]
    cost = flood(page, all_cells)
    report("40,000 cells", len(all_cells), cost)
    assert page.locator("*").count() < 250
    assert cost[0] < 4000
    assert cost[2] < 200


def test_an_animation_costs_a_small_part_of_a_second(show: Show) -> None:
    """One second is 60 frames of 6 messages each, on a canvas with a buffer, as scripts usually draw."""
    page, stage = show(spawn("canvas", "c", width=600, height=400), update("canvas", "c", "createBuffer", bufferId=1))
    catch_socket(page)
    say(page, stage)
    frames = [
        message
        for n in range(60 * 10)
        for message in [
            update("canvas", "c", "clear", bufferId=1),
            update("canvas", "c", "drawRect", x=n % 500, y=50, width=60, height=60, fillColor="teal", bufferId=1),
            update("canvas", "c", "drawCircle", cx=300, cy=n % 400, radius=30, fillColor="gold", bufferId=1),
            update("canvas", "c", "drawText", x=10, y=20, text=f"frame {n}", textSize=16, bufferId=1),
            update("canvas", "c", "clear"),
            update("canvas", "c", "drawBuffer", sourceBufferId=1, targetBufferId=0),
        ]
    ]
    cost = flood(page, frames)
    report("ten seconds of animation", len(frames), cost)
    assert cost[0] < 4000


def test_consoles_and_variables_take_a_burst_with_few_layouts(show: Show) -> None:
    page, stage = show(spawn("console", "k", showInput=False), spawn("viz", "v"),
                       viz("set", value=node(list(range(50))), length=50), spawn("label", "l", text=""))  # fmt: skip
    catch_socket(page)
    say(page, stage)
    burst = [
        [
            update("console", "k", "append", text=f"line {n}\n"),
            viz("setitem", path=[n % 50], value=node(n)),
            update("label", "l", "setText", text=str(n)),
        ][n % 3]
        for n in range(BURST)
    ]
    cost = flood(page, burst)
    report("console, variables, label", BURST, cost)
    expect(page.locator('[data-id="l"]')).to_have_text(str(max(n for n in range(BURST) if n % 3 == 2)))
    assert cost[0] < 4000
    assert cost[2] < 400
