"""Changes in what a session's workspace allows, told in the session's log. So a reader of the log finds them in their
place between the requests, answers and deeds.

    in the workspace's audit log (codec/agent/audit.py)    the policy, and what is remembered there
    said by the session itself                             its mode, and what is remembered in it

Rules
  - A session tells all entries since it was made, each once and in their order. How far it has come is in its row, in
    the same commit.
  - A session that sleeps tells them when it wakes, and a reader of its log over HTTP wakes it.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import msgspec
import trio

from actors.agent.messages import SESSIONS, WorkspaceAudited
from actors.agent.record import SessionRecord
from actors.kernel import Actor, KernelError, Registry, Reply
from actors.store import STORE, StoreClient, StoreError
from codec.agent.audit import AUDIT, AuditEvent

PAGE = 100
AGAIN_SECONDS = 1.0
"""Until a look that has failed is done again."""

logger = logging.getLogger("troupe.agent")

_decode = msgspec.json.Decoder(AuditEvent).decode


async def audit_end(registry: Registry, workspace_id: str) -> int:
    """The position of the last entry. May raise the store's errors."""
    stream = AUDIT + workspace_id
    found = await StoreClient(registry.get(STORE)).streams(stream, limit=1)
    return next((last for name, last in found if name == stream), 0)


@contextmanager
def sessions_told(registry: Registry, workspace_id: str) -> Iterator[None]:
    """A change of what is allowed, and then its sessions are told to look; also if nobody knows whether it was done.
    Those that are not there will see it when they are."""
    try:
        yield
    finally:
        sessions = registry.find(SESSIONS)
        if sessions is not None:
            with suppress(KernelError):
                sessions.tell(WorkspaceAudited(workspace_id))


class Audited:
    def __init__(self, session: Actor[Any], record: SessionRecord) -> None:
        self._session = session
        self._record = record
        self._asked: list[Reply[None]] = []
        self._wanted = False
        self._looking = False

    def look(self, reply: Reply[None] | None = None) -> None:
        """Tells what is new. Answered when it is kept, or cannot be told now."""
        if reply is not None:
            self._asked.append(reply)
        self._wanted = True
        if not self._looking:
            self._looking = True
            self._session.run_beside(self._look)

    async def _look(self) -> None:
        while self._wanted:
            self._wanted = False
            replies, self._asked = self._asked, []
            trouble = await self._tell_news()
            for reply in replies:
                self._record.writing.promise(reply, None)
            if trouble:
                self._wanted = True
                await trio.sleep(AGAIN_SECONDS)
        self._looking = False

    async def _tell_news(self) -> bool:
        """Whether there is more that cannot be read now."""
        try:
            await self._tell_those_after()
        except (StoreError, KernelError) as error:
            logger.warning("what is allowed in %s cannot be looked up: %s", self._session.ref.path, error)
            return True
        return False

    async def _tell_those_after(self) -> None:
        registry, record = self._session.stage.registry, self._record
        workspace = record.row.fact.workspace_id
        position = record.row.audited
        if position is None:  # it was made by an earlier version
            record.change(audited=await audit_end(registry, workspace))
            return
        store = StoreClient(registry.get(STORE))
        while page := await store.read(AUDIT + workspace, position, PAGE):
            for position, entry in page:  # noqa: B007 - the next page begins after the last one
                try:
                    record.say(_decode(entry))
                except (msgspec.DecodeError, UnicodeError, ValueError) as error:
                    logger.warning("an entry of the audit log of %s cannot be read: %s", workspace, error)
            record.change(audited=position)
