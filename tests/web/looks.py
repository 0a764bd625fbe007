"""How a page looks at each width and in each scheme of colours.

A look costs a tenth of what it costs to open a page. So a test opens its page once, and looks at it in every way: the
width and the scheme change under the page, as they do when a window is dragged and when the evening comes. A failure
says which look it was.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Literal

from playwright.sync_api import Page

from tests.web.stage import FRAMES

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
LOOKS = tuple(product((1280, 400), SCHEMES))

SETTLED = """() => Promise.allSettled(document.getAnimations()
    .filter((each) => each instanceof CSSTransition).map((each) => each.finished))"""
IS_AT = "([width, scheme]) => innerWidth === width && matchMedia(`(prefers-color-scheme: ${scheme})`).matches"


@contextmanager
def looked_at(page: Page, width: int, scheme: Scheme = "light", *, height: int = 800) -> Iterator[None]:
    """In the block, the page is as wide as that, in these colours, and has drawn itself so."""
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(IS_AT, arg=[width, scheme])
    page.evaluate(FRAMES)  # of these only the frames that come after it is so wide count
    page.evaluate(SETTLED)
    try:
        yield
    except AssertionError as error:
        error.add_note(f"This was at a width of {width} in the {scheme} scheme.")
        raise
