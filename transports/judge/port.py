"""The judge's port: where Competitive Companion posts problems, and the panel that shows them.

POST /        a problem, as Competitive Companion sends it      WS  /panel   the panel's messages
GET /         the panel                                         GET /web/... the panel's files

The extension expects an answer within half a second and then ignores it. A post is answered when it has been understood
and stored; its further processing does not concern this connection.
"""

from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager
from importlib.resources.abc import Traversable
from typing import Protocol

import trio

from actors.kernel import KernelError, in_words
from codec.judge import BadTask
from transports.http.application import Application
from transports.http.static import serve_files
from transports.websocket.line import Line
from transports.websocket.websocket import FastSocket, Handler, Upgrade

EXTENSIONS = ("chrome-extension://*", "moz-extension://*", "safari-web-extension://*")
"""Origins that may post, as programs may, and do nothing else."""
WEBVIEWS = ("vscode-webview://*",)
"""Origins that may show the panel, besides our own page."""

RESTARTING, TRY_LATER = 1012, 1013


class PanelSeat(Protocol):
    def heard(self, text: bytes) -> Awaitable[None]:
        """The page's next message."""


class JudgeDesk(Protocol):
    """Answers requests. Every refusal is a BadTask or a KernelError whose text can be shown."""

    def receive(self, body: bytes) -> Awaitable[None]: ...

    def attend(self, line: Line) -> AbstractAsyncContextManager[PanelSeat]:
        """Lasts as long as the page is connected. The desk may end it early by cancelling the block."""


def judge_application(desk: JudgeDesk, web: Traversable) -> Application:
    app = Application("judge")
    serve_files(app, web, index="judge/index.html")
    serve_files(app, web, at="/web/")

    async def receive(body: bytes) -> tuple[str, int]:
        try:
            await desk.receive(body)
        except BadTask as error:
            return str(error), 400
        except KernelError as error:
            return in_words(error), 503
        return "taken in", 200

    app.take("/", receive)
    return app


def judge_websocket(desk: JudgeDesk) -> Handler:
    async def on_websocket(upgrade: Upgrade) -> None:
        if upgrade.path != "/panel":
            await upgrade.reject(404, "The judge's WebSocket is at /panel.")
            return
        socket = await upgrade.accept_fast()
        async with trio.open_nursery() as nursery:
            await _attend(desk, socket, Line(socket, nursery))
            nursery.cancel_scope.cancel()

    return on_websocket


async def _attend(desk: JudgeDesk, socket: FastSocket, line: Line) -> None:
    try:
        async with desk.attend(line) as attendance:
            while True:
                for text in await socket.receive_batch():
                    await attendance.heard(text)
    except KernelError as error:
        await socket.close(TRY_LATER, in_words(error))
    else:
        await socket.close(RESTARTING, "the panel has ended; connect again")
