"""Sidekick's port: the board, and the WebSocket of heroes and UIs alike.

GET /              the board               WS  /              of the default room
GET /session/ID    the board of a room     WS  /?session=ID   of that room; with &bundles=1, messages that are sent
                                               together come as one, an array of them
GET /web/...       the board's files
GET /rooms.json    the list of rooms
POST /markdown     turns Markdown into clean HTML

GET /script, /script/ID  scripts that run in the browser: see playground.py

The desk finds out which peers are heroes or UIs, which dialect they speak, and whether their messages are valid. Here a
peer is a `Line`. Its messages are handed over in batches, as bytes, unread.
"""

import re
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from importlib.resources.abc import Traversable
from typing import Protocol, cast
from urllib.parse import parse_qs

import trio
from quart import Response, request

from actors.kernel import KernelError, in_words
from transports.http.application import Application, fresh
from transports.http.guard import SecurityHeaders
from transports.http.static import TYPES, serve_files
from transports.sidekick.playground import Playground, add_playground
from transports.websocket.line import Line
from transports.websocket.websocket import FastSocket, Handler, Upgrade

RENDERERS = 2
"""Texts that are rendered at the same time. Some take seconds, and all pages of the server share the threads."""

DEFAULT_ROOM = ""
RESTARTING, TRY_LATER = 1012, 1013

PAGES = ("files /", "session", "script", "named")
"""The endpoints that answer with a page that has a board on it."""

_ROOM = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ROOM_IN_WORDS = "A session is named by 1 to 64 letters, digits, hyphens or underscores"


class Seat(Protocol):
    async def heard(self, batch: list[bytes]) -> None:
        """The peer's next messages, at least one. While this waits, nothing is read, and the peer has to wait."""

    def heard_at_once(self, batch: list[bytes]) -> bool:
        """The same without waiting. False: that is not possible now, and nothing of it was heard."""


class Listing(Protocol):
    """Knows all rooms. A refusal is a KernelError whose text can be shown."""

    async def rooms(self) -> bytes:
        """As JSON."""


class SidekickDesk(Protocol):
    """Attends to the peers, each in the room that it asked for; "" is the default room.

    Every refusal is a KernelError whose text can be shown.
    """

    def attend(self, room: str, line: Line) -> AbstractAsyncContextManager[Seat]:
        """Lasts as long as the peer is connected. The desk may end it early by cancelling the block, as a lease does.

        The block is left with `Closed` when the peer has gone.
        """


def sidekick_application(
    web: Traversable,
    render: Callable[[str], str],
    playground: Playground | None = None,
    listing: Listing | None = None,
) -> Application:
    """`render` turns Markdown into clean HTML. It may take a while, and is called in a thread."""
    app = Application("sidekick")
    add_playground(app, web, playground or Playground())
    serve_files(app, web, index="board/index.html")
    serve_files(app, web, at="/web/")
    renderers = trio.CapacityLimiter(RENDERERS)
    board = cast("Callable[[], Awaitable[Response]]", app.view_functions["files /"])

    @app.post("/markdown")
    async def markdown() -> Response:
        source = await request.get_data(as_text=False)
        assert isinstance(source, bytes)
        text = source.decode("utf-8", "replace")
        html = await trio.to_thread.run_sync(render, text, abandon_on_cancel=True, limiter=renderers)
        return Response(html, content_type=TYPES[".html"])

    @app.get("/session/<room>", strict_slashes=False)
    async def session(room: str) -> Response:
        if not _ROOM.fullmatch(room):
            return Response(f"{_ROOM_IN_WORDS}.\n", 404, content_type=TYPES[".txt"])
        return await board()

    if listing is not None:

        @app.get("/rooms.json")
        async def rooms() -> Response:
            try:
                return fresh(await listing.rooms(), "application/json")
            except KernelError as error:
                return fresh(f"{in_words(error)}\n".encode(), TYPES[".txt"], 503)

    @app.after_request
    async def widen(response: Response) -> Response:
        if request.endpoint in PAGES:  # also of a 304, whose headers take the place of the kept ones
            response.headers["content-security-policy"] = _policy(request.host)
        return response

    return app


def _policy(host: str) -> str:
    """The common policy, widened for the board: for pictures in Markdown (web/README.md says why), and for this host's
    WebSockets by name, because Safari before 15.4 does not count them as 'self'. The guard has checked the host."""
    sockets = f"ws://{host} wss://{host}"
    own = SecurityHeaders().content_security_policy
    return f"{own}; img-src 'self' https:; connect-src 'self' {sockets}"


def sidekick_websocket(desk: SidekickDesk) -> Handler:
    async def on_websocket(upgrade: Upgrade) -> None:
        if upgrade.path != "/":
            await upgrade.reject(404, "Sidekick's WebSocket is at /, or for a session at /?session=ID.")
            return
        room = room_in(upgrade.query)
        if room is None:
            await upgrade.reject(400, f"{_ROOM_IN_WORDS}, and only once.")
            return
        socket = await upgrade.accept_fast()
        async with trio.open_nursery() as nursery:
            # In a task of its own: all that awaits is resumed for each read, from the bottom of the stack.
            line = Line(socket, nursery, takes_bundles=takes_bundles(upgrade.query))
            nursery.start_soon(_attend, desk, room, socket, line, nursery)

    return on_websocket


async def _attend(desk: SidekickDesk, room: str, socket: FastSocket, line: Line, nursery: trio.Nursery) -> None:
    try:
        async with desk.attend(room, line) as attendance:
            while True:
                await attendance.heard(await socket.receive_batch(attendance.heard_at_once))
    except KernelError as error:
        await socket.close(TRY_LATER, in_words(error))
    else:
        await socket.close(RESTARTING, "the room has ended; connect again")
    nursery.cancel_scope.cancel()  # a goodbye that a room has begun to say


def takes_bundles(query: str) -> bool:
    """Our own page does: a browser takes its time for each message, and a board may have tens of thousands."""
    return parse_qs(query).get("bundles") == ["1"]


def room_in(query: str) -> str | None:
    """The room that a query asks for; None if it is not valid."""
    match parse_qs(query, keep_blank_values=True).get("session", []):
        case [] | [""]:
            return DEFAULT_ROOM
        case [room] if _ROOM.fullmatch(room):
            return room
        case _:
            return None
