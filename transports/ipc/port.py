"""The desk's port: its page, its HTTP interface for scripts, figures for scrapers, and the live WebSocket.

GET  /             the page                     GET  /requests?state=&text=&order=&after=&limit=   a window of the list
GET  /web/...      the page's files             GET  /requests/ID     one request with all its attempts
GET  /metrics      Prometheus text              GET  /totals          how many there are, and how the desk is
GET  /health       200 when all is well, else 503
POST /requests     submits requests             POST /requeue /cancel /archive /editor
WS   /live         see codec/ipc/desk.py

A wrong order is answered with a sentence and 400, too much at once with 413, and an order that nobody is there to carry
out with 503; so is a request that this server does not know, if another one has the desk. Requests of which none is
taken are answered with the reason for each, and 409. A page of another server may neither read nor order anything: the
door checks Host and Origin.
"""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from importlib.resources.abc import Traversable
from typing import Protocol, cast

from quart import Response, request

from actors.kernel import KernelError, in_words
from codec.ipc.orders import BadOrder, TooMuchOrdered
from transports.http.application import Application, as_sentence, fresh, whole_body
from transports.http.static import TYPES, serve_files
from transports.websocket.websocket import Handler, Upgrade, WebSocket

METRICS = "text/plain; version=0.0.4; charset=utf-8"
RESTARTING, TRY_LATER = 1012, 1013

BODY_BYTES = 16 << 20
"""The largest order; for the door's limits."""
MESSAGE_BYTES = 64 << 10
"""The largest message of a page; the same."""


class DeskSeat(Protocol):
    async def heard(self, text: str | bytes) -> None:
        """The page's next message."""


class IpcDesk(Protocol):
    """Answers requests. Every refusal is a BadOrder or a KernelError whose text can be shown."""

    async def window(self, query: dict[str, list[str]]) -> bytes: ...
    async def detail(self, id: str) -> bytes | None: ...  # noqa: A002 - as in the contract
    async def totals(self) -> bytes: ...
    async def metrics(self) -> bytes: ...
    async def health(self) -> tuple[bool, bytes]: ...
    async def submit(self, body: bytes) -> tuple[bool, bytes]: ...
    async def order(self, what: str, body: bytes) -> bytes: ...
    async def editor(self, body: bytes) -> bytes: ...
    def view(self, wire: WebSocket) -> AbstractAsyncContextManager[DeskSeat]: ...


def ipc_application(desk: IpcDesk, web: Traversable) -> Application:
    app = Application("ipc")
    serve_files(app, web, index="ipc/index.html")
    serve_files(app, web, at="/web/")

    @app.get("/requests")
    async def window() -> Response:
        query = cast("Mapping[str, list[str]]", request.args.to_dict(flat=False))
        return _json(await desk.window(dict(query)))

    @app.get("/requests/<id>")
    async def detail(id: str) -> Response:  # noqa: A002
        found = await desk.detail(id)
        if found is None:
            return _said(f"There is no request {id[:128]!r} here. It may be in the archive.", 404)
        return _json(found)

    @app.get("/totals")
    async def totals() -> Response:
        return _json(await desk.totals())

    @app.get("/metrics")
    async def metrics() -> Response:
        return fresh(await desk.metrics(), METRICS)

    @app.get("/health")
    async def health() -> Response:
        well, answer = await desk.health()
        return fresh(answer, TYPES[".json"], 200 if well else 503)

    @app.post("/requests")
    async def submit() -> Response:
        any_taken, answer = await desk.submit(await whole_body())
        return fresh(answer, TYPES[".json"], 200 if any_taken else 409)

    @app.post("/requeue", endpoint="requeue")
    @app.post("/cancel", endpoint="cancel")
    @app.post("/archive", endpoint="archive")
    async def order() -> Response:
        return _json(await desk.order(str(request.endpoint), await whole_body()))

    @app.post("/editor")
    async def editor() -> Response:
        return _json(await desk.editor(await whole_body()))

    @app.errorhandler(BadOrder)
    async def not_understood(error: BadOrder) -> Response:
        return _said(as_sentence(error), 413 if isinstance(error, TooMuchOrdered) else 400)

    @app.errorhandler(KernelError)
    async def not_now(error: KernelError) -> Response:
        return _said(as_sentence(in_words(error)), 503)

    return app


def ipc_websocket(desk: IpcDesk) -> Handler:
    async def on_websocket(upgrade: Upgrade) -> None:
        if upgrade.path != "/live":
            await upgrade.reject(404, "The desk's WebSocket is at /live.")
            return
        socket = await upgrade.accept()
        try:
            async with desk.view(socket) as seat:
                while True:
                    await seat.heard(await socket.receive())
        except KernelError as error:
            await socket.close(TRY_LATER, in_words(error))
        else:
            await socket.close(RESTARTING, "the viewer has ended; connect again")

    return on_websocket


def _json(answer: bytes) -> Response:
    return fresh(answer, TYPES[".json"])


def _said(sentence: str, status: int) -> Response:
    return Response(f"{sentence}\n", status, content_type=TYPES[".txt"])
