"""The console's port: its page, figures for scrapers and scripts, and the live WebSocket.

GET /             the page                 GET /health     JSON; 200 when all is well, otherwise 503
GET /web/...      the page's files         GET /metrics    Prometheus text
WS  /live         changes of the tree      GET /tree.json  the current tree
"""

from contextlib import AbstractAsyncContextManager
from importlib.resources.abc import Traversable
from typing import Any, Protocol

from quart import Response

from actors.kernel import KernelError, in_words
from transports.http.application import Application, fresh
from transports.http.static import serve_files
from transports.websocket.websocket import Handler, Upgrade, WebSocket

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
METRICS = "text/plain; version=0.0.4; charset=utf-8"
UNEXPECTED, RESTARTING, TRY_LATER = 1008, 1012, 1013


class ConsoleDesk(Protocol):
    """Answers requests. Every refusal is a KernelError whose text can be shown."""

    async def tree(self) -> bytes: ...
    async def health(self) -> tuple[bool, bytes]: ...
    async def metrics(self) -> bytes: ...
    def view(self, wire: WebSocket) -> AbstractAsyncContextManager[Any]: ...


def console_application(desk: ConsoleDesk, web: Traversable) -> Application:
    app = Application("console")
    serve_files(app, web, index="console/index.html")
    serve_files(app, web, at="/web/")

    @app.get("/tree.json")
    async def tree() -> Response:
        return fresh(await desk.tree(), JSON)

    @app.get("/health")
    async def health() -> Response:
        well, answer = await desk.health()
        return fresh(answer, JSON, 200 if well else 503)

    @app.get("/metrics")
    async def metrics() -> Response:
        return fresh(await desk.metrics(), METRICS)

    @app.errorhandler(KernelError)
    async def not_now(error: KernelError) -> Response:
        return fresh(f"{in_words(error)}\n".encode(), TEXT, 503)

    return app


def console_websocket(desk: ConsoleDesk) -> Handler:
    async def on_websocket(upgrade: Upgrade) -> None:
        if upgrade.path != "/live":
            await upgrade.reject(404, "The console's WebSocket is at /live.")
            return
        socket = await upgrade.accept()
        try:
            async with desk.view(socket):
                await socket.receive()
                await socket.close(UNEXPECTED, "this socket only sends; it accepts no messages")
        except KernelError as error:
            await socket.close(TRY_LATER, in_words(error))
        else:
            await socket.close(RESTARTING, "the viewer has ended; connect again")

    return on_websocket
