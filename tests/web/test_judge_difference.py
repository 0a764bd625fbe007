"""How the judge's page compares two outputs: its pure functions, called in a browser."""

from collections.abc import Iterator
from typing import Any, cast

import pytest
from playwright.sync_api import Browser, Page

from tests.web.judge_stage import JudgeStage, init

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ALIGNED = """async ([left, right, compare, cuts]) => {
    const { aligned, linesOf } = await import("/web/judge/difference.js");
    return aligned(linesOf(left, cuts[0]), linesOf(right, cuts[1]), compare)
        .map(({ left, right, differs }) => [left, right, differs]);
}"""

STRETCHES = """async ([one, other]) => {
    const { stretches } = await import("/web/judge/difference.js");
    const [left, right] = stretches(one, other);
    return [left.map(([from, to]) => one.slice(from, to)), right.map(([from, to]) => other.slice(from, to))];
}"""

COMPARISONS = """async ([left, right]) => {
    const { aligned, linesOf } = await import("/web/judge/difference.js");
    let asked = 0;
    const compare = { mode: "exact", get caseSensitive() { return false; } };
    const lower = String.prototype.toLowerCase;
    String.prototype.toLowerCase = function () { asked += 1; return lower.call(this); };
    try {
        aligned(linesOf(left), linesOf(right), compare);
    } finally {
        String.prototype.toLowerCase = lower;
    }
    return asked / 2;
}"""


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    with JudgeStage([init()]) as stage:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(stage.url)
        stage.opened()
        yield page
        context.close()


def aligned(page: Page, left: str, right: str, cuts: tuple[bool, bool] = (False, False), **compare: Any) -> list[Any]:
    return cast(list[Any], page.evaluate(ALIGNED, [left, right, compare, list(cuts)]))


def drawn(rows: list[list[Any]]) -> str:
    """The rows as "1=1 2!2 3- -3": same, differing, only on the left, only on the right; numbered from 1."""
    return " ".join(
        f"{'' if left is None else left + 1}{('-' if left is None or right is None else '!') if differs else '='}"
        f"{'' if right is None else right + 1}"
        for left, right, differs in rows
    )


@pytest.mark.parametrize(
    ("left", "right", "rows"),
    [
        ("", "", ""),
        ("a\n", "a\n", "1=1"),
        ("a\n", "b\n", "1!1"),
        ("a\n", "", "1-"),
        ("", "a\n", "-1"),
        ("a\n", "a", "1!1"),
        ("a", "a", "1=1"),
        ("a\r\nb\r\n", "a\nb\n", "1=1 2=2"),
        ("a\nb\nc\n", "a\nc\n", "1=1 2- 3=2"),
        ("a\nc\n", "a\nb\nc\n", "1=1 -2 2=3"),
        ("a\nb\nc\nd\n", "a\nx\nd\n", "1=1 2!2 3- 4=3"),
        ("a\nb\n", "a\nb\n\n", "1=1 2=2 -3"),
        ("yes\nno\nyes\nno\n", "no\nyes\nno\nyes\n", "1!1 2!2 3!3 4!4"),
        ("1\n2\n3\n4\n5\n6\n", "2\n3\n9\n5\n6\n", "1- 2=1 3=2 4!3 5=4 6=5"),
        ("A\n", "a\n", "1!1"),
        ("1  2\n", "1 2\n", "1!1"),
    ],
)
def test_lines_are_set_against_each_other(page: Page, left: str, right: str, rows: str) -> None:
    assert drawn(aligned(page, left, right)) == rows


