"""Contexts of the browser for the tests' pages: each is as fresh as a new one, but what was fetched once is there.

A fifth of what it costs to open a page is to fetch its fifty files. So whoever wants a window is lent the context that
the test before had, with the browser's own cache of files; its tabs are as wide as is wanted, and of those colours.
Nothing else outlasts a test:

  - its tabs are closed, and cookies and whatever pages have stored are deleted;
  - a context of which more was asked than tabs (a script for all its pages, a route, a clock, a permission) is closed;
  - so is the context of a test that fails.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from playwright.sync_api import Browser, BrowserContext, Frame, Page

USUAL: dict[str, Any] = {
    "viewport": {"width": 1280, "height": 800}, "color_scheme": "light", "reduced_motion": "no-preference",
    "forced_colors": "none",
}  # fmt: skip
"""How a page looks that nobody wants otherwise. A tab can be told by itself, so a lent context has tabs of any look."""
HARMLESS = ("new_page", "close", "new_cdp_session")
"""What may be asked of a context that is lent again: it ends with the tab."""


class _Kept:
    """A context, and a tab of ours at which nobody looks: through it the storage is cleared when no page is left."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.is_spoilt = False
        self._origins: set[str] = set()
        self._looks = USUAL
        self._own = context.new_page()
        self._storage = context.new_cdp_session(self._own)
        context.on("page", self._follow)
        context.on("close", lambda _: self._spoil())
        for part in (context, context.clock):
            for name in dir(type(part)):
                if not name.startswith("_") and name not in HARMLESS and callable(getattr(type(part), name)):
                    setattr(part, name, self._spoiling(getattr(part, name)))
        context.new_page = self._open  # type: ignore[method-assign]

    def look(self, looks: dict[str, Any]) -> None:
        """So the next tabs do."""
        self._looks = looks

    def tidy(self) -> None:
        if self.is_spoilt:
            return
        for page in self.context.pages:
            if page is not self._own:
                page.close()
        self._storage.send("Storage.clearCookies")
        for origin in self._origins:
            self._storage.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        self._origins.clear()

    def _open(self) -> Page:
        page = BrowserContext.new_page(self.context)
        if self._looks != USUAL:
            page.set_viewport_size(self._looks["viewport"])
            page.emulate_media(**{name: value for name, value in self._looks.items() if name != "viewport"})
        return page

    def _follow(self, page: Page) -> None:
        page.on("framenavigated", self._note)

    def _note(self, frame: Frame) -> None:
        address = urlsplit(frame.url)
        if address.scheme.startswith("http"):
            self._origins.add(f"{address.scheme}://{address.netloc}")

    def _spoil(self) -> None:
        self.is_spoilt = True

    def _spoiling(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        def spoiling(*args: Any, **kwargs: Any) -> Any:
            self._spoil()
            return ask(*args, **kwargs)

        return spoiling


_kept: WeakKeyDictionary[Browser, _Kept] = WeakKeyDictionary()


@contextmanager
def window(chromium: Browser, **wanted: Any) -> Iterator[BrowserContext]:
    """A context with these settings. It is lent again if they are only about how its pages look."""
    if not wanted.keys() <= USUAL.keys():
        with chromium.new_context(**USUAL | wanted) as context:
            yield context
        return
    kept = _kept.pop(chromium, None)
    if kept is None or kept.is_spoilt:
        kept = _Kept(chromium.new_context(**USUAL))
    kept.look(USUAL | wanted)
    try:
        yield kept.context
    except BaseException:
        kept.context.close()
        raise
    kept.tidy()
    if kept.is_spoilt or chromium in _kept:
        kept.context.close()
    else:
        _kept[chromium] = kept
