"""A text that a test looks for is the whole text (`tests/eyes.py`)."""

import inspect
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.eyes import GETTERS, PLACES
from tests.web.windows import window

KINDS = {
    "get_by_alt_text": '<img alt="{}">',
    "get_by_label": '<input aria-label="{}">',
    "get_by_placeholder": '<input placeholder="{}">',
    "get_by_role": "<button>{}</button>",
    "get_by_text": "<p>{}</p>",
    "get_by_title": '<i title="{}"></i>',
}
VARIANTS = ("{}", "{} not", "{} all", "un{}")
ALL = "".join(kind.format(variant.format(name)) for name, kind in KINDS.items() for variant in VARIANTS)
SHOUTED = "".join(kind.format(name.upper()) for name, kind in KINDS.items())


def by_name(place: Any) -> Callable[..., Locator]:
    return lambda name, **more: place.get_by_role("button", name=name, **more)


@pytest.mark.slow
@pytest.mark.browser
def test_whoever_looks_for_a_text_finds_the_whole_text_unless_a_part_is_asked_for(chromium: Browser) -> None:
    with window(chromium) as context:
        page = context.new_page()
        page.set_content(f"<iframe srcdoc='{ALL}{SHOUTED}'></iframe>{ALL}{SHOUTED}")
        inner = page.frame_locator("iframe")
        expect(inner.locator("i")).to_have_count(len(VARIANTS) + 1)
        for place, name in product((page, page.main_frame, page.locator("body"), inner), KINDS):
            look = by_name(place) if name == "get_by_role" else getattr(place, name)
            any_of_them = re.compile(name)
            found = {
                "exact": [look(name).count(), look(name, exact=True).count()],
                "a part": look(name, exact=False).count(),
                "a pattern": [look(any_of_them).count(), look(any_of_them, exact=True).count()],
            }
            wanted = {"exact": [1, 1], "a part": len(VARIANTS) + 1, "a pattern": [len(VARIANTS)] * 2}
            assert found == wanted, (type(place), name)


def test_no_way_of_looking_for_a_text_is_left_out() -> None:
    ways = {
        (place, name)
        for place in PLACES
        for name, way in inspect.getmembers(place, inspect.isfunction)
        if name.startswith("get_by_") and "exact" in inspect.signature(way).parameters
    }
    assert ways == {(place, name) for place in PLACES for name in GETTERS}
    assert sorted(GETTERS) == sorted(KINDS)
