"""Hypercorn on one of our wires: HTTP/1.1, one connection.

HTTP/2 is off. Nothing here needs it on a local machine, browsers offer it by ALPN only (we do not), and Hypercorn's
other two ways into it, prior knowledge and `Upgrade: h2c`, would lead around the door's reading of the head. An h2c
upgrade is ignored, as HTTP lets us: the answer comes in HTTP/1.1 (Java's HTTP client offers h2c with every plain
request).

This uses internals of Hypercorn 0.18 (`TCPServer`, `H11Protocol`, `TaskGroup`), because its public `serve` binds its
own sockets and lets an error on one connection end all of them. The tests of this folder fail if one of these names
changes.
"""

import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from math import inf
from typing import Any, Protocol, cast

import h11
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ConnectionState, LifespanState

from transports.http.guard import Guard, Receive, Scope, Send
from transports.wire.limits import HttpLimits
from transports.wire.refusal import Contain, Refusal, Wording
from transports.wire.turns import Pace
from transports.wire.wire import Wire


class WindingUp(Protocol):
    async def wait(self) -> None: ...


Ends = tuple[tuple[str, int], tuple[str, int]]
"""The client's address and ours."""


class Http:
    """The state that the HTTP connections of one door share."""

    def __init__(
        self,
        guard: Guard,
        limits: HttpLimits,
        *,
        head_bytes: int,
        secure: bool,
        contain: Contain,
    ) -> None:
        self._guard = guard
        self._secure = secure
        self._context = WorkerContext(None)
        self._config = Config()
        self._config.logger_class = cast(Any, partial(_Log, contain))
        self._config.include_server_header = False
        self._config.h11_max_incomplete_size = head_bytes
        self._config.keep_alive_timeout = limits.idle_seconds

    async def serve(self, wire: Wire, ends: Ends) -> None:
        """Serves until the connection ends. May raise anything that Hypercorn raises; the door contains it."""

        pace = Pace()

        async def app(scope: Scope, receive: Receive, send: Send, *_: object) -> None:
            began = await pace.begin(wire.silence)
            try:
                await self._guard(scope, receive, send, wire)
            finally:
                pace.end(began)

        made = _Connection(
            cast(AppWrapper, app),
            self._config,
            self._context,
            wire,
            ends,
            secure=self._secure,
            wording=self._guard.wording,
        )
        await made.run()

    async def wind_up(self) -> None:
        """Idle connections close now, the others after their current answer."""
        await self._context.terminated.set()


class _Connection(TCPServer):
    def __init__(
        self,
        app: AppWrapper,
        config: Config,
        context: WorkerContext,
        wire: Wire,
        ends: Ends,
        *,
        secure: bool,
        wording: Wording,
    ) -> None:
        super().__init__(app, config, context, LifespanState({}), cast("trio.SSLStream[trio.SocketStream]", wire))
        self._wire = wire
        self._ends = ends
        self._secure = secure
        self._wording = wording
        self._idleness = _Idleness(config.keep_alive_timeout, context.terminated)
        self._reads = trio.CancelScope()
        """Cancelled when the reader has ended."""

    async def run(self) -> None:
        client, server = self._ends
        try:
            async with TaskGroup() as self._task_group:
                protocol = _Http11(
                    self.app,
                    self.config,
                    self.context,
                    self._task_group,
                    ConnectionState(self.state),
                    self._secure,
                    client,
                    server,
                    self.protocol_send,
                    wire=self._wire,
                    wording=self._wording,
                )
                self.protocol = cast(Any, protocol)
                await protocol.initiate()
                self._task_group.spawn(self._end_when_idle)
                with protocol.reading:
                    await self._read_data()
                # Hypercorn 0.18 leaves the idle timer running when the client has gone: it would hold the connection's
                # place until it rings.
                self._reads.cancel()
        finally:
            await self._close()

    async def protocol_send(self, event: Event) -> None:
        if isinstance(event, Updated):
            self._idleness.update(event.idle)
        elif not isinstance(event, RawData) or event.data:  # the end of an answer whose length is known is no bytes
            await super().protocol_send(event)

    async def _end_when_idle(self) -> None:
        with self._reads:
            await self._idleness.over()
        if not self._reads.cancelled_caught:
            await self._initiate_server_close()


