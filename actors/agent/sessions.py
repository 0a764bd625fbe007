"""All sessions: the fact of each, and the actors of those that are awake.

Rules
  - Every fact is here, read from the rows at the start. A fact that a session reports is in the store already. So a
    session that nobody needs costs its fact, and a row.
  - Only a session's own actor changes it. Every request for a session wakes it; that happens beside the mailbox, so
    nobody waits for another's session.
  - Of the sessions that nobody needs any more, those that were left last stay awake for a while; the others are told to
    rest. So a thousand that are looked through cost no more than some dozens.
  - Work that a kill has left unfinished is taken up at the start: turns that were under way are ended, queues go on,
    and sessions that were being deleted are removed.
"""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from actors.agent.audited import audit_end
from actors.agent.client import clients_spec
from actors.agent.half_done import FilesNow
from actors.agent.log import all_gists, new_row
from actors.agent.means import CommandsEnded, MakeTurn, TurnMeans, Undo, no_commands
from actors.agent.messages import (
    SESSION_ACTORS,
    SESSIONS,
    TURNS,
    WORKSPACES,
    AuditNews,
    ChangeSession,
    CreateSession,
    DeleteNow,
    DeleteSession,
    RestNow,
    SessionAsked,
    SessionChanged,
    SessionGone,
    SessionMessage,
    SessionNoted,
    SessionRests,
    SessionsAsked,
    SessionsMessage,
    WakeSession,
    WorkspaceAsked,
    WorkspaceAudited,
)
from actors.agent.retelling import timestamp
from actors.agent.session import Session
from actors.agent.turning import expected_model, first_row
from actors.kernel import (
    Actor,
    ActorDown,
    ActorRef,
    AnySpec,
    ChildSpec,
    KernelError,
    MailboxFull,
    NameTaken,
    Reply,
    Restart,
    crowd_spec,
)
from actors.store import StoreError
from codec.agent.models import ModelTrouble
from codec.agent.sessions import SessionChange, SessionFact, SessionWish, changed_parts, plain_title

MOST_AWAKE = 4096
MOST_RESTING = 64
"""So many sessions that nobody needs stay awake, for who comes back."""
MOST_TURNS = 1024
START_SECONDS = 60.0
PATIENCE = 10.0
DELETE_SECONDS = 30.0
TRIES = 5

R = TypeVar("R")
logger = logging.getLogger("troupe.agent")


def sessions_specs(
    make_turn: MakeTurn,
    wall: Callable[[], float],
    new_id: Callable[[], str],
    *,
    commands_ended: CommandsEnded = no_commands,
    undo: Undo | None = None,
    files_now: FilesNow | None = None,
) -> list[AnySpec]:
    """Whatever the sessions need of the tree, in this order, after the store, the workspaces and the models. When the
    tree stops, clients end before sessions, which keep all that was said by then, and these before their turns.

    `wall`: seconds since 1970. `new_id`: for sessions, turns and messages; never the same twice, also after a
    restart. The others: means.py."""
    means = TurnMeans(make_turn, wall, new_id, commands_ended, undo, files_now)
    return [
        crowd_spec("turns", name=TURNS, max_children=MOST_TURNS),
        crowd_spec("awake", name=SESSION_ACTORS, max_children=MOST_AWAKE),
        clients_spec(),
        ChildSpec("sessions", partial(AllSessions, means), start_timeout=START_SECONDS),
    ]


class AllSessions(Actor[SessionsMessage]):
    def __init__(self, means: TurnMeans) -> None:
        self._means = means
        self._facts: dict[str, SessionFact] = {}
        """Those changed last come last."""
        self._resting: dict[str, None] = {}
        """Sessions that were left, the last one last. Some of them are needed again by now, or have ended."""

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
            case SessionRests(id):
                self._rests(id)
            case WorkspaceAudited(id):
                self._tell_those_awake(id)
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

    def _rests(self, id: str) -> None:  # noqa: A002
        self._resting.pop(id, None)
        self._resting[id] = None
        if len(self._resting) > MOST_RESTING:
            first = next(iter(self._resting))
            del self._resting[first]
            session = self.stage.registry.get(SESSION_ACTORS).child(first)
            if session is not None and session.alive:
                with suppress(MailboxFull):  # then it is needed
                    session.hand(RestNow())

    def _note(self) -> None:
        self.note = f"{len(self._facts):,} sessions"

    async def _answer(self, reply: Reply[R], work: Callable[[], Awaitable[R]]) -> None:
        try:
            result = await work()
        except (KernelError, StoreError, ModelTrouble) as error:
            if reply.wanted:
                reply.fail(error)
        else:
            if reply.wanted:
                reply.set(result)

    def _tell_those_awake(self, workspace: str) -> None:
        crowd = self.stage.registry.get(SESSION_ACTORS)
        for fact in self._facts.values():
            session = crowd.child(fact.id) if fact.workspace_id == workspace else None
            if session is not None:
                with suppress(KernelError):  # it looks when it is there again
                    session.tell(AuditNews())

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
        if wish.title is not None:
            parts["title"] = plain_title(wish.title) or None
        fact = SessionFact(id=self._means.new_id(), created_at=now, updated_at=now, **parts)
        model = await expected_model(self.stage.registry, fact)
        row = replace(first_row(fact, model), audited=await audit_end(self.stage.registry, fact.workspace_id))
        await new_row(self.stage.registry, row)
        self._facts[fact.id] = fact
        self._note()
        return fact

    async def _changed(self, id: str, change: SessionChange) -> SessionFact | None:  # noqa: A002
        fact = self._facts.get(id)
        if fact is not None:
            await expected_model(self.stage.registry, replace(fact, **changed_parts(change)))
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
