"""The intake: what was posted finds its folder.

The post was answered when it got here; nobody waits for it any more. A few are written at a time, for a disk takes its
time; those of one problem one after the other, by the problem itself. What cannot be written is told to all panels.
"""

import trio

from actors.judge.messages import Arrived, PlaceFor, Posted, Trouble
from actors.judge.places import Place
from actors.judge.registered import INTAKE, SHELF
from actors.judge.shelving import Shelving
from actors.kernel import Actor, ActorDown, describe
from codec.judge import Task

AT_ONCE = 8
SECONDS = 60.0
"""For the disk."""


class Intake(Actor[Posted]):
    def __init__(self, shelving: Shelving) -> None:
        self._shelving = shelving
        self._desks = trio.Semaphore(AT_ONCE)
        self._count = 0

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(INTAKE, self.ref)

    async def handle(self, message: Posted) -> None:
        try:
            await self._desks.acquire()
        except BaseException:
            message.release()
            raise
        self.run_beside(self._write, message)

    async def _write(self, posted: Posted) -> None:
        task = posted.task
        shelf = self.stage.registry.get(SHELF)
        try:
            place: Place = await shelf.ask(lambda reply: PlaceFor(task, reply), timeout=SECONDS)
            await self._hand_over(task, place)
            self._count += 1
            self.note = f"{self._count:,} taken in; the last was {task.name}"
        except OSError as error:
            await shelf.send(Trouble(self._not_written(task, error)))
        except Exception as error:  # a problem that crashes of a post raises here what it crashed of
            await shelf.send(Trouble(f"{task.name} was not taken in: {describe(error)}. Send it again."))
        finally:
            posted.release()
            self._desks.release()

    async def _hand_over(self, task: Task, place: Place) -> None:
        try:
            await self._tell_the_problem(task, place)
        except ActorDown as down:
            if not down.stop.why.normal:
                raise
            await self._tell_the_problem(task, place)  # nobody had looked at it for a while, and it was just leaving

    async def _tell_the_problem(self, task: Task, place: Place) -> None:
        problem = await self._shelving.problem(self.stage.registry, place.id)
        await problem.ask(lambda reply: Arrived(task, place, reply), timeout=SECONDS)

    def _not_written(self, task: Task, error: OSError) -> str:
        reason = error.strerror or str(error)
        return f"{task.name} was not written to {self._shelving.folders.root}: {reason}. Mend that and send it again."