class _Idleness:
    """Tells when a connection has waited too long for its next request, or has none under way while the door winds up.

    Hypercorn 0.18 starts a task after each answer, and cancels it at the next request. Here a connection has one task,
    and its deadline moves.
    """

    def __init__(self, seconds: float, winding_up: WindingUp) -> None:
        self._seconds = seconds
        self._winding_up = winding_up
        self._idle = True
        self._has_ended = trio.Event()
        """Set when the request that is under way has ended; made anew with each request."""
        self._patience = trio.CancelScope(deadline=trio.current_time() + seconds)

    def update(self, idle: bool) -> None:
        if idle:
            self._has_ended.set()
        elif self._idle:
            self._has_ended = trio.Event()
        self._idle = idle
        self._patience.deadline = trio.current_time() + self._seconds if idle else inf

    async def over(self) -> None:
        while True:
            with self._patience as patience:
                await self._winding_up.wait()
            if not patience.cancelled_caught:
                break
            if trio.current_time() >= patience.deadline:
                return
            self._patience = trio.CancelScope(deadline=patience.deadline)  # a request came at the last moment
        while not self._idle:
            await self._has_ended.wait()


class _Http11(H11Protocol):
    def __init__(self, *facts: Any, wire: Wire, wording: Wording) -> None:
        super().__init__(*facts)
        self.connection = _Conversation(h11.SERVER, max_incomplete_event_size=self.config.h11_max_incomplete_size)
        self._wire = wire
        self._wording = wording
        self.reading = trio.CancelScope()
        """The connection's reader works in it."""

    async def handle(self, event: Event) -> None:
        """Hypercorn 0.18 does two things here that depend on what the client does afterwards:

          - If the next request comes before this one is answered, its reader waits until the answer has been sent. If
            the client has gone, that never happens, and the reader would wait for ever.
          - It takes the end of what the client sends for the end of the client, and cancels the application. But a
            client that has sent whole requests may have said all, and still wait for the answers.

        So the reader of a client that is still there waits. The end of the answer ends the connection and the wait.
        """
        await super().handle(event)
        if isinstance(event, Closed):
            self.reading.cancel()
        elif isinstance(event, RawData) and not event.data and self.stream is not None:
            await self._wire.until_gone()

    async def _check_protocol(self, event: h11.Request) -> None:
        """Hypercorn's switch to HTTP/2, which is left out."""

    async def _send_h11_event(self, event: Any) -> None:
        """Hypercorn 0.18 sends a status without its reason phrase, which people read in logs and some clients want."""
        if isinstance(event, h11.Response) and not event.reason:
            event = h11.Response(
                status_code=event.status_code, headers=event.headers, reason=_reason(event.status_code)
            )
        await super()._send_h11_event(event)

    async def _send_error_response(self, status_code: int) -> None:
        """Answers a malformed request with h11's own explanation. It is called while h11's error is being handled."""
        refusal = Refusal(status_code, f"The request is malformed: {sys.exc_info()[1]}.")
        headers, body = refusal.answer(self._wording)
        whole = (
            h11.Response(status_code=status_code, headers=headers, reason=_reason(status_code)),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )
        data = b""
        with suppress(h11.LocalProtocolError):  # an answer to HEAD has no body
            for event in whole:
                data += self.connection.send(event) or b""
        await self.send(RawData(data=data))  # at once, for the application may be about to answer, too


class _Conversation(h11.Connection):
    """What comes behind a client's last request is not looked at.

    A request is the last one if its answer says so (a body was refused), or if the client has said so itself. h11 0.16
    takes anything behind it for a violation of the protocol, and Hypercorn 0.18 then closes the connection, with the
    answer half sent or not at all. But a client may have sent its next request before it could know.
    """

    def receive_data(self, data: bytes) -> None:
        if not data or not self._has_heard_all:
            super().receive_data(data)

    def next_event(self) -> Any:
        return h11.NEED_DATA if self._has_heard_all and self.trailing_data[0] else super().next_event()

    @property
    def _has_heard_all(self) -> bool:
        return self.their_state is h11.MUST_CLOSE


def _reason(status: int) -> bytes:
    try:
        return HTTPStatus(status).phrase.encode()
    except ValueError:
        return b""


class _Log:
    """Hypercorn's log, reduced to errors that got past the guard."""

    def __init__(self, contain: Contain, config: Config) -> None:
        self._contain = contain

    async def exception(self, message: str, *_: object, **__: object) -> None:
        error = sys.exc_info()[1]
        if error is not None:
            self._contain(message, error)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[None]]:
        return _silent


async def _silent(*_: object, **__: object) -> None:
    pass
