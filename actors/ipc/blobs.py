"""Blobs of requests: what does not fit into their rows.

The store knows a blob by its content and does not count references. So each begins with a mark that says whose it is,
and two requests never share one: whoever lets a request go may drop its blobs. A blob without such a mark, from an
earlier version, may belong to another request too, and stays.

A row that cannot be read names its blobs all the same: whatever looks like a digest in it, and leads to a blob of that
request, is one.
"""

import re
from collections.abc import Callable, Iterable

from actors.ipc.given import TROUBLE
from actors.store import StoreClient

_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


def named_in(value: bytes) -> tuple[str, ...]:
    """What may be digests in a row that cannot be read."""
    return tuple(dict.fromkeys(found.decode() for found in _DIGEST.findall(value)))


class OwnBlobs:
    """Every call but `drop` may raise the store's errors."""

    def __init__(self, store: Callable[[], StoreClient], room: str) -> None:
        """`room`: of the journal whose rows name them."""
        self._store = store
        self._room = room

    def _mark(self, id: str, part: int | None = None) -> bytes:  # noqa: A002 - as in the contract
        return f"{self._room} {id} {'' if part is None else f'{part} '}".encode()

    async def put(self, id: str, data: bytes, part: int | None = None) -> str:  # noqa: A002
        """Its digest. `part`: which of the request's; the same data may be several of them."""
        return await self._store().put_blob(self._mark(id, part) + data)

    async def get(self, id: str, digest: str, part: int | None = None) -> bytes | None:  # noqa: A002
        data = await self._store().get_blob(digest)
        return None if data is None else data.removeprefix(self._mark(id, part))

    async def drop(self, id: str, digests: Iterable[str]) -> tuple[str, ...]:  # noqa: A002
        """Those that are still there, because the store is in trouble."""
        left = list(digests)
        try:
            while left:
                data = await self._store().get_blob(left[-1])
                if data is not None and data.startswith(self._mark(id)):
                    await self._store().drop_blob(left[-1])
                left.pop()
        except TROUBLE:
            pass
        return tuple(left)
