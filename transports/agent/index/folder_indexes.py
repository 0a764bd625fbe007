"""The indexes of all workspaces, in a folder of our own.

Updates go to the crew. Questions are answered in a thread, from a connection that only reads. Each has a deadline, and
an asker that gives up is free at once. A question that stumbles over damage has the file put aside, and is asked again.
"""

import os
import re
import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import trio
from msgspec.structs import replace

from codec.agent.index.asking import IndexFindings, IndexHit, IndexQuery
from codec.agent.index.telling import IndexFacts, IndexTrouble, IndexWish
from transports.agent.index import orders
from transports.agent.index.database import IndexDamaged, ReadableIndex, index_trouble, is_damage, used_at
from transports.agent.index.finding import findings
from transports.agent.index.meaning import NOT_YET, OTHER_MODEL, IndexMeaning, TextEmbedder, with_meaning
from transports.agent.index.ordering import OrderTaker, ordered
from transports.agent.index.orders import IndexPlace, IndexTotals
from transports.agent.index.schema import why_no_sqlite
from transports.agent.index.updating import DamagedIndex, IndexUpdate
from transports.agent.index.vector_matrix import OtherVectors, has_numpy
from transports.agent.index.writing import totals
from transports.folder.rooted import identities
from transports.process.crew import CrewProgram

FOLDER = "index"
THREADS = 4
"""For questions to all indexes together."""
QUESTION_SECONDS = 3.0
HANG_SECONDS = 10.0
STEPS = 20_000
"""Of SQLite's machine, between two looks at the clock."""
UNUSED_DAYS = 90
TRIES = 3
MOST_LETTERS = 1 << 19
"""Of the paths of an update. With more, the whole workspace is looked at: an order is one frame."""
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")

T = TypeVar("T")


def index_workers() -> CrewProgram:
    """What the members of the crew run. Their module path has our root, and where msgspec and the grammars are."""
    libraries = (find_spec(name) for name in ("msgspec", "tree_sitter"))
    found = [os.path.dirname(place) for each in libraries if each for place in each.submodule_search_locations or ()]
    paths = [str(Path(__file__).parents[3]), *found]
    return CrewProgram(str(Path(__file__).with_name("worker.py")), tuple(dict.fromkeys(paths)))


class FolderIndexes:
    """`crew`: of members that run worker.py. `closed`: Troupe's own folders. `embedder`: without it, or without
    numpy, nothing is found by its meaning."""

    def __init__(
        self,
        crew: OrderTaker,
        state_dir: Path,
        closed: Collection[Path] = (),
        at_once: int = 0,
        embedder: TextEmbedder | None = None,
    ) -> None:
        self._crew = crew
        self._embedder = embedder if has_numpy() else None
        self._folder = state_dir / FOLDER
        self._closed = identities(closed)
        self._at_once = at_once or min(8, len(os.sched_getaffinity(0)))
        self._threads = trio.CapacityLimiter(THREADS)
        self._why_not = why_no_sqlite()

    def index(self, workspace_id: str, path: str) -> "FolderIndex":
        plain = _PLAIN_ID.fullmatch(workspace_id) is not None
        name = workspace_id if plain else sha256(workspace_id.encode(errors="replace")).hexdigest()
        place = IndexPlace(str(self._folder / f"{name}.db"), path, self._closed)
        meaning = IndexMeaning(self._embedder, self._crew, place) if self._embedder is not None else None
        return FolderIndex(self._crew, place, self._threads, self._at_once, self._why_not, meaning)

    async def tidy(self) -> list[str]:
        """Deletes what nobody has used for UNUSED_DAYS."""
        since = time.time() - UNUSED_DAYS * 86_400
        removed = []
        for file in await trio.to_thread.run_sync(self._unused, since, abandon_on_cancel=True, limiter=self._threads):
            order = orders.RemoveIndex(IndexPlace(str(file), ""), since)
            if (await ordered(self._crew, order, orders.Written)).changed:
                removed.append(file.stem)
        return removed

    def _unused(self, since: float) -> list[Path]:
        try:
            return sorted(file for file in self._folder.glob("*.db") if used_at(file) < since)
        except OSError as error:
            raise IndexTrouble(index_trouble(error)) from error


