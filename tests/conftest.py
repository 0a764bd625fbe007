"""For every test a limit (`limit.py`), a look at what it closes (`descriptors.py`) and a worker (`sharing.py`,
`warming.py`); a real Chromium for those that look at a page; a folder for what is fetched, and one whose path is soon
typed."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.plenty import plenty

if TYPE_CHECKING:  # a pytest that a test starts needs no browser
    from playwright.sync_api import Browser, Playwright

pytest_plugins = [
    "tests.limit", "tests.hearing", "tests.descriptors", "tests.draws", "tests.sharing", "tests.warming",
]  # fmt: skip

# Where CI is set, hypothesis has a profile of its own. A busy machine is no mistake of the code.
settings.register_profile("house", settings(), deadline=None, max_examples=plenty(50))
settings.load_profile("house")

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
    "--renderer-process-limit=1",  # of a context's pages: a fifth of what it costs to open one is its process
    "--js-flags=--liftoff-only --wasm-lazy-compilation",  # a third of what it costs to load Pyodide is to optimize it
]  # fmt: skip


class Chromium:
    """A worker's browser: it is started by the first module with a page, and stays for the next ones, for it takes as
    long to start as a test does.

    While playwright waits, its loop counts as this thread's running loop. Other tests would find it, asyncio's own and
    those of libraries that ask which loop they are in. So between modules with pages there is none (`_set_running_loop`
    is what playwright 1.65 itself calls after each of its waits).
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextmanager
    def lent(self) -> "Iterator[Browser]":
        asyncio._set_running_loop(self._loop)
        try:
            yield self._at_work()
            self._leave_no_page()
        finally:
            self._loop = asyncio._get_running_loop()
            asyncio._set_running_loop(None)

    def _at_work(self) -> "Browser":
        if self._browser is not None and not self._browser.is_connected():
            self._end()
        if self._browser is None:
            from playwright.sync_api import sync_playwright

            from tests.eyes import open_eyes

            open_eyes()
            self._playwright = sync_playwright().start()
            self._browser = self._playwright.chromium.launch(executable_path=self._path, args=ARGUMENTS)
        return self._browser

    def _leave_no_page(self) -> None:
        """To the next module, whatever this one has left open."""
        if self._browser is not None and self._browser.is_connected():
            for context in self._browser.contexts:
                context.close()

    def close(self) -> None:
        asyncio._set_running_loop(self._loop)
        self._end()

    def _end(self) -> None:
        browser, self._browser = self._browser, None
        if browser is not None and browser.is_connected():
            browser.close()
        playwright, self._playwright = self._playwright, None
        if playwright is not None:
            playwright.stop()


@pytest.fixture(scope="session")
def _chromium() -> Iterator[Chromium | None]:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        yield None
        return
    chromium = Chromium(found)
    yield chromium
    chromium.close()


@pytest.fixture(scope="module")
def chromium(_chromium: Chromium | None) -> "Iterator[Browser]":
    if _chromium is None:
        reason = f"no Chromium: none of {', '.join(NAMES)} is on the PATH"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with _chromium.lent() as browser:
        yield browser


@pytest.fixture(scope="session")
def larder(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `fetched` keeps is in here."""
    cache = getattr(pytestconfig, "cache", None)
    return Path(cache.mkdir("fetched")) if cache else tmp_path_factory.getbasetemp()


@pytest.fixture(scope="session")
def _nearest() -> Iterator[Iterator[Path]]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        yield (Path(place, f"near{number}") for number in count())


@pytest.fixture
def near(_nearest: Iterator[Path]) -> Path:
    """As `tmp_path`, for who writes it into a field: each key costs as much as a look at the page."""
    folder = next(_nearest)
    folder.mkdir()
    return folder
