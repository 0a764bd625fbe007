"""Writes boards into the store.

    sidekick/board   a room's name                   its Header, with the book in it if that is short
    log              sidekick/board/NAME/GENERATION  a longer book, in pieces

A header names the log of its book and is written when the whole book is stored. Then the log of the earlier book is
dropped. So at whatever moment the server is killed, either the old board or the new one is complete. Logs that no
header names were unfinished, or about to be dropped; the next start deletes them.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import suppress

import trio
from msgspec import structs

from actors.kernel import KernelError, Registry
from actors.sidekick.board_messages import Snapshot
from actors.store import STORE, Delete, Put, StoreClient, StoreError
from codec.sidekick.kept import BoardHeader, UnreadableBoard, encode_header, packed, read_header

BOARDS = LOGS = "sidekick/board"
SECONDS = 10.0
"""How long to wait for an answer of the store. After that it is better to try again."""
SHORT = 64 * 1024
"""A book of at most so many bytes has no log of its own."""
BATCH = 512 * 1024
"""Bytes of a longer book that are written at a time, so that other writers have their turn."""
LONGEST = 32 * 1024 * 1024
REST_AFTER = 1024
"""After so many packed bytes, of one board or of several small ones, other tasks have their turn. (A turn after
each small board took a third of the time in which they were packed.)"""

logger = logging.getLogger("troupe.sidekick")


class TooLong(Exception):
    """The book of a board has more bytes than may be kept."""

    def __init__(self) -> None:
        super().__init__(f"it has more than {LONGEST:,} bytes")


class Bookkeeping:
    """Every call may raise the store's errors."""

    def __init__(self, registry: Registry, new_id: Callable[[], str]) -> None:
        self._registry = registry
        self._new_id = new_id
        self._packed = 0
        """Bytes since other tasks had their turn."""

    @property
    def _store(self) -> StoreClient:
        return StoreClient(self._registry.get(STORE), SECONDS)

    # -- all boards

    async def headers(self) -> dict[str, BoardHeader]:
        """The headers of all stored boards, without their books. A board whose header cannot be read is forgotten."""
        found: dict[str, BoardHeader] = {}
        after = ""
        while page := await self._store.keys(BOARDS, after=after):
            for name, value in page:
                try:
                    found[name] = structs.replace(read_header(value), book=b"")
                except UnreadableBoard as error:
                    logger.warning("The board of room %s is forgotten: what was kept of it %s.", name, error)
                    await self._store.delete(BOARDS, name)
            after = page[-1][0]
        return found

    async def sweep(self, headers: dict[str, BoardHeader]) -> None:
        """Drop all logs that no header names."""
        known = {header.log for header in headers.values()}
        after = ""
        while page := await self._store.streams(f"{LOGS}/", after=after):
            for name, _ in page:
                if name not in known:
                    await self._store.drop(name)
            after = page[-1][0]

    # -- one board

    async def bound(self, name: str, snapshot: Snapshot) -> BoardHeader:
        """Make the book of a board. A long book is in its log when this returns. Until the header is written, the
        earlier board is still the stored one."""
        log = f"{LOGS}/{name}/{self._new_id()}"
        try:
            return await self._bound(name, log, snapshot)
        except (StoreError, KernelError, TooLong):  # the disk may be full: the part that was written must not stay
            with suppress(StoreError, KernelError):
                await self._store.drop(log)
            raise

    async def _bound(self, name: str, log: str, snapshot: Snapshot) -> BoardHeader:
        pieces: list[bytes] = []
        waiting = size = 0
        for number, piece in enumerate(packed(snapshot.parts)):
            self._packed += len(piece)
            if number or self._packed >= REST_AFTER:  # a book of several pieces is long, however well it was packed
                self._packed = 0
                await trio.lowlevel.checkpoint()
            if piece:
                pieces.append(piece)
                waiting += len(piece)
                size += len(piece)
            if size > LONGEST:
                raise TooLong
            if waiting > BATCH:
                await self._store.append(log, pieces)
                pieces, waiting = [], 0
        book = b""
        if size <= SHORT:
            log, book = "", b"".join(pieces)
        elif pieces:
            await self._store.append(log, pieces)
        return BoardHeader(
            room=name, drawn_at=snapshot.drawn_at, heroes=snapshot.heroes, log=log, book=book, size=size
        )

    async def write(self, headers: Iterable[BoardHeader], gone: Iterable[BoardHeader]) -> None:
        """From now on the boards in `headers` are stored and those in `gone` are not. The logs of the earlier boards
        still exist, and are to be dropped."""
        puts = [Put(BOARDS, header.room, encode_header(header)) for header in headers]
        await self._store.together(*puts, *[Delete(BOARDS, header.room) for header in gone])

    async def drop(self, header: BoardHeader) -> None:
        """Drop the log that the header names, if there is one."""
        if header.log:
            await self._store.drop(header.log)

    async def header(self, name: str) -> BoardHeader | None:
        value = await self._store.get(BOARDS, name)
        return None if value is None else read_header(value)

    async def book(self, header: BoardHeader) -> AsyncGenerator[bytes, None]:
        """The book of a stored board, piece by piece."""
        if header.log:
            after = 0
            while page := await self._store.read(header.log, after):
                for after, piece in page:  # noqa: B007 - the next page begins after the last one
                    yield piece
        else:
            yield header.book

