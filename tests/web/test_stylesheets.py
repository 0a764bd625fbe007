"""Each stylesheet has one subject, and a page links it."""

import re
from pathlib import Path

import pytest

from tests.web.stage import WEB

PAGES = sorted(WEB.glob("*/index.html"))
LONGEST = 300
"""The most lines of a stylesheet for the judge's page. A longer one has a second subject."""


def linked(page: Path) -> list[Path]:
    """The stylesheets that a page links, in order; a later one overrides an earlier one."""
    hrefs = re.findall(r'<link rel="stylesheet" href="/?web/([^"]+)">', page.read_text("utf-8"))
    return [WEB / href for href in hrefs]


def imported(sheet: Path) -> list[Path]:
    return [sheet.parent / each for each in re.findall(r'@import url\("([^"]+)"\)', sheet.read_text("utf-8"))]


def test_no_stylesheet_lies_there_that_no_page_links() -> None:
    sheets = {sheet for page in PAGES for each in linked(page) for sheet in (each, *imported(each))}
    assert sheets == set(WEB.rglob("*.css"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_a_page_begins_with_the_house_and_imports_nothing_of_its_own(page: Path) -> None:
    """A stylesheet that imports another one costs another round trip before anything is drawn."""
    house, *own = linked(page)
    assert house == WEB / "house" / "house.css"
    assert [imported(sheet) for sheet in own] == [[]] * len(own)


def test_the_judges_page_has_a_stylesheet_for_each_part_and_what_overrides_them_last() -> None:
    sheets = linked(WEB / "judge" / "index.html")
    assert [sheet.stem for sheet in sheets[-2:]] == ["narrow", "paper"]
    for sheet in sheets:
        lines = sheet.read_text("utf-8").splitlines()
        assert lines[0].startswith("/* "), f"{sheet.name} does not say what its subject is"
        if sheet.parent.name == "judge":
            assert len(lines) <= LONGEST, sheet.name