@pytest.mark.parametrize(
    ("compare", "left", "right", "rows"),
    [
        ({"mode": "exact", "caseSensitive": False}, "A\n", "a\n", "1=1"),
        ({"mode": "trim"}, "a \n", "a", "1=1"),
        ({"mode": "trim"}, " a\n", "a\n", "1!1"),
        ({"mode": "tokens"}, " 1  2\n", "1 2", "1=1"),
        ({"mode": "tokens", "caseSensitive": False}, "Yes\n", "YES\n", "1=1"),
        ({"mode": "tokens"}, "1.0\n", "1\n", "1!1"),
        ({"mode": "float", "tolerance": 1e-6}, "1.0 x\n", "1.0000001 x\n", "1=1"),
        ({"mode": "float", "tolerance": 1e-6}, "1.0 x\n", "1.1 x\n", "1!1"),
        ({"mode": "float", "tolerance": 1e-6}, "1000000\n", "1000000.5\n", "1=1"),
        ({"mode": "float", "tolerance": 1e-6}, "x\n", "y\n", "1!1"),
    ],
)
def test_what_the_judge_takes_for_the_same_is_not_marked(
    page: Page, compare: dict[str, Any], left: str, right: str, rows: str
) -> None:
    assert drawn(aligned(page, left, right, **compare)) == rows


@pytest.mark.parametrize(
    ("left", "right", "cuts", "rows"),
    [
        ("a\nb", "a\nbc\nd\n", (True, False), "1=1 2=2 =3"),
        ("a\nb", "a\nbc", (True, True), "1=1 2=2"),
        ("a\nb", "x\nb", (True, True), "1!1 2=2"),
        ("a\nb\n", "a\nb\nc\n", (True, False), "1=1 2=2 =3"),
        ("a\nb\n", "a\nb\nc\n", (False, True), "1=1 2=2 -3"),
    ],
)
def test_nothing_is_said_of_what_lies_behind_a_cut(
    page: Page, left: str, right: str, cuts: tuple[bool, bool], rows: str
) -> None:
    assert drawn(aligned(page, left, right, cuts)) == rows


@pytest.mark.parametrize(
    ("one", "other", "left", "right"),
    [
        ("1 2 3", "1 5 3", ["2"], ["5"]),
        ("1 2 3", "4 2 6", ["1", "3"], ["4", "6"]),
        ("1 2", "1 2 ", [], [" "]),
        ("1 2", "1  2", [" "], ["  "]),
        ("abcd", "abxd", ["c"], ["x"]),
        ("abc", "abcd", [""], ["d"]),
        ("1 2 3", "1 3", ["2 "], [""]),
        ("", "x", [""], ["x"]),
    ],
)
def test_what_differs_in_a_line_is_found(
    page: Page, one: str, other: str, left: list[str], right: list[str]
) -> None:  # fmt: skip
    assert page.evaluate(STRETCHES, [one, other]) == [left, right]


@pytest.mark.parametrize(
    ("left", "right", "most"),
    [
        (range(10_000), range(10_000), 50_000),
        (range(10_000), range(1, 10_000), 50_000),
        (range(10_000), range(20_000, 29_000), 250_000),
        (range(10_000), [n for n in range(10_000) if n % 100], 2_000_000),
        ([1] * 10_000, [2] * 9_000, 250_000),
        ([1, 2] * 5_000, [2, 1] * 4_500, 4_000_000),
    ],
    ids=["equal", "one less", "nothing in common", "a hundred less", "all wrong", "to and fro"],
)
def test_no_pair_of_long_texts_is_compared_each_with_each(page: Page, left: Any, right: Any, most: int) -> None:
    texts = ["".join(f"v{n}\n" for n in each) for each in (left, right)]
    assert 0 < page.evaluate(COMPARISONS, texts) < most  # comparing all pairs would be about 100,000,000


def test_rows_hold_every_line_of_either_side_once_and_in_order(page: Page) -> None:
    left = "".join(f"{n % 7}\n" for n in range(500))
    right = "".join(f"{n % 5}\n" for n in range(430))
    rows = aligned(page, left, right)
    assert [row[0] for row in rows if row[0] is not None] == list(range(500))
    assert [row[1] for row in rows if row[1] is not None] == list(range(430))
