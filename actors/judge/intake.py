"""The intake: what was posted finds its folder.

The post was answered when it got here; nobody waits for it any more. A few are written at a time, for a disk takes its
time; those of one problem one after the other, by the problem itself. However they end, the shelf hears of them in the
order in which they were posted: a page follows the first of a contest. What cannot be written is told to all panels.
"""

import trio

from actors.judge.messages import Arrived, Changed, PlaceFor, Posted, ShelfMessage, Trouble
from actors.judge.places import Place
from actors.judge.registered import INTAKE, SHELF
from actors.judge.shelving import Shelving
from actors.kernel import Actor, ActorDown, ActorRef, describe
from codec.judge import Listed, Task

AT_ONCE = 8
SECONDS = 60.0
"""For the disk."""


class Intake(Actor[Posted]):
    def __init__(self, shelving: Shelving) -> None:
        self._shelving = shelving
        self._desks = trio.Semaphore(AT_ONCE)
        self._count = 0
        self._last = trio.Event()
        """Set when the shelf has heard of the last one that was begun, and so of all before it."""
        self._last.set()

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(INTAKE, self.ref)

    async def handle(self, message: Posted) -> None:
        try:
            await self._desks.acquire()
        except BaseException:
            message.release()
            raise
        before, self._last = self._last, trio.Event()
        self.run_beside(self._take_in, message, before, self._last)

    async def _take_in(self, posted: Posted, before: trio.Event, told: trio.Event) -> None:
        try:
            news = await self._written(posted.task)
            await before.wait()
            await self._shelf.send(news)
            self._count += 1
            self.note = f"{self._count:,} taken in; the last was {posted.task.name}"
        finally:
            told.set()
            posted.release()
            self._desks.release()

    async def _written(self, task: Task) -> ShelfMessage:
        """What became of it."""
        try:
            place: Place = await self._shelf.ask(lambda reply: PlaceFor(task, reply), timeout=SECONDS)
            return Changed(await self._handed_over(task, place), arrived=True)
        except OSError as error:
            reason, folder = error.strerror or str(error), self._shelving.folders.root
            return Trouble(f"{task.name} was not written to {folder}: {reason}. Mend that and send it again.")
        except Exception as error:  # a problem that crashes of a post raises here what it crashed of
            return Trouble(f"{task.name} was not taken in: {describe(error)}. Send it again.")

    async def _handed_over(self, task: Task, place: Place) -> Listed:
        try:
            return await self._hand_over(task, place)
        except ActorDown as down:
            if not down.stop.why.normal:
                raise
            return await self._hand_over(task, place)  # nobody had looked at it for a while, and it was just leaving

    async def _hand_over(self, task: Task, place: Place) -> Listed:
        problem = await self._shelving.problem(self.stage.registry, place.id)
        return await problem.ask(lambda reply: Arrived(task, place, reply), timeout=SECONDS)

    @property
    def _shelf(self) -> ActorRef[ShelfMessage]:
        return self.stage.registry.get(SHELF)
