"""Asking one server of models for the meaning of texts, many at a time.

For each request providers.py decides where the server is, whether it may be asked, and whether a key is sent. Whatever
a server does wrong is a ModelTrouble.
"""

from collections.abc import Callable, Sequence

import trio

from codec.agent import embeddings
from codec.agent.addresses import openai_root
from codec.agent.models import ModelTrouble
from codec.agent.refusals import refusal
from codec.words import lasting
from transports.agent.asking import Asking, ModelServer, Patience


class Embedder:
    """`name` is the model's, with its server's: vectors of two names cannot be compared."""

    def __init__(
        self, asking: Asking, place: Callable[[], ModelServer], name: str, model: str, patience: Patience
    ) -> None:
        """`place` raises ModelTrouble."""
        self.name = name
        self._asking = asking
        self._place = place
        self._model = model
        self._patience = patience
        self._size = 0
        """Bytes of each vector, once there has been one."""

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        """One vector for each text. Raises ModelTrouble."""
        place = self._place()
        found: list[bytes] = []
        for at in range(0, len(texts), embeddings.MOST_TEXTS):
            found += await self._some(place, texts[at : at + embeddings.MOST_TEXTS])
        return found

    async def _some(self, place: ModelServer, texts: Sequence[str]) -> list[bytes]:
        is_ollama = place.provider == "ollama"
        root = place.url if is_ollama else openai_root(place.url)
        address = root + (embeddings.OLLAMA_EMBED if is_ollama else embeddings.EMBEDDINGS)
        body = embeddings.embed_body(self._model, texts)
        try:
            with trio.fail_after(self._patience.first):
                async with self._asking.ask(place, "POST", address, body) as answer:
                    if answer.status != 200:
                        raise refusal(await answer.refused(self._model))
                    whole = await answer.whole(self._patience.list_bytes)
        except trio.TooSlowError:
            raise ModelTrouble(f"{place.who} sent no embeddings for {lasting(self._patience.first)}.") from None
        # a batch is a hundred thousand numbers: the loop has others to serve
        found = await trio.to_thread.run_sync(
            embeddings.vectors_of, whole, place.provider, len(texts), place.who, abandon_on_cancel=True
        )
        self._size = self._size or len(found[0])
        if len(found[0]) != self._size:
            raise ModelTrouble(
                f"{place.who} sent embeddings of {len(found[0]) // 4} numbers, and of {self._size // 4} before. Is "
                f"{self._model} another model now? Then start Troupe again.",
                recoverable=False,
            )
        return found