class FolderIndex:
    """Of one workspace."""

    def __init__(
        self,
        crew: OrderTaker,
        place: IndexPlace,
        threads: trio.CapacityLimiter,
        at_once: int,
        why_not: str | None,
        meaning: IndexMeaning | None = None,
    ) -> None:
        self._crew = crew
        self._place = place
        self._threads = threads
        self._at_once = at_once
        self._why_not = why_not
        self._meaning = meaning
        self._idle: list[ReadableIndex] = []

    async def facts(self) -> IndexFacts:
        found = await self._ask(totals)
        return IndexFacts() if found is None else self._facts(found)

    def _facts(self, found: IndexTotals) -> IndexFacts:
        return IndexFacts(
            total_files=found.files,
            indexed_files=found.files,
            total_chunks=found.chunks,
            total_symbols=found.symbols,
            generation=found.generation,
            complete=found.complete,
            completed_at=found.completed_at,
            mode=self._meaning.mode(found) if self._meaning is not None else "text_only",
            troubles=(*found.troubles, *(self._meaning.troubles(found) if self._meaning is not None else ())),
            vectors=found.vectors if self._meaning is not None else 0,
        )

    async def update(self, wish: IndexWish, said: Callable[[IndexFacts], None]) -> IndexFacts:
        self._check()
        if wish.paths is not None and sum(map(len, wish.paths)) > MOST_LETTERS:
            wish = IndexWish(anew=wish.anew)
        for _ in range(TRIES):
            try:
                return await IndexUpdate(self._crew, self._place, wish, said, self._at_once, self._facts).run()
            except DamagedIndex:
                wish = IndexWish()
        raise IndexTrouble("The index is damaged again and again. See whether the disk fails.")

    async def find(self, query: IndexQuery, readable: Callable[[str], bool]) -> IndexFindings:
        found = await self._ask(lambda connection: findings(connection, query, readable))
        if found is None:
            return IndexFindings(complete=False)
        if self._meaning is None or query.kind not in ("all", "vectors") or not query.text.strip():
            return found
        try:
            hits = await self._alike(self._meaning, query, readable)
        except OtherVectors:
            return replace(found, other_vectors=True, by_words_only=OTHER_MODEL)
        except IndexTrouble as trouble:
            if query.kind == "vectors":
                raise
            return replace(found, by_words_only=str(trouble))
        return replace(found, by_words_only=NOT_YET) if hits is None else with_meaning(query, found, hits)

    async def _alike(
        self, meaning: IndexMeaning, query: IndexQuery, readable: Callable[[str], bool]
    ) -> Sequence[IndexHit] | None:
        total = await self._ask(totals)
        if total is None or not total.vectors:
            return None
        vector = await meaning.vector(query.text)
        return await self._ask(lambda connection: meaning.hits(connection, vector, readable))

    async def embed(self, said: Callable[[IndexFacts], None]) -> IndexFacts | None:
        if self._meaning is None:
            return None
        self._check()
        return self._facts(await self._meaning.fill(lambda total: said(self._facts(total))))

    # -- asking

    def _check(self) -> None:
        if self._why_not is not None:
            raise IndexTrouble(self._why_not)

    async def _ask(self, question: Callable[[sqlite3.Connection], T]) -> T | None:
        """None: there is no index yet."""
        self._check()
        for _ in range(TRIES):
            try:
                return await self._asked(question)
            except IndexDamaged as damage:
                await ordered(self._crew, orders.PutAside(self._place, damage.number), orders.Written)
        raise IndexTrouble("The index is damaged again and again. See whether the disk fails.")

    async def _asked(self, question: Callable[[sqlite3.Connection], T]) -> T | None:
        index = self._idle.pop() if self._idle else ReadableIndex(Path(self._place.file))
        given_up = [False]

        def ask() -> T | None:
            try:
                return _answer(index, question, given_up)
            finally:
                self._idle.append(index)  # also if nobody waits any longer

        with trio.move_on_after(HANG_SECONDS):
            try:
                return await trio.to_thread.run_sync(
                    ask, thread_name="asking an index", abandon_on_cancel=True, limiter=self._threads
                )
            finally:
                given_up[0] = True
        raise IndexTrouble("The disk of the index does not answer.")


def _answer(index: ReadableIndex, question: Callable[[sqlite3.Connection], T], given_up: list[bool]) -> T | None:
    """In a thread."""
    until = time.monotonic() + QUESTION_SECONDS
    try:
        connection = index.connection()
        if connection is None:
            return None
        connection.set_progress_handler(lambda: given_up[0] or time.monotonic() > until, STEPS)
        connection.execute("BEGIN")
        try:
            return question(connection)
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    except (TypeError, ValueError, KeyError, AttributeError) as error:  # a value that no index has
        damage = index.damaged()
        index.close()
        raise damage from error
    except sqlite3.Error as error:
        damage = index.damaged()
        index.close()
        if is_damage(error):
            raise damage from error
        if time.monotonic() > until:
            raise IndexTrouble("The question took too long. Ask for fewer words.") from error
        raise IndexTrouble(index_trouble(error)) from error
    except OSError as error:
        index.close()
        raise IndexTrouble(index_trouble(error)) from error
