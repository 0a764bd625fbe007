"""Indexers in virtual time: the real actors over a store on paper, indexes that do as the test says, and folders whose
news the test tells."""

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import trio
from msgspec.structs import replace

from actors.agent.given import FileRefused, Hands, Tree
from actors.agent.index.given import IndexTrouble, WatchNews, WatchTrouble
from actors.agent.index.indexer import IndexMeans
from actors.agent.index.indexers import indexer_of, indexers_specs
from actors.agent.index.messages import FollowIndex, IndexAsked, IndexerMessage, Reindex, WatchWorkspace
from actors.agent.messages import WORKSPACES, RegisterWorkspace, WorkspaceKnown
from actors.agent.workspaces import workspaces_spec
from actors.kernel import ActorRef, AnySpec, Reply
from actors.kernel.testing import House, Log, check_sound, staged
from codec.agent.files import FileHit
from codec.agent.index.asking import IndexFindings, IndexHit, IndexQuery
from codec.agent.index.telling import IndexFacts, IndexWish
from codec.agent.looking_up import looked_through, ranked, sought
from codec.agent.workspaces import IndexStatus, WorkspaceFact, WorkspaceWish
from tests.agent.paper_store import PaperDisk, paper_spec
from tests.agent.turn_kit import MemoryTree

EPOCH = 1_800_000_000.0
PATIENCE = 3600.0
CRASHES = "crashes"


def wall() -> float:
    return EPOCH + trio.current_time()


