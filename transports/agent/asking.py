"""One question to a server of models, over HTTP: how it is asked, read, and above all given up.

Rules
  - The connection ends with the block, whatever ends the block: the socket is closed first, and not a byte is read from
    it after that. A model that nobody listens to any more should stop computing, and a closed connection is the only
    sign that servers heed. So no connection is kept for another question, and none can be left half read.
  - httpx 0.28 reads through six nested async generators. One that is left in the middle is finished by the garbage
    collector, later and with a warning. So they are run to their end after the close, which takes what httpx has in
    memory, at most 64 kB, and no time.
  - Every wait has a deadline, and every body a limit. No redirect is followed, no cookie kept, nothing decompressed,
    and for this machine's own servers no proxy of the environment is used.
  - A name is resolved before a byte is sent: nothing is sent to a link-local address, and a name that is said to be
    this machine's must lead to this machine.
  - Whatever goes wrong is a ModelTrouble.
"""

import logging
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx
import msgspec
import trio
from msgspec import Struct

from codec.agent.addresses import is_here, is_loopback, is_never_reached
from codec.agent.answering import excerpt
from codec.agent.models import ModelTrouble, Provider
from codec.agent.refusals import ServerRefusal
from transports.agent.unreachable import unreachable

for name in ("httpx", "httpcore"):  # which say each request, and each read of it; a list of models is a dozen of them
    logging.getLogger(name).setLevel(logging.WARNING)


class Patience(Struct, frozen=True):
    """Seconds and bytes."""

    connect: float = 5.0
    send: float = 30.0
    first: float = 300.0
    """Until a model says something: it may have to be loaded, and to read a long conversation first."""
    next: float = 120.0
    """Between two signs of life."""
    ending: float = 2.0
    """For the figures that may follow when a model has finished."""
    whole: float = 3600.0
    """For one answer."""
    list: float = 2.0
    check: float = 5.0
    refusal: float = 3.0
    """For the text of an error."""
    answer_bytes: int = 200_000_000
    list_bytes: int = 8_000_000
    refusal_bytes: int = 64_000


NEVER_ASKED = (
    "The server at {} is not asked: the address is link-local, or where a cloud tells a machine its keys. No server of "
    "models is there."
)
PATIENCE = Patience()
RAISED = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, httpx.CookieConflict, ImportError, ValueError)
"""By httpx 0.28: the last two for a proxy of the environment that it cannot use, or an odd head."""


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A server, with what is needed to ask it."""

    provider: Provider
    url: str
    who: str
    """Such as: Ollama at http://127.0.0.1:11434. Sentences begin with it."""
    key_variable: str = ""
    key: str = field(default="", repr=False)


class Incoming:
    """An answer, while its block lasts."""

    def __init__(self, place: ModelServer, response: httpx.Response, patience: Patience) -> None:
        self.status = response.status_code
        self.kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        """The content type."""
        self._place = place
        self._response = response
        self._patience = patience
        self._pieces = response.aiter_raw()
        self._begun = False
        self._size = 0

    async def piece(self, seconds: float) -> bytes | None:
        """What comes next; None at the end. A TooSlowError if nothing comes in this time."""
        self._begun = True
        # for each token: trio.fail_after and a context manager of ours would cost a fifth of all that we do with it
        with trio.CancelScope(deadline=trio.current_time() + seconds) as scope:
            try:
                piece = await anext(self._pieces, None)
            except RAISED as error:
                raise _trouble(self._place, self._patience, error) from None
        if scope.cancelled_caught:
            raise trio.TooSlowError
        if piece is None:
            return None
        self._size += len(piece)
        if self._size > self._patience.answer_bytes:
            raise ModelTrouble(f"{self._place.who} sent more than {self._patience.answer_bytes:,} bytes in one answer.")
        return piece

    async def whole(self, most: int) -> bytes:
        """All of it. The caller sets the deadline."""
        body = bytearray()
        while (piece := await self.piece(self._patience.next)) is not None:
            body += piece
            if len(body) > most:
                raise ModelTrouble(
                    f"{self._place.who} sent more than {most:,} bytes where a short answer was expected."
                )
        return bytes(body)

    async def refused(self, model: str = "") -> ServerRefusal:
        """What is known of an answer that is none."""
        body = bytearray()
        with suppress(ModelTrouble, trio.TooSlowError), trio.move_on_after(self._patience.refusal):
            while len(body) < self._patience.refusal_bytes:
                piece = await self.piece(self._patience.refusal)
                if piece is None:
                    break
                body += piece
        text = bytes(body[: self._patience.refusal_bytes])
        key = self._place.key.encode()
        return ServerRefusal(
            who=self._place.who,
            provider=self._place.provider,
            status=self.status,
            body=text.replace(key, b"...") if key else text,  # some servers repeat it in their answer
            model=model,
            key_variable=self._place.key_variable,
            has_key=bool(key),
            retry_after=self._response.headers.get("retry-after", ""),
            location=self._response.headers.get("location", "").partition("?")[0],
        )

    async def hang_up(self) -> None:
        try:
            await self._response.extensions["network_stream"].aclose()
        finally:
            if self._begun:
                with suppress(httpx.HTTPError, httpx.StreamError):
                    async for _ in self._pieces:
                        pass


