"""The meaning of an index's texts: filling in the vectors that are missing, and finding by them.

    SeekMeanings ──> texts without a vector ──> the model ──> KeepMeanings, and again, to the end

Rules
  - It goes on where it stopped: what was stored stays stored, and a text that has a vector is never sent again.
  - It runs beside updates, which it never holds up: each order is short, and the model is waited for in between.
  - A question waits for its own vector for a moment only. Without it, the words answer alone.
  - A text that the model refuses is left out, and counted. A rebuild tries it again.
  - Under the same name there may be another model one day. Its vectors show that, if they have another length: then all
    are made anew.
"""

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import trio
from msgspec.structs import replace

from codec.agent.index.asking import IndexFindings, IndexHit, IndexQuery, Reason, StageCount
from codec.agent.index.fusing import fused
from codec.agent.index.question import question_of
from codec.agent.index.telling import IndexMode, IndexTrouble
from codec.agent.models import ModelTrouble
from codec.words import counted
from transports.agent.index import orders
from transports.agent.index.ordering import OrderTaker, ordered
from transports.agent.index.orders import ChunkMeaning, IndexPlace, IndexTotals
from transports.agent.index.vector_matrix import VectorMatrix
from transports.agent.index.vector_rows import MOST_VECTORS

QUESTION_SECONDS = 1.0
MOST_ALIKE, MOST_HITS = 400, 100
QUESTIONS_KEPT = 64
TRUSTED = 3
"""When the model has failed so many times by the same texts, they are doubted."""
TOO_MANY = "Only {:,} of {:,} passages can be found by their meaning."
REFUSED = (
    "The embedding model refuses {}, even shortened, which can be found by words only. If its server can be made to "
    "take longer texts, do that and rebuild the index, or choose another model."
)
NOT_YET = "No passage is embedded yet, so places are found by their words only."
OTHER_MODEL = (
    "Places are found by their words only for now: the embedding model sends vectors of another length than before, so "
    "all vectors are made anew."
)
OTHER_NUMBERS = (
    "The embedding model sends vectors of {:,} numbers, and has sent vectors of {:,}. All are made anew in a moment."
)
NOT_NOW = "Places are not found by their meaning now."


class TextEmbedder(Protocol):
    @property
    def name(self) -> str: ...

    async def embed(self, texts: Sequence[str], *, doubted: bool = False) -> Sequence[bytes | None]:
        """One vector for each text, all of one length. None: the model refuses this text. `doubted`: or fails by it.
        Raises ModelTrouble."""


