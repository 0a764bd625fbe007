"""The store's operations as calls, for other actors.

A call raises a StoreError (Conflict, Refused, StoreFull) if the store could not do it. It raises the kernel's TooSlow
or ActorDown if the outcome is unknown: a change may or may not have been stored. On the next try an `expected` sequence
number tells which.
"""

from collections.abc import AsyncIterator, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar

from actors.kernel import ActorRef, PostedQuestion
from actors.store.messages import Ask, StatisticsAsked, StoreMessage, StoreStatistics, Write
from actors.store.operations import (
    Append,
    Delete,
    Drop,
    DropBlob,
    Get,
    GetBlob,
    GetEach,
    Keys,
    Operation,
    Put,
    PutBlob,
    Question,
    Read,
    Streams,
    Together,
    Touch,
    Trim,
)

R = TypeVar("R")
Call = Coroutine[Any, Any, R]
"""The same as the result of an `async def`, but without an extra frame between the caller and the kernel's `ask`."""

SECONDS = 30.0
"""Seconds to wait for an answer: a disk may be slow, and the store may be restarting."""


class StoreClient:
    __slots__ = ("_ref", "_seconds")

    def __init__(self, ref: ActorRef[StoreMessage], seconds: float = SECONDS) -> None:
        self._ref = ref
        self._seconds = seconds

    # -- logs

    def append(self, stream: str, events: Sequence[bytes], expected: int | None = None) -> Call[int]:
        return self._write(Append(stream, events, expected))

    def read(self, stream: str, after: int = 0, limit: int = 1000) -> Call[list[tuple[int, bytes]]]:
        """One page."""
        return self._ask(Read(stream, after, limit))

    async def replay(self, stream: str, after: int = 0) -> AsyncIterator[tuple[int, bytes]]:
        """All of it, page by page."""
        while page := await self.read(stream, after):
            for entry in page:
                yield entry
            after = page[-1][0]

    def trim(self, stream: str, upto: int) -> Call[None]:
        return self._write(Trim(stream, upto))

    def drop(self, stream: str, *, soft: bool = False) -> Call[None]:
        """Soft: see operations.py."""
        return self._write(Drop(stream, soft))

    def streams(self, prefix: str = "", after: str = "", limit: int = 1000) -> Call[list[tuple[str, int]]]:
        return self._ask(Streams(prefix, after, limit))

    # -- pairs

    def put(self, space: str, key: str, value: bytes, *, soft: bool = False) -> Call[None]:
        """Soft: see operations.py."""
        return self._write(Put(space, key, value, soft))

    def begin_put(self, space: str, key: str, value: bytes, *, soft: bool = False) -> PostedQuestion[None]:
        """The same, and whoever asks need not wait for it at once."""
        return self._ref.post(partial(Write, Put(space, key, value, soft)))

    def get(self, space: str, key: str) -> Call[bytes | None]:
        return self._ask(Get(space, key))

    def get_each(self, *places: tuple[str, str]) -> Call[list[bytes | None]]:
        """Of several spaces and keys, in one trip."""
        return self._ask(GetEach(places))

    def delete(self, space: str, key: str, *, soft: bool = False) -> Call[None]:
        return self._write(Delete(space, key, soft))

    def together(self, *changes: Append | Put | Delete) -> Call[int | None]:
        """All of them, or none. The last number of the last Append."""
        return self._write(Together(changes))

    def keys(self, space: str, prefix: str = "", after: str = "", limit: int = 1000) -> Call[list[tuple[str, bytes]]]:
        return self._ask(Keys(space, prefix, after, limit))

    # -- blobs

    def put_blob(self, data: bytes) -> Call[str]:
        return self._write(PutBlob(data))

    def get_blob(self, digest: str) -> Call[bytes | None]:
        return self._ask(GetBlob(digest))

    def drop_blob(self, digest: str) -> Call[None]:
        """Deletes it for everybody: see operations.py."""
        return self._write(DropBlob(digest))

    # -- the store itself

    def touch(self) -> Call[None]:
        """Tests whether changes can be stored. Raises the same errors as a change would."""
        return self._write(Touch())

    def statistics(self) -> Call[StoreStatistics]:
        return self._ref.ask(StatisticsAsked, timeout=self._seconds)

    def _write(self, operation: Operation[R]) -> Call[R]:
        return self._ref.ask(partial(Write, operation), timeout=self._seconds)

    def _ask(self, question: Question[R]) -> Call[R]:
        return self._ref.ask(partial(Ask, question), timeout=self._seconds)
