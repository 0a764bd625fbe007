"""An error is a page for a browser and a sentence for everybody else, and no cache takes one for the other."""

from importlib import resources

import pytest

from transports.http.application import Application
from transports.http.pages import add_pages


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
        if method == "GET":  # a system without an address is asked for again by the bar (tests/web/test_bar.py)
            here = {"name": "console", "url": "http://here/"}
            assert await answer.get_json() == [here, {"name": "judge", "url": None}]
        return
    assert answer.status_code == (405 if path == "/pages.json" else 404)
    assert answer.headers["vary"] == "Accept"
    is_page = method != "POST" and accept is not None and "text/html" in accept
    assert answer.content_type.startswith("text/html" if is_page else "text/plain")
