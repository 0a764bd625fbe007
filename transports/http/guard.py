"""The ASGI guard: checks every request on its way to the application, and completes every answer on its way back.

The door sees only the first request of a connection, and a kept-alive connection brings more. So each request is
checked here: Host, Origin, the target, the framing and length of the body. Each answer gets the security headers, CORS
headers for origins that were let in, and the end of the connection if the answer did not wait for its whole body (a
client cannot know how much of it was read).

If the application fails, the answer is 500 with one sentence, and the error goes to the log. A WebSocket that arrives
here is a later request of a connection that already speaks HTTP; it needs a connection of its own.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import trio
from msgspec import Struct

from transports.http.upload import Message, Upload, too_large
from transports.wire.backlog import Backlog
from transports.wire.head import check_framing, check_target
from transports.wire.limits import HttpLimits
from transports.wire.policy import HostRules
from transports.wire.refusal import Contain, Headers, Refusal, Wording
from transports.wire.wire import Wire

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]
"""An ASGI application. Each framework has its own types for the three arguments."""


class SecurityHeaders(Struct, frozen=True):
    """Sent with every answer, unless the application has set the header itself."""

    content_security_policy: str = (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'self' vscode-webview: vscode-file: https://*.vscode-cdn.net"
    )
    """No inline script, no inline style, nothing from elsewhere. Frames: ourselves and the webviews of VS Code."""
    referrer_policy: str = "no-referrer"
    cross_origin_resource_policy: str = "same-origin"

    def pairs(self) -> Headers:
        return [
            (b"content-security-policy", self.content_security_policy.encode()),
            (b"referrer-policy", self.referrer_policy.encode()),
            (b"cross-origin-resource-policy", self.cross_origin_resource_policy.encode()),
            (b"x-content-type-options", b"nosniff"),
        ]


class Guard:
    def __init__(
        self,
        app: App,
        rules: HostRules,
        limits: HttpLimits,
        headers: SecurityHeaders,
        wording: Wording,
        contain: Contain,
    ) -> None:
        self._app = app
        self._rules = rules
        self._limits = limits
        self._backlog = Backlog(limits.backlog_bytes)
        self._security = headers.pairs()
        self.wording = wording
        self._contain = contain

    async def __call__(self, scope: Scope, receive: Receive, send: Send, wire: Wire) -> None:
        if scope["type"] == "websocket":
            await _refuse_websocket(send, self.wording)
            return
        upload = Upload(receive, wire, self._limits, self._backlog)
        answer = _Answer(send, upload, self._security, self.wording)
        async with trio.open_nursery() as nursery:
            running = trio.CancelScope()
            nursery.start_soon(self._watch, upload, answer, running)
            with running:
                await self._answer(scope, upload, answer)
            if answer.refusal is not None:
                await answer.refuse(answer.refusal)
            # Hypercorn's own sign that the application has finished. It passes through the queue that the upload
            # empties, so it must be given while the upload is still there.
            await send(None)  # type: ignore[arg-type]
            nursery.cancel_scope.cancel()

    async def _watch(self, upload: Upload, answer: "_Answer", running: trio.CancelScope) -> None:
        """Watches the client's side of the request. If it ends before the answer does, the application is cancelled."""
        answer.refusal = await upload.collect()
        if not answer.finished:
            running.cancel()
        if answer.refusal is not None:
            await upload.drop()

    async def _answer(self, scope: Scope, upload: Upload, answer: "_Answer") -> None:
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        try:
            self._judge(scope, headers, upload, answer)
        except Refusal as refusal:
            await answer.refuse(refusal)
            return
        if answer.origin and scope["method"] == "OPTIONS" and _values(headers, "access-control-request-method"):
            await answer.preflight(_values(headers, "access-control-request-headers"))
            return
        try:
            await self._app(scope, upload.receive, answer.send)
        except* Exception as errors:
            self._contain(f"{scope['method']} {scope['path']}", errors)
            await answer.refuse(Refusal(500, "The server failed at this request; its log says why."))

    def _judge(self, scope: Scope, headers: list[tuple[str, str]], upload: Upload, answer: "_Answer") -> None:
        method = scope["method"]
        if method == "OPTIONS":
            method = next(iter(_values(headers, "access-control-request-method")), method)
        posts = method == "POST" and scope["path"] == "/"
        answer.origin = self._rules.check(_values(headers, "host"), _values(headers, "origin"), posts=posts)
        if not _values(headers, "origin"):
            self._rules.check_fetch(_values(headers, "sec-fetch-site"), _values(headers, "sec-fetch-mode"))
        check_target(scope["raw_path"].decode("latin-1"))
        length = check_framing(scope["http_version"], headers)
        upload.complete = upload.complete or length == 0
        if length is not None and length > self._limits.body_bytes:
            raise too_large(self._limits.body_bytes)


class _Answer:
    """The way back: adds headers to the start of the answer, and knows whether an answer has begun."""

    def __init__(self, send: Send, upload: Upload, security: Headers, wording: Wording) -> None:
        self._send = send
        self._upload = upload
        self._security = security
        self._wording = wording
        self._started = False
        self.finished = False
        """The last of the answer is on its way. From here on a cancellation could only do harm."""
        self.origin: str | None = None
        """The foreign origin that was let in."""
        self.refusal: Refusal | None = None
        """The reason why the client's part ended early."""

    async def send(self, message: Message) -> None:
        await trio.lowlevel.checkpoint()  # a client that has left must not turn the application's loop into a busy one
        if message["type"] == "http.response.start":
            self._started = True
            headers = [(bytes(name).lower(), bytes(value)) for name, value in message.get("headers", [])]
            message = {**message, "headers": headers + self._added({name for name, _ in headers})}
        elif message["type"] == "http.response.body" and not message.get("more_body", False):
            self.finished = True
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Answer with the refusal; if an answer has begun, leave it unfinished, which ends the connection."""
        if not self._started:
            await self._whole(refusal.status, *refusal.answer(self._wording))

    async def preflight(self, wanted: list[str]) -> None:
        headers = [
            (b"access-control-allow-methods", b"GET, HEAD, POST, PUT, PATCH, DELETE"),
            (b"access-control-allow-headers", ", ".join(wanted).encode("latin-1")),
            (b"access-control-max-age", b"600"),
        ]
        await self._whole(204, headers, b"")

    async def _whole(self, status: int, headers: Headers, body: bytes) -> None:
        self.finished = True
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})

    def _added(self, present: set[bytes]) -> Headers:
        added = [(name, value) for name, value in self._security if name not in present]
        if self.origin is not None:
            added += [(b"access-control-allow-origin", self.origin.encode("latin-1")), (b"vary", b"Origin")]
        if not self._upload.complete and b"connection" not in present:
            added.append((b"connection", b"close"))
        return added


async def _refuse_websocket(send: Send, wording: Wording) -> None:
    refusal = Refusal(400, "This connection already speaks HTTP; open a new connection for a WebSocket.")
    headers, body = refusal.answer(wording)
    await send({"type": "websocket.http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


def _values(headers: list[tuple[str, str]], name: str) -> list[str]:
    return [value for each, value in headers if each == name]
