"""The shelf: all problems there are, what is set, and the panels that look on.

Rules
  - Two problems whose addresses make the same name get two folders, and the same problem the same, for as long as it
    is remembered. A folder that nobody has posted belongs to the first problem of its name.
  - What is set is on the disk before anybody is told.
  - So many problems are remembered, and the newest of them. Of those forgotten the folders stay.
  - All panels hear of all problems, a few times a second at most, however many are posted.
  - Trouble is told to all panels; while there is none, the newest is kept for the next.
  - A panel follows what comes in: a problem that was just posted is shown, unless it belongs to the contest that the
    panel shows already; then the first of the contest stays.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import structs

from actors.judge.keeping import Keeping, Kept
from actors.judge.messages import (
    Came,
    Changed,
    ChangeSettings,
    Folders,
    Follow,
    Looks,
    PlaceFor,
    Publish,
    SettingsNow,
    ShelfMessage,
    Trouble,
    Welcome,
    tell,
)
from actors.judge.places import Place, place
from actors.judge.registered import SHELF
from actors.judge.telling import standing
from actors.kernel import Actor, ActorRef, Down, KernelError, Timer, in_words
from actors.store import StoreError
from codec.judge import BadSettings, Listed, Notice, RunSettings, StateProblems, Task, changed

PUBLISH_SECONDS = 0.1
MOST = 2_000
"""Problems that are remembered."""
MOST_PLACES = 2 * MOST
"""Folders that are known to belong to a problem, be it one that was not written."""
MOST_UNHEARD = 4


class Shelf(Actor[ShelfMessage]):
    def __init__(self, folders: Folders, configured: RunSettings) -> None:
        self._folders = folders
        self._configured = self._settings = configured
        self._listed: dict[str, Listed] = {}  # the oldest first
        self._identities: dict[str, str] = {}  # by id: which problem the folder belongs to
        self._panels: dict[ActorRef[Any], str | None] = {}
        """What each shows."""
        self._current: str | None = None
        self._publishing: Timer | None = None
        self._unheard: deque[Notice] = deque(maxlen=MOST_UNHEARD)
        """Trouble that came when there was no panel: told to the next one."""

    async def started(self, kept: object | None) -> None:
        self._keeping = Keeping(self.stage.registry)
        self._settings = await self._keeping.settings(self._configured)
        for contest_id, task_id in await self._found():
            self._put(Kept(task=Task(name=task_id), contest_id=contest_id, task_id=task_id, identity="", at=0.0))
        for problem in await self._keeping.problems():
            self._put(problem)
            self._current = problem.id
        await self._forget_the_oldest()
        for id in await self._keeping.interrupted():  # noqa: A001 - as on the wire
            if id in self._listed:
                stands = standing(await self._keeping.results(id))
                self._listed[id] = structs.replace(self._listed[id], standing=stands)
        self._count()
        self.stage.registry.claim(SHELF, self.ref)
        if isinstance(kept, dict):
            self._panels = kept
            for panel in kept:
                self.monitor(panel)
            self._tell_all(self._problems())

    def keep(self) -> object:
        return self._panels

    async def _found(self) -> Sequence[tuple[str, str]]:
        try:
            return await self._folders.tasks()
        except OSError:  # there is no workspace yet, or it may not be read; each problem will say so
            return []

    def _put(self, problem: Kept) -> None:
        """As the newest."""
        self._listed.pop(problem.id, None)
        self._listed[problem.id] = problem.listed
        if problem.identity:
            self._identities[problem.id] = problem.identity

    def _count(self) -> None:
        self.note = f"{len(self._listed):,} problems, {len(self._panels)} panels"

    def at_once(self, message: ShelfMessage) -> bool:
        if type(message) is not SettingsNow:
            return False
        message.reply.set(self._settings)
        return True

    async def handle(self, message: ShelfMessage) -> None:
        match message:
            case PlaceFor(task, reply):
                reply.set(self._place(place(task.url, task.group, task.name)))
            case Changed(listed, arrived):
                await self._changed(listed, arrived=arrived)
            case Came(panel):
                self._panels[panel] = None
                self.monitor(panel)
                self._count()
                tell(panel, self._problems())
                tell(panel, Welcome(self._settings, self._current))
                while self._unheard:
                    tell(panel, self._unheard.popleft())
            case Looks(panel, id):
                if panel in self._panels:
                    self._panels[panel] = self._current = id
            case ChangeSettings(panel, changes):
                await self._change_settings(panel, changes)
            case SettingsNow(reply):
                reply.set(self._settings)
            case Trouble(sentence):
                notice = Notice("error", sentence)
                if self._panels:
                    self._tell_all(notice)
                else:
                    self._unheard.append(notice)
            case Publish():
                self._publishing = None
                self._tell_all(self._problems())

    async def down(self, down: Down) -> None:
        self._panels.pop(down.ref, None)
        self._count()

    # -- problems

    def _place(self, wanted: Place) -> Place:
        """The first of its name that is this problem's already, or nobody's."""
        number = 1
        while True:
            where = wanted.numbered(number)
            known = self._identities.get(where.id)
            if known is None or known == where.identity:
                self._identities[where.id] = where.identity
                while len(self._identities) > MOST_PLACES:
                    del self._identities[next(iter(self._identities))]
                return where
            number += 1

    async def _changed(self, listed: Listed, *, arrived: bool) -> None:
        if not arrived and self._listed.get(listed.id) == listed:
            return
        if arrived:
            self._listed.pop(listed.id, None)  # to be the newest
        self._listed[listed.id] = listed
        if self._publishing is None:
            self._publishing = self.tell_later(PUBLISH_SECONDS, Publish())
        if arrived:
            self._follow(listed)
        await self._forget_the_oldest()
        self._count()

    def _follow(self, arrived: Listed) -> None:
        if self._of_one_contest(self._current, arrived):
            return
        self._current = arrived.id
        for panel, shown in list(self._panels.items()):
            if shown != arrived.id and not self._of_one_contest(shown, arrived):
                tell(panel, Follow(arrived.id))

    def _of_one_contest(self, shown: str | None, arrived: Listed) -> bool:
        """Whether both came with one press of the button."""
        batch = None if shown is None or shown not in self._listed else self._listed[shown].batch
        return batch is not None and arrived.batch is not None and batch.id == arrived.batch.id and batch.size > 1

    async def _forget_the_oldest(self) -> None:
        while len(self._listed) > MOST:
            oldest = next(iter(self._listed))
            del self._listed[oldest]
            if self._identities.pop(oldest, None) is not None:
                with suppress(StoreError, KernelError):  # then it is forgotten at the next start
                    await self._keeping.forget(oldest)

    def _problems(self) -> StateProblems:
        return StateProblems(tuple(self._listed.values()), self._current)

    # -- settings

    async def _change_settings(self, panel: ActorRef[Any], changes: Mapping[str, Any]) -> None:
        try:
            settings = changed(self._settings, changes)
            await self._keeping.keep_settings(settings, self._configured)
        except (BadSettings, StoreError, KernelError) as error:
            tell(panel, Notice("error", f"The settings were not changed: {in_words(error)}"))
            return
        self._settings = settings
        self._tell_all(Welcome(settings, self._current))

    # -- panels

    def _tell_all(self, message: object) -> None:
        for panel in list(self._panels):
            tell(panel, message)
