"""A session in the store: its log, and its row.

    agent/session/ID        the log: an entry for each event, or for the tokens of one commit (codec/agent/kept.py)
    agent/session, key ID   the row; a large one is a blob, and the row is its digest

Each entry knows its numbers, which differ from its position: an entry may hold many tokens, and after a kill numbers
are left out. The entry of a number is found by halving. To read needs no actor; only the session's own actor writes.
"""

import logging
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing

import msgspec
from msgspec.structs import replace

from actors.agent.images import Images
from actors.agent.messages import LogEntry
from actors.agent.retelling import begins, joined, transcript
from actors.kernel import Registry
from actors.store import MAX_EVENT, MAX_VALUE, STORE, Append, Conflict, Put, StoreClient
from codec.agent.action_events import CommandFinished, FileChanged
from codec.agent.events import EventPage, MessageFinal, Token
from codec.agent.kept import (
    RowGist,
    SessionRow,
    UnreadableEntry,
    blob_entry,
    blob_of,
    event_entry,
    event_text,
    numbers_of,
    read_entry,
    read_gist,
    read_row,
    tokens_entry,
    write_row,
)
from codec.agent.sessions import TranscriptMessage

SPACE = "agent/session"
PAGE = 1000
BACK = 100
"""Entries of a page that is read backwards."""
ENTRY_BYTES = 256 << 10
"""The tokens of an entry take about so many bytes at most."""
BLOB = b"blob "
_DEEDS = (b'{"type":"file.changed"', b'{"type":"command.finished"')

logger = logging.getLogger("troupe.agent")


def packed(entries: Sequence[LogEntry]) -> list[bytes]:
    """Events as entries of the log: tokens in a row share one."""
    found: list[bytes] = []
    run: list[str] = []
    size = 0
    previous = 0
    for entry in entries:
        token = entry.event if type(entry.event) is Token else None
        if run and (token is None or size >= ENTRY_BYTES or entry.seq != previous + 1):
            found.append(tokens_entry(previous - len(run) + 1, run))
            run, size = [], 0
        if token is not None:
            run.append(token.token)
            size += len(entry.text)
        else:
            found.append(event_entry(entry.seq, entry.text or event_text(entry.seq, entry.event)))
        previous = entry.seq
    if run:
        found.append(tokens_entry(previous - len(run) + 1, run))
    return found


