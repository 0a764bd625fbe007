"""What the tests of the judge's page see of it, and what is judged there."""

from typing import Any

from playwright.sync_api import Locator, Page, expect

from codec.judge import RunSettings
from tests.web.judge_stage import case, init, problem, result, whole_run

SUMS = problem("a", count=3)
PASSES = [result(1, actual="3\n"), result(2, actual="5\n"), result(3, actual="7\n")]
WRONG = result(2, "WA", "6\n", diff_summary="line 1: expected '5' got '6'")
MIXED = [PASSES[0], WRONG, PASSES[2]]


def failing(expected: str, actual: str, **fields: Any) -> list[Any]:
    """A run in which the first case gives another answer."""
    shown = problem("a", case(1, "1 2\n", expected), case(2))
    settings = fields.pop("settings", RunSettings())
    return [init(shown, settings=settings), *whole_run(shown, result(1, "WA", actual, **fields), result(2))]


def item(page: Page, index: int) -> Locator:
    return page.locator(f'judge-case[data-index="{index}"]')


def standing(page: Page) -> Locator:
    return page.locator("judge-controls .standing .text")


def badge(page: Page, index: int) -> Locator:
    return item(page, index).locator(".letters")


def text(page: Page, index: int, label: str) -> Locator:
    return item(page, index).get_by_role("group", name=label, exact=True)


def lines(page: Page, index: int, label: str) -> list[str]:
    """The lines of a text, as soon as there are any: they are drawn when they come into sight."""
    drawn = text(page, index, label).locator(".line")
    expect(drawn).not_to_have_count(0)
    return drawn.all_text_contents()


def is_open(page: Page, index: int, expected: bool = True) -> None:
    expect(item(page, index).locator(".fold")).to_have_attribute("aria-expanded", str(expected).lower())


def no_wider_than_its_window(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".desk").evaluate("desk => desk.scrollWidth <= desk.clientWidth")
