"""The boards: which rooms there are, and what is kept of each board.

    of a board     becomes            when
    clean          due                its room says that something has changed (once, until it is asked for a picture)
    due            under way          `KEEP_AFTER` later, in turn; the room gives its picture, or has given its last one
    under way      clean              it is kept
                   due                the store has failed: again after `AGAIN_AFTER`, and `trouble` says so
                   clean              there is too much of it: then what was kept before stays

Rules
  - Drawing never waits for this: a room says that it has changed, and later gives a picture, which costs it as much as
    copying a list. The picture is written down in short steps, a few boards at a time.
  - What is kept of one board is written by one at a time, in order; who wants to read it waits for that.
  - Rooms end before this does, and what they have said last is written before it ends.
  - An empty board is forgotten; so is one that nobody has drawn on for as long as the settings say, and, of too many or
    too much, the one that was drawn on longest ago, of those that nobody is at as long as there is one.
  - What is known of rooms is what they say when it changes, and ends with them.
"""

import logging
import math
from collections.abc import Callable
from typing import Any

import trio

from actors.kernel import Actor, ChildSpec, Down, KernelError, Mailbox, Reply, Stop, in_words
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
from actors.sidekick.bookkeeping import Bookkeeping, TooLong
from actors.sidekick.default import DEFAULT
from actors.sidekick.messages import PictureWanted
from actors.store import StoreError
from codec.counting import counted
from codec.sidekick.kept import Header
from codec.sidekick.rooms import RoomListed

NAME = "sidekick/boards"
CAPACITY = 16_384
KEEP_AFTER = 3.0
AGAIN_AFTER = 5.0
AT_A_TIME = 4
PATIENCE = 5.0
"""With a room that is asked for a picture; if it comes later, it is written later."""
SWEEP_EVERY = 3600.0
MOST_BOARDS = 500
MOST_BYTES = 256 * 1024 * 1024
"""Of all books."""
MOST_LEFT = 64
"""Last pictures of rooms that have ended, while the store fails."""
NOTHING = Snapshot([], 0.0, ())

logger = logging.getLogger("troupe.sidekick")


def boards_spec(keep_seconds: float, wall: Callable[[], float]) -> ChildSpec:
    """`keep_seconds`: 0 keeps none."""
    make: Callable[[], Actor[Any]] = lambda: Boards(keep_seconds, wall)  # noqa: E731
    return ChildSpec("boards", make, mailbox=lambda: Mailbox(CAPACITY))


