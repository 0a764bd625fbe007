"""A context that is lent again is as fresh as a new one, except that files are there."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.web.stage import Stage
from tests.web.windows import USUAL, window

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LEAVES = """async () => {
    localStorage.setItem("left", "1");
    sessionStorage.setItem("left", "1");
    document.cookie = "left=1";
    window.name = "left";
    await (await caches.open("left")).put("/left", new Response("1"));
    await new Promise((done) => { indexedDB.open("left").onsuccess = ({ target }) => done(target.result.close()); });
    history.pushState(null, "", "#left");
}"""
FINDS = """async () => [
    localStorage.length, sessionStorage.length, document.cookie, window.name, await caches.keys(),
    await indexedDB.databases(), history.length, innerWidth, innerHeight, devicePixelRatio,
    matchMedia("(prefers-color-scheme: dark)").matches, matchMedia("(prefers-color-scheme: light)").matches,
    matchMedia("(prefers-reduced-motion)").matches, matchMedia("(forced-colors)").matches, matchMedia("print").matches,
    typeof added, navigator.onLine,
    (await navigator.permissions.query({ name: "geolocation" })).state,
]"""


def at(context: BrowserContext, stage: Stage) -> Page:
    shown = context.new_page()
    shown.goto(stage.url)
    return shown


def test_a_page_finds_nothing_of_what_the_page_of_the_test_before_has_left_but_the_files(chromium: Browser) -> None:
    with Stage(None) as stage:
        with chromium.new_context(**USUAL) as new:
            expected = at(new, stage).evaluate(FINDS)
        with window(chromium) as context:
            left = at(context, stage)
            left.evaluate(LEAVES)
            left.set_viewport_size({"width": 400, "height": 500})
            left.emulate_media(color_scheme="dark", media="print")
            left.add_init_script("window.added = 1")
            left.reload()
            assert left.evaluate(FINDS) != expected
        stage.fetched.clear()
        with window(chromium) as again:
            assert again is context
            assert at(again, stage).evaluate(FINDS) == expected
        assert "/" in stage.fetched
        assert not [each for each in stage.fetched if each.endswith((".js", ".css"))]


@pytest.mark.parametrize(
    "looks",
    [
        {"viewport": {"width": 400, "height": 900}},
        {"color_scheme": "dark"},
        {"reduced_motion": "reduce"},
        {"forced_colors": "active"},
    ],
    ids=lambda looks: next(iter(looks)),
)
def test_a_lent_context_has_pages_of_the_looks_that_are_wanted_and_the_next_test_the_usual(
    chromium: Browser, looks: dict[str, Any]
) -> None:
    with Stage(None) as stage:
        found = []
        for wanted in (USUAL, USUAL | looks):
            with chromium.new_context(**wanted) as new:
                found.append(at(new, stage).evaluate(FINDS))
        usual, otherwise = found
        assert usual != otherwise
        with window(chromium) as context:
            assert at(context, stage).evaluate(FINDS) == usual
        with window(chromium, **looks) as again:
            assert again is context
            assert [at(again, stage).evaluate(FINDS) for _ in range(2)] == [otherwise, otherwise]
        with window(chromium) as again:
            assert again is context
            assert at(again, stage).evaluate(FINDS) == usual


@pytest.mark.parametrize(
    "ask",
    [
        lambda context: context.add_init_script("window.added = 1"),
        lambda context: context.route("**/*", lambda route: route.abort()),
        lambda context: context.expose_function("added", lambda: 1),
        lambda context: context.grant_permissions(["geolocation"]),
        lambda context: context.set_offline(True),
        lambda context: context.on("request", lambda request: None),
        lambda context: context.new_page().clock.install(),
        lambda context: context.close(),
    ],
    ids=["script", "route", "function", "permission", "offline", "listener", "clock", "close"],
)
def test_a_context_of_which_more_was_asked_than_tabs_is_not_lent_again(
    chromium: Browser, ask: Callable[[BrowserContext], Any]
) -> None:
    with window(chromium) as context:
        ask(context)
    with window(chromium) as another:
        assert another is not context
    assert context not in chromium.contexts


def test_nor_is_one_in_which_a_test_has_failed_or_one_of_unusual_settings(chromium: Browser) -> None:
    with pytest.raises(ZeroDivisionError), window(chromium) as failed:
        _ = 1 / 0
    with window(chromium, locale="de") as german, window(chromium) as usual, window(chromium) as second:
        assert len({failed, german, usual, second}) == 4
    with window(chromium) as again:
        assert again in (usual, second)
        assert chromium.contexts == [again]
