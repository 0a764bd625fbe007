"""What a browser test sees: a name is the whole name, and whatever is to be seen has its time to appear.

Playwright 1.65 takes a text that somebody looks for as a part of a text, in any case of its letters, unless it is told
`exact=True`. So a button "Save" was also found on a row named "Unsaved", for as long as the row was there. Here it is
the other way round: whoever means a part of a text says `exact=False`, or gives a pattern.
"""

import functools
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Frame, FrameLocator, Locator, Page, expect

from tests.patience import PATIENCE

PLACES = (Page, Frame, Locator, FrameLocator)
GETTERS = (
    "get_by_alt_text", "get_by_label", "get_by_placeholder", "get_by_role", "get_by_text", "get_by_title",
)  # fmt: skip


@functools.cache
def open_eyes() -> None:
    """Once in a process, before its first page."""
    for place in PLACES:
        for name in GETTERS:
            setattr(place, name, _exact(getattr(place, name)))
    expect.set_options(timeout=PATIENCE * 1000)


def _exact(get: Callable[..., Locator]) -> Callable[..., Locator]:
    @functools.wraps(get)
    def getter(place: object, *words: Any, exact: bool = True, **more: Any) -> Locator:
        return get(place, *words, exact=exact, **more)

    return getter
