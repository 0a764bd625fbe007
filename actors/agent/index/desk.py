"""What the port asks about indexes, and how it is answered in JSON.

Nobody waits for an index: if it does not answer soon, the answer comes from what the workspace itself knows. A search
without an index reads the files, and says so. Few searches of a workspace read at a time, because readers take the
processor from the index, and the tree's threads from those who only show what it has found. Whoever has no turn in a
moment waits for the index after all.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar
from weakref import WeakValueDictionary

import msgspec
import trio

from actors.agent.given import FileRefused, Trees
from actors.agent.index.following import FOLLOW_SECONDS
from actors.agent.index.indexed import MOST_PLAIN
from actors.agent.index.indexers import indexer_of
from actors.agent.index.messages import (
    ChangesTold,
    FollowIndex,
    IndexAsked,
    IndexerMessage,
    Reindex,
    WatchWorkspace,
)
from actors.agent.index.searching import FIND_SECONDS, IndexAsker, NoIndex, shown
from actors.agent.index.states import KEPT
from actors.agent.index.telling import status_of, within
from actors.agent.index.told_paths import told_paths
from actors.agent.messages import WORKSPACES, ChangeWatch, PolicyAsked, WorkspaceKnown, WorkspacesMessage
from actors.agent.readable import ReadableTree, is_readable
from actors.kernel import ActorDown, KernelError, NobodyThere, Registry, Reply, TooSlow
from codec.agent.client_messages import FileChange
from codec.agent.files import FileHit
from codec.agent.index.asking import (
    FoundLine,
    IndexFindings,
    IndexQuery,
    Reason,
    SearchKind,
    SearchResult,
    SearchResults,
)
from codec.agent.index.meant import meant_by
from codec.agent.reading import read_body
from codec.agent.refusing import ContractRefusal, no_workspace
from codec.agent.withheld import withheld
from codec.agent.workspaces import IndexChanges, IndexRun, IndexStatus, Policy, WatchState, WorkspaceFact
from codec.words import counted, sentences

PATIENCE = 10.0
STATUS_SECONDS = 2.0
RUN_SECONDS = 60.0
"""For the original's way, which answers when the index is made."""
PLAIN_SECONDS, EXACT_SECONDS = 10.0, 3.0
"""For reading the files; the second, if there are enough results, but none of them is what the question names."""
MOST_READERS, TURN_SECONDS = 2, 0.5
"""Searches of a workspace that read its files at a time, and for how long another waits for its turn."""
MOST_RESULTS = 100
TRIES = 5
OVER = ("ready", "failed")
BEGINS = "The index is being made. More is found when it is complete."
ABSENT = "There is no index here: searches read the files."
CROWDED = "Too many searches are under way here. Try again in a moment."
WITHOUT_VECTORS = (
    "Nothing here can be found by its meaning yet. That needs an embedding model: name one in the settings "
    '(agent.embedding_model, such as "nomic-embed-text"), and wait until the status says that passages are embedded.'
)

R = TypeVar("R")
encoder = msgspec.json.Encoder()