class _Question(httpx.AsyncByteStream):
    """A body in one piece. httpx's own is one more generator, which a cancelled upload would leave in the middle."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __aiter__(self) -> "_Question":
        return self

    async def __anext__(self) -> bytes:
        content, self._content = self._content, b""
        if not content:
            raise StopAsyncIteration
        return content


class Asking:
    """Asks servers. It keeps no connection, and of TLS only what is trusted, because loading that takes a while."""

    def __init__(self, patience: Patience = PATIENCE) -> None:
        self._patience = patience
        self._trusting_nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # for plain HTTP: httpx would load another
        self._trusted: ssl.SSLContext | None = None

    @asynccontextmanager
    async def ask(
        self, place: ModelServer, method: str, address: str, body: dict[str, Any] | None = None
    ) -> AsyncIterator[Incoming]:
        """The answer's head has come, whatever its status is."""
        # httpcore 1.0.9 asks of a connection that it may use again whether its socket is readable, and fails if we have
        # closed it; so it is told that this one is for a single question
        headers = {"accept-encoding": "identity", "user-agent": "troupe", "connection": "close"}
        if place.key:
            headers["authorization"] = f"Bearer {place.key}"
        content = None
        if body is not None:
            headers["content-type"] = "application/json"
            content = _encoded(place, body)
        async with AsyncExitStack() as stack:
            try:
                client = await stack.enter_async_context(await self._client(place))
                request = client.build_request(method, address, content=content, headers=headers)
                request.stream = _Question(content or b"")
                request.extensions["trace"] = partial(_look_where_it_leads, place)
                with trio.fail_after(self._patience.first):
                    response = await client.send(request, stream=True)
            except RAISED as error:
                raise _trouble(place, self._patience, error) from None
            stack.push_async_callback(response.aclose)
            incoming = Incoming(place, response, self._patience)
            stack.push_async_callback(incoming.hang_up)
            _expect_plain(place, response)
            yield incoming

    async def _client(self, place: ModelServer) -> httpx.AsyncClient:
        secure = place.url.startswith("https:")
        if secure and self._trusted is None:
            self._trusted = await trio.to_thread.run_sync(httpx.create_ssl_context)
        return httpx.AsyncClient(
            verify=(secure and self._trusted) or self._trusting_nobody,
            trust_env=not is_loopback(place.url),
            follow_redirects=False,
            timeout=httpx.Timeout(None, connect=self._patience.connect, write=self._patience.send),
        )


async def _look_where_it_leads(place: ModelServer, event: str, facts: Mapping[str, Any]) -> None:
    """httpcore's trace: called with a connection that is new, before anything is sent."""
    if event != "connection.connect_tcp.complete":
        return
    stream = facts["return_value"]
    there = stream.get_extra_info("server_addr")[0]
    if is_never_reached(there):
        why = NEVER_ASKED.format(place.url)
    elif is_loopback(place.url) and not is_here(there):
        why = f"{place.who} was not asked: its name leads to another machine."
    else:
        return
    await stream.aclose()
    raise ModelTrouble(why, recoverable=False)


def _encoded(place: ModelServer, body: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(body)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        raise ModelTrouble(
            f"{place.who} was not asked: the conversation holds something that JSON cannot.", recoverable=False
        ) from None


def _expect_plain(place: ModelServer, response: httpx.Response) -> None:
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise ModelTrouble(f"{place.who} sent a compressed answer ({coding[:50]!r}), though we asked for a plain one.")


def _trouble(place: ModelServer, patience: Patience, error: Exception) -> ModelTrouble:
    if isinstance(error, ImportError | ValueError):
        return ModelTrouble(f"{place.who} was not asked: {excerpt(str(error))}", recoverable=False)
    return unreachable(place.who, place.provider, place.url, error, patience.connect)
