"""The workspaces: folders that are registered, and what is allowed in each.

    in the store                        key    value
    space  agent/workspace              id     WorkspaceFact
    space  agent/policy                 id     Policy, if it was ever changed
    stream agent/audit/ID                      PolicyAudited, one for each change
    What is remembered in them: remembering.py

Rules
  - A workspace's id is made from its folder's real path. So the same folder is the same workspace, also if two clients
    register it at once, and if nobody knows whether the first attempt was stored.
  - Nothing is answered before it is on the disk. A policy and the entry in its audit log are one commit.
  - Disks may hang. So folders are looked at beside the mailbox, and not for long. If a look takes too long, the last
    known state counts.
  - An indexer reports again and again how far its index is. Questions about that are answered from here, without asking
    anybody. The state is kept when an index becomes ready or fails, when it is so no longer, and now and then before
    that. After a restart no index is reported as under way that is not.
  - A record of another version, or a damaged one, is left out. An unreadable policy counts as one that allows next to
    nothing, since it may have forbidden something; the next change stores a readable one.
"""

import logging
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import PurePath

import msgspec
import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.agent.audited import sessions_told
from actors.agent.given import FileRefused, Trees
from actors.agent.index.messages import INDEXERS, IndexWished
from actors.agent.index.telling import noted
from actors.agent.messages import (
    WORKSPACES,
    ChangePolicy,
    ChangeWatch,
    ForgetApproval,
    IndexNoted,
    PolicyAsked,
    RegisterWorkspace,
    RememberApproval,
    RememberedAsked,
    WorkspaceAsked,
    WorkspaceKnown,
    WorkspacesAsked,
    WorkspacesMessage,
)
from actors.agent.remembering import Remembering
from actors.agent.retelling import timestamp
from actors.agent.stored import every_pair, not_read, trouble_told
from actors.kernel import Actor, ChildSpec, KernelError, Mailbox, Reply
from actors.store import STORE, Append, Put, StoreClient, StoreError
from codec.agent.audit import AUDIT, PolicyAudited
from codec.agent.refusing import no_workspace
from codec.agent.workspaces import IndexStatus, Policy, PolicyChange, WorkspaceFact, WorkspaceWish, merged
from codec.words import counted

FACTS, POLICIES = "agent/workspace", "agent/policy"
MOST = 10_000
"""Workspaces."""
LOOK_SECONDS = 2.0
"""For the folders that are asked about."""
REGISTER_SECONDS = 5.0
MOST_LOOKS = 64
"""Folders that are being registered at once."""
ASKED = 1_024
PROGRESS_SECONDS = 5.0
"""How far an index is that is being made is kept so often."""
HOME = uuid.UUID("5a0d7a0e-5a43-4c5b-9c7f-2f6c2f0f3f11")
"""All ids are made in this namespace."""
CLOSED = Policy(allowed_write_globs=(), command_approval="always")
"""In place of a policy that cannot be read."""

logger = logging.getLogger("troupe.agent")

_encode = msgspec.json.Encoder().encode
_decode_fact = msgspec.json.Decoder(WorkspaceFact).decode
_decode_policy = msgspec.json.Decoder(Policy).decode


class FolderChecked(Struct, frozen=True):
    wish: WorkspaceWish
    found: str | FileRefused
    """Its real path."""
    reply: Reply[WorkspaceFact]


class FoldersSeen(Struct, frozen=True):
    missing: Mapping[str, bool]
    """By id, of those whose disk has answered."""
    question: WorkspaceAsked | WorkspacesAsked


Heard = WorkspacesMessage | FolderChecked | FoldersSeen


def workspaces_spec(trees: Trees, wall: Callable[[], float]) -> ChildSpec[Heard]:
    return ChildSpec("workspaces", partial(Workspaces, trees, wall), mailbox=partial(Mailbox, ASKED))