class IndexDesk:
    def __init__(self, registry: Registry, trees: Trees | None = None) -> None:
        self._registry = registry
        self._trees = trees
        self._readers: WeakValueDictionary[str, trio.Semaphore] = WeakValueDictionary()
        """Of the workspaces whose files are being read."""

    # -- how far it is

    async def status(self, id: str) -> bytes:  # noqa: A002 - as in the contract
        return await self._told(id, await self._status(id))

    async def _told(self, id: str, status: IndexStatus) -> bytes:  # noqa: A002
        """It names no file that the policy hides, as it is now."""
        return encoder.encode(within(await self._policy(id), status) if status.errors else status)

    async def _status(self, id: str) -> IndexStatus:  # noqa: A002
        fact = await self._fact(id)
        try:
            return await self._ask(id, IndexAsked, STATUS_SECONDS)
        except (NobodyThere, TooSlow) as error:
            kept = status_of(fact, None, KEPT, loud=False)
            if isinstance(error, NobodyThere):
                kept = msgspec.structs.replace(kept, errors=(ABSENT,))
            return kept

    async def reindex(self, id: str, *, anew: bool) -> bytes:  # noqa: A002
        await self._fact(id)
        return await self._told(id, await self._ask(id, partial(Reindex, anew)))

    async def changed(self, id: str, body: bytes) -> bytes:  # noqa: A002
        changes = read_body(body, IndexChanges).changes
        await self._fact(id)
        refuse_foreign(changes)
        return await self._told(id, await self._ask(id, partial(_changes_told, changes)))

    async def run(self, id: str) -> bytes:  # noqa: A002
        """The original's way to make the index: it answers when it is made."""
        await self._fact(id)
        try:
            status = await self._ask(id, partial(Reindex, False))
        except NobodyThere:
            return encoder.encode(IndexRun(success=False, workspace_id=id, message=ABSENT))
        with trio.move_on_after(RUN_SECONDS):
            while status.index_status not in OVER:
                status = await self._ask(id, partial(FollowIndex, status), FOLLOW_SECONDS + PATIENCE)
        stats = {
            "total_files": status.total_files,
            "indexed_files": status.indexed_files,
            "total_chunks": status.total_chunks,
            "total_symbols": status.total_symbols,
            "errors": len(status.errors),
        }
        failed = status.index_status == "failed"
        status = within(await self._policy(id), status)
        said = " ".join(status.errors[:1]) if failed else "" if status.index_status == "ready" else BEGINS
        return encoder.encode(IndexRun(success=not failed, workspace_id=id, stats=stats, message=said))

    async def follow(self, id: str, *, on: bool) -> AsyncGenerator[bytes, None]:  # noqa: A002
        """Server-sent events. As the original's they end with the index that is made, or cannot be; `on`: they go on.
        None come for a while: a comment, by which a connection that is gone is noticed."""
        first = await self._status(id)
        return self._followed(id, first, on)

    async def _followed(self, id: str, status: IndexStatus, on: bool) -> AsyncGenerator[bytes, None]:  # noqa: A002
        yield _event(await self._told(id, status))
        while on or status.index_status not in OVER:
            try:
                after = await self._ask(id, partial(FollowIndex, status), FOLLOW_SECONDS + PATIENCE)
            except KernelError:  # nobody can say more; who wants to know connects again
                return
            if after != status:
                yield _event(await self._told(id, after))
            elif not on and after.index_status == "pending":
                return
            else:
                yield b": nothing new\n\n"
            status = after

    async def watch(self, id: str, *, wanted: bool) -> bytes:  # noqa: A002
        fact = await self._known(partial(ChangeWatch, id, wanted))
        try:
            status = await self._ask(id, partial(WatchWorkspace, wanted, fact.use_polling))
        except NobodyThere:
            return encoder.encode(WatchState(success=False, workspace_id=id, message=ABSENT))
        state = WatchState(
            success=True, workspace_id=id, watching=status.watching != "off", message=status.message
        )
        return encoder.encode(state)

    # -- searching

    async def search(self, id: str, words: str, kind: SearchKind, most: int) -> bytes:  # noqa: A002
        began = trio.current_time()
        fact = await self._fact(id)
        words = words.strip()
        if not words:
            raise ContractRefusal(422, "INVALID_MESSAGE", "Say what is to be found: `q`.")
        if self._trees is None:
            raise no_workspace()
        policy = await self._policy(id)
        tree = ReadableTree(self._trees.tree(fact.path), policy)
        query = IndexQuery(text=words, kind=kind, most=min(most, MOST_RESULTS))
        asker = IndexAsker(self._registry, id, policy)
        read = partial(self._plainly_in_turn, id, tree, words)
        plain: Sequence[SearchResult] | None = ()
        found, why = await _asked(asker, query, FIND_SECONDS)
        if found is None:
            plain = await read(most, PLAIN_SECONDS)
            if plain is None:
                found, _ = await _asked(asker, query, PLAIN_SECONDS)
                why = CROWDED
        if found is None:
            answer = SearchResults(query=words, results=tuple(plain or ()), complete=False, message=why)
        else:
            results = await shown(tree, found.hits, found.words or words.split())
            by_meaning = any(each.stage == "vector_search" for each in found.stages)
            if kind == "vectors" and not by_meaning:
                message = found.by_words_only or WITHOUT_VECTORS
            elif not found.complete:
                message = sentences(BEGINS, found.by_words_only)
                results = await _filled_up(read, words, results, most)
            elif not results and (gone := await _refusal_of(tree)):
                found, message = msgspec.structs.replace(found, complete=False), gone
            else:
                if found.behind:
                    results = await _filled_up(read, words, results, most)
                nothing = "" if results else f"Nothing was found for {words}."
                message = sentences(nothing, found.by_words_only, found.behind)
            answer = SearchResults(
                query=words,
                results=tuple(results[:most]),
                words=found.words,
                stages=found.stages,
                generation=found.generation,
                complete=found.is_whole,
                message=message,
            )
        answer = await self._as_allowed_now(id, policy, answer)
        took = round((trio.current_time() - began) * 1000, 2)
        return encoder.encode(msgspec.structs.replace(answer, milliseconds=took))

    async def _plainly_in_turn(
        self, id: str, tree: ReadableTree, words: str, most: int, seconds: float  # noqa: A002
    ) -> list[SearchResult] | None:
        """None: too many others read this workspace."""
        readers = self._readers.get(id)
        if readers is None:
            readers = self._readers[id] = trio.Semaphore(MOST_READERS)
        with trio.move_on_after(TURN_SECONDS) as waiting:
            await readers.acquire()
        if waiting.cancelled_caught:
            return None
        try:
            return await _plainly(tree, words, most, seconds)
        finally:
            readers.release()

    async def _as_allowed_now(self, id: str, before: Policy, answer: SearchResults) -> SearchResults:  # noqa: A002
        """Whoever forbids a file while it is searched is obeyed at once."""
        policy = await self._policy(id)
        if policy == before:
            return answer
        results = tuple(each for each in answer.results if is_readable(policy, each.path))
        return msgspec.structs.replace(answer, results=results)

    # --

    async def _policy(self, id: str) -> Policy:  # noqa: A002
        return await self._known(partial(PolicyAsked, id))

    async def _fact(self, id: str) -> WorkspaceFact:  # noqa: A002
        return await self._known(partial(WorkspaceKnown, id))

    async def _known(self, question: Callable[[Reply[R | None]], WorkspacesMessage]) -> R:
        """What the workspaces know of one that there is."""
        found = await self._registry.get(WORKSPACES).ask(question, timeout=PATIENCE)
        if found is None:
            raise no_workspace()
        return found

    async def _ask(
        self, id: str, question: Callable[[Reply[R]], IndexerMessage], seconds: float = PATIENCE  # noqa: A002
    ) -> R:
        left = TRIES
        while True:
            left -= 1
            indexer = await indexer_of(self._registry, id)
            if indexer is None:
                raise no_workspace()
            try:
                return await indexer.ask(question, timeout=seconds)
            except ActorDown:  # it went to sleep just then
                if not left:
                    raise


