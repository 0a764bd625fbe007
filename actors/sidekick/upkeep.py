"""The room's part in keeping its board: it reports changes, gives a picture on request, and finds its board when it
begins.

It costs a drawing script only a check of `clean`. If there is no boards' actor (in a test, or while it restarts), the
report is dropped, and the next change reports again. If its mailbox is full, the newest report of each kind waits for
room in it, beside the room, in order: the change or the picture may have been the last one.
"""

import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial
from itertools import accumulate

import trio

from actors.kernel import ActorRef, KernelError, MailboxFull, Stage
from actors.sidekick.board_messages import BoardsMessage, Keep, Pictured, Recall, Snapshot, Soiled, Stands, Unfit
from actors.sidekick.boards import NAME as BOARDS
from actors.sidekick.bookkeeping import Bookkeeping
from actors.sidekick.messages import RoomMessage
from actors.sidekick.scene import Restoring, Scene
from actors.store import StoreError
from codec.sidekick.kept import Reading, UnreadableBoard

PATIENCE = 5.0
"""How long to wait for the stored board. After that, the room begins with an empty one. A script that waits for its
room waits as long."""
LAST_WORDS = 4.5
MOST_HEROES = 512
HEROES = 128 * 1024
"""The characters of all their names together. They are stored in a board's header, which may have 1 MiB."""

logger = logging.getLogger("troupe.sidekick")


class Upkeep:
    def __init__(
        self,
        name: str,
        room: ActorRef[RoomMessage],
        stage: Stage,
        wall: Callable[[], float],
        run_beside: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        self.clean = True
        """False if a change since the last picture has been reported to the boards' actor."""
        self.drawn_at: float | None = None
        """When the board changed last, give or take the time between two pictures."""
        self._name = name
        self._room = room
        self._stage = stage
        self._wall = wall
        self._run_beside = run_beside
        self._told: tuple[int, int, float | None] | None = None
        self._waiting: dict[type, BoardsMessage] = {}
        """What the mailbox had no room for. Invariant: not empty <=> `_deliver` runs."""

    def tell(self, scripts: int, pages: int, drawn_at: float | None) -> None:
        """Report how the room stands, if that has changed since it was last told."""
        standing = scripts, pages, drawn_at
        if standing != self._told and self._tell(Stands(self._room, self._name, *standing)):
            self._told = standing

    def soil(self, *, at_once: bool = False) -> None:
        """The board has changed: report that."""
        self.drawn_at = self._wall()
        self.clean = not self._tell(Soiled(self._name, at_once))

    def picture(self, scene: Scene, heroes: list[str] | None) -> None:
        """The boards' actor has asked for a picture. `heroes` None: boards are not kept, and no picture is wanted."""
        self.clean = True
        if heroes is not None:
            self._tell(Pictured(self._name, self._snapshot(scene, heroes)))

    def let_go(self, scene: Scene, heroes: list[str]) -> None:
        """The board has to be dropped at once. Its unsaved changes are stored all the same."""
        if not self.clean:
            self.picture(scene, heroes)

    async def last_words(self, scene: Scene, heroes: list[str]) -> None:
        boards, waiting = self._stage.registry.find(BOARDS), self._waiting.get(Pictured)
        if boards is None:
            return
        if not self.clean:
            snapshot = self._snapshot(scene, heroes)
        elif isinstance(waiting, Pictured):  # nothing has changed since, unless the board was dropped
            snapshot = waiting.snapshot
        else:
            return
        try:
            await boards.ask(partial(Keep, self._name, snapshot), timeout=LAST_WORDS)
        except (StoreError, KernelError) as error:
            logger.error("What was drawn last in room %s is not kept: %s", self._name, error)

    async def restore(self, scene: Scene) -> tuple[str, ...]:
        """Restore the scene from the stored board, if there is one. Returns the heroes that may come back to it."""
        boards = self._stage.registry.find(BOARDS)
        if boards is None:
            return ()
        try:
            if await boards.ask(partial(Recall, self._name), timeout=PATIENCE):
                return await self._restored(scene)
        except UnreadableBoard as error:
            logger.warning("Room %s begins empty: what was kept of its board %s.", self._name, error)
            self._tell(Unfit(self._name))
        except (StoreError, KernelError) as error:
            logger.error("Room %s begins empty: what was kept of its board could not be read: %s", self._name, error)
        except Exception:  # any error at all: an empty room is better than one that cannot start
            logger.exception("Room %s begins empty: what was kept of its board makes no scene.", self._name)
        scene.empty()
        return ()

    async def _restored(self, scene: Scene) -> tuple[str, ...]:
        books = Bookkeeping(self._stage.registry, self._stage.new_id)
        header = await books.header(self._name)
        if header is None:
            return ()
        reading, restoring = Reading(), Restoring(scene)
        async with aclosing(books.book(header)) as book:
            async for piece in book:
                for record in reading.feed(piece):
                    if record is None:
                        await trio.lowlevel.checkpoint()
                    else:
                        restoring.take(record)
        reading.end()
        restoring.end()
        if restoring.refused:
            logger.warning("Of the board of room %s, %d messages found no place.", self._name, restoring.refused)
        self.drawn_at = header.drawn_at
        return header.heroes

    def _snapshot(self, scene: Scene, heroes: list[str]) -> Snapshot:
        parts = [] if scene.is_empty else scene.picture()
        return Snapshot(parts, self.drawn_at or self._wall(), _as_many_as_fit(heroes))

    def _tell(self, message: BoardsMessage) -> bool:
        """False: there is nobody to tell."""
        boards = self._stage.registry.find(BOARDS)
        if boards is None:
            return False
        if not self._waiting:
            try:
                boards.hand(message)
            except MailboxFull:
                self._run_beside(partial(self._deliver, boards))
            else:
                return True
        if not isinstance(message, Stands):  # which room it is must be known before it is asked for a picture
            self._waiting.pop(type(message), None)  # what was drawn after a picture is told after it
        self._waiting[type(message)] = message
        return True

    async def _deliver(self, boards: ActorRef[BoardsMessage]) -> None:
        while self._waiting:
            kind, message = next(iter(self._waiting.items()))
            await boards.send(message)
            if self._waiting.get(kind) is message:
                del self._waiting[kind]


def _as_many_as_fit(heroes: list[str]) -> tuple[str, ...]:
    """The first of these heroes: no name of theirs keeps a board from being stored."""
    sizes = accumulate(map(len, heroes))
    return tuple(hero for hero, size in zip(heroes[:MOST_HEROES], sizes, strict=False) if size <= HEROES)
