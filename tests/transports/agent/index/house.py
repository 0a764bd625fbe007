"""Indexes of folders, with a crew of their own; and what is in an index, so that two can be compared."""

import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import trio
from msgspec.structs import replace

from actors.kernel import ChildSpec, Key, Stage, Top, run
from codec.agent.index.asking import IndexFindings, IndexQuery
from codec.agent.index.telling import IndexFacts, IndexWish
from transports.agent.index.folder_indexes import FolderIndex, FolderIndexes, index_workers
from transports.process.crew import Crew, CrewStatistics, Foreman, ForemanMessage, crew_spec

PATIENCE = 60.0
ODD = str(Path(__file__).with_name("odd_worker.py"))
NAME = Key[ForemanMessage]("index/crew")


class IndexHouse:
    def __init__(self, stage: Stage, lives: list[Foreman], state: Path, root: Path) -> None:
        self.crew = Crew(stage.registry, NAME)
        self.lives = lives
        self.state = state
        self.root = root
        self.indexes = FolderIndexes(self.crew, state, [state], 2)
        self.said: list[IndexFacts] = []

    @property
    def index(self) -> FolderIndex:
        """As after a restart: nothing is remembered."""
        return self.indexes.index("one", str(self.root))

    @property
    def file(self) -> Path:
        return self.state / "index" / "one.db"

    def statistics(self) -> CrewStatistics:
        return self.lives[-1].statistics()

    def write(self, path: str, text: str | bytes) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
        return place

    async def update(self, *paths: str, anew: bool = False) -> IndexFacts:
        with trio.fail_after(PATIENCE):
            return await self.index.update(IndexWish(paths=paths or None, anew=anew), self.said.append)

    async def find(self, text: str, index: FolderIndex | None = None) -> IndexFindings:
        with trio.fail_after(PATIENCE):
            return await (index or self.index).find(IndexQuery(text=text), lambda path: True)

    async def found(self, text: str, index: FolderIndex | None = None) -> list[str]:
        return list(dict.fromkeys(hit.path for hit in (await self.find(text, index)).hits))

    def tables(self) -> dict[str, list[Any]]:
        return tables(self.file)

    def bytes_kept(self) -> bytes:
        """All that is in the index's files."""
        return b"".join(path.read_bytes() for path in sorted((self.state / "index").iterdir()))


@asynccontextmanager
async def open_indexes(folder: Path, *, odd: str = "", **options: Any) -> AsyncIterator[IndexHouse]:
    stages: list[Stage] = []
    lives: list[Foreman] = []
    program = index_workers()
    if odd:
        program = replace(program, program=ODD, argv=(*program.argv, odd))
    program = replace(program, **options)

    def make() -> Foreman:
        lives.append(Foreman(NAME, program, most=2))
        return lives[-1]

    state, root = folder / "state", folder / "work"
    state.mkdir(mode=0o700, exist_ok=True)
    root.mkdir(exist_ok=True)
    spec = ChildSpec("top", lambda: Top([crew_spec(make)]), start_timeout=PATIENCE, grace=PATIENCE)
    async with trio.open_nursery() as nursery:
        ref = await nursery.start(partial(run, spec, on_stage=stages.append))
        house = IndexHouse(stages[0], lives, state, root)
        yield house
        with trio.fail_after(PATIENCE):
            await ref.stop()


_QUESTIONS = {
    "file": "SELECT path, size, digest, language, kind, lines, rank, trouble FROM file",
    "chunk": "SELECT path, first, last, name FROM chunk JOIN file ON file.id = chunk.file",
    "text": "SELECT file.path, chunk.first, body, names, text.path FROM text JOIN chunk ON chunk.id = text.rowid"
    " JOIN file ON file.id = chunk.file",
    "symbol": "SELECT path, name, symbol.kind, line, last, container, names, containers FROM symbol"
    " JOIN file ON file.id = symbol.file JOIN symbol_text ON symbol_text.rowid = symbol.id",
    "written_import": "SELECT path, target FROM written_import JOIN file ON file.id = written_import.file",
    "import": "SELECT one.path, other.path FROM import JOIN file AS one ON one.id = file"
    " JOIN file AS other ON other.id = resolved",
    "meta": "SELECT key, value FROM meta WHERE key IN ('files', 'chunks', 'symbols', 'complete', 'related')",
    "text count": "SELECT count(*) FROM text",
    "chunk count": "SELECT count(*) FROM chunk",
    "symbol_text count": "SELECT count(*) FROM symbol_text",
    "symbol count": "SELECT count(*) FROM symbol",
    "import count": "SELECT count(*) FROM import",
}


def tables(file: Path) -> dict[str, list[Any]]:
    """All that an index says, without its own numbers. It also checks that the words agree with the rows."""
    with closing(sqlite3.connect(file)) as connection:
        for each in ("text", "symbol_text"):
            connection.execute(f"INSERT INTO {each} ({each}) VALUES ('integrity-check')")
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return {name: sorted(connection.execute(question)) for name, question in _QUESTIONS.items()}


async def fresh(house: IndexHouse) -> dict[str, list[Any]]:
    """What an index says that is made now."""
    for path in (house.state / "index").glob("fresh.*"):
        path.unlink()
    index = house.indexes.index("fresh", str(house.root))
    with trio.fail_after(PATIENCE):
        await index.update(IndexWish(), lambda facts: None)
    return tables(house.state / "index" / "fresh.db")


def looked(file: Path, question: str) -> list[Any]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(question).fetchall()


def is_root() -> bool:
    return os.geteuid() == 0
