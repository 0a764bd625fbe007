"""All sessions: the fact of each, and the actors of those that are awake.

Rules
  - Every fact is here, read from the rows at the start. A fact that a session tells is in the store already. So a
    session that nobody needs costs its fact, and a row.
  - Only a session's own actor changes it. Whatever is asked for about one wakes it; that happens beside, so nobody
    waits for another's session.
  - What a kill has left unfinished is taken up at the start: turns that were under way are ended, queues go on, and
    what was being deleted is removed.
"""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from actors.agent.client import clients_spec
from actors.agent.log import all_gists, new_row
from actors.agent.messages import (
    SESSION_ACTORS,
    SESSIONS,
    TURNS,
    WORKSPACES,
    ChangeSession,
    CreateSession,
    DeleteNow,
    DeleteSession,
    SessionAsked,
    SessionChanged,
    SessionGone,
    SessionMessage,
    SessionNoted,
    SessionsAsked,
    SessionsMessage,
    WakeSession,
    WorkspaceAsked,
)
from actors.agent.retelling import timestamp
from actors.agent.session import Session
from actors.agent.turn_keeping import MakeTurn, TurnMeans
from actors.kernel import (
    Actor,
    ActorDown,
    ActorRef,
    AnySpec,
    ChildSpec,
    KernelError,
    NameTaken,
    Reply,
    Restart,
    crowd_spec,
)
from actors.store import StoreError
from codec.agent.kept import SessionRow
from codec.agent.sessions import SessionChange, SessionFact, SessionWish

MOST_AWAKE = 4096
MOST_TURNS = 1024
START_SECONDS = 60.0
PATIENCE = 10.0
DELETE_SECONDS = 30.0
TRIES = 5

R = TypeVar("R")
logger = logging.getLogger("troupe.agent")


def sessions_specs(make_turn: MakeTurn, wall: Callable[[], float], new_id: Callable[[], str]) -> list[AnySpec]:
    """Whatever the sessions need of the tree, in this order, after the store, the workspaces and the models. When the
    tree stops, clients end before sessions, which keep all that was said by then, and these before their turns.

    `wall`: seconds since 1970. `new_id`: for sessions, turns and messages; never the same twice, also after a
    restart."""
    return [
        crowd_spec("turns", name=TURNS, max_children=MOST_TURNS),
        crowd_spec("awake", name=SESSION_ACTORS, max_children=MOST_AWAKE),
        clients_spec(),
        ChildSpec("sessions", partial(AllSessions, TurnMeans(make_turn, wall, new_id)), start_timeout=START_SECONDS),
    ]


class AllSessions(Actor[SessionsMessage]):
    def __init__(self, means: TurnMeans) -> None:
        self._means = means
        self._facts: dict[str, SessionFact] = {}
        """Those changed last come last."""

    async def started(self, kept: object | None) -> None:
        gists = [(id, gist) for id, gist in await all_gists(self.stage.registry) if gist is not None]  # noqa: A001
        gists.sort(key=lambda known: known[1].fact.updated_at)
        self._facts = {id: gist.fact for id, gist in gists}  # noqa: A001
        self.stage.registry.claim(SESSIONS, self.ref)
        self._note()
        unfinished = [id for id, gist in gists if gist.unfinished]  # noqa: A001
        if unfinished:
            self.run_beside(self._take_up, unfinished)

    async def handle(self, message: SessionsMessage) -> None:
        match message:
            case SessionAsked(id, reply):
                reply.set(self._facts.get(id))
            case SessionsAsked(workspace, reply):
                facts = reversed(self._facts.values())
                reply.set([fact for fact in facts if workspace in (None, fact.workspace_id)])
            case SessionNoted(fact):
                if self._facts.pop(fact.id, None) is not None:
                    self._facts[fact.id] = fact
            case SessionGone(id):
                self._facts.pop(id, None)
                self._note()
            case WakeSession(id, reply):
                self.run_beside(self._answer, reply, partial(self._wake, id))
            case CreateSession(wish, reply):
                self.run_beside(self._answer, reply, partial(self._create, wish))
            case ChangeSession(id, change, reply):
                self.run_beside(self._answer, reply, partial(self._changed, id, change))
            case DeleteSession(id, reply):
                self.run_beside(self._answer, reply, partial(self._delete, id))
            case _:
                self.unknown(message)

    def _note(self) -> None:
        self.note = f"{len(self._facts):,} sessions"

    async def _answer(self, reply: Reply[R], work: Callable[[], Awaitable[R]]) -> None:
        try:
            result = await work()
        except (KernelError, StoreError) as error:
            if reply.wanted:
                reply.fail(error)
        else:
            if reply.wanted:
                reply.set(result)

    async def _take_up(self, ids: list[str]) -> None:
        for id in ids:  # noqa: A001
            try:
                await self._wake(id)
            except (KernelError, StoreError) as error:
                logger.error("the session %s is not taken up before somebody opens it: %s", id, error)

    async def _wake(self, id: str) -> ActorRef[SessionMessage] | None:  # noqa: A002
        if id not in self._facts:
            return None
        crowd = self.stage.registry.get(SESSION_ACTORS)
        for _ in range(TRIES):
            known = crowd.child(id)
            if known is not None and known.alive:
                return known
            make = partial(Session, id, self._means)
            try:
                return await crowd.start_child(ChildSpec(id, make, restart=Restart.TRANSIENT))
            except NameTaken:  # it is starting, or just ending
                known = crowd.child(id)
                if known is not None and known.alive:
                    return known
        raise NameTaken(f"the session {id} neither lives nor ends")

    async def _create(self, wish: SessionWish) -> SessionFact | None:
        workspaces = self.stage.registry.get(WORKSPACES)
        if await workspaces.ask(partial(WorkspaceAsked, wish.workspace_id), timeout=PATIENCE) is None:
            return None
        now = timestamp(self._means.wall())
        parts = {name: getattr(wish, name) for name in SessionWish.__struct_fields__}
        fact = SessionFact(id=self._means.new_id(), created_at=now, updated_at=now, **parts)
        await new_row(self.stage.registry, SessionRow(fact=fact))
        self._facts[fact.id] = fact
        self._note()
        return fact

    async def _changed(self, id: str, change: SessionChange) -> SessionFact | None:  # noqa: A002
        return await self._asked(id, partial(SessionChanged, change), PATIENCE)

    async def _delete(self, id: str) -> bool:  # noqa: A002
        if id not in self._facts:
            return False
        await self._asked(id, DeleteNow, DELETE_SECONDS)
        self._facts.pop(id, None)
        self._note()
        return True

    async def _asked(self, id: str, question: Callable[[Reply[R]], SessionMessage], timeout: float) -> R | None:  # noqa: A002
        """None: there is no such session (any more)."""
        tries = 0
        while (session := await self._wake(id)) is not None:
            try:
                return await session.ask(question, timeout=timeout)
            except ActorDown:  # it ended just then: nobody had needed it for a while
                tries += 1
                if tries == TRIES:
                    raise
        return None