class IndexMeaning:
    """Of one workspace."""

    def __init__(self, embedder: TextEmbedder, crew: OrderTaker, place: IndexPlace) -> None:
        self._embedder = embedder
        self._crew = crew
        self._place = place
        self._matrix = VectorMatrix()
        self._questions: OrderedDict[str, bytes] = OrderedDict()
        """The vectors of the last ones."""
        self._size = 0
        """Bytes of each vector that the model has sent last."""
        self._failed, self._failures = b"", 0
        """The first text, by its digest, of a request that has failed so many times in a row."""

    def mode(self, total: IndexTotals) -> IndexMode:
        whole = total.vectors > 0 and total.vectors + total.refused == total.chunks
        return "full" if whole and total.vector_model == self._embedder.name else "text_only"

    def troubles(self, total: IndexTotals) -> Iterator[str]:
        if total.chunks > MOST_VECTORS:
            yield TOO_MANY.format(MOST_VECTORS, total.chunks)
        if total.refused and total.vector_model == self._embedder.name:
            yield REFUSED.format(counted(total.refused, "passage"))

    # -- filling

    async def fill(self, said: Callable[[IndexTotals], None]) -> IndexTotals:
        """Raises IndexTrouble."""
        name = self._embedder.name
        after, kept, size = 0, False, 0
        while True:
            order = orders.SeekMeanings(self._place, name, self._size, after)
            found = await ordered(self._crew, order, orders.WithoutMeaning)
            if not after:
                said(found.total)  # what was kept may be gone: it was another model's
            if found.texts:
                first = found.texts[0].digest
                self._failed, self._failures = first, self._failures if first == self._failed else 0
                self._failures += 1
                doubted = self._failures > TRUSTED
                vectors = await self._vectors([each.text for each in found.texts], doubted=doubted)
                self._failures = 0
                if size and self._size != size:  # once is another model; again and again would never end
                    raise IndexTrouble(f"{NOT_NOW} {OTHER_NUMBERS.format(self._size // 4, size // 4)}")
                size = self._size
                meanings = tuple(
                    ChunkMeaning(each.chunk, each.digest, vector or b"")
                    for each, vector in zip(found.texts, vectors, strict=True)
                )
                written = await ordered(self._crew, orders.KeepMeanings(self._place, name, meanings), orders.Written)
                kept = True
                said(written.total)
            if found.reached is not None:
                after = found.reached
            elif after and kept:  # once more from the begin: for texts that were there twice, or changed meanwhile
                after, kept = 0, False
            else:
                return found.total

    # -- finding

    async def vector(self, text: str) -> bytes:
        """Of a question. Raises IndexTrouble."""
        if text in self._questions:
            self._questions.move_to_end(text)
            return self._questions[text]
        try:
            with trio.fail_after(QUESTION_SECONDS):
                (found,) = await self._vectors([text])
        except trio.TooSlowError:
            raise IndexTrouble("The embedding model takes too long to read the question.") from None
        if found is None:
            raise IndexTrouble("The embedding model refuses the question. Ask a shorter one to find by meaning.")
        self._questions[text] = found
        while len(self._questions) > QUESTIONS_KEPT:
            self._questions.popitem(last=False)
        return found

    async def _vectors(self, texts: Sequence[str], *, doubted: bool = False) -> Sequence[bytes | None]:
        """Raises IndexTrouble."""
        try:
            vectors = await self._embedder.embed(texts, doubted=doubted)
        except ModelTrouble as trouble:
            raise IndexTrouble(f"{NOT_NOW} {trouble}") from None
        size = next((len(vector) for vector in vectors if vector is not None), self._size)
        if size != self._size:
            self._size = size
            self._questions.clear()
        return vectors

    def hits(
        self, connection: sqlite3.Connection, question: bytes, readable: Callable[[str], bool]
    ) -> list[IndexHit] | None:
        """In a thread; the best first. None: the index has no vectors for it. Raises OtherVectors."""
        alike = self._matrix.most_like(connection, self._embedder.name, question, MOST_ALIKE)
        if alike is None:
            return None
        hits: list[IndexHit] = []
        for chunk, likeness in alike:
            row = connection.execute(
                "SELECT path, first, last, name, digest FROM chunk JOIN file ON file.id = chunk.file"
                " WHERE chunk.id = ?",
                (chunk,),
            ).fetchone()
            if row is not None and readable(row[0]):
                path, first, last, name, digest = row
                score = float(f"{likeness:.4g}")
                reason = Reason("vector_search", f"goes with the question by its meaning ({likeness:.2f})", score)
                hits.append(
                    IndexHit(
                        path=path,
                        first_line=first,
                        last_line=last,
                        score=score,
                        symbol=name,
                        digest=digest,
                        reasons=(reason,),
                    )
                )
                if len(hits) == MOST_HITS:
                    break
        return hits


def with_meaning(query: IndexQuery, found: IndexFindings, hits: Sequence[IndexHit]) -> IndexFindings:
    """What the words have found, and what the meaning has."""
    most, per_file = max(0, query.most), max(1, query.per_file)
    both = fused(found.hits, hits, most, per_file, sole=bool(question_of(query.text).sole))
    if query.kind == "vectors":  # there is nothing else that it would be compared with
        both = [replace(hit, score=hit.reasons[0].score) for hit in both]
    stages = [each for each in found.stages if each.stage != "reranking"]
    stages += [StageCount("vector_search", len(hits)), StageCount("reranking", len(both))]
    return IndexFindings(
        hits=tuple(both),
        stages=tuple(stages),
        generation=found.generation,
        complete=found.complete,
        words=found.words,
    )
