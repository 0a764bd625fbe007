"""The links from each page to the others, and the page for addresses that do not exist.

GET /pages.json    the systems that are switched on and have a page, with their addresses

Rules
  - The addresses are those that the listeners have reported: real ports. The address of a system that is down, or not
    up yet, is null, so a page knows that it should ask again.
  - A browser that follows a link asks for HTML. It gets errors as a page with the usual bar, which leads to the other
    pages. Every other client gets only the sentence, as text.
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
"""The address of each system with a page, in the order of the bar; None while the system is down."""


def add_pages(app: Application, web: Traversable, addresses: Addresses) -> Application:
    @app.get("/pages.json")
    async def pages() -> Response:
        there = [{"name": name, "url": url} for name, url in addresses().items()]
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
