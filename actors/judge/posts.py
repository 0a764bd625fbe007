"""Keeps posts in the store, a log for each, from before they are answered until their folders are complete.

    judge/post/000000000042/9f86d081884c7d65/1234     the parts of the post
    judge/aside, that name                            why it was set aside, as a text for the user

The name of a log has everything that is needed to queue the post: its number, its lane and its size. So ten thousand
waiting posts are ten pages of names at a start, and each post is read only when its turn has come.

A post is stored as we understood it, not as it came. So every answered post can be read again. If the parts of a post
have fewer bytes than its name says, it was never answered.
"""

import re
from collections.abc import AsyncIterator, Sequence
from hashlib import sha256

import msgspec

from actors.judge.places import place
from actors.judge.waiting import WAITING, Post
from actors.kernel import Registry
from actors.store import STORE, StoreClient
from codec.judge import Task

PREFIX, ASIDE = "judge/post/", "judge/aside"
PART = 1 << 20
"""The largest event of the store..."""
PARTS = 16
"""...and the number of them that are stored at a time."""
_NAME = re.compile(PREFIX + r"([0-9]{12})/([0-9a-f]{16})/([0-9]{1,12})", re.ASCII)

encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Task).decode


class NeverAnswered(Exception):
    """Only a part of the post was stored."""


def lane_of(task: Task) -> str:
    """The post's lane. Two problems whose addresses make the same name share one; the first to come gets the folder."""
    return sha256(place(task.url, task.group, task.name).id.encode()).hexdigest()[:16]


def read(parts: Sequence[bytes]) -> Task:
    return _decode(b"".join(parts))


class Posts:
    """Every call may raise the store's errors."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    @property
    def _store(self) -> StoreClient:
        return StoreClient(self._registry.get(STORE))

    async def keep(self, post: Post, encoded: bytes) -> None:
        """Stores the post. When this returns, it cannot be lost any more."""
        name, last = _name(post), 0
        parts = [encoded[start : start + PART] for start in range(0, len(encoded), PART)]
        for start in range(0, len(parts), PARTS):
            last = await self._store.append(name, parts[start : start + PARTS], expected=last)

    async def parts(self, post: Post) -> list[bytes]:
        parts = [part async for _, part in self._store.replay(_name(post))]
        if sum(map(len, parts)) < post.size:
            raise NeverAnswered
        return parts

    async def over(self, post: Post) -> None:
        """Deletes a post whose folder is complete. If a power cut undoes this, the post is taken in once more."""
        await self._store.drop(_name(post), soft=True)

    async def set_aside(self, post: Post, why: str) -> None:
        await self._store.put(ASIDE, _name(post), why.encode())

    async def forget_aside(self, post: Post) -> None:
        await self._store.drop(_name(post))
        await self._store.delete(ASIDE, _name(post))

    async def all(self) -> AsyncIterator[tuple[Post, str | None]]:
        """All stored posts in order; for one that was set aside, also the reason."""
        aside = {name: why.decode() async for name, why in self._pairs()}
        after = ""
        while page := await self._store.streams(PREFIX, after):
            for name, _ in page:
                if fields := _NAME.fullmatch(name):
                    yield Post(int(fields[1]), fields[2], int(fields[3]), WAITING), aside.pop(name, None)
            after = page[-1][0]
        for name in aside:  # killed while it was forgotten
            await self._store.delete(ASIDE, name)

    async def _pairs(self) -> AsyncIterator[tuple[str, bytes]]:
        after = ""
        while page := await self._store.keys(ASIDE, after=after):
            for pair in page:
                yield pair
            after = page[-1][0]


def _name(post: Post) -> str:
    return f"{PREFIX}{post.number:012}/{post.lane}/{post.size}"