@dataclass
class PaperIndex:
    """The index of one workspace. It outlives every kill, as a file does."""

    files: int = 100
    seconds: float = 1.0
    """That a whole update takes; one of some paths takes a hundredth."""
    facts_now: IndexFacts = field(default_factory=IndexFacts)
    trouble: str = ""
    hangs: bool = False
    crashes: set[str] = field(default_factory=set)
    """The methods that fail in a way that nobody expects, once."""
    wishes: Log[IndexWish] = field(default_factory=Log)
    ended: list[str] = field(default_factory=list)
    """How each update has ended."""
    queries: list[IndexQuery] = field(default_factory=list)
    readable: dict[str, bool] = field(default_factory=dict)
    """What the policy says of these paths."""
    updating: int = 0
    vectors: int = 0
    """That an embedding model would make. 0: there is none."""
    embed_seconds: float = 1.0
    embed_trouble: str = ""
    fails_after: str = ""
    """The trouble that the model has when it has made half of the vectors."""
    embedded: int = 0
    other_vectors: bool = False
    """Whether a question shows that the vectors are another model's."""
    begun: list[tuple[str, float]] = field(default_factory=list)
    """Which methods were called, and when."""

    def moments(self, method: str) -> list[float]:
        return [moment for called, moment in self.begun if called == method]

    async def _begin(self, method: str) -> None:
        self.begun.append((method, trio.current_time()))
        await trio.lowlevel.checkpoint()
        if method in self.crashes:
            self.crashes.discard(method)
            raise RuntimeError(f"{method} {CRASHES}")
        if self.hangs:
            await trio.sleep_forever()
        if self.trouble:
            raise IndexTrouble(self.trouble)

    async def facts(self) -> IndexFacts:
        await self._begin("facts")
        return self.facts_now

    async def update(self, wish: IndexWish, said: Callable[[IndexFacts], None]) -> IndexFacts:
        self.wishes.add(wish)
        assert not self.updating, "two updates at once"
        self.updating += 1
        how = "cancelled"
        try:
            await self._begin("update")
            now = self.facts_now
            begin = 0 if wish.anew else now.indexed_files
            done = now.complete and not wish.anew
            steps = 1 if wish.paths is not None else 20
            for step in range(steps):
                await trio.sleep(self.seconds / 20 if steps > 1 else self.seconds / 100)
                if not done:
                    count = max(begin, self.files * (step + 1) // steps)
                    now = replace(
                        now, total_files=self.files, indexed_files=count, generation=now.generation + 1, complete=False
                    )
                    self.facts_now = now
                    said(now)
            changed = len(wish.paths) if wish.paths is not None else (0 if done else self.files)
            if wish.paths is None or changed:
                self.facts_now = replace(
                    now,
                    complete=now.complete or wish.paths is None,
                    completed_at=wall() if wish.paths is None else now.completed_at,
                    generation=now.generation + bool(changed),
                    changed=changed,
                )
            how = "done"
            return self.facts_now
        finally:
            self.updating -= 1
            self.ended.append(how)

    async def find(self, query: IndexQuery, readable: Callable[[str], bool]) -> IndexFindings:
        await self._begin("find")
        self.queries.append(query)
        self.readable = {path: readable(path) for path in ("src/a.py", ".git/config", "secret/x.py")}
        hits = (IndexHit(path="src/a.py", first_line=1, last_line=2, score=1.0),)
        return IndexFindings(
            hits=hits,
            complete=self.facts_now.complete,
            generation=self.facts_now.generation,
            other_vectors=self.other_vectors,
        )

    async def embed(self, said: Callable[[IndexFacts], None]) -> IndexFacts | None:
        self.embedded += 1
        await self._begin("embed")
        if self.embed_trouble:
            raise IndexTrouble(self.embed_trouble)
        if self.vectors:
            said(replace(self.facts_now, vectors=self.vectors // 2))
            if self.fails_after:
                raise IndexTrouble(self.fails_after)
            await trio.sleep(self.embed_seconds)
            self.facts_now = replace(self.facts_now, mode="full", vectors=self.vectors)
        return self.facts_now


@dataclass
class PaperIndexes:
    made: dict[str, PaperIndex] = field(default_factory=dict)
    prepare: Callable[[PaperIndex], None] = lambda index: None
    unused: tuple[str, ...] = ()
    """Ids of workspaces whose indexes nobody uses."""
    tidy_trouble: str = ""

    def index(self, workspace_id: str, path: str) -> PaperIndex:
        if path not in self.made:
            self.made[path] = PaperIndex()
            self.prepare(self.made[path])
        return self.made[path]

    async def tidy(self) -> tuple[str, ...]:
        if self.tidy_trouble:
            raise IndexTrouble(self.tidy_trouble)
        return self.unused


@dataclass
class PaperWatches:
    told: dict[str, Callable[[WatchNews], None]] = field(default_factory=dict)
    """By the path of the folder that is watched now."""
    trouble: str = ""
    look_trouble: str = ""
    gone: trio.Event = field(default_factory=trio.Event)
    looked: dict[str, tuple[Callable[[WatchNews], None], Callable[[], Collection[str]]]] = field(default_factory=dict)
    """By the path of the folder that is looked at now."""
    looks: Log[float] = field(default_factory=Log)
    """When looking has begun."""

    async def watch(self, path: str, told: Callable[[WatchNews], None]) -> None:
        await trio.lowlevel.checkpoint()
        if self.trouble:
            raise WatchTrouble(self.trouble)
        assert path not in self.told, "it is watched twice"
        self.told[path] = told
        try:
            await self.gone.wait()
        finally:
            del self.told[path]

    async def look(self, path: str, told: Callable[[WatchNews], None], warm: Callable[[], Collection[str]]) -> None:
        await trio.lowlevel.checkpoint()
        self.looks.add(trio.current_time())
        if self.look_trouble:
            raise WatchTrouble(self.look_trouble)
        if self.gone.is_set():
            return
        assert path not in self.looked, "it is looked at twice"
        self.looked[path] = told, warm
        try:
            told(WatchNews(lost=True))
            await self.gone.wait()
        finally:
            del self.looked[path]


@dataclass
class PaperFolders:
    missing: set[str] = field(default_factory=set)
    hangs: bool = False

    def tree(self, path: str) -> Tree:
        raise NotImplementedError

    def hands(self, path: str) -> Hands:
        raise NotImplementedError

    async def check(self, path: str) -> str:
        await trio.lowlevel.checkpoint()
        if self.hangs:
            await trio.sleep_forever()
        if path in self.missing:
            raise FileRefused(f"There is no folder {path}.")
        return path


class LookedTree(MemoryTree):
    """Which is searched as a folder is."""

    async def search(self, words: Sequence[str], *, most: int = 50) -> Sequence[FileHit]:
        every = sought(words)
        found = [looked_through(path, text, every, lambda: None) for path, text in self.files.items()]
        return ranked([each for each in found if each is not None], len(found), most)


@dataclass
class IndexHouse:
    house: House
    indexes: PaperIndexes
    watches: PaperWatches
    folders: PaperFolders

    async def register(self, path: str = "/w", **wish: Any) -> WorkspaceFact:
        asked = partial(RegisterWorkspace, WorkspaceWish(path=path, **wish))
        fact: WorkspaceFact = await self.house.stage.registry.get(WORKSPACES).ask(asked, timeout=PATIENCE)
        return fact

    async def known(self, id: str) -> WorkspaceFact:  # noqa: A002
        asked = partial(WorkspaceKnown, id)
        fact: WorkspaceFact | None = await self.house.stage.registry.get(WORKSPACES).ask(asked, timeout=PATIENCE)
        assert fact is not None
        return fact

    async def indexer(self, fact: WorkspaceFact) -> ActorRef[IndexerMessage]:
        found = await indexer_of(self.house.stage.registry, fact.id)
        assert found is not None
        return found

    def index(self, fact: WorkspaceFact) -> PaperIndex:
        return self.indexes.index(fact.id, fact.path)

    async def ask(self, fact: WorkspaceFact, question: Callable[[Reply[Any]], IndexerMessage]) -> Any:
        return await (await self.indexer(fact)).ask(question, timeout=PATIENCE)

    async def status(self, fact: WorkspaceFact) -> IndexStatus:
        status: IndexStatus = await self.ask(fact, IndexAsked)
        return status

    async def reindex(self, fact: WorkspaceFact, *, anew: bool = False) -> IndexStatus:
        status: IndexStatus = await self.ask(fact, partial(Reindex, anew))
        return status

    async def watch(self, fact: WorkspaceFact, wanted: bool, *, polling: bool = False) -> IndexStatus:
        status: IndexStatus = await self.ask(fact, partial(WatchWorkspace, wanted, polling))
        return status

    async def until(self, fact: WorkspaceFact, wanted: Callable[[IndexStatus], bool]) -> list[IndexStatus]:
        """All that a follower is told until then."""
        seen: list[IndexStatus] = []
        while not seen or not wanted(seen[-1]):
            status: IndexStatus = await self.ask(fact, partial(FollowIndex, seen[-1] if seen else None))
            seen.append(status)
        return seen

    async def ready(self, fact: WorkspaceFact) -> IndexStatus:
        return (await self.until(fact, lambda status: status.index_status == "ready"))[-1]

    async def news(self, fact: WorkspaceFact, *paths: str, lost: bool = False) -> None:
        await trio.testing.wait_all_tasks_blocked()
        self.watches.told[fact.path](WatchNews(paths, lost))


@asynccontextmanager
async def index_house(
    disk: PaperDisk | None = None,
    indexes: PaperIndexes | None = None,
    watches: PaperWatches | None = None,
    folders: PaperFolders | None = None,
) -> AsyncIterator[IndexHouse]:
    indexes, watches, folders = indexes or PaperIndexes(), watches or PaperWatches(), folders or PaperFolders()
    specs: list[AnySpec] = [
        paper_spec(disk or PaperDisk()),
        workspaces_spec(folders, wall),
        *indexers_specs(lambda registry: IndexMeans(indexes, watches, folders)),
    ]
    async with staged(*specs) as house:
        yield IndexHouse(house, indexes, watches, folders)
        check_sound(house.stage, but=CRASHES)
