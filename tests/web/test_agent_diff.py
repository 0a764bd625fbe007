"""What the agent's page reads of a diff, and shows of a text: laws over many texts, in Chromium's own JavaScript."""

import difflib
import random
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.web.agent_stage import showing_agent

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WORDS = [
    "a = 1",
    "a = 2",
    "    return a",
    "-- a",
    "++ b",
    "@@ -1,2 +3,4 @@",
    "--- a/x",
    "+++ b/x",
    "",
    " ",
    "\\ x",
    "ü\tñ",
]
NASTY = (
    "\0\x07\b\x0b\x0c\r\x1b\x7f\x85\xa0\xad\u034f\u061c\u115f\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b"
    "\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\u2800\u3000\u3164\ufe0f\ufeff\uffa0\U000e0041\U000e0100\ue000"
)


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    with showing_agent(chromium) as show:
        page, _ = show()
        with closing(page):
            yield page


def cases() -> Iterator[tuple[list[str], list[str], int]]:
    dice = random.Random(13)
    for _ in range(600):
        before = [dice.choice(WORDS) for _ in range(dice.randrange(30))]
        after = list(before)
        for _ in range(dice.randrange(1, 6)):
            at = dice.randrange(len(after) + 1)
            after[at : at + dice.randrange(3)] = [dice.choice(WORDS) for _ in range(dice.randrange(3))]
        yield before, after, dice.randrange(4)


def test_the_hunks_that_are_shown_are_those_of_the_diff_line_by_line_with_their_numbers(page: Page) -> None:
    """Also where a line looks like the head of a hunk or of a file: before and after can be made from what is shown."""
    made = list(cases())
    diffs = [
        "".join(
            line if line.endswith("\n") else f"{line}\n"
            for line in difflib.unified_diff(
                [f"{each}\n" for each in before], [f"{each}\n" for each in after], "a/x", "b/x", n=context
            )
        )
        for before, after, context in made
    ]
    read: list[list[Any]] = page.evaluate(
        """async (diffs) => {
            const { hunksOf } = await import(new URL("web/agent/diff.js", document.baseURI));
            return diffs.map((diff) => hunksOf(diff));
        }""",
        diffs,
    )
    for (before, after, _), hunks in zip(made, read, strict=True):
        lines = [line for hunk in hunks for line in hunk["lines"]]
        assert all(before[line["old"] - 1] == line["text"] for line in lines if line["old"] is not None)
        assert all(after[line["now"] - 1] == line["text"] for line in lines if line["now"] is not None)
        gone = {line["old"] - 1 for line in lines if line["kind"] == "del"}
        come = {line["now"] - 1 for line in lines if line["kind"] == "add"}
        kept = [each for at, each in enumerate(before) if at not in gone]
        assert kept == [each for at, each in enumerate(after) if at not in come]
        for line in lines:
            if line["marked"]:
                assert 0 <= line["marked"][0] < line["marked"][1] <= len(line["text"].encode("utf-16-le")) // 2


def test_hunks_that_come_ready_are_the_same_as_those_of_the_diff(page: Page) -> None:
    content = "@@ -3,2 +3,3 @@ def main():\n same\n-old one\n+new one\n+more\n"
    told = {"old_start": 3, "old_lines": 2, "new_start": 3, "new_lines": 3}
    read = page.evaluate(
        """async ([diff, told]) => {
            const { hunksOf } = await import(new URL("web/agent/diff.js", document.baseURI));
            const bare = { ...told, content: diff.split("\\n").slice(1).join("\\n") };
            const all = [hunksOf(diff), hunksOf("", [{ ...told, content: diff }]), hunksOf("", [bare])];
            return all.map((hunks) => hunks[0].lines);
        }""",
        [content, told],
    )
    assert read[0] == read[1] == read[2]


def test_both_sides_hold_every_line_once_and_in_order(page: Page) -> None:
    diffs = ["".join(f"{line}\n" for line in difflib.unified_diff(a, b, lineterm="", n=3)) for a, b, _ in cases()]
    sound = page.evaluate(
        """async (diffs) => {
            const { hunksOf, sidesOf } = await import(new URL("web/agent/diff.js", document.baseURI));
            return diffs.every((diff) => hunksOf(diff).every(({ lines }) => {
                const rows = sidesOf(lines);
                const side = (at, other) => JSON.stringify(rows.map((row) => row[at]).filter((line) => line !== null))
                    === JSON.stringify(lines.filter(({ kind }) => kind !== other));
                return side(0, "add") && side(1, "del");
            }));
        }""",
        diffs,
    )
    assert sound


def test_every_character_is_seen_and_only_the_harmless_as_themselves(page: Page) -> None:
    dice = random.Random(14)
    pool = NASTY + "ab 0/'\"$é漢😀\t\n"
    texts = ["".join(dice.choice(pool) for _ in range(dice.randrange(40))) for _ in range(500)] + list(NASTY)
    shown: list[list[Any]] = page.evaluate(
        """async (texts) => {
            const { visible } = await import(new URL("web/agent/visible.js", document.baseURI));
            const shown = (each) => (typeof each === "string" ? each : [each.textContent]);
            return texts.map((text) => visible(text).map(shown));
        }""",
        texts,
    )
    for text, pieces in zip(texts, shown, strict=True):
        back = "".join(each if isinstance(each, str) else chr(int(each[0].split()[0][2:], 16)) for each in pieces)
        assert back == text
        plain = "".join(each for each in pieces if isinstance(each, str))
        assert not set(plain) & set(NASTY)
        assert all(unicodedata.category(each) not in ("Cc", "Cf", "Zl", "Zp", "Co") for each in plain)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("npm test", ""),
        ("npm\ttest", ""),
        ("npm test\nrm -rf x", "more than one line"),
        ("npm test\u202e", "cannot be seen"),
        ("nрm test", "may look like others"),
    ],
)
def test_what_may_deceive_is_said(page: Page, text: str, says: str) -> None:
    said = page.evaluate(
        """async (text) => (await import(new URL("web/agent/visible.js", document.baseURI))).warningOf(text)""", text
    )
    assert (says in said) if says else said == ""
