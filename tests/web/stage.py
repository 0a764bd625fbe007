"""A small server for the pages: static files and one scripted WebSocket on one port, in a thread of its own.

The browser tests are plain functions, because playwright's synchronous interface may not run inside trio. So the server
has its own trio loop, and a test's calls are handed over to it. It sends the real server's Content-Security-Policy, so
a page that violates the policy fails its test with an error in the browser's console.
"""

import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import trio
import trio_websocket
from playwright.sync_api import Locator

from codec.console import Change, Hello
from tests.patience import PATIENCE

WEB = Path(__file__).parents[2] / "web"
POLICY = "default-src 'self'"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
LONGEST_HEAD = 16_384
FRAMES = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn())))"
"""To be evaluated in a page: waits until the page has drawn its next frame."""
PAGES = [{"name": name, "url": f"http://127.0.0.1:{port}"} for name, port in
         (("sidekick", 5163), ("judge", 10043), ("console", 5160))]  # fmt: skip


_ports: list[int] = []
"""The one at which the stage before this one has listened. Another stage there has the same origin, so a browser that
knows the pages' files need not fetch them again."""


class Replay(trio.abc.Stream):
    """A stream that first returns the bytes that were already read from it."""

    def __init__(self, head: bytes, stream: trio.SocketStream) -> None:
        self._head = head
        self._stream = stream
        self._held: list[bytes] | None = None
        self._one_at_a_time = trio.Lock()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        head, self._head = self._head, b""
        return head or await self._stream.receive_some(max_bytes)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if self._held is None:
            await self._stream.send_all(data)
        else:
            self._held.append(bytes(data))

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        """Everything that is sent inside this block leaves in one write at its end."""
        async with self._one_at_a_time:
            held: list[bytes] = []
            self._held = held
            try:
                yield
            finally:
                self._held = None
            await self._stream.send_all(b"".join(held))

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._stream.aclose()


class Stage:
    """`with Stage(hello) as stage`: serves the console page at `stage.url`. The methods are for tests."""

    def __init__(self, hello: Hello | None) -> None:
        self.hello = hello
        self.refusing = False
        self.greeted = 0
        self.fetched: list[str] = []
        self._sockets: dict[trio_websocket.WebSocketConnection, Replay] = {}
        self._somebody = trio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=trio.run, args=(self._serve,))

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(PATIENCE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        trio.from_thread.run_sync(self._scope.cancel, trio_token=self._token)
        self._thread.join()

    def tell(self, change: Change) -> None:
        """Send a Change to all pages."""
        self.send(msgspec.json.encode(change).decode())

    def send(self, text: str) -> None:
        self._do(self._send, text)

    def drop(self) -> None:
        """End all connections as a killed server does: without a close frame."""
        self._do(self._drop)

    def leave(self, reason: str) -> None:
        """End all connections as a stopping server does."""
        self._do(self._leave, reason)

    def _do(self, action: Callable[..., Any], *args: Any) -> None:
        trio.from_thread.run(action, *args, trio_token=self._token)

    async def _send(self, text: str) -> None:
        with trio.fail_after(PATIENCE):
            await self._somebody.wait()  # a page may have loaded before its socket is connected
        for socket in list(self._sockets):
            await socket.send_message(text)

    async def _drop(self) -> None:
        for stream in list(self._sockets.values()):
            await stream.aclose()

    async def _leave(self, reason: str) -> None:
        for socket in list(self._sockets):
            with trio.move_on_after(1):
                await socket.aclose(1001, reason)

    async def _serve(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        listener = await _listener()
        self.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}/"
        async with trio.open_nursery() as nursery:
            self._scope = nursery.cancel_scope
            self._ready.set()
            await trio.serve_listeners(self._answer, [listener])

    async def _answer(self, stream: trio.SocketStream) -> None:
        head = b""
        while b"\r\n\r\n" not in head and len(head) < LONGEST_HEAD:
            try:
                more = await stream.receive_some()
            except trio.BrokenResourceError:
                return
            if not more:
                return
            head += more
        target = head.split(b" ", 2)[1].decode()
        if target == "/live" and not self.refusing:
            await self._converse(Replay(head, stream))
        else:
            self.fetched.append(target)
            try:
                await stream.send_all(page(target))
            except trio.BrokenResourceError:
                return

    @asynccontextmanager
    async def _guest(self, stream: Replay) -> AsyncIterator[trio_websocket.WebSocketConnection]:
        """A page's socket, until it closes or the block ends."""
        async with trio.open_nursery() as nursery:
            request = await trio_websocket.wrap_server_stream(nursery, stream)
            socket = await request.accept()
            self._sockets[socket] = stream
            self._somebody.set()
            try:
                yield socket
            except trio_websocket.ConnectionClosed:
                pass
            finally:
                del self._sockets[socket]

    async def _converse(self, stream: Replay) -> None:
        async with self._guest(stream) as socket:
            if self.hello is not None:
                self.greeted += 1
                await socket.send_message(msgspec.json.encode(self.hello).decode())
            await socket.get_message()


async def _listener() -> trio.SocketListener:
    for port in (*_ports, 0):
        with suppress(OSError):  # somebody else listens there
            (listener,) = await trio.open_tcp_listeners(port, host="127.0.0.1")
            _ports[:] = [listener.socket.getsockname()[1]]
            return listener
    raise AssertionError("there is no free port")


def write(field: Locator, text: str) -> None:
    """Write a text as a person does: put the cursor into the field, delete its content, and type the text key by key.
    The field keeps the focus; press Tab to leave it. (Playwright's `fill` sets the value without the keyboard, so a
    field that accepts no keys would seem to work.)"""
    field.focus()
    field.press("ControlOrMeta+a")
    field.press("Delete")
    for number, line in enumerate(text.split("\n")):
        if number:
            field.press("Shift+Enter")  # Enter alone would indent or submit
        field.press_sequentially(line)


@contextmanager
def says_in_passing(place: Locator, word: str) -> Iterator[None]:
    """In the block, or soon after it, the place has this text, be it for a moment only."""
    place.evaluate(
        """(place) => {
            window.passed = [];
            new MutationObserver(() => window.passed.push(place.textContent.trim()))
                .observe(place, { childList: true, characterData: true, subtree: true });
        }"""
    )
    yield
    place.page.wait_for_function("(word) => window.passed.includes(word)", arg=word, timeout=1000 * PATIENCE)


def page(target: str) -> bytes:
    """The whole response to a GET."""
    if target == "/pages.json":
        return answer(json.dumps(PAGES).encode(), "application/json")
    path = WEB / ("console/index.html" if target == "/" else target.removeprefix("/web/"))
    if not path.resolve().is_relative_to(WEB) or not path.is_file():
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    return answer(path.read_bytes(), TYPES[path.suffix], lasts=path.suffix != ".html")


def answer(body: bytes, kind: str, *, lasts: bool = False) -> bytes:
    """`lasts`: it is the same at every stage, as long as the tests run. The real server has browsers ask each time."""
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        f"Cache-Control: {'max-age=86400' if lasts else 'no-store'}\r\n"
        f"Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
