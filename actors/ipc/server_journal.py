"""The server end's journal in the store: a row of every request that it has begun.

    space               key     value
    ipc/server/BASE     its id  1, then the row
    ipc/desk/BASE       a name  what the commands are to remember (commands.py)

BASE is a digest of the folder's path. A row stays for as long as its request does, so that a request is known by it
when somebody takes its answer away.

Rules
  - Rows are soft (actors/store): a start is known after any kill, and need not wait for the disk. What a power cut
    takes with it can be told from the files again, except that a run was begun.
  - A row that says only that its request is there, and was not begun, is not written.
  - The answer stands in the row from when it is decided until it has been written. After that only its kind does.
  - What does not fit into a row is a blob of the request's own (blobs.py), which is there before the row that names it,
    and goes when it does not any more.
  - A value that cannot be read counts as none, and is told in the log. Its blob goes.
"""

import hashlib
import logging
from collections.abc import AsyncIterator, Iterable

import msgspec
from msgspec.structs import replace

from actors.ipc.blobs import OwnBlobs, named_in
from actors.ipc.server_steps import Phase, Row
from actors.kernel import PostedQuestion, Registry
from actors.store import SECONDS, STORE, Delete, StoreClient
from codec.ipc import Failure, Outcome, Success

VERSION = b"1"
PAGE = 5_000
TOGETHER = 200
LARGE_ANSWER = 512 << 10
"""Bytes of an answer from which on it is a blob."""
LONGEST_KEPT = 200
"""Characters of an error's message that are kept once it has been written."""

logger = logging.getLogger("troupe.ipc")


class _Value(msgspec.Struct, frozen=True, array_like=True):
    fingerprint: bytes
    phase: str
    starts: int
    outcome: Success | Failure | None = None
    blob: str = ""
    found: bool = False


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Value).decode
_outcome = msgspec.json.Decoder(Success | Failure).decode


class FirstStart(msgspec.Struct, frozen=True):
    row: Row
    saving: PostedQuestion[None]

    async def saved(self) -> Row:
        """The row, when the journal has it. To be called once."""
        await self.saving.answer(timeout=SECONDS)
        return self.row


class ServerJournal:
    """Every call may raise the store's errors, and NobodyThere."""

    def __init__(self, registry: Registry, base: str) -> None:
        self._registry = registry
        name = hashlib.sha256(base.encode(errors="surrogateescape")).hexdigest()[:16]
        self._rows = f"ipc/server/{name}"
        self._desk = f"ipc/desk/{name}"
        self._blobs = OwnBlobs(lambda: self._store, self._rows)
        self._named: dict[str, str] = {}
        """The blobs that rows are known to name, of requests whose answers are decided and not written."""

    @property
    def _store(self) -> StoreClient:
        return StoreClient(self._registry.get(STORE))

    async def load(self, id: str) -> Row | None:  # noqa: A002 - as in the contract
        data = await self._store.get(self._rows, id)
        if data is None:
            return None
        value = _read(id, data)
        if value is None:
            await self._blobs.drop(id, named_in(data))
            return None
        outcome = value.outcome
        if value.blob:
            self._named[id] = value.blob
            blob = await self._blobs.get(id, value.blob)
            outcome = None if blob is None else _outcome(blob)
        return Row(id, value.fingerprint, Phase(value.phase), value.starts, outcome, value.found)

    async def save(self, row: Row, known: Row | None) -> None:
        """`known`: the row as it stands there."""
        if row.phase is Phase.ASKED and row.starts == 0 and _says_no_less(known, row):
            return
        outcome, blob = row.outcome, ""
        if row.phase is Phase.ANSWERED:
            outcome = _in_short(outcome)
        elif outcome is not None:
            encoded = _encode(outcome)
            if len(encoded) > LARGE_ANSWER:
                blob, outcome = await self._blobs.put(row.id, encoded), None
        value = _Value(row.fingerprint, row.phase.value, row.starts, outcome, blob, row.found)
        await self._store.put(self._rows, row.id, VERSION + _encode(value), soft=True)
        if (before := self._named.pop(row.id, blob)) != blob:
            await self._blobs.drop(row.id, [before])
        if blob:
            self._named[row.id] = blob

    def begin(self, row: Row) -> "FirstStart":
        """The first start of a request of which nothing is known is on its way to the journal."""
        value = _Value(row.fingerprint, row.phase.value, row.starts)
        return FirstStart(row, self._store.begin_put(self._rows, row.id, VERSION + _encode(value), soft=True))

    async def forget(self, ids: Iterable[str]) -> None:
        left = list(ids)
        while left:
            some, left = left[:TOGETHER], left[TOGETHER:]
            for each in some:
                if each in self._named:
                    await self._blobs.drop(each, [self._named.pop(each)])
            await self._store.together(*(Delete(self._rows, each, soft=True) for each in some))

    async def all(self) -> AsyncIterator[tuple[str, Phase]]:
        after = ""
        while page := await self._store.keys(self._rows, after=after, limit=PAGE):
            for id, data in page:  # noqa: A001
                value = _read(id, data)
                named = value.blob if value is not None else next(iter(named_in(data)), "")
                if named:
                    self._named[id] = named
                yield id, Phase.ASKED if value is None else Phase(value.phase)
            after = page[-1][0]

    # -- what commands remember

    async def recall(self, name: str) -> str | None:
        data = await self._store.get(self._desk, name)
        return None if data is None else data.decode(errors="replace")

    async def remember(self, name: str, value: str) -> None:
        await self._store.put(self._desk, name, value.encode())


def _says_no_less(known: Row | None, row: Row) -> bool:
    """What stands there, of a request that is there and was not begun."""
    if known is None:
        return True
    return known.fingerprint == row.fingerprint and not (known.phase is Phase.ASKED and known.starts)


def _read(id: str, data: bytes) -> _Value | None:  # noqa: A002
    try:
        if not data.startswith(VERSION):
            raise ValueError(f"it is of version {data[:1]!r}")
        value = _decode(data[len(VERSION) :])
        Phase(value.phase)
    except ValueError as wrong:  # as msgspec's errors are
        logger.warning("what the server end knew of the request %s cannot be read: %s", id, wrong)
        return None
    return value


def _in_short(outcome: Outcome | None) -> Outcome:
    if isinstance(outcome, Failure):
        return replace(outcome, message=outcome.message[:LONGEST_KEPT])
    return Success()
