"""A small HTTP server over trio and h11 that answers as a script says, and notices at once when its client goes.

While a script runs, the socket is watched. What the client sends meanwhile is kept for the next question; its end is
noted with the time. With `cut` a body comes in chunks of so many bytes, each in its own write; with `torn` all bytes,
those of the head and of the chunks' lengths too, are written so many at a time.
"""

import json
import socket
import struct
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self

import h11
import trio

from tests.agent.fakes.meaning import embedded
from tests.agent.fakes.script import (
    MODELS,
    Asked,
    Die,
    Done,
    FakeModel,
    Forever,
    Hang,
    Leave,
    Pause,
    Play,
    Raw,
    Refuse,
    Script,
    Step,
    Tell,
)


@dataclass
class Visit:
    """One connection."""

    asked: list[Asked] = field(default_factory=list)
    gone: trio.Event = field(default_factory=trio.Event)
    gone_at: float = 0.0
    """trio's time at which its end was seen."""
    sent: int = 0
    """Bytes that its socket has taken."""


class Died(Exception):
    """A script ended the connection."""


class FakeServer(ABC):
    """`play` decides what a question of the chat is answered; the other paths answer what `models` says."""

    def __init__(
        self, play: Play, *, models: Sequence[FakeModel] = MODELS, cut: int = 0, torn: int = 0, early_head: bool = False
    ) -> None:
        self.play = play
        self.models = tuple(models)
        self.embed: Play = embedded
        """What a question for embeddings is answered."""
        self.visits: list[Visit] = []
        self.url = ""
        self._cut = cut
        self._torn = torn
        self._early_head = early_head
        """Whether the head is sent before the script begins, and not with its first bytes."""

    @asynccontextmanager
    async def running(self, port: int = 0) -> AsyncIterator[Self]:
        async with trio.open_nursery() as nursery:
            (listener,) = await trio.open_tcp_listeners(port, host="127.0.0.1")
            self.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
            nursery.start_soon(trio.serve_listeners, self._serve, [listener])
            yield self
            nursery.cancel_scope.cancel()

    @property
    def asked(self) -> list[Asked]:
        return [asked for visit in self.visits for asked in visit.asked]

    # -- what a family adds

    @abstractmethod
    def answer(self, asked: Asked) -> tuple[str, Script] | None:
        """The content type and what follows; None: this path is not known."""

    @abstractmethod
    def wire(self, step: Step, asked: Asked) -> Iterator[bytes]:
        """A step as this family says it; each piece is one write."""

    # -- a connection

    async def _serve(self, stream: trio.SocketStream) -> None:
        visit = Visit()
        self.visits.append(visit)
        connection = h11.Connection(h11.SERVER)
        try:
            async with stream:
                await self._answer_all(stream, connection, visit)
        except (trio.BrokenResourceError, trio.ClosedResourceError, h11.RemoteProtocolError):
            return
        finally:
            _note(visit)

    async def _answer_all(self, stream: trio.SocketStream, connection: h11.Connection, visit: Visit) -> None:
        while (asked := await self._question(stream, connection)) is not None:
            visit.asked.append(asked)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._watch, stream, connection, visit, nursery.cancel_scope)
                with suppress(trio.BrokenResourceError, Died):
                    await self._perform(_Sender(stream, connection, visit, self._cut, self._torn), asked)
                nursery.cancel_scope.cancel()
            if visit.gone.is_set() or connection.states != {h11.SERVER: h11.DONE, h11.CLIENT: h11.DONE}:
                return
            connection.start_next_cycle()

    async def _question(self, stream: trio.SocketStream, connection: h11.Connection) -> Asked | None:
        head: h11.Request | None = None
        body = bytearray()
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await stream.receive_some(65536))
            elif isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                assert head is not None
                headers = {name.decode(): value.decode() for name, value in head.headers}
                said: Any = None
                with suppress(ValueError):
                    said = json.loads(body)
                return Asked(head.method.decode(), head.target.decode(), headers, said)
            else:
                return None

    async def _watch(
        self, stream: trio.SocketStream, connection: h11.Connection, visit: Visit, scope: trio.CancelScope
    ) -> None:
        try:
            while data := await stream.receive_some(65536):
                connection.receive_data(data)
        except trio.BrokenResourceError:
            pass
        _note(visit)
        scope.cancel()

    async def _perform(self, sender: "_Sender", asked: Asked) -> None:
        found = self.answer(asked)
        if found is None:
            found = ("text/plain", Refuse(404, b"404 page not found"))
        kind, script = found
        if isinstance(script, Refuse):
            headers = {"content-type": "application/json", **script.headers, "content-length": str(len(script.body))}
            await sender.head(script.status, headers)
            await sender.body([script.body])
            await sender.end()
            return
        headers = {"content-type": kind, "transfer-encoding": "chunked"}
        if self._early_head:
            await sender.head(200, headers)
        for step in script:
            match step:
                case Pause(seconds):
                    await trio.sleep(seconds)
                case Hang():
                    await trio.sleep_forever()
                case Die():
                    sender.reset()
                    raise Died
                case Leave():
                    raise Died
                case Tell(event):
                    event.set()
                case Raw(data):
                    await sender.head(200, headers)
                    await sender.body([data])
                case Forever():
                    await sender.head(200, headers)
                    while True:
                        await sender.body(self.wire(step, asked))
                case _:
                    await sender.head(200, headers)
                    await sender.body(self.wire(step, asked))
                    if isinstance(step, Done):
                        break
        await sender.head(200, headers)
        await sender.end()


class _Sender:
    def __init__(
        self, stream: trio.SocketStream, connection: h11.Connection, visit: Visit, cut: int, torn: int
    ) -> None:
        self._stream = stream
        self._connection = connection
        self._visit = visit
        self._cut = cut
        self._torn = torn
        self._begun = False

    async def head(self, status: int, headers: dict[str, str]) -> None:
        if not self._begun:
            self._begun = True
            await self._send(h11.Response(status_code=status, headers=list(headers.items())))

    async def body(self, pieces: Iterator[bytes] | list[bytes]) -> None:
        for piece in pieces:
            for part in _parts(piece, self._cut):
                await self._send(h11.Data(data=part))

    async def end(self) -> None:
        await self._send(h11.EndOfMessage())

    def reset(self) -> None:
        """The close that follows is a reset."""
        self._stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def _send(self, event: h11.Response | h11.Data | h11.EndOfMessage) -> None:
        for part in _parts(self._connection.send(event) or b"", self._torn):
            await self._stream.send_all(part)
            self._visit.sent += len(part)


def _parts(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)] if size else [data]


def _note(visit: Visit) -> None:
    if not visit.gone.is_set():
        visit.gone_at = trio.current_time()
        visit.gone.set()
