"""For every test a limit (`limit.py`), and a worker (`sharing.py`); a real Chromium for those that look at a page; a
folder for what is fetched."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

pytest_plugins = ["tests.limit", "tests.hearing", "tests.sharing"]

if "CI" not in os.environ:  # where hypothesis has no deadline anyway: a busy machine is no mistake of the code
    settings.register_profile("here", deadline=None)
    settings.load_profile("here")

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


# Not for the whole session: while playwright runs, its loop counts as asyncio's running loop to other tests.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        reason = f"no Chromium: none of {', '.join(NAMES)} is on the PATH"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def larder(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `fetched` keeps is in here."""
    cache = getattr(pytestconfig, "cache", None)
    return Path(cache.mkdir("fetched")) if cache else tmp_path_factory.getbasetemp()
