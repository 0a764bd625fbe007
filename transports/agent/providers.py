"""The servers of models: Ollama, any server that speaks OpenAI's protocol, and the built-in model.

A request names a provider and may name an address. Without an address the first configured server of that provider is
meant. An address that no setting names is not asked (codec/agent/addresses.py), whoever names it: every way to a server
goes through `expect`. A key goes only to the address for which it is configured; any other server is asked without one.
Keys stay in the environment: the settings hold only a variable's name.

    opening    the question is sent; a status other than 200 is a sentence     -> answering
    answering  deltas, as they come                                            -> ended
    ended      the model has finished; if only the stream has, it was cut off

If a server refuses a part of a request that is not essential, as its words tell, the server is asked again without that
part.
"""

import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import trio
from msgspec import Struct
from msgspec.structs import replace

from codec.agent import ollama, openai
from codec.agent.addresses import LOOPBACK, BadAddress, is_named, is_never_asked, kept_address, openai_root
from codec.agent.answering import LIMITS, AnswerLimits, AnswerReader
from codec.agent.models import BUILTIN, Delta, ModelConfig, ModelFact, ModelRequest, ModelTrouble, Provider
from codec.agent.refusals import refusal, words
from codec.words import lasting
from codec.words import listed as in_words
from transports.agent.asking import NEVER_ASKED, PATIENCE, Asking, Incoming, ModelServer, Patience
from transports.agent.embedding import Embedder
from transports.agent.listing import check, listed

Builtin = Callable[[ModelRequest], Iterable[Delta] | AsyncIterator[Delta]]
NAMES: dict[Provider, str] = {"ollama": "Ollama", "vllm": "vLLM", "llamacpp": "llama.cpp"}


class Server(Struct, frozen=True):
    """As it is configured."""

    provider: Provider
    url: str = ""
    """As users write it; empty: the provider's usual one."""
    key_variable: str = ""
    """The name of the environment variable that holds its key."""


class Families:
    """The Providers of actors/agent/given.py. Raises BadAddress if a server's address is none."""

    def __init__(
        self,
        servers: Sequence[Server],
        builtin: Builtin,
        *,
        others: Sequence[str] = (LOOPBACK,),
        environment: Mapping[str, str] = os.environ,
        patience: Patience = PATIENCE,
        limits: AnswerLimits = LIMITS,
    ) -> None:
        """`others`: the addresses, besides these servers', that may be asked; the setting `model_addresses`."""
        self._others = tuple(each if each == LOOPBACK else kept_address(each, "openai") for each in others)
        self._servers = tuple(
            replace(server, url=kept_address(server.url, server.provider))
            for server in servers
            if server.provider != BUILTIN
        )
        self._builtin = builtin
        self._environment = environment
        self._patience = patience
        self._limits = limits
        self._asking = Asking(patience)

    def stream(self, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[Delta]]:
        return self._within(request) if request.model.provider == BUILTIN else self._asked(request)

    async def listed(self) -> tuple[Sequence[ModelFact], Sequence[str]]:
        found: dict[int, Sequence[ModelFact]] = {}
        silent: dict[int, str] = {}

        async def ask(number: int, server: Server) -> None:
            try:
                found[number] = await listed(self._asking, self._place(server), self._patience)
            except ModelTrouble as trouble:
                silent[number] = str(trouble)

        async with trio.open_nursery() as nursery:
            for number, server in enumerate(self._servers):
                nursery.start_soon(ask, number, server)
        facts = [fact for number in sorted(found) for fact in found[number]]
        return facts, [silent[number] for number in sorted(silent)]

    async def check(self, request: ModelRequest) -> None:
        if request.model.provider != BUILTIN:
            await check(self._asking, self._place_of(request.model), request.model.model_name, self._patience)

    def expect(self, model: ModelConfig) -> None:
        if model.provider != BUILTIN:
            self._place_of(model)

    def embedder(self, provider: Provider, model: str) -> Embedder:
        """Of the configured server of this provider."""
        place = partial(self._place_of, ModelConfig(provider=provider, model_name=model))
        return Embedder(self._asking, place, f"{provider} {model}", model, self._patience)

    def _place_of(self, model: ModelConfig) -> ModelServer:
        return self._place(self._server_of(model))

    def _server_of(self, model: ModelConfig) -> Server:
        try:
            url = kept_address(model.url, model.provider) if model.url.strip() else ""
        except BadAddress as bad:
            raise ModelTrouble(str(bad), recoverable=False) from None
        own = [server for server in self._servers if server.provider == model.provider]
        found = next((server for server in own if url in ("", server.url)), None)
        if found is None and not url:
            there = in_words([BUILTIN, *dict.fromkeys(server.provider for server in self._servers)])
            raise ModelTrouble(
                f"No server of {model.provider} is configured. Name its address in the settings, section [agent]. "
                f"There is {there} now.",
                recoverable=False,
            )
        server = found or Server(model.provider, url)
        known = found is not None or any(url == each.url for each in self._servers)
        if not known and not is_named(url, self._others):
            raise ModelTrouble(
                f"The server at {url} is not asked, because the settings do not name it. If you trust it, add "
                f'"{url}" to model_addresses in the section [agent] of the settings, and start Troupe again.',
                recoverable=False,
            )
        return server

    def _place(self, server: Server) -> ModelServer:
        if is_never_asked(server.url):
            raise ModelTrouble(NEVER_ASKED.format(server.url), recoverable=False)
        host = urlsplit(server.url).hostname or ""
        name = NAMES.get(server.provider) or ("OpenAI" if host == "api.openai.com" else "The models' server")
        key = self._environment.get(server.key_variable, "").strip() if server.key_variable else ""
        who = f"{name} at {server.url}"
        if not (key.isascii() and (key.isprintable() or not key)):
            raise ModelTrouble(
                f"{who} was not asked: what {server.key_variable} holds in the environment is no key.",
                recoverable=False,
            )
        return ModelServer(server.provider, server.url, who, server.key_variable, key)

    # -- one answer

    @asynccontextmanager
    async def _within(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[Delta]]:
        answer = self._builtin(request)
        if not isinstance(answer, AsyncIterator):
            yield _EachOf(iter(answer))
            return
        try:
            yield answer
        finally:
            close = getattr(answer, "aclose", None)
            if close is not None:
                await close()

    @asynccontextmanager
    async def _asked(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[Delta]]:
        place = self._place_of(request.model)
        is_ollama = place.provider == "ollama"
        body = ollama.chat_body(request) if is_ollama else openai.chat_body(request)
        async with AsyncExitStack() as stack:
            incoming = await self._open(stack, place, body, request.model.model_name)
            reader: AnswerReader
            if is_ollama:
                reader = ollama.OllamaAnswer(place.who, _fresh_id, self._limits)
            else:
                streamed = incoming.kind != "application/json"
                reader = openai.OpenAIAnswer(place.who, _fresh_id, self._limits, streamed=streamed)
            yield _Answering(place, incoming, reader, self._patience)

    async def _open(self, stack: AsyncExitStack, place: ModelServer, body: dict[str, Any], model: str) -> Incoming:
        is_ollama = place.provider == "ollama"
        address = place.url + ollama.CHAT if is_ollama else openai_root(place.url) + openai.CHAT
        while True:
            async with AsyncExitStack() as attempt:
                try:
                    incoming = await attempt.enter_async_context(self._asking.ask(place, "POST", address, body))
                except trio.TooSlowError:
                    raise _silent(place, self._patience.first) from None
                if incoming.status == 200:
                    if incoming.kind == "text/html":
                        raise ModelTrouble(
                            f"{place.who} answers with a web page. Is the address right?", recoverable=False
                        )
                    await stack.enter_async_context(attempt.pop_all())
                    return incoming
                refused = await incoming.refused(model)
                said = words(refused.body)
                without = ollama.without(body, said) if is_ollama else openai.without(body, said)
                if without is None or incoming.status not in (400, 422):
                    raise refusal(refused)
                del body[without]


