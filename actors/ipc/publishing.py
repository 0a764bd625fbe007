"""Publishing in groups: while one group of requests is on its way to the disk, the next one gathers.

Rules
  - A request that comes while nothing is on its way goes at once. Nothing waits for company.
  - A request whose own place cannot be written to is told so, and leaves the group: no other waits for it.
  - While the gate is shut, because of a folder that is gone or an editor that is not ready, nothing is published; what
    was asked for waits. A full disk is tried again after a while.
  - What has no room lets the others go first: a small request may have room where a large one has none.
  - A caller that stops waiting before the group has gone takes the request out of it. `settled` tells when what is on
    its way has arrived, for a request that is to be withdrawn must not be published afterwards.
"""

import trio
from msgspec import Struct, field

from actors.ipc.given import Base, BaseFull, BaseGone, EntryStuck

AGAIN_SECONDS = 1.0
MOST = 1 << 16
"""In a group: more than ever wait."""


class InTheGroup(Struct):
    data: bytes
    over: trio.Event = field(default_factory=trio.Event)
    """It is published, or stuck, or nobody waits for it any more."""
    stuck: EntryStuck | None = None
    """Why it could not be published."""
    is_first: bool = False
    """Whoever else has published it meanwhile has done so for us, and another request of its id stays."""


class Publishing:
    def __init__(self, base: Base, *, by_turns: bool = False) -> None:
        """`by_turns`: with scripts, for a peer removes what they have put there."""
        self._base = base
        self._by_turns = by_turns
        self._waiting: dict[str, InTheGroup] = {}
        self._wanted = trio.Event()
        self._idle = trio.Event()
        """Set while nothing is on its way."""
        self._idle.set()
        self._open = trio.Event()
        self._open.set()
        self._shut: set[str] = set()
        self._most = MOST
        """In the next group."""

    def shut(self, why: str) -> None:
        self._shut.add(why)
        if self._open.is_set():
            self._open = trio.Event()

    def reopen(self, why: str) -> None:
        self._shut.discard(why)
        if not self._shut:
            self._open.set()

    async def publish(self, id: str, data: bytes, *, is_first: bool = False) -> None:  # noqa: A002 - as in the contract
        """On the disk when it returns, however long that takes. Raises EntryStuck."""
        mine = self._waiting[id] = InTheGroup(data, is_first=is_first)
        self._wanted.set()
        try:
            await mine.over.wait()
        except trio.Cancelled:
            mine.over.set()
            raise
        if mine.stuck is not None:
            raise mine.stuck

    async def settled(self) -> None:
        await self._idle.wait()

    async def serve(self) -> None:
        """Runs beside the client end."""
        while True:
            await self._wanted.wait()
            while self._shut:
                await self._open.wait()
            self._wanted = trio.Event()
            wanting = [(id, each) for id, each in self._waiting.items() if not each.over.is_set()]  # noqa: A001
            group, self._waiting = dict(wanting[: self._most]), dict(wanting[self._most :])
            if self._waiting:
                self._wanted.set()
            if group and not await self._sent(group):
                self._waiting |= {id: each for id, each in group.items() if id not in self._waiting}  # noqa: A001
                self._wanted.set()
                if len(group) <= self._most:
                    await trio.sleep(AGAIN_SECONDS)

    async def _sent(self, group: dict[str, InTheGroup]) -> bool:
        self._idle = trio.Event()
        first = {id for id, each in group.items() if each.is_first}  # noqa: A001
        try:
            requests = {id: each.data for id, each in group.items()}  # noqa: A001
            stuck = await self._base.publish(requests, first, by_turns=self._by_turns)
        except (BaseGone, BaseFull) as error:
            if isinstance(error, BaseFull) and len(group) > 1:
                self._most = len(group) // 2
            return False
        finally:
            self._idle.set()
        self._most = min(2 * self._most, MOST)
        for id, each in group.items():  # noqa: A001
            each.stuck = stuck.get(id)
            each.over.set()
        return True
