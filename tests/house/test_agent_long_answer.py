"""A very long answer on the agent's page: who reads and types while the last of its tokens come waits no longer than
while the first ones come. The gate's has 20,000 tokens; `TROUPE_PLENTY=5` tries the longest that there can be.

A frame is timed from the one before it, and a key from its stroke to the frame that shows it; the medians are compared.
The processor time of the page's main thread, for each token and for each frame, is compared as well: the lesser of both
counts, because a busy machine draws fewer frames of more tokens each. Nothing is compared with a time that is given
here. What is too slow is tried again, because something else may have kept the machine busy just then. The tokens are
short, because an answer has 400,000 characters at most: a hundred thousand tokens.
"""

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.agent.fakes.talking import SIGNS, brief
from tests.house.agent_kit import agent_server, fake_model
from tests.house.agent_page import Visitor, begin, feet, field, link, say, visiting
from tests.plenty import plenty

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]

TOKENS, PART = min(100_000, plenty(20_000)), 2_500
WORST = 1.5
MOST_WORK = 3.0
"""A page that draws all of its text again for each token has not come to the end of 20,000 tokens after two minutes."""
TRIES = 5

WATCH = """() => {
    const watched = window.watched = { frames: [], keys: [] };
    watched.at = () => {
        const last = document.querySelector("agent-transcript .text")?.lastElementChild?.textContent ?? "";
        const word = /\\w*$/.exec(last.slice(-40).trimEnd())[0];
        return [...word].reduce((sum, sign) => 62 * sum + "SIGNS".indexOf(sign), 0);
    };
    watched.both = () => [watched.frames, watched.keys];
    let before = performance.now();
    const frame = (now) => {
        watched.frames.push([watched.at(), now - before]);
        before = now;
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    addEventListener("keydown", ({ timeStamp }) => requestAnimationFrame(() => setTimeout(() => {
        watched.keys.push([watched.at(), performance.now() - timeStamp]);
    })), true);
}""".replace("SIGNS", SIGNS)


@dataclass(frozen=True)
class Part:
    """Milliseconds at the median, and of the processor."""

    frame: float
    key: float
    work_of_token: float
    work_of_frame: float


def part(page: Page, marks: list[tuple[int, int, float]], first: int, last: int) -> Part | None:
    """None: nobody looked at it twice. On a busy machine the answer may come to its end between two looks."""
    frames, keys = ([(at, ms) for at, ms in each if first <= at < last] for each in page.evaluate("watched.both()"))
    within = [each for each in marks if first <= each[0] < last]
    if not (within and frames and keys):
        return None
    (token, begun, began), (end, done, ended) = within[0], within[-1]
    if token == end or begun == done:
        return None
    work = 1000 * (ended - began)
    return Part(
        median(ms for _, ms in frames),
        median(ms for _, ms in keys),
        work / (end - token),
        work / (done - begun),
    )


def busy(cdp: CDPSession) -> float:
    """Seconds of the processor that the main thread has used."""
    metrics = cdp.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def answered(visitor: Visitor, page: Page, folder: Path) -> tuple[Part | None, Part | None]:
    """The first and the last part of an answer, during all of which somebody types."""
    begin(page, folder)
    cdp = visitor.context.new_cdp_session(page)
    cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.evaluate(WATCH)
    say(page, f"!brief {TOKENS}")
    expect(field(page)).to_be_focused()
    page.locator("agent-transcript .text > p").first.wait_for()
    marks, whole = list[tuple[int, int, float]](), False
    while not whole:
        page.keyboard.type("a")
        page.keyboard.press("Backspace")
        tokens, frames, whole = page.evaluate(
            "[watched.at(), watched.frames.length, document.querySelector('agent-transcript .foot') !== null]"
        )
        marks.append((tokens, frames, busy(cdp)))
    return part(page, marks, 1, PART), part(page, marks, TOKENS - PART, TOKENS - 1)


def is_slower(first: Part, last: Part) -> bool:
    work = min(last.work_of_token / first.work_of_token, last.work_of_frame / first.work_of_frame)
    key = last.key > WORST * first.key and work > WORST  # by the clock alone, whatever else the machine does counts
    return last.frame > WORST * first.frame or key or work > MOST_WORK


def words(page: Page) -> Any:
    return page.locator("agent-transcript .text > p").evaluate_all(
        "all => all.map((each) => each.textContent).join(' ').split(/\\s+/)"
    )


def test_the_page_is_as_quick_at_the_end_of_a_very_long_answer_and_a_reload_shows_it_all(
    tmp_path: Path, chromium: Browser
) -> None:
    with fake_model("--rate", "0") as model, agent_server(tmp_path, model) as house, visiting(chromium) as visitor:
        tried = list[tuple[Part, Part]]()
        for number in range(TRIES):
            page = visitor.page(link(house))
            first, last = answered(visitor, page, tmp_path / f"work{number}")
            if first is None or last is None:
                continue
            tried.append((first, last))
            if not is_slower(first, last):
                break
        else:
            raise AssertionError(f"the page slows down: {tried}")
        expected = [brief(number) for number in range(TOKENS)]
        assert words(page) == expected
        page.reload()
        expect(feet(page)).to_contain_text("Done", timeout=60_000)
        assert words(page) == expected
