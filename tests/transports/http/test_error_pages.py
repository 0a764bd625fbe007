"""An error is a page for a browser and a sentence for everybody else, and no cache takes one for the other."""

import re
from importlib import resources

import pytest
from quart import Response

from transports.http.application import Application
from transports.http.pages import add_pages
from transports.http.static import TYPES


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize("accept", ["text/html,*/*", "*/*", "application/json", None])
@pytest.mark.parametrize("path", ["/nothing", "/a/b/c", "/pages.json"])
async def test_every_error_says_that_it_depends_on_what_is_accepted(method: str, accept: str | None, path: str) -> None:
    app = add_pages(Application("tests"), resources.files("web"), lambda: {"console": "http://here/", "judge": None})
    headers = {} if accept is None else {"accept": accept}
    answer = await app.test_client().open(path, method=method, headers=headers)  # type: ignore[call-arg]
    if path == "/pages.json" and method != "POST":
        assert answer.status_code == 200
        assert "vary" not in answer.headers
        assert answer.headers["cache-control"] == "no-store"
        if method == "GET":  # a system without an address is asked for again by the bar (tests/web/test_bar.py)
            here = {"name": "console", "url": "http://here/"}
            assert await answer.get_json() == [here, {"name": "judge", "url": None}]
        return
    assert answer.status_code == (405 if path == "/pages.json" else 404)
    assert answer.headers["vary"] == "Accept"
    is_page = method != "POST" and accept is not None and "text/html" in accept
    assert answer.content_type.startswith("text/html" if is_page else "text/plain")


@pytest.mark.parametrize(
    ("path", "root"), [("/nothing", "./"), ("/a/", "../"), ("/a/b", "../"), ("/a/b/c", "../../"), ("/refused", "./")]
)
async def test_the_page_of_an_error_finds_its_parts_wherever_it_stands_and_stays_in_no_cache(
    path: str, root: str
) -> None:
    app = add_pages(Application("tests"), resources.files("web"), dict)

    @app.get("/refused")
    async def refused() -> Response:
        return Response("no, <never>\n", 400, content_type=TYPES[".txt"])

    answer = await app.test_client().get(path, headers={"accept": "text/html"})
    page = await answer.get_data(as_text=True)
    links = re.findall(r'(?:href|src|home|pages)="([^"]*)"', page)
    assert {f"{root}{each}" for each in ("", "pages.json", "web/house/house.css", "web/house/bar.js")} <= {*links}
    assert all(link.startswith(root) for link in links)
    assert (answer.headers["cache-control"], answer.headers["vary"]) == ("no-store", "Accept")
    assert "{" not in page
    assert ("no, &lt;never&gt;<" in page) is (path == "/refused")