class Workspaces(Actor[Heard]):
    def __init__(self, trees: Trees, wall: Callable[[], float]) -> None:
        self._trees = trees
        self._wall = wall
        self._facts: dict[str, WorkspaceFact] = {}
        """The oldest first."""
        self._progress_kept: dict[str, float] = {}
        """When it was kept how far an index is."""
        self._looks = 0
        """Folders that are being registered."""
        self._odd = 0
        """Records that could not be read."""

    async def started(self, kept: object | None) -> None:
        self._store = StoreClient(self.stage.registry.get(STORE))
        self._remembering = Remembering(self._store, self._wall)
        found: list[WorkspaceFact] = []
        async for id, value in every_pair(self._store, FACTS):  # noqa: A001 - as in the contract
            try:
                fact = _decode_fact(value)
            except (msgspec.MsgspecError, UnicodeError):
                self._odd += 1
                continue
            at = "pending" if fact.index_status == "indexing" else fact.index_status
            found.append(replace(fact, id=id, index_status=at))
        self._facts = {fact.id: fact for fact in sorted(found, key=lambda fact: fact.created_at)}
        if self._odd:
            logger.warning("%s could not be read, and are left out", counted(self._odd, "stored workspace"))
        self._count()
        self.stage.registry.claim(WORKSPACES, self.ref)

    def _count(self) -> None:
        self.note = counted(len(self._facts), "workspace")

    async def handle(self, message: Heard) -> None:
        match message:
            case RegisterWorkspace(wish, reply):
                self._begin_to_register(wish, reply)
            case FolderChecked(wish, found, reply):
                self._looks -= 1
                await self._register(wish, found, reply)
            case WorkspacesAsked():
                self.run_beside(self._look, tuple(self._facts.values()), message)
            case WorkspaceAsked(id, reply):
                if (fact := self._facts.get(id)) is None:
                    reply.set(None)
                else:
                    self.run_beside(self._look, (fact,), message)
            case WorkspaceKnown(id, reply):
                reply.set(self._facts.get(id))
            case FoldersSeen(missing, question):
                self._tell(missing, question)
            case IndexNoted(status):
                await self._note_index(status)
            case ChangeWatch(id, wanted, reply):
                await self._change_watch(id, wanted, reply)
            case PolicyAsked(id, reply):
                await self._tell_policy(id, reply)
            case ChangePolicy(id, change, by, reply):
                await self._change(id, change, by, reply)
            case RememberedAsked():
                await self._tell_remembered(message)
            case RememberApproval():
                await self._remember(message)
            case ForgetApproval():
                await self._forget(message)
            case _:
                self.unknown(message)

    # -- registering

    def _begin_to_register(self, wish: WorkspaceWish, reply: Reply[WorkspaceFact]) -> None:
        if self._looks >= MOST_LOOKS:
            reply.fail(FileRefused("Too many folders are being registered at once. Try again in a moment."))
            return
        self._looks += 1
        self.run_beside(self._check, wish, reply)

    async def _check(self, wish: WorkspaceWish, reply: Reply[WorkspaceFact]) -> None:
        found: str | FileRefused = FileRefused(f"The disk of {wish.path} does not answer.")
        with trio.move_on_after(REGISTER_SECONDS):
            try:
                found = await self._trees.check(wish.path)
            except FileRefused as refused:
                found = refused
        await self.ref.send(FolderChecked(wish, found, reply))

    async def _register(self, wish: WorkspaceWish, found: str | FileRefused, reply: Reply[WorkspaceFact]) -> None:
        if reply.abandoned:
            return
        if isinstance(found, FileRefused):
            reply.fail(found)
            return
        id = str(uuid.uuid5(HOME, found))  # noqa: A001
        if (known := self._facts.get(id)) is not None:
            await self._register_again(replace(known, missing=False), wish, reply)
            return
        if len(self._facts) >= MOST:
            reply.fail(FileRefused(f"There are {MOST:,} workspaces already, and no room for more."))
            return
        name = wish.name or PurePath(found).name or found
        fact = WorkspaceFact(
            id=id,
            path=found,
            name=name,
            created_at=self._next_moment(),
            auto_index=wish.auto_index,
            auto_watch=wish.auto_watch,
            use_polling=wish.use_polling,
        )
        with trouble_told(reply, "The workspace"):
            await self._keep(fact)
            self._count()
            self._tell_indexers(fact)
            if not reply.abandoned:
                reply.set(fact)

    async def _register_again(self, known: WorkspaceFact, wish: WorkspaceWish, reply: Reply[WorkspaceFact]) -> None:
        """What was wished once holds: most clients leave these fields out."""
        fact = replace(
            known,
            auto_index=known.auto_index or wish.auto_index,
            auto_watch=known.auto_watch or wish.auto_watch,
            use_polling=known.use_polling or wish.use_polling,
        )
        with trouble_told(reply, "The workspace"):
            if fact == known:
                self._facts[fact.id] = fact
            else:
                await self._keep(fact)
            if wish.auto_index or wish.auto_watch:
                self._tell_indexers(fact)
            if not reply.abandoned:
                reply.set(fact)

    async def _keep(self, fact: WorkspaceFact) -> None:
        with self.atomic():
            await self._store.put(FACTS, fact.id, _encode(fact))
            self._facts[fact.id] = fact

    def _tell_indexers(self, fact: WorkspaceFact) -> None:
        indexers = self.stage.registry.find(INDEXERS)
        if indexers is not None and (fact.auto_index or fact.auto_watch):
            with suppress(KernelError):  # the first use begins it
                indexers.tell(IndexWished(fact))

    def _next_moment(self) -> str:
        """Now, but always later than the newest: their order is that of their times, whatever the clock does."""
        moment = timestamp(self._wall())
        newest = next(reversed(self._facts.values())).created_at if self._facts else ""
        if moment > newest:
            return moment
        try:
            return timestamp(datetime.fromisoformat(newest).timestamp() + 0.001)
        except ValueError:  # of another version
            return moment

    # -- their indexes

    async def _note_index(self, status: IndexStatus) -> None:
        known = self._facts.get(status.workspace_id)
        if known is None or not (parts := noted(known, status)):
            return
        fact = replace(known, **parts)
        self._facts[fact.id] = fact
        told_to_be_over = {known.index_status, fact.index_status} & {"ready", "failed"}
        over = told_to_be_over and parts.keys() & {"index_status", "last_indexed_at"}
        now = self.stage.now()
        if over or now >= self._progress_kept.get(fact.id, -math.inf) + PROGRESS_SECONDS:
            self._progress_kept[fact.id] = now
            try:
                await self._keep(fact)
            except (StoreError, KernelError) as error:
                logger.warning("how far the index of %s is could not be kept: %s", fact.path, error)

    async def _change_watch(self, id: str, wanted: bool, reply: Reply[WorkspaceFact | None]) -> None:  # noqa: A002
        known = self._facts.get(id)
        with trouble_told(reply, "The wish"):
            if known is not None and known.auto_watch is not wanted:
                await self._keep(replace(known, auto_watch=wanted))
            if not reply.abandoned:
                reply.set(self._facts.get(id))

    # -- what there is

    async def _look(self, facts: Sequence[WorkspaceFact], question: WorkspaceAsked | WorkspacesAsked) -> None:
        """Sees whether their folders are there, as far as their disks answer in time."""
        missing: dict[str, bool] = {}

        async def see(fact: WorkspaceFact) -> None:
            try:
                missing[fact.id] = await self._trees.check(fact.path) != fact.path  # else a link stands in its place
            except FileRefused:
                missing[fact.id] = True

        with trio.move_on_after(LOOK_SECONDS):
            async with trio.open_nursery() as nursery:
                for fact in facts:
                    nursery.start_soon(see, fact)
        await self.ref.send(FoldersSeen(missing, question))

    def _tell(self, missing: Mapping[str, bool], question: WorkspaceAsked | WorkspacesAsked) -> None:
        for id, gone in missing.items():  # noqa: A001
            if self._facts[id].missing is not gone:
                self._facts[id] = replace(self._facts[id], missing=gone)
        if question.reply.abandoned:
            return
        match question:
            case WorkspacesAsked(reply):
                reply.set(tuple(reversed(self._facts.values())))
            case WorkspaceAsked(id, answer):
                answer.set(self._facts[id])

    # -- policies

    async def _policy(self, id: str) -> Policy:  # noqa: A002
        value = await self._store.get(POLICIES, id)
        if value is None:
            return Policy()
        try:
            return _decode_policy(value)
        except (msgspec.MsgspecError, UnicodeError):
            logger.warning("the stored policy of the workspace %s cannot be read: next to nothing is allowed there", id)
            return CLOSED

    async def _tell_policy(self, id: str, reply: Reply[Policy | None]) -> None:  # noqa: A002
        with trouble_told(reply, "The policy", not_read):
            reply.set(await self._policy(id) if id in self._facts else None)

    async def _change(self, id: str, change: PolicyChange, by: str, reply: Reply[Policy | None]) -> None:  # noqa: A002
        if id not in self._facts:
            reply.set(None)
            return
        with trouble_told(reply, "The policy"):
            with self.atomic(), sessions_told(self.stage.registry, id):
                before = await self._policy(id)
                policy = merged(before, change)
                if change != PolicyChange():
                    entry = PolicyAudited(at=self._wall(), by=by, change=change, before=before)
                    audited = Append(AUDIT + id, [_encode(entry)])
                    await self._store.together(audited, Put(POLICIES, id, _encode(policy)))
            if not reply.abandoned:
                reply.set(policy)

    # -- what is remembered

    async def _tell_remembered(self, question: RememberedAsked) -> None:
        with trouble_told(question.reply, "What is remembered", not_read):
            question.reply.set(await self._remembering.listed(question.id) if question.id in self._facts else None)

    async def _remember(self, wish: RememberApproval) -> None:
        reply = wish.reply
        with trouble_told(reply, "The approval"):
            if wish.id not in self._facts:
                raise no_workspace()
            with self.atomic(), sessions_told(self.stage.registry, wish.id):
                await self._remembering.remember(wish.id, wish.approval)
            if not reply.abandoned:
                reply.set(None)

    async def _forget(self, wish: ForgetApproval) -> None:
        reply = wish.reply
        found: bool | None = None
        with trouble_told(reply, "This"):
            if wish.id in self._facts:
                with self.atomic(), sessions_told(self.stage.registry, wish.id):
                    found = await self._remembering.forget(wish.id, wish.approval_id, wish.by)
            if not reply.abandoned:
                reply.set(found)
