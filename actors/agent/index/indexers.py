"""All indexers that are awake. An actor that wants the index of a workspace asks here for its indexer, which is started
if need be.

Rules
  - At most MOST_AWAKE are awake. When one more is wanted, the one that was asked for longest ago is put to sleep, if
    possible one whose update is not running. An indexer that sleeps has lost nothing: its index is on the disk.
  - After a restart, indexers that are to index or watch all the time are awake again, as far as there is room. An index
    that was being made then goes on.
  - An indexer that crashes is restarted alone.
  - An index that nobody has used for a long time is deleted at the start. It is made anew when somebody uses it again.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial

import trio

from actors.agent.index.given import IndexTrouble
from actors.agent.index.indexer import Indexer, IndexMeans
from actors.agent.index.messages import (
    INDEXER_ACTORS,
    INDEXERS,
    IndexerBusy,
    IndexerMessage,
    IndexersMessage,
    IndexWished,
    Reindex,
    WakeIndexer,
    WatchWorkspace,
)
from actors.agent.messages import WORKSPACES, WorkspaceKnown, WorkspacesAsked
from actors.kernel import (
    Actor,
    ActorRef,
    AnySpec,
    ChildSpec,
    Down,
    KernelError,
    Registry,
    Reply,
    Restart,
    crowd_spec,
)
from codec.agent.workspaces import WorkspaceFact

MOST_AWAKE = 64
MOST_ENDING = 64
"""That are just going to sleep, beside those."""
PATIENCE = 10.0

logger = logging.getLogger("troupe.agent")


def indexers_specs(means: Callable[[Registry], IndexMeans]) -> list[AnySpec]:
    """After the workspaces, and before the sessions."""
    return [
        crowd_spec("indexers", name=INDEXER_ACTORS, max_children=MOST_AWAKE + MOST_ENDING),
        ChildSpec("index", partial(AllIndexers, means)),
    ]


async def indexer_of(registry: Registry, workspace_id: str) -> ActorRef[IndexerMessage] | None:
    """The indexer of this workspace, which is started if it sleeps. None: there is no such workspace."""
    found: ActorRef[IndexerMessage] | None = await registry.get(INDEXERS).ask(
        partial(WakeIndexer, workspace_id), timeout=PATIENCE
    )
    return found


def awake_indexer(registry: Registry, workspace_id: str) -> ActorRef[IndexerMessage] | None:
    """The same, if it is awake."""
    crowd = registry.find(INDEXER_ACTORS)
    known = None if crowd is None else crowd.child(workspace_id)
    return known if known is not None and known.alive else None


class AllIndexers(Actor[IndexersMessage]):
    def __init__(self, means: Callable[[Registry], IndexMeans]) -> None:
        self._make_means = means
        self._means: IndexMeans
        self._awake: OrderedDict[str, ActorRef[IndexerMessage]] = OrderedDict()
        """The one that was asked for last comes last."""
        self._busy: set[str] = set()
        self._starting: dict[str, trio.Event] = {}

    async def started(self, kept: object | None) -> None:
        self._means = self._make_means(self.stage.registry)
        crowd = self.stage.registry.get(INDEXER_ACTORS)
        for ref in crowd.children():  # they live on when this one has crashed
            id = ref.path.rpartition("/")[2]  # noqa: A001
            known = crowd.child(id)
            if known is not None and known.alive:
                self._take_in(id, known)
        self.stage.registry.claim(INDEXERS, self.ref)
        self.run_beside(self._take_up)
        self._note()

    def at_once(self, message: IndexersMessage) -> bool:
        self._hear(message)
        return True

    async def handle(self, message: IndexersMessage) -> None:
        self._hear(message)

    def _hear(self, message: IndexersMessage) -> None:
        match message:
            case WakeIndexer(id, reply):
                known = self._awake.get(id)
                if known is not None and known.alive:
                    self._awake.move_to_end(id)
                    reply.set(known)
                else:
                    self.run_beside(self._answer, id, reply)
            case IndexWished(fact):
                self.run_beside(self._begin, fact)
            case IndexerBusy(id, busy):
                (self._busy.add if busy else self._busy.discard)(id)
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        for id, ref in list(self._awake.items()):  # noqa: A001
            if ref is down.ref or not ref.alive:
                del self._awake[id]
                self._busy.discard(id)
        self._note()

    def _note(self) -> None:
        self.note = f"{len(self._awake)} awake"

    # -- waking

    async def _answer(self, id: str, reply: Reply[ActorRef[IndexerMessage] | None]) -> None:  # noqa: A002
        try:
            asked = partial(WorkspaceKnown, id)
            fact = await self.stage.registry.get(WORKSPACES).ask(asked, timeout=PATIENCE)
            found = None if fact is None else await self._wake(fact)
        except KernelError as error:
            if reply.wanted:
                reply.fail(error)
        else:
            if reply.wanted:
                reply.set(found)

    async def _wake(self, fact: WorkspaceFact) -> ActorRef[IndexerMessage]:
        id = fact.id  # noqa: A001
        while (started := self._starting.get(id)) is not None:
            await started.wait()
        known = self._awake.get(id)
        if known is not None and known.alive:
            return known
        self._starting[id] = trio.Event()
        try:
            await self._make_room(id)
            crowd = self.stage.registry.get(INDEXER_ACTORS)
            before = crowd.child(id)
            if before is not None:  # it is just ending
                await before.wait_stopped()
            make = partial(Indexer, fact, self._means)
            ref = await crowd.start_child(ChildSpec(id, make, restart=Restart.TRANSIENT))
            self._take_in(id, ref)
        finally:
            self._starting.pop(id).set()
        return ref

    def _take_in(self, id: str, ref: ActorRef[IndexerMessage]) -> None:  # noqa: A002
        self._awake[id] = ref
        self._awake.move_to_end(id)
        self.monitor(ref)
        self._note()

    async def _make_room(self, id: str) -> None:  # noqa: A002
        while len(self._awake) + len(self._starting) > MOST_AWAKE and self._awake:
            resting = (other for other in self._awake if other not in self._busy)
            sleepy = next(resting, None) or next(iter(self._awake))
            ref = self._awake.pop(sleepy)
            self._busy.discard(sleepy)
            await ref.stop()
        self._note()

    # -- what is to be indexed or watched without being asked for

    async def _begin(self, fact: WorkspaceFact) -> None:
        try:
            indexer = await self._wake(fact)
            if fact.auto_watch:
                await indexer.ask(partial(WatchWorkspace, True, fact.use_polling), timeout=PATIENCE)
            else:
                await indexer.ask(partial(Reindex, False), timeout=PATIENCE)
        except KernelError as error:
            logger.error("the index of %s is not begun before somebody uses it: %s", fact.path, error)

    async def _take_up(self) -> None:
        try:
            facts = await self.stage.registry.get(WORKSPACES).ask(WorkspacesAsked, timeout=PATIENCE)
        except KernelError as error:
            logger.error("no index is taken up before somebody uses it: %s", error)
            return
        wanted = [fact for fact in facts if wants_to_be_awake(fact)]
        for fact in wanted[:MOST_AWAKE]:
            await self._begin(fact)
        await self._tidy({fact.id: fact.path for fact in facts})

    async def _tidy(self, paths: Mapping[str, str]) -> None:
        try:
            for id in await self._means.indexes.tidy():  # noqa: A001
                logger.info("the index of %s is deleted: nobody has used it for a long time", paths.get(id, id))
        except IndexTrouble as trouble:
            logger.warning("unused indexes are not deleted: %s", trouble)


def wants_to_be_awake(fact: WorkspaceFact) -> bool:
    """After a restart of the server."""
    return not fact.missing and (fact.auto_watch or (fact.auto_index and fact.index_status != "ready"))
