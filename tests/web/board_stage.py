"""A small server for the board page: its files, a scripted room behind a WebSocket, and Markdown from a table.

Like `stage.py`, on which it is based, it runs in a thread with its own trio loop. A test tells it what to send
(`script` to each page that connects, `tell_all` to all connected pages), and reads the pages' messages.
"""

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from html import escape
from typing import Any, Protocol

import trio
import trio_websocket
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, expect

from tests.patience import PATIENCE
from tests.web.board_words import CLEAR, Message, remove, spawn
from tests.web.conftest import BROWSERS_OWN
from tests.web.stage import FRAMES, LONGEST_HEAD, POLICY, TYPES, WEB, Replay, Stage, page
from tests.web.windows import window

ABORTED = "Failed to load resource: net::ERR_FAILED"
"""How the browser reports a request that a test has stopped."""


class BoardStage(Stage):
    """`with BoardStage(script)`: serves the board at `stage.url` and at `stage.url + "session/ID"`."""

    def __init__(self, script: list[Message]) -> None:
        super().__init__(None)
        self.script = script
        self.rooms: list[str] = []
        self.listed: list[Message] | None = []
        """The rooms that are listed; None: the list is not available."""
        self.rendered: dict[str, str] = {}
        self.asked: list[str] = []
        self._heard: list[Message] = []
        self._news = threading.Condition()

    def tell_all(self, *messages: Message) -> None:
        self._do(self._tell_all, [json.dumps(message) for message in messages])

    def heard(self, kind: str, count: int = 1) -> list[Message]:
        """The pages' messages of a type, as soon as there are `count`."""
        with self._news:
            assert self._news.wait_for(lambda: len(self._of(kind)) >= count, PATIENCE), self._heard
            return self._of(kind)

    def events(self, count: int = 1) -> list[Message]:
        """The payloads of the pages' events, with the component that each came from."""
        return [{"src": each["src"], **each["payload"]} for each in self.heard("event", count)]

    def _of(self, kind: str) -> list[Message]:
        return [each for each in self._heard if each["type"] == kind]

    async def _tell_all(self, texts: list[str]) -> None:
        for socket in list(self._sockets):
            await self._say(socket, texts)

    async def _say(self, socket: trio_websocket.WebSocketConnection, texts: list[str]) -> None:
        """Send texts in one write, as the server does. If they came in pieces, a page might show them in pieces."""
        async with self._sockets[socket].together():
            for text in texts:
                await socket.send_message(text)

    async def _answer(self, stream: trio.SocketStream) -> None:
        try:
            head = await _receive(stream, lambda data: b"\r\n\r\n" in data)
            first, _, fields = head.partition(b"\r\n")
            method, target, _ = first.decode().split(" ")
            if b"upgrade: websocket" in fields.lower():
                await self._refuse_or_converse(target, Replay(head, stream))
            elif method == "POST" and target == "/markdown":
                await stream.send_all(await self._render(head, stream))
            elif target == "/rooms.json" and self.listed is not None:
                await stream.send_all(_answer_with(json.dumps({"rooms": self.listed}).encode(), "application/json"))
            else:
                await stream.send_all(_page(target))
        except (trio.BrokenResourceError, EOFError):
            return

    async def _refuse_or_converse(self, target: str, stream: Replay) -> None:
        if self.refusing:
            await stream.send_all(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        self.rooms.append(target)
        await self._converse(stream)

    async def _render(self, head: bytes, stream: trio.SocketStream) -> bytes:
        fields, _, body = head.partition(b"\r\n\r\n")
        length = int(next(line for line in fields.lower().split(b"\r\n") if line.startswith(b"content-length:"))[15:])
        if len(body) < length:
            body += await _receive(stream, lambda data: len(data) >= length - len(body))
        source = body.decode()
        self.asked.append(source)
        return _answer_with(self.rendered.get(source, f"<p>{escape(source)}</p>").encode(), "text/html")

    async def _converse(self, stream: Replay) -> None:
        async with self._guest(stream) as socket:
            while True:
                message = json.loads(await socket.get_message())
                with self._news:
                    self._heard.append(message)
                    self._news.notify_all()
                if message["component"] == "system" and message["payload"]["status"] == "online":
                    self.greeted += 1
                    await self._say(socket, [json.dumps(each) for each in self.script])


async def _receive(stream: trio.SocketStream, enough: Callable[[bytes], bool]) -> bytes:
    data = b""
    while not enough(data) and len(data) < 100 * LONGEST_HEAD:
        more = await stream.receive_some()
        if not more:
            raise EOFError
        data += more
    return data


def _page(target: str) -> bytes:
    path = target.partition("?")[0]
    if path == "/" or path.startswith("/session/"):
        return _answer_with((WEB / "board/index.html").read_bytes(), TYPES[".html"])
    return page(path)


def _answer_with(body: bytes, kind: str) -> bytes:
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        f"Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


marks = itertools.count()


class Show(Protocol):
    def __call__(self, *script: Message, path: str = "", **context: Any) -> tuple[Page, BoardStage]: ...


@contextmanager
def showing(chromium: Browser, tolerated: str = ABORTED) -> Iterator[Show]:
    """Opens boards that a script has drawn. At the end, pages may only have reported errors that contain
    `tolerated`."""
    errors: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        fine = message.text.startswith(BROWSERS_OWN) or tolerated in message.text
        if message.type in ("error", "warning") and not fine:
            errors.append(message.text)

    with ExitStack() as stack:

        def show(*script: Message, path: str = "", **context: Any) -> tuple[Page, BoardStage]:
            stage = stack.enter_context(BoardStage([CLEAR, *script]))
            page = stack.enter_context(window(chromium, **context)).new_page()
            page.on("console", hear)
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(stage.url + path)
            say(page, stage)
            return page, stage

        yield show
    assert not errors, errors


def held(page: Page, routes: list[Route]) -> Route:
    """Wait until the page has made a request that the test holds; take the first one out of `routes`."""
    deadline = time.monotonic() + PATIENCE
    while not routes:
        assert time.monotonic() < deadline, "The page has asked for nothing."
        page.evaluate(FRAMES)
    return routes.pop(0)


def say(page: Page, stage: BoardStage, *messages: Message) -> None:
    """Send messages to the page, and wait until it shows them."""
    mark = f"mark-{next(marks)}"
    stage.heard("announce")
    stage.tell_all(*messages, spawn("label", mark, text=mark))
    label = page.locator(f'[data-id="{mark}"]')
    expect(label).to_have_text(mark)
    stage.tell_all(remove("label", mark))
    expect(label).to_have_count(0)