class SessionLog:
    """Every call may raise the store's errors."""

    def __init__(self, registry: Registry, id: str) -> None:  # noqa: A002 - as in the contract
        self._registry = registry
        self.id = id
        self._stream = f"{SPACE}/{id}"
        self._row_blob: str | None = None
        """Of the row that is in the store, if it is a blob."""

    @property
    def _store(self) -> StoreClient:
        return StoreClient(self._registry.get(STORE))

    # -- the row

    async def row(self) -> SessionRow | None:
        data = await self._store.get(SPACE, self.id)
        if data is None:
            return None
        if data.startswith(BLOB):
            self._row_blob = data.removeprefix(BLOB).decode()
        return read_row(await _whole(self._store, data))

    # -- writing

    async def keep(self, entries: Sequence[LogEntry], row: SessionRow | None, position: int) -> int:
        """Keeps the entries after this position, and the row, in one commit. Returns the new position. If that is
        unknown to have been done, the same call again finds out, and does it if it was not."""
        store = self._store
        changes: list[Append | Put] = []
        events = [await self._fitting(entry) for entry in packed(entries)]
        if events:
            changes.append(Append(self._stream, events, position))
        blob = self._row_blob
        if row is not None:
            data = write_row(row)
            blob = None
            if len(data) > MAX_VALUE:
                blob = await store.put_blob(self._own(data))
                data = BLOB + blob.encode()
            changes.append(Put(SPACE, self.id, data))
        try:
            await store.together(*changes)
        except Conflict as conflict:
            if conflict.last != position + len(events):
                raise
        if self._row_blob not in (None, blob):
            await store.drop_blob(self._row_blob)
        self._row_blob = blob
        return position + len(events)

    def _own(self, data: bytes) -> bytes:
        """A blob that no other session has."""
        return b"%b %b" % (self.id.encode(), data)

    async def _fitting(self, entry: bytes) -> bytes:
        return entry if len(entry) <= MAX_EVENT else blob_entry(entry, await self._store.put_blob(self._own(entry)))

    async def remove(self) -> None:
        """First the blobs, then the log, then the row, which says until then that there is something to remove."""
        store = self._store
        await Images(self._registry, self.id).drop()
        position = 0
        while page := await store.read(self._stream, position, PAGE):
            for position, entry in page:  # noqa: B007 - the next page begins after the last one
                digest = blob_of(entry)
                if digest is not None:
                    await store.drop_blob(digest)
        await store.drop(self._stream)
        await store.delete(SPACE, self.id)
        if self._row_blob is not None:
            await store.drop_blob(self._row_blob)

    # -- reading

    async def length(self) -> int:
        """The position of the last entry."""
        for name, last in await self._store.streams(self._stream, limit=1):
            if name == self._stream:
                return last
        return 0

    async def last_number(self) -> int:
        length = await self.length()
        return 0 if length == 0 else (await self._numbers(length))[1]

    async def _numbers(self, position: int) -> tuple[int, int]:
        (_, entry), *_ = await self._store.read(self._stream, position - 1, 1)
        return numbers_of(entry)

    async def position_after(self, seq: int) -> int:
        """The position before the first entry that holds a number after this one."""
        if seq <= 0:
            return 0
        low, high = 0, await self.length()
        while low < high:
            middle = (low + high + 1) // 2
            if (await self._numbers(middle))[1] <= seq:
                low = middle
            else:
                high = middle - 1
        return low

    async def pages(self, after: int = 0, upto: int | None = None) -> AsyncGenerator[list[LogEntry]]:
        """The events with numbers after the one and up to the other."""
        position = await self.position_after(after)
        while page := await self._store.read(self._stream, position, PAGE):
            found: list[LogEntry] = []
            for position, entry in page:  # noqa: B007 - the next page begins after the last one
                found.extend(await self._events(entry))
            if found and found[0].seq <= after:
                found = [entry for entry in found if entry.seq > after]
            if upto is not None and found and found[-1].seq > upto:
                yield [entry for entry in found if entry.seq <= upto]
                return
            yield found

    async def _events(self, entry: bytes) -> list[LogEntry]:
        try:
            digest = blob_of(entry)
            if digest is not None:
                whole = await self._store.get_blob(digest)
                if whole is None:
                    raise UnreadableEntry(f"the blob of {entry[:40]!r} is not there")
                entry = whole.partition(b" ")[2]
            return [LogEntry(seq, event) for seq, event in read_entry(entry)]
        except UnreadableEntry as error:
            logger.error("the session %s is shown without an event: %s", self.id, error)
            return []

    async def entries(self, after: int = 0, upto: int | None = None) -> list[LogEntry]:
        """All of these; tokens joined."""
        found: list[LogEntry] = []
        async with aclosing(self.pages(after, upto)) as pages:
            async for page in pages:
                found.extend(page)
        return list(joined(found))

    async def text_before(self, seq: int) -> str:
        """What the turn that is under way at this number has said before it."""
        position = await self.position_after(seq - 1)
        parts: list[str] = []
        first = True
        while position > 0 or first:
            begin = max(0, position - BACK)
            # the entry at `position` + 1 may hold numbers on both sides
            page = await self._store.read(self._stream, begin, position - begin + first)
            found = [entry for _, data in page for entry in await self._events(data) if entry.seq < seq]
            for entry in reversed(found):
                if type(entry.event) is MessageFinal or begins(entry):
                    return "".join(reversed(parts))
                if type(entry.event) is Token:
                    parts.append(entry.event.token)
            position, first = begin, False
        return "".join(reversed(parts))

    async def deeds(self, after: int = 0) -> list[FileChanged | CommandFinished]:
        """All changes of files and ends of commands after this number, and perhaps some before it; nothing else is
        read. None is so large that it would be a blob."""
        found: list[FileChanged | CommandFinished] = []
        position = await self.position_after(after)
        while page := await self._store.read(self._stream, position, PAGE):
            for position, entry in page:  # noqa: B007 - the next page begins after the last one
                if entry.partition(b" ")[2].startswith(_DEEDS):
                    events = [each.event for each in await self._events(entry)]
                    found += [event for event in events if isinstance(event, FileChanged | CommandFinished)]
        return found

    async def let_go(self, waited_for: Collection[str], after: int) -> None:
        """Of the images in doubt, those that events after this number name are not in doubt any more, those in
        `waited_for` stay so, and all others are dropped. Nobody may keep any meanwhile."""
        images = Images(self._registry, self.id)
        doubtful = set(await images.in_doubt())
        if not doubtful:
            return
        changes = [each for each in await self.deeds(after) if isinstance(each, FileChanged)]
        named = {blob for each in changes for blob in (each.before, each.after) if blob is not None}
        await images.settle(doubtful & named)
        await images.let_go(doubtful - named - set(waited_for))

    # -- for HTTP

    async def events(self, after: int = 0, limit: int = 1000) -> EventPage:
        found: list[LogEntry] = []
        async with aclosing(self.pages(after)) as pages:
            async for page in pages:
                found = list(joined([*found, *page]))
                if len(found) > limit:
                    break
        told = found[:limit]
        return EventPage(
            events=tuple(replace(entry.event, seq=entry.seq) for entry in told),
            after=told[-1].seq if told else after,
            more=len(found) > limit,
        )

    async def messages(self) -> list[TranscriptMessage]:
        return transcript(await self.entries())

    async def export(self) -> AsyncGenerator[bytes]:
        """The whole session as lines of JSON: its fact, then every event."""
        row = await self.row()
        if row is None:
            return
        yield msgspec.json.encode(row.fact) + b"\n"
        async with aclosing(self.pages()) as pages:
            async for page in pages:
                yield b"".join(event_text(entry.seq, entry.event) + b"\n" for entry in joined(page))


async def _whole(store: StoreClient, data: bytes) -> bytes:
    if not data.startswith(BLOB):
        return data
    whole = await store.get_blob(data.removeprefix(BLOB).decode())
    return b"" if whole is None else whole.partition(b" ")[2]


async def new_row(registry: Registry, row: SessionRow) -> None:
    """A session that there was not."""
    await StoreClient(registry.get(STORE)).put(SPACE, row.fact.id, write_row(row))


async def all_gists(registry: Registry) -> list[tuple[str, RowGist | None]]:
    """Of every session. None: this version cannot read it, which the log says."""
    store = StoreClient(registry.get(STORE))
    found: list[tuple[str, RowGist | None]] = []
    after = ""
    while page := await store.keys(SPACE, after=after, limit=PAGE):
        for key, data in page:
            try:
                found.append((key, read_gist(await _whole(store, data))))
            except UnreadableEntry as error:
                logger.error("the session %s is left out: %s", key, error)
                found.append((key, None))
        after = page[-1][0]
    return found
