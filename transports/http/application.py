"""The application to which a system adds its HTTP routes: Quart on trio, with back-pressure for uploads.

Quart 0.22 accepts the parts of a body as they come and keeps them until the handler asks. So an upload of 200 MB to a
handler that sleeps took 200 MB of memory. Here a handler that reads a body part by part (`async for part in
request.body`) sets the pace. A handler that wants the whole body (`await request.get_data()`, `get_json()`) gets it, up
to the guard's limit.

Quart's own limits on the length and the time of a body, and on the time of an answer, are off, because the guard and
the wire count better (Quart's did not count a chunked body that was read while it came).

A request that no route accepts (an unknown path, another method) is answered with a sentence.

A path may be taken past Quart (`take`), whose request, contexts and response cost CPU time that a small post does not
need.

There is no lifespan, because everything that lives longer than a request is an actor. WebSockets do not come this way.
"""

import re
from collections.abc import Awaitable, Callable, Generator
from typing import Any
from urllib.parse import unquote

import trio
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable
from quart import Request, Response, request
from quart.routing import QuartRule
from quart_trio import QuartTrio
from quart_trio.asgi import TrioASGIHTTPConnection
from quart_trio.wrappers.request import TrioBody, TrioRequest
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from transports.http.guard import Receive, Send

IN_TEXT = "text/plain; charset=utf-8"


Taking = Callable[[bytes], Awaitable[tuple[str, int]]]
"""Takes what was posted. Returns a sentence and the status."""


class PacedBody(TrioBody):
    """A body that tells when it has room for more."""

    def __init__(self, expected_content_length: int | None, max_content_length: int | None) -> None:
        super().__init__(expected_content_length, max_content_length)
        self._wanted_whole = False
        self._waiting = False
        """Whether the handler has not yet taken the last part."""
        self._taken = trio.Event()

    def append(self, data: bytes) -> None:
        self._waiting = self._waiting or bool(data)
        super().append(data)

    async def __anext__(self) -> bytes:
        part = await super().__anext__()
        self._waiting = False
        self._make_room()
        return part

    def __await__(self) -> Generator[Any, None, Any]:
        self._wanted_whole = True
        self._make_room()
        return (yield from super().__await__())

    async def room(self) -> None:
        while self._waiting and not self._wanted_whole:
            await self._taken.wait()

    def _make_room(self) -> None:
        self._taken.set()
        self._taken = trio.Event()


class _Request(TrioRequest):
    body_class = PacedBody


class _Conversation(TrioASGIHTTPConnection):
    async def handle_messages(  # type: ignore[override]
        self, nursery: trio.Nursery, request: Request, receive: ASGIReceiveCallable
    ) -> None:
        body = request.body
        assert isinstance(body, PacedBody)
        while (message := await receive())["type"] == "http.request":
            body.append(message.get("body", b""))
            if not message.get("more_body", False):
                body.set_complete()
            await body.room()
        nursery.cancel_scope.cancel()


class KeepingSlashes(_Conversation):
    """For ports whose paths hold ids: %2F in one stays, because it separates nothing."""

    def _create_request_from_scope(self, send: ASGISendCallable) -> Request:
        raw: str = self.scope["raw_path"].decode("latin-1")
        kept = unquote(re.sub(r"(?i)%2f", "%252F", raw.partition("?")[0]))
        self.scope["path"] = kept
        return super()._create_request_from_scope(send)


class RouteRule(QuartRule):
    """For each route, werkzeug 3.1 compiles two functions that make its address. Nobody asks for one, and of the
    hundred routes of a server they took 20 ms of CPU time at its start. So a route compiles them when it is asked."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        def build(rule: "RouteRule", **values: Any) -> tuple[str, str]:
            return QuartRule._compile_builder(rule, append_unknown).__get__(rule)(**values)  # type: ignore[no-any-return]

        return build


class Application(QuartTrio):
    url_rule_class = RouteRule  # type: ignore[assignment]  # as Quart itself has it
    request_class = _Request
    asgi_http_class = _Conversation

    def __init__(self, name: str) -> None:
        super().__init__(name, static_folder=None)
        self.config.update(
            MAX_CONTENT_LENGTH=None,
            BODY_TIMEOUT=None,
            RESPONSE_TIMEOUT=None,
            PROPAGATE_EXCEPTIONS=True,  # to the guard, which logs and answers
        )
        self.url_map.strict_slashes = False  # or `/web` would be sent to `/web/`, where there is nothing either
        self.register_error_handler(HTTPException, _not_taken)
        self._takings: dict[str, Taking] = {}
        """By path."""

    def take(self, path: str, taking: Taking) -> None:
        """Whatever is posted to this path is taken past Quart. Quart knows of the path for its answers to other
        methods, and takes what is posted to another spelling of it, such as `//`."""

        async def view() -> Response:
            sentence, status = await taking(await whole_body())
            return Response(_line(sentence), status, content_type=IN_TEXT)

        self.add_url_rule(path, f"take {path}", view, methods=["POST"])
        self._takings[path] = taking

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        taking = self._takings.get(scope["path"]) if scope["method"] == "POST" else None
        if taking is None:
            await super().__call__(scope, receive, send)
        else:
            await _take(taking, receive, send)


async def _take(taking: Taking, receive: Receive, send: Send) -> None:
    parts, more = list[bytes](), True
    while more:
        message = await receive()
        parts.append(message["body"])
        more = message["more_body"]
    sentence, status = await taking(b"".join(parts))
    body = _line(sentence)
    headers = [(b"content-type", IN_TEXT.encode()), (b"content-length", b"%d" % len(body))]
    if status >= 400:
        headers.append((b"vary", b"Accept"))  # as every error has it (pages.py)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _line(sentence: str) -> bytes:
    return f"{sentence}\n".encode()


def fresh(content: bytes, content_type: str, status: int = 200) -> Response:
    """What is so at this moment, and is kept by nobody."""
    response = Response(content, status, content_type=content_type)
    response.headers["cache-control"] = "no-store"
    return response


async def whole_body() -> bytes:
    """Of the request, up to the guard's limit."""
    body = await request.get_data(as_text=False)
    assert isinstance(body, bytes)
    return body


def as_sentence(said: object) -> str:
    """An error's text as it is shown: with a capital letter, and a full stop."""
    text = str(said)
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


async def _not_taken(error: HTTPException) -> Response:
    response = Response(f"{error.description}\n", error.code, content_type=IN_TEXT)
    match error:
        case NotFound():
            response.set_data(f"There is no page {request.path!r} here.\n")
        case MethodNotAllowed(valid_methods=methods):
            allowed = ", ".join(sorted(methods or ()))
            response.set_data(f"There is no {request.method} at {request.path!r}; it takes {allowed}.\n")
            response.headers["allow"] = allowed
    return response
