"""Asking one server of models for the meaning of texts, many at a time.

For each request providers.py decides where the server is, whether it may be asked, and whether a key is sent. Whatever
a server does wrong is a ModelTrouble.

A server refuses a whole request for one text that its model cannot read. Then each half is asked for by itself, until
the text is found. It is shortened once, and then it has no vector. First, however, the server must take a plain text:
if it refuses that, too, no text is to blame.

Some servers fail where others refuse: the text ends what computes it, or the numbers for it are none. Whoever asks
again and again for the same texts may doubt them: then each failure counts as a refusal, be it a status, an answer that
cannot be read, a connection that breaks off or silence. As a server may also fail at random, a doubted text is asked
for once more before it is left out.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

import trio

from codec.agent import embeddings
from codec.agent.addresses import openai_root
from codec.agent.models import ModelTrouble
from codec.agent.refusals import ServerRefusal, is_about_content, refusal
from codec.words import lasting
from transports.agent.asking import Asking, ModelServer, Patience

PLAIN_TEXT = "text"


class _TextsRefused(ModelTrouble):
    """One of the texts may be the reason."""


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

    async def embed(self, texts: Sequence[str], *, doubted: bool = False) -> Sequence[bytes | None]:
        """One vector for each text, all of one length. None: the model refuses this text. `doubted`: or fails by it.
        Raises ModelTrouble."""
        place = self._place()
        found: list[bytes | None] = []
        for at in range(0, len(texts), embeddings.MOST_TEXTS):
            found += await self._each(place, texts[at : at + embeddings.MOST_TEXTS], doubted)
        sizes = sorted({len(vector) // 4 for vector in found if vector is not None})
        if len(sizes) > 1:
            raise ModelTrouble(f"{place.who} sent embeddings of {sizes[0]} numbers, and others of {sizes[-1]}.")
        return found

    async def _each(self, place: ModelServer, texts: Sequence[str], doubted: bool) -> Sequence[bytes | None]:
        try:
            return await self._some(place, texts, doubted)
        except _TextsRefused:
            if len(texts) == 1:
                return [await self._shortened(place, texts[0], doubted)]
        half = len(texts) // 2
        return [*await self._each(place, texts[:half], doubted), *await self._each(place, texts[half:], doubted)]

    async def _shortened(self, place: ModelServer, text: str, doubted: bool) -> bytes | None:
        shorter = embeddings.shortened(text)
        if shorter is not None:
            try:
                return (await self._some(place, [shorter], doubted))[0]
            except _TextsRefused:
                pass
        await self._some(place, [PLAIN_TEXT], doubted)
        if doubted:
            with suppress(_TextsRefused):
                return (await self._some(place, [text], doubted))[0]
        return None

    async def _some(self, place: ModelServer, texts: Sequence[str], doubted: bool) -> list[bytes]:
        """Raises _TextsRefused; and ModelTrouble, if no text can be to blame."""
        try:
            answer = await self._answer(place, texts)
        except ModelTrouble as error:
            trouble, may_be_the_texts = error, doubted
        else:
            if isinstance(answer, list):
                return answer
            trouble, may_be_the_texts = refusal(answer), is_about_content(answer, doubted=doubted)
        if may_be_the_texts:
            raise _TextsRefused(str(trouble), recoverable=trouble.recoverable)
        raise trouble

    async def _answer(self, place: ModelServer, texts: Sequence[str]) -> list[bytes] | ServerRefusal:
        """Raises ModelTrouble."""
        is_ollama = place.provider == "ollama"
        root = place.url if is_ollama else openai_root(place.url)
        address = root + (embeddings.OLLAMA_EMBED if is_ollama else embeddings.EMBEDDINGS)
        body = embeddings.embed_body(self._model, texts)
        try:
            with trio.fail_after(self._patience.first):
                async with self._asking.ask(place, "POST", address, body) as answer:
                    if answer.status != 200:
                        return await answer.refused(self._model)
                    whole = await answer.whole(self._patience.list_bytes)
        except trio.TooSlowError:
            raise ModelTrouble(f"{place.who} sent no embeddings for {lasting(self._patience.first)}.") from None
        # a batch is a hundred thousand numbers: the loop has others to serve
        return await trio.to_thread.run_sync(
            embeddings.vectors_of, whole, place.provider, len(texts), place.who, abandon_on_cancel=True
        )
