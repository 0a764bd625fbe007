"""The boards' actor: it knows all rooms, and stores their boards.

    a board is     becomes            when
    clean          due                its room reports a change (once, until it is asked for a picture)
    due            under way          `KEEP_AFTER` later, in turn; the room gives its picture, or has given its last one
    under way      clean              it is stored
                   due                the store has failed: again after `AGAIN_AFTER`, and `trouble` says so
                   clean              it is too large: then the last stored board stays

Rules
  - Drawing never waits for this. A room reports a change and later gives a picture, which costs it as much as copying a
    list. The picture is written in short steps, a few boards at a time.
  - Boards that change within the same second are written together: a thousand rooms cost a few commits.
  - Each board is written by one task at a time, in order, and a reader waits for it.
  - Rooms end before this actor does, and their last pictures are written before it ends.
  - An empty board is forgotten, and so is one on which nobody has drawn for the time in the settings. If there are too
    many boards, or too much data, the one that was drawn on longest ago is forgotten, if possible one that nobody is
    using.
  - The facts about a room come from its own reports, and are dropped when it ends.
"""

import logging
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import trio
from msgspec import structs

from actors.kernel import Actor, Agenda, ChildSpec, Down, KernelError, Key, Mailbox, Reply, Stop, in_words
from actors.sidekick.board_messages import (
    BoardsMessage,
    Keep,
    Pictured,
    Recall,
    Snapshot,
    Soiled,
    Stands,
    Unfit,
    WhichRooms,
)
from actors.sidekick.bookkeeping import BATCH, Bookkeeping, TooLong
from actors.sidekick.messages import PictureWanted
from actors.store import Refused, StoreError
from codec.sidekick.kept import BoardHeader
from codec.sidekick.rooms import DEFAULT_ROOM, RoomListed
from codec.words import counted

NAME = Key[BoardsMessage]("sidekick/boards")
CAPACITY = 16_384
KEEP_AFTER = 3.0
TOGETHER = 1.0
"""Seconds between two moments at which boards fall due. Due times are rounded down to such a moment, so that boards are
stored together."""
AGAIN_AFTER = 5.0
AT_A_TIME = 4
IN_ONE_GO = 32
BETWEEN = 8
"""After so many rooms were asked for their pictures, other tasks have their turn."""
PATIENCE = 5.0
"""Seconds to wait for the pictures of rooms. A picture that comes later is written later."""
SWEEP_EVERY = 3600.0
MOST_BOARDS = 2_048
MOST_BYTES = 256 * 1024 * 1024
"""Of all stored boards together."""
MOST_LEFT = 64
"""While the store fails: how many last pictures of rooms that have ended are kept in memory."""
NOTHING = Snapshot([], 0.0, ())

logger = logging.getLogger("troupe.sidekick")


def boards_spec(keep_seconds: float, wall: Callable[[], float]) -> ChildSpec[BoardsMessage]:
    """`keep_seconds`: how long a board is kept after its last change. 0: no boards are kept."""
    make: Callable[[], Actor[Any]] = lambda: Boards(keep_seconds, wall)  # noqa: E731
    return ChildSpec("boards", make, mailbox=lambda: Mailbox(CAPACITY))


