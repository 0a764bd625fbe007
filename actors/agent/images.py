"""Files as they were before the agent changed them, and after it: blobs in the store, which undo restores.

    agent/image, key SESSION/DIGEST            a blob that this session has kept; nothing is in it
    agent/image-in-doubt, key SESSION/DIGEST   the same, as long as no event is known that names it

A blob begins with the session's id, so no other session has it (the store counts no references). A session that keeps
the same content twice keeps it once. The note that there is such a blob is made before the blob. So when its session is
removed none stays behind, even if no event names it. An image of a change that was proposed and refused, or that was
kept just before a kill, is in doubt, and is dropped when no event turns out to name it (letting_go.py).
"""

from collections.abc import Collection, Sequence
from hashlib import sha256

from actors.kernel import Registry
from actors.store import STORE, Delete, Put, StoreClient, all_of

SPACE = "agent/image"
IN_DOUBT = "agent/image-in-doubt"
AT_ONCE = 64
"""Questions to the store, each of which may be of a large file."""


class Images:
    """Every call may raise the store's errors."""

    def __init__(self, registry: Registry, session_id: str) -> None:
        self._registry = registry
        self._id = session_id
        self._head = b"%b image " % session_id.encode()

    @property
    def _store(self) -> StoreClient:
        return StoreClient(self._registry.get(STORE))

    async def keep(self, data: bytes) -> str:
        """The digest of its blob, when that is on the disk. It is not that of the file."""
        own, store = self._head + data, self._store
        key = self._key(sha256(own).hexdigest())
        if await store.get(SPACE, key) is None:
            await store.together(Put(SPACE, key, b"", soft=True), Put(IN_DOUBT, key, b"", soft=True))
        return await store.put_blob(own)

    async def get(self, digest: str) -> bytes | None:
        """None: this session has not kept it."""
        own = await self._store.get_blob(digest)
        return own.removeprefix(self._head) if own is not None and own.startswith(self._head) else None

    async def get_all(self, digests: Sequence[str]) -> list[bytes | None]:
        return await all_of(digests, self.get, AT_ONCE)

    async def in_doubt(self) -> list[str]:
        store, found, after = self._store, list[str](), ""
        while page := await store.keys(IN_DOUBT, prefix=self._key(""), after=after):
            after = page[-1][0]
            found += [key.rpartition("/")[2] for key, _ in page]
        return found

    async def settle(self, digests: Collection[str]) -> None:
        """Events name these."""
        await all_of(digests, self._settle, AT_ONCE)

    async def let_go(self, digests: Collection[str]) -> None:
        """These are dropped: first the blob, then the note that there is one."""
        await all_of(digests, self._store.drop_blob, AT_ONCE)
        await all_of(digests, self._forget, AT_ONCE)

    async def drop(self) -> None:
        """All of them."""
        while page := await self._store.keys(SPACE, prefix=self._key("")):
            await self.let_go([key.rpartition("/")[2] for key, _ in page])

    def _key(self, digest: str) -> str:
        return f"{self._id}/{digest}"

    async def _settle(self, digest: str) -> None:
        await self._store.delete(IN_DOUBT, self._key(digest), soft=True)

    async def _forget(self, digest: str) -> None:
        await self._store.together(*(Delete(space, self._key(digest)) for space in (SPACE, IN_DOUBT)))