class Boards(Actor[BoardsMessage]):
    def __init__(self, keep_seconds: float, wall: Callable[[], float]) -> None:
        self._keep_seconds = keep_seconds
        self._wall = wall
        self._rooms: dict[str, Stands] = {}
        self._kept: dict[str, Header] = {}
        self._is_open = False
        """What is kept is known."""
        self._due: dict[str, float] = {}
        self._snapshots: dict[str, Snapshot] = {}
        """Pictures that came without being waited for: of rooms that have ended, and late ones."""
        self._awaited: dict[str, trio.Event] = {}
        """Rooms that have been asked for one."""
        self._busy: set[str] = set()
        self._thanks: dict[str, list[Reply[None]]] = {}
        """To be said once what these rooms have said last is kept."""
        self._recalls: dict[str, list[Reply[bool]]] = {}
        self._asked: list[Reply[list[RoomListed]]] = []
        """Which rooms there are; while it is not known yet what is kept."""
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

    async def handle(self, message: BoardsMessage) -> None:
        match message:
            case Soiled(name, at_once):
                self._soiled(name, 0.0 if at_once else KEEP_AFTER)
            case Pictured(name, snapshot):
                self._came(name, snapshot)
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
            case Stands(room, name):
                if name not in self._rooms or self._rooms[name].room is not room:
                    self.monitor(room)
                self._rooms[name] = message
                self._count()
            case WhichRooms(reply):
                self._asked.append(reply)
                self._answer_who_asked()

    async def down(self, down: Down) -> None:
        for name in [name for name, one in self._rooms.items() if one.room is down.ref]:
            del self._rooms[name]
            if name in self._awaited:  # it can give no picture any more
                self._awaited.pop(name).set()
            if name not in self._snapshots:
                self._due.pop(name, None)
        self._count()

    async def stopping(self, stop: Stop) -> None:
        while stop.why.normal and (self._busy or self._next() is not None):
            await self._rung()

    def _count(self) -> None:
        self.note = f"{counted(len(self._rooms), 'room')}, {counted(len(self._kept), 'board')} kept"

    @property
    def _keeps(self) -> bool:
        return self._keep_seconds > 0

    def _ring(self) -> None:
        self._bell.set()
        self._bell = trio.Event()

    async def _rung(self) -> None:
        await self._bell.wait()

    # -- what was kept before

    async def _open(self) -> None:
        while not await self._opened():  # noqa: ASYNC110 - the store tells nobody that it is well again
            await trio.sleep(AGAIN_AFTER)
        self._is_open = True
        self._answer_who_asked()
        for name in list(self._recalls):
            self._answer_recalls(name)
        self._count()
        self._ring()
        while True:
            await trio.sleep(SWEEP_EVERY)
            await self._forget_old()

    async def _opened(self) -> bool:
        try:
            self._kept = await self._books.headers()
            if not self._keeps:
                for header in list(self._kept.values()):
                    await self._forget(header)
            await self._forget_old()
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

    # -- keeping

    def _soiled(self, name: str, after: float) -> None:
        due = self.stage.now() + after
        self._due[name] = min(due, self._due.get(name, due))
        self._ring()

    def _came(self, name: str, snapshot: Snapshot) -> None:
        self._snapshots[name] = snapshot
        if name in self._awaited:
            self._awaited.pop(name).set()
        else:
            self._soiled(name, 0.0)

    def _next(self) -> str | None:
        now = self.stage.now()
        if self._is_open:
            for name, due in self._due.items():
                if due <= now and name not in self._busy:
                    return name
        return None

    async def _work(self) -> None:
        while True:
            name = self._next()
            if name is None:
                waiting = [due for name, due in self._due.items() if name not in self._busy] if self._is_open else []
                with trio.move_on_at(min(waiting, default=math.inf)):
                    await self._rung()
                continue
            del self._due[name]
            self._busy.add(name)
            try:
                await self._keep(name)
            except Exception:  # of one board: the others are to be kept all the same
                logger.exception("The board of room %s could not be written down.", name)
            finally:
                self._busy.discard(name)
                self._answer_recalls(name)
                self._ring()

    async def _keep(self, name: str) -> None:
        if name not in self._snapshots:
            await self._ask_for_picture(name)
        snapshot = self._snapshots.pop(name, None)
        if snapshot is None:
            return
        thanks = self._thanks.pop(name, [])
        before = self._kept.get(name)
        try:
            if snapshot.parts:
                self._kept[name] = await self._books.write(name, snapshot)
                if before is not None:
                    await self._books.drop(before)
            elif before is not None:
                await self._forget(before)
            await self._forget_old(name)
        except TooLong as error:
            self._note_too_long(name, error)
        except (StoreError, KernelError) as error:
            self._failed(error, "a restart of the server may lose what is drawn")
            if name not in self._rooms and len(self._snapshots) < MOST_LEFT:  # nobody can give another
                self._snapshots.setdefault(name, snapshot)
            self._soiled(name, AGAIN_AFTER)
            for reply in thanks:
                reply.fail(error)
            return
        else:
            self._too_long.discard(name)
            self._trouble = None
        for reply in thanks:
            if not reply.abandoned:
                reply.set(None)
        self._count()

    async def _ask_for_picture(self, name: str) -> None:
        """It may not come: the room has gone, or nothing is kept."""
        standing = self._rooms.get(name)
        if standing is None:
            return
        standing.room.urgent(PictureWanted(self._keeps))
        if not self._keeps:
            return
        came = self._awaited[name] = trio.Event()
        with trio.move_on_after(PATIENCE):
            await came.wait()
        self._awaited.pop(name, None)

    async def _forget(self, header: Header) -> None:
        await self._books.forget(header)
        del self._kept[header.room]

    async def _forget_old(self, but: str = "") -> None:
        """And what is too much: first of the boards that nobody is at. Several may be at this; each takes others."""
        now = self._wall()
        peopled = {name for name, one in self._rooms.items() if one.scripts or one.pages}
        in_turn = sorted(self._kept.values(), key=lambda header: (header.room in peopled, header.drawn_at))
        many, much = len(in_turn), sum(header.size for header in in_turn)
        for header in in_turn:
            name = header.room
            is_old = header.drawn_at < now - self._keep_seconds
            if not (is_old or many > MOST_BOARDS or much > MOST_BYTES) or name == but:
                continue
            many, much = many - 1, much - header.size
            if name in self._busy or self._kept.get(name) is not header:  # it is being written, or was meanwhile
                continue
            self._busy.add(name)
            try:
                await self._forget(header)
            finally:
                self._busy.discard(name)
                self._answer_recalls(name)
                self._ring()

    def _failed(self, error: Exception, so: str) -> None:
        trouble = f"boards are not kept, so that {so}: {in_words(error)}"
        if trouble != self._trouble:
            logger.error("%s: %s", self.ref.path, trouble)
        self._trouble = trouble

    def _note_too_long(self, name: str, error: TooLong) -> None:
        if name not in self._too_long:
            self._too_long.add(name)
            logger.warning("The board of room %s is not kept: %s.", name, error)

    # -- which there are

    def _listed(self) -> list[RoomListed]:
        """The default room, then those that were drawn on last."""
        found = [
            _listed(one.name, one.scripts, one.pages, one.drawn_at)
            for one in self._rooms.values()
            if one.scripts or one.pages or one.drawn_at is not None or one.name == DEFAULT
        ]
        if DEFAULT not in self._rooms and DEFAULT not in self._kept:
            found.append(_listed(DEFAULT, 0, 0, None))
        found += [_listed(name, 0, 0, one.drawn_at) for name, one in self._kept.items() if name not in self._rooms]
        return sorted(found, key=lambda room: (room.name != DEFAULT, -(room.drawn_at or 0), room.name))


def _listed(name: str, scripts: int, pages: int, drawn_at: float | None) -> RoomListed:
    path = "/" if name == DEFAULT else f"/session/{name}"
    return RoomListed(name, path, scripts, pages, None if drawn_at is None else int(drawn_at * 1000))