class Boards(Actor[BoardsMessage]):
    def __init__(self, keep_seconds: float, wall: Callable[[], float]) -> None:
        self._keep_seconds = keep_seconds
        self._wall = wall
        self._rooms: dict[str, Stands] = {}
        self._kept: dict[str, BoardHeader] = {}
        self._size = 0
        """Bytes of all stored boards."""
        self._counted = (-1, -1)
        self._is_open = False
        """It is known which boards are stored."""
        self._agenda = Agenda[str]()
        self._snapshots: dict[str, Snapshot] = {}
        """Pictures that have come and are not written yet."""
        self._awaited: dict[str, trio.Event] = {}
        """Rooms that have been asked for a picture."""
        self._busy: set[str] = set()
        self._soiled_meanwhile: dict[str, float] = {}
        """When boards that are busy, or of which a picture has come, are due again."""
        self._thanks: dict[str, list[Reply[None]]] = {}
        """Answers to be given when the last pictures of these rooms are stored."""
        self._recalls: dict[str, list[Reply[bool]]] = {}
        self._asked: list[Reply[list[RoomListed]]] = []
        """Questions which rooms there are. They wait until it is known which boards are stored."""
        self._bell = trio.Event()
        self._trouble: str | None = None
        self._too_long: set[str] = set()

    async def started(self, kept: object | None) -> None:
        self._books = Bookkeeping(self.stage.registry, self.stage.new_id)
        if isinstance(kept, dict):
            self._rooms = kept
            for one in kept.values():
                self.monitor(one.room)
                self._soiled(one.name, 0.0)
        self.run_beside(self._open)
        for _ in range(AT_A_TIME):
            self.run_beside(self._work)
        self.stage.registry.claim(NAME, self.ref)
        self._count()

    def keep(self) -> object:
        return self._rooms

    @property
    def trouble(self) -> str | None:
        return self._trouble

    def at_once(self, message: BoardsMessage) -> bool:
        match message:
            case Soiled(name, at_once):
                self._soiled(name, 0.0 if at_once else KEEP_AFTER)
            case Pictured(name, snapshot):
                self._came(name, snapshot)
            case Stands(room, name):
                if name not in self._rooms or self._rooms[name].room is not room:
                    self.monitor(room)
                self._rooms[name] = message
                self._count()
            case _:
                return False
        return True

    async def handle(self, message: BoardsMessage) -> None:
        match message:
            case Soiled() | Pictured() | Stands():
                self.at_once(message)
            case Keep(name, snapshot, reply):
                if self._keeps:
                    self._thanks.setdefault(name, []).append(reply)
                    self._came(name, snapshot)
                else:
                    reply.set(None)
            case Recall(name, reply):
                self._recalls.setdefault(name, []).append(reply)
                self._answer_recalls(name)
            case Unfit(name):
                if name in self._kept:
                    self._came(name, NOTHING)
            case WhichRooms(reply):
                self._asked.append(reply)
                self._answer_who_asked()
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        for name in [name for name, one in self._rooms.items() if one.room is down.ref]:
            del self._rooms[name]
            if name in self._awaited:  # the room can give no picture any more
                self._awaited.pop(name).set()
            if name not in self._snapshots:
                self._agenda.drop(name)
                self._soiled_meanwhile.pop(name, None)
        self._count()

    async def stopping(self, stop: Stop) -> None:
        while stop.why.normal and (self._busy or self._wakes_at <= self.stage.now()):
            await self._rung()

    def _count(self) -> None:
        count = len(self._rooms), len(self._kept)
        if count != self._counted:
            self._counted = count
            self.note = f"{counted(count[0], 'room')}, {counted(count[1], 'board')} kept"

    @property
    def _keeps(self) -> bool:
        return self._keep_seconds > 0

    def _ring(self) -> None:
        self._bell.set()
        self._bell = trio.Event()

    async def _rung(self) -> None:
        await self._bell.wait()

    # -- boards that are stored already

    async def _open(self) -> None:
        while not await self._opened():  # noqa: ASYNC110 - the store does not tell when it works again
            await trio.sleep(AGAIN_AFTER)
        self._is_open = True
        self._answer_who_asked()
        for name in list(self._recalls):
            self._answer_recalls(name)
        self._count()
        self._ring()
        while True:
            await trio.sleep(SWEEP_EVERY)
            await self._tidy_up(MOST_BOARDS, MOST_BYTES)

    async def _opened(self) -> bool:
        try:
            self._kept = await self._books.headers()
            self._size = sum(header.size for header in self._kept.values())
            if not self._keeps:
                for header in list(self._kept.values()):
                    await self._forget(header)
            await self._forget_old(MOST_BOARDS, MOST_BYTES)
            await self._books.sweep(self._kept)
        except (StoreError, KernelError) as error:
            self._failed(error, "what was drawn before cannot be shown")
            self._answer_who_asked()
            return False
        self._trouble = None
        return True

    def _answer_who_asked(self) -> None:
        if self._is_open or self._trouble is not None:
            asked, self._asked = self._asked, []
            for reply in asked:
                if not reply.abandoned:
                    reply.set(self._listed())

    def _answer_recalls(self, name: str) -> None:
        if self._is_open and name not in self._busy and name not in self._snapshots:
            for reply in self._recalls.pop(name, []):
                if not reply.abandoned:
                    reply.set(name in self._kept)

    # -- storing

    def _soiled(self, name: str, after: float) -> None:
        due = now = self.stage.now()
        if after > TOGETHER:
            due = (now + after) // TOGETHER * TOGETHER
        if name in self._busy or name in self._snapshots:  # that picture may not show it
            self._soiled_meanwhile[name] = min(due, self._soiled_meanwhile.get(name, due))
            return
        is_first = due < self._agenda.next
        self._agenda.put(name, due)
        if is_first:
            self._ring()

    def _came(self, name: str, snapshot: Snapshot) -> None:
        self._snapshots.pop(name, None)
        if name in self._awaited:
            self._awaited.pop(name).set()
        else:
            self._soiled(name, 0.0)
        self._snapshots[name] = snapshot

    @property
    def _wakes_at(self) -> float:
        return self._agenda.next if self._is_open else math.inf

    async def _work(self) -> None:
        while True:
            names = self._agenda.take(self.stage.now(), IN_ONE_GO) if self._is_open else []
            if not names:
                with trio.move_on_at(self._wakes_at):
                    await self._rung()
                continue
            self._busy.update(names)
            try:
                await self._keep(names)
            finally:
                self._leave(*names)
            await self._forget_what_is_too_much()

    def _leave(self, *names: str) -> None:
        """These boards are not busy any more."""
        self._busy.difference_update(names)
        for name in names:
            if (due := self._soiled_meanwhile.pop(name, None)) is not None:
                self._agenda.put(name, due)
            self._answer_recalls(name)
        self._ring()

    async def _keep(self, names: Sequence[str]) -> None:
        await self._ask_for_pictures([name for name in names if name not in self._snapshots])
        page: list[_Entry] = []
        for name in names:
            if name in self._snapshots:
                if entry := await self._bound(name, self._snapshots.pop(name)):
                    page.append(entry)
                if sum(one.size for one in page) > BATCH:
                    await self._write_down(page)
                    page = []
        await self._write_down(page)
        self._count()

    async def _bound(self, name: str, snapshot: Snapshot) -> "_Entry | None":
        entry = _Entry(name, snapshot, self._thanks.pop(name, []))
        try:
            if snapshot.parts:
                entry.header = await self._books.bound(name, snapshot)
        except TooLong as error:
            if name not in self._too_long:
                self._too_long.add(name)
                logger.warning("The board of room %s is not kept: %s.", name, error)
            entry.thank()
        except (StoreError, KernelError) as error:
            self._not_kept(entry, error)
        except Exception as error:  # this concerns one board: the others are stored all the same
            logger.exception("The board of room %s could not be written down.", name)
            entry.regret(error)
        else:
            self._too_long.discard(name)
            return entry
        return None

    async def _write_down(self, page: "Sequence[_Entry]") -> None:
        """Store all these boards in one commit. If the store refuses their content, one of them may be the reason, so
        each is then stored alone."""
        if not page:
            return
        before = [self._kept[entry.name] for entry in page if entry.name in self._kept]
        now = [entry.header for entry in page if entry.header is not None]
        gone = [header for header in before if header.room not in {header.room for header in now}]
        try:
            if now or gone:
                await self._books.write(now, gone)
        except (StoreError, KernelError) as error:
            for entry in page:
                if isinstance(error, Refused) and len(page) > 1:
                    await self._write_down([entry])
                else:
                    self._not_kept(entry, error)
                    await self._drop(entry.header)
            return
        for header in before:
            self._strike(header)
        for header in now:
            self._kept[header.room] = structs.replace(header, book=b"")
            self._size += header.size
        self._trouble = None
        for entry in page:
            entry.thank()
        for header in before:
            await self._drop(header)

    async def _drop(self, header: BoardHeader | None) -> None:
        """Drop the log that a header names."""
        if header is not None:
            with suppress(StoreError, KernelError):  # the next start sweeps it away
                await self._books.drop(header)

    def _strike(self, header: BoardHeader) -> None:
        """This header is not stored any more."""
        del self._kept[header.room]
        self._size -= header.size

    def _not_kept(self, entry: "_Entry", error: Exception) -> None:
        self._failed(error, "a restart of the server may lose what is drawn")
        name = entry.name
        if name not in self._rooms and len(self._snapshots) < MOST_LEFT:  # it can give no other
            self._snapshots.setdefault(name, entry.snapshot)
        self._soiled(name, AGAIN_AFTER)
        entry.regret(error)

    async def _ask_for_pictures(self, names: Sequence[str]) -> None:
        """Ask rooms for pictures and wait for them. A picture may not come, if its room has ended or nothing is
        kept."""
        asked: list[str] = []
        for name in names:
            if (standing := self._rooms.get(name)) is not None:
                if self._keeps:
                    self._awaited[name] = trio.Event()
                    asked.append(name)
                standing.room.hand(PictureWanted(self._keeps), urgent=True)
                if len(asked) % BETWEEN == 0:
                    await trio.lowlevel.checkpoint()
        with trio.move_on_after(PATIENCE):
            for name in asked:
                if (came := self._awaited.get(name)) is not None:
                    await came.wait()
        for name in asked:
            self._awaited.pop(name, None)

    async def _forget(self, header: BoardHeader) -> None:
        await self._books.write([], [header])
        self._strike(header)
        await self._drop(header)

    async def _forget_what_is_too_much(self) -> None:
        if len(self._kept) > MOST_BOARDS or self._size > MOST_BYTES:  # a few more go, to do it seldom
            await self._tidy_up(MOST_BOARDS - MOST_BOARDS // 32, MOST_BYTES - MOST_BYTES // 32)

    async def _tidy_up(self, most: int, most_bytes: int) -> None:
        try:
            await self._forget_old(most, most_bytes)
        except (StoreError, KernelError) as error:
            self._failed(error, "old ones are not forgotten")

    async def _forget_old(self, most: int, most_bytes: int) -> None:
        """Forget boards that are too old, and if there are too many boards or bytes, the ones that were drawn on
        longest ago, those of rooms without peers first. Several tasks may do this at the same time; each takes other
        boards."""
        oldest = self._wall() - self._keep_seconds
        peopled = {name for name, one in self._rooms.items() if one.scripts or one.pages}
        in_turn = sorted(self._kept.values(), key=lambda header: (header.room in peopled, header.drawn_at))
        many, much = len(in_turn), self._size
        for header in in_turn:
            name = header.room
            if not (header.drawn_at < oldest or many > most or much > most_bytes):
                continue
            many, much = many - 1, much - header.size
            if name in self._busy or self._kept.get(name) is not header:  # it is being written, or was meanwhile
                continue
            self._busy.add(name)
            try:
                await self._forget(header)
            finally:
                self._leave(name)

    def _failed(self, error: Exception, so: str) -> None:
        trouble = f"boards are not kept, so that {so}: {in_words(error)}"
        if trouble != self._trouble:
            logger.error("%s: %s", self.ref.path, trouble)
        self._trouble = trouble

    # -- the list of rooms

    def _listed(self) -> list[RoomListed]:
        """The default room, and then the others, the one that was drawn on last first."""
        found = [
            _listed(one.name, one.scripts, one.pages, one.drawn_at)
            for one in self._rooms.values()
            if one.scripts or one.pages or one.drawn_at is not None or one.name == DEFAULT_ROOM
        ]
        if DEFAULT_ROOM not in self._rooms and DEFAULT_ROOM not in self._kept:
            found.append(_listed(DEFAULT_ROOM, 0, 0, None))
        found += [_listed(name, 0, 0, one.drawn_at) for name, one in self._kept.items() if name not in self._rooms]
        return sorted(found, key=lambda room: (room.name != DEFAULT_ROOM, -(room.drawn_at or 0), room.name))


class _Entry:
    """A board that is being stored."""

    def __init__(self, name: str, snapshot: Snapshot, thanks: list[Reply[None]]) -> None:
        self.name = name
        self.snapshot = snapshot
        self.header: BoardHeader | None = None
        """None: there is nothing on the board."""
        self._thanks = thanks

    @property
    def size(self) -> int:
        return 0 if self.header is None else len(self.header.book)

    def thank(self) -> None:
        for reply in self._thanks:
            if not reply.abandoned:
                reply.set(None)

    def regret(self, error: Exception) -> None:
        for reply in self._thanks:
            if not reply.abandoned:
                reply.fail(error)


def _listed(name: str, scripts: int, pages: int, drawn_at: float | None) -> RoomListed:
    path = "/" if name == DEFAULT_ROOM else f"/session/{name}"
    return RoomListed(name, path, scripts, pages, None if drawn_at is None else int(drawn_at * 1000))
