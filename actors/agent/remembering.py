"""The approvals that are remembered in a workspace, in the store.

    space  agent/remembered   key WORKSPACE/ID    Remembered
    stream agent/audit/WORKSPACE                  ApprovalRemembered, ApprovalForgotten

Rules
  - A change and its entry in the audit log are one commit.
  - Two approvals that allow the same are remembered as one, so an answer whose outcome nobody knows may be given again.
  - A record that cannot be read allows nothing, and is left out. It does not stand in the way of others.
"""

import logging
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from actors.agent.requests import is_same
from actors.store import Append, Delete, Put, StoreClient
from codec.agent.approvals import Remembered, RememberedList
from codec.agent.audit import AUDIT, ApprovalForgotten, ApprovalRemembered
from codec.agent.refusing import ContractRefusal

REMEMBERED = "agent/remembered"
MOST_REMEMBERED = 1000
"""In a workspace."""
PAGE = 1000

logger = logging.getLogger("troupe.agent")

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Remembered).decode


class Remembering:
    """Every call may raise the store's errors. `workspace`: the id of one that there is."""

    def __init__(self, store: StoreClient, wall: Callable[[], float]) -> None:
        self._store = store
        self._wall = wall

    async def listed(self, workspace: str) -> RememberedList:
        """The oldest first."""
        found: list[Remembered] = []
        prefix = after = f"{workspace}/"
        while page := await self._store.keys(REMEMBERED, prefix, after=after, limit=PAGE):
            for after, value in page:
                try:
                    found.append(replace(_decode(value), id=after.removeprefix(prefix), scope="workspace"))
                except (msgspec.MsgspecError, UnicodeError):
                    logger.warning("a remembered approval of %s cannot be read: it allows nothing", workspace)
        return RememberedList(approvals=tuple(sorted(found, key=lambda each: each.at)))

    async def remember(self, workspace: str, approval: Remembered) -> None:
        known = (await self.listed(workspace)).approvals
        if any(is_same(approval, each) for each in known):
            return
        if len(known) >= MOST_REMEMBERED:
            why = f"{MOST_REMEMBERED:,} approvals are remembered in this workspace already. Revoke one."
            raise ContractRefusal(422, "INVALID_MESSAGE", why)
        approval = replace(approval, scope="workspace")
        entry = ApprovalRemembered(at=self._wall(), by=approval.by, approval=approval)
        audited = Append(AUDIT + workspace, [_encode(entry)])
        await self._store.together(audited, Put(REMEMBERED, _key(workspace, approval.id), _encode(approval)))

    async def forget(self, workspace: str, approval_id: str, by: str) -> bool:
        """Whether it was remembered."""
        found = [each for each in (await self.listed(workspace)).approvals if each.id == approval_id]
        if not found:
            return False
        entry = ApprovalForgotten(at=self._wall(), by=by, approval=found[0])
        audited = Append(AUDIT + workspace, [_encode(entry)])
        await self._store.together(audited, Delete(REMEMBERED, _key(workspace, approval_id)))
        return True


def _key(workspace: str, approval_id: str) -> str:
    return f"{workspace}/{approval_id}"