def refuse_foreign(changes: Sequence[FileChange]) -> None:
    """Raises a ContractRefusal that names the first path that is none of this workspace."""
    refused = told_paths(changes).refused
    if refused:
        number, why = refused[0]
        raise ContractRefusal(422, "INVALID_MESSAGE", why, f"$.changes[{number}].file_path")


def _changes_told(changes: tuple[FileChange, ...], reply: Reply[IndexStatus]) -> ChangesTold:
    return ChangesTold(changes, reply)


def _event(status: bytes) -> bytes:
    return b"data: " + status + b"\n\n"


async def _refusal_of(tree: ReadableTree) -> str:
    """Why the folder itself cannot be read, if it cannot: it may be gone, and then nothing of it is found."""
    with trio.move_on_after(STATUS_SECONDS):
        try:
            await tree.entries(most=1)
        except FileRefused as refused:
            return str(refused)
    return ""


async def _asked(asker: IndexAsker, query: IndexQuery, seconds: float) -> tuple[IndexFindings | None, str]:
    """What it has found, or why it was not asked."""
    try:
        return await asker.find(query, seconds), ""
    except NoIndex as why:
        return None, str(why)


async def _filled_up(
    read: Callable[[int, float], Awaitable[Sequence[SearchResult] | None]],
    words: str,
    results: list[SearchResult],
    most: int,
) -> list[SearchResult]:
    """With what is not in the index yet. The file or the definition that the question names comes first, wherever it
    was found: no number of places that only have the word push it out."""
    meant = meant_by(words)

    def distance(each: SearchResult) -> int:
        return meant.distance(each.path, [line.text for line in each.lines], each.symbol if each.kind else "")

    if len(results) >= most and (not meant or not min(map(distance, results))):
        return sorted(results, key=distance)
    known = {each.path for each in results}
    seconds = PLAIN_SECONDS if len(results) < most else EXACT_SECONDS
    further = [each for each in await read(most + len(known), seconds) or () if each.path not in known]
    return sorted([*results, *further], key=distance)


async def _plainly(tree: ReadableTree, words: str, most: int, seconds: float) -> list[SearchResult]:
    """By reading the files."""
    meant = meant_by(words)

    def distance(hit: FileHit) -> int:
        return meant.distance(hit.path, [line.text for line in hit.lines])

    results: list[SearchResult] = []
    try:
        with trio.move_on_after(seconds):
            hits = await tree.search(words.split()[:12], most=max(most, MOST_PLAIN))
            for hit in sorted(hits, key=distance)[:most]:
                lines = tuple(FoundLine(line.number, withheld(line.text, hit.path)) for line in hit.lines)
                defined = next((line for line in lines if meant.defined_in(line.text)), None)
                first, last = (lines[0].number, lines[-1].number) if lines else (1, 1)
                said = f"has {counted(hit.count, 'line')} with words of it" if hit.count else "its path has words of it"
                if defined is not None:
                    first, last = defined.number, max(defined.number, last)
                    said = f"looks as if it defines {meant.defined_in(defined.text)}"
                elif meant.is_path(hit.path) or meant.is_called_so(hit.path):
                    said = "the question names its path"
                results.append(
                    SearchResult(
                        path=hit.path,
                        first_line=first,
                        last_line=last,
                        score=hit.score,
                        reasons=(Reason("text_search", said, hit.score),),
                        lines=lines,
                    )
                )
    except FileRefused as refused:
        raise ContractRefusal(503, "RETRIEVAL_FAILED", str(refused)) from None
    return results