class _Answering(AsyncIterator[Delta]):
    """The deltas of one answer. An object and not a generator, because it may be left in the middle."""

    def __init__(self, place: ModelServer, incoming: Incoming, reader: AnswerReader, patience: Patience) -> None:
        self._place = place
        self._incoming = incoming
        self._reader = reader
        self._patience = patience
        self._ready: Iterator[Delta] = iter(())
        self._quiet = patience.first
        """How long the server may say nothing now."""
        self._until = trio.current_time() + patience.whole
        self._ended = False

    async def __anext__(self) -> Delta:
        while True:
            delta = next(self._ready, None)
            if delta is not None:
                self._quiet = self._patience.next
                return delta
            if self._reader.over:
                raise StopAsyncIteration
            if self._ended:
                raise ModelTrouble(f"{self._place.who} broke off in the middle of its answer. Try again.")
            piece = await self._piece()
            self._ended = piece is None
            self._ready = self._reader.end() if piece is None else self._reader.feed(piece)

    async def _piece(self) -> bytes | None:
        left = self._until - trio.current_time()
        quiet = self._patience.ending if self._reader.ending else self._quiet
        try:
            return await self._incoming.piece(max(0.0, min(left, quiet)))
        except trio.TooSlowError:
            if self._reader.ending:
                return None
            if left <= quiet:
                raise ModelTrouble(
                    f"{self._place.who} did not finish within {lasting(self._patience.whole)}."
                ) from None
            raise _silent(self._place, quiet) from None


class _EachOf(AsyncIterator[Delta]):
    def __init__(self, deltas: Iterator[Delta]) -> None:
        self._deltas = deltas

    async def __anext__(self) -> Delta:
        await trio.lowlevel.checkpoint()
        delta = next(self._deltas, None)
        if delta is None:
            raise StopAsyncIteration
        return delta


def _silent(place: ModelServer, seconds: float) -> ModelTrouble:
    return ModelTrouble(f"{place.who} said nothing for {lasting(seconds)}. Try again, or choose another model.")


def _fresh_id() -> str:
    return f"call_{secrets.token_hex(8)}"
