"""The way from each page of the house to the others, and the page that a browser is shown where there is none.

GET /pages.json    the systems that have a page and are there now, with their addresses

Rules
  - Addresses are what the listeners have reported: real ports, and nobody who is switched off or down.
  - Whoever asks for a page (a browser that follows a link says that it wants HTML) is told what is wrong on a page with
    the same bar, which leads away from there. Every other client gets the sentence alone, as text.
"""

import json
from collections.abc import Callable, Mapping
from html import escape
from importlib.resources.abc import Traversable

import trio
from quart import Response, request

from transports.http.application import Application
from transports.http.static import TYPES

Addresses = Callable[[], Mapping[str, str | None]]
"""The address of each system that is to have a page, in the order of the bar; None while it is down."""


def add_pages(app: Application, web: Traversable, addresses: Addresses) -> Application:
    @app.get("/pages.json")
    async def pages() -> Response:
        there = [{"name": name, "url": url} for name, url in addresses().items() if url is not None]
        return Response(json.dumps(there), content_type=TYPES[".json"], headers={"cache-control": "no-store"})

    @app.after_request
    async def show(response: Response) -> Response:
        if response.status_code < 400 or response.content_type != TYPES[".txt"] or not _wants_a_page():
            return response
        sentence = (await response.get_data(as_text=True)).strip()
        frame = await trio.to_thread.run_sync(_frame, web, abandon_on_cancel=True)
        root = "../" * (request.path.count("/") - 1) or "./"
        response.set_data(frame.replace("{root}", root).replace("{sentence}", escape(sentence)))
        response.content_type = TYPES[".html"]
        response.headers["cache-control"] = "no-store"
        return response

    @app.after_request
    async def vary(response: Response) -> Response:
        if response.status_code >= 400:
            response.headers.add("vary", "Accept")
        return response

    return app


def _frame(web: Traversable) -> str:
    return (web / "house" / "error.html").read_text("utf-8")


def _wants_a_page() -> bool:
    return request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")
