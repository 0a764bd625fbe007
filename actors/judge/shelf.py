"""The shelf: the list of all problems, the settings, and all panels.

Rules
  - Two problems whose addresses make the same name get two folders. The same problem always gets the same folder, as
    long as it is remembered. A folder that was never posted belongs to the first problem of its name.
  - Settings are on the disk before anybody is told. If a page has set a command that the configuration does not name,
    the command is not used: the first page is told, and the setting is forgotten.
  - The number of remembered problems is limited, and the oldest are forgotten. Their folders stay.
  - All panels are told of the list of problems, at most a few times a second, however many are posted: of a long list,
    what has changed (relisting.py).
  - Trouble is reported to all panels. If there are none, the newest reports are kept for the next panel.
  - Panels are told of new problems, and show them if they follow. Of a contest they are told only of the first problem,
    and not if they show one of it already.
  - A problem whose folder is gone leaves the list, and returns with the folder. All folders are looked at when a user
    comes. What a problem or a post tells of its folder meanwhile counts more. A problem that a user has taken off the
    list stays off, also after a restart, until it is posted again or asked for by name. Folders are left alone.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import structs

from actors.judge.given import Folders
from actors.judge.keeping import Keeping, Kept
from actors.judge.ledger import standing
from actors.judge.messages.panel import Follow, IsBack, PanelMessage, TakenOff, Welcome, tell
from actors.judge.messages.shelf import (
    Came,
    Changed,
    ChangeSettings,
    LookAround,
    Looks,
    PlaceFor,
    Publish,
    PutBack,
    SettingsNow,
    ShelfMessage,
    TakeOff,
    TellEverybody,
    There,
    Vanished,
)
from actors.judge.places import TaskPlace, place
from actors.judge.registered import SHELF
from actors.judge.relisting import changes
from actors.judge.telling import unknown
from actors.kernel import Actor, ActorRef, Down, KernelError, Timer, in_words
from actors.store import StoreError
from codec.judge import (
    BadChange,
    Commands,
    Listed,
    Notice,
    RunSettings,
    StateProblems,
    StateProblemsChanged,
    Task,
    changed,
)
from codec.words import counted

PUBLISH_SECONDS = 0.1
MOST = 2_000
"""Problems that are remembered."""
TOLD_WHOLE = 50
"""A list of up to so many problems is told as a whole each time."""
MOST_PLACES = 3 * MOST
"""Folders that are known to belong to a problem: of those in the list, those taken off it, and others that were not
written yet. Theirs are asked for anew at each attempt, so the oldest may be forgotten."""
MOST_UNHEARD = 4


class Shelf(Actor[ShelfMessage]):
    def __init__(self, folders: Folders, configured: RunSettings, commands: Commands) -> None:
        self._folders = folders
        self._commands = commands
        self._configured = self._settings = configured
        self._listed: dict[str, Listed] = {}  # the oldest first
        self._told: tuple[dict[str, Listed], str | None] = {}, None
        """The list, and the current problem, as the panels were last told."""
        self._gone: dict[str, Listed] = {}
        """Problems whose folders are missing."""
        self._taken_off: dict[str, Listed | None] = {}
        """Problems that a user has taken off the list; None: not looked up since the start."""
        self._contest: str | None = None
        """The batch of the last problem that the panels were told of."""
        self._followed = 0
        """The number of the last post that the panels were told of."""
        self._looking = False
        """Whether a task is finding out which folders exist."""
        self._look_again = False
        """Whether that was wanted once more meanwhile."""
        self._newer = set[str]()
        """Problems of whose folders there is later news than that task may find."""
        self._identities: dict[str, str] = {}  # by id: which problem the folder belongs to
        self._panels: dict[ActorRef[PanelMessage], str | None] = {}
        """The problem that each panel shows."""
        self._current: str | None = None
        self._publishing: Timer | None = None
        self._unheard: deque[Notice] = deque(maxlen=MOST_UNHEARD)
        """Trouble that came when there was no panel. The next panel is told."""

    async def started(self, kept: object | None) -> None:
        self._keeping = Keeping(self.stage.registry)
        self._settings, not_obeyed = await self._keeping.settings(self._configured, self._commands)
        self._unheard.extend(Notice("warn", f"{sentence}.") for sentence in not_obeyed)
        self._not_obeyed = bool(not_obeyed)
        """Whether a stored setting is not used, and is still stored."""
        self._taken_off = dict.fromkeys(await self._keeping.taken_off())
        for contest_id, task_id in await self._found():
            self._put(Kept(task=Task(name=task_id), contest_id=contest_id, task_id=task_id, identity="", at=0.0))
        for problem in await self._keeping.problems():
            self._put(problem)
            self._current = problem.id if problem.id in self._listed else self._current
        self._are_there(await self._there())
        await self._forget_the_oldest()
        for id in await self._keeping.interrupted():  # noqa: A001 - as on the wire
            if id in self._listed:
                stands = standing(record.result for record in await self._keeping.results(id))
                self._listed[id] = structs.replace(self._listed[id], standing=stands)
        self._count()
        self.stage.registry.claim(SHELF, self.ref)
        if isinstance(kept, dict):
            self._panels = kept
            for panel in kept:
                self.monitor(panel)
            self._tell_all(self._problems())
        self._told = dict(self._listed), self._current

    def keep(self) -> object:
        return self._panels

    async def _found(self) -> Sequence[tuple[str, str]]:
        try:
            return await self._folders.tasks()
        except OSError:  # there is no workspace yet, or it may not be read; each problem will say so
            return []

    def _put(self, problem: Kept) -> None:
        """Adds a problem as the newest."""
        self._listed.pop(problem.id, None)
        if problem.identity:
            self._identities[problem.id] = problem.identity
        if problem.id in self._taken_off:
            self._taken_off[problem.id] = problem.listed
        else:
            self._listed[problem.id] = problem.listed

    def _count(self) -> None:
        self.note = f"{counted(len(self._listed), 'problem')}, {counted(len(self._panels), 'page')}"

    def at_once(self, message: ShelfMessage) -> bool:
        match message:
            case SettingsNow(reply):
                reply.set(self._settings)
            case PlaceFor(task, reply):
                reply.set(self._place(place(task.url, task.group, task.name)))
            case _:
                return False
        return True

    async def handle(self, message: ShelfMessage) -> None:
        match message:
            case PlaceFor(task, reply):
                reply.set(self._place(place(task.url, task.group, task.name)))
            case Changed(listed, arrived, number):
                await self._changed(listed, arrived=arrived, number=number)
            case Vanished(id):
                self._newer.add(id)
                self._are_there({id: False})
            case LookAround():
                self._look_around()
            case There(folders):
                self._looking = False
                self._are_there({id: there for id, there in folders.items() if id not in self._newer})  # noqa: A001
                if self._look_again:
                    self._look_around()
            case TakeOff(panel, id):
                await self._take_off(panel, id)
            case PutBack(panel, id):
                await self._put_back(panel, id)
            case Came(panel):
                self._tell_list()  # so that all know the same when the next changes come
                self._panels[panel] = None
                self.monitor(panel)
                self._count()
                self._look_around()
                tell(panel, self._problems())
                tell(panel, Welcome(self._settings, self._current))
                while self._unheard:
                    tell(panel, self._unheard.popleft())
                await self._forget_what_is_not_obeyed()
            case Looks(panel, id):
                if panel in self._panels:
                    self._looks(panel, id)
            case ChangeSettings(panel, changes):
                await self._change_settings(panel, changes)
            case SettingsNow(reply):
                reply.set(self._settings)
            case TellEverybody(sentence):
                notice = Notice("error", sentence)
                if self._panels:
                    self._tell_all(notice)
                else:
                    self._unheard.append(notice)
            case Publish():
                self._publishing = None
                self._tell_list()
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        self._panels = {panel: shown for panel, shown in self._panels.items() if panel is not down.ref}
        self._count()

    # -- problems

    def _place(self, wanted: TaskPlace) -> TaskPlace:
        """The first place of its name that belongs to this problem already, or to none."""
        number = 1
        while True:
            where = wanted.numbered(number)
            known = self._identities.get(where.id)
            if known is None or known == where.identity:
                self._identities[where.id] = where.identity
                if len(self._identities) > MOST_PLACES:
                    self._forget_a_place()
                return where
            number += 1

    def _forget_a_place(self) -> None:
        """The oldest of a problem that is not remembered. Those before it come to the end, so they are not looked at
        again soon."""
        for id in list(self._identities):  # noqa: A001 - as on the wire
            identity = self._identities.pop(id)
            if id not in self._listed and id not in self._gone and id not in self._taken_off:
                return
            self._identities[id] = identity

    async def _changed(self, listed: Listed, *, arrived: bool, number: int) -> None:
        self._newer.add(listed.id)
        if not arrived and (self._listed.get(listed.id) == listed or listed.id in self._taken_off):
            return
        known = listed.id in self._listed
        if arrived:
            self._listed.pop(listed.id, None)  # it becomes the newest
            await self._is_wanted(listed.id)
        self._gone.pop(listed.id, None)
        self._listed[listed.id] = listed
        self._publish()
        if arrived and (number >= self._followed or not known):  # who waited for others of its folder leads nobody back
            self._followed = max(number, self._followed)
            self._follow(listed)
        await self._forget_the_oldest()
        self._count()

    def _follow(self, arrived: Listed) -> None:
        batch = arrived.batch.id if arrived.batch is not None and arrived.batch.size > 1 else None
        if self._of_one_contest(self._current, arrived) or (batch is not None and batch == self._contest):
            return
        self._current, self._contest = arrived.id, batch
        for panel, shown in list(self._panels.items()):
            if shown != arrived.id and not self._of_one_contest(shown, arrived):
                tell(panel, Follow(arrived))

    def _of_one_contest(self, shown: str | None, arrived: Listed) -> bool:
        """Whether both problems came with the same press of the button."""
        batch = None if shown is None or shown not in self._listed else self._listed[shown].batch
        return batch is not None and arrived.batch is not None and batch.id == arrived.batch.id and batch.size > 1

    async def _forget_the_oldest(self) -> None:
        while len(self._listed) + len(self._gone) > MOST:
            await self._forget(next(iter(self._gone or self._listed)))
        self._mind_current()

    async def _forget(self, id: str) -> None:  # noqa: A002
        known = self._identities.pop(id, None) is not None
        self._listed.pop(id, None)
        self._gone.pop(id, None)
        off = self._taken_off.pop(id, self) is not self
        with suppress(StoreError, KernelError):  # then it is forgotten at the next start
            if known:
                await self._keeping.forget(id)
            if off:
                await self._keeping.put_back(id)

    def _publish(self) -> None:
        if self._publishing is None:
            self._publishing = self.tell_later(PUBLISH_SECONDS, Publish())

    # -- what is in the list

    def _look_around(self) -> None:
        """What was done before this is seen: so a look that is under way does not do."""
        self._look_again = self._looking
        if not self._looking:
            self._looking = True
            self._newer.clear()
            self.run_beside(self._find_out)

    async def _find_out(self) -> None:
        await self.ref.send(There(await self._there()))

    async def _there(self) -> Mapping[str, bool]:
        ids = [*self._listed, *self._gone]
        try:
            return dict(zip(ids, await self._folders.present([id.split("/") for id in ids]), strict=True))  # noqa: A001
        except OSError:
            return {}

    def _are_there(self, folders: Mapping[str, bool]) -> None:
        for id, there in folders.items():  # noqa: A001
            before, after = (self._gone, self._listed) if there else (self._listed, self._gone)
            if id in before:
                after[id] = before.pop(id)
                self._publish()
        self._mind_current()

    def _looks(self, panel: ActorRef[PanelMessage], id: str) -> None:  # noqa: A002
        if id in self._taken_off:  # by another page, while this one was opening it
            self._panels[panel] = None
            tell(panel, TakenOff(id))
            return
        self._panels[panel] = id
        if id != self._current and id in self._listed:
            self._current = id
            self._publish()

    def _mind_current(self) -> None:
        """Invariant: the current problem is in the list."""
        if self._current is not None and self._current not in self._listed:
            self._current = next(reversed(self._listed), None)

    async def _take_off(self, panel: ActorRef[PanelMessage], id: str) -> None:  # noqa: A002
        if id not in self._listed and id not in self._gone:
            return
        try:
            await self._keeping.take_off(id)
        except (StoreError, KernelError) as error:
            tell(panel, Notice("error", f"{id} was not removed from the list: {in_words(error)}"))
            return
        listed, gone = self._listed.pop(id, None), self._gone.pop(id, None)
        self._taken_off[id] = listed or gone
        while len(self._taken_off) > MOST:
            await self._forget(next(iter(self._taken_off)))
        self._mind_current()
        for each, shown in self._panels.items():
            if shown == id:
                self._panels[each] = None
                tell(each, TakenOff(id))
        self._tell_list()
        self._count()

    async def _put_back(self, panel: ActorRef[PanelMessage], id: str) -> None:  # noqa: A002
        if id in self._listed:  # the panel is just going to be told
            tell(panel, IsBack(id))
            return
        listed = self._taken_off.get(id)
        if listed is None or not await self._is_wanted(id):
            tell(panel, Notice("error", unknown(id)))
            return
        self._listed[id] = listed
        self._tell_list()
        tell(panel, IsBack(id))
        self._look_around()
        self._count()

    async def _is_wanted(self, id: str) -> bool:  # noqa: A002
        """Lets the problem into the list again. False: this could not be stored."""
        if id in self._taken_off:
            try:
                await self._keeping.put_back(id)
            except (StoreError, KernelError):  # then it is off the list again after the next start
                return False
            del self._taken_off[id]
        return True

    def _tell_list(self) -> None:
        known, current = self._told
        gone, problems = changes(known, self._listed)
        if not gone and not problems and current == self._current:
            return
        self._told = dict(self._listed), self._current
        if (gone or problems) and len(self._listed) <= max(TOLD_WHOLE, len(problems)):
            self._tell_all(self._problems())
        else:
            self._tell_all(StateProblemsChanged(gone, problems, self._current))

    def _problems(self) -> StateProblems:
        return StateProblems(tuple(self._listed.values()), self._current)

    # -- settings

    async def _change_settings(self, panel: ActorRef[PanelMessage], changes: Mapping[str, Any]) -> None:
        try:
            settings = changed(self._settings, changes, self._commands)
            await self._keeping.keep_settings(settings, self._configured)
        except (BadChange, StoreError, KernelError) as error:
            tell(panel, Notice("error", f"The settings were not changed: {in_words(error)}"))
            return
        self._settings = settings
        for each in {**self._panels, panel: None}:
            tell(each, Welcome(settings, self._current, asked=each is panel))

    async def _forget_what_is_not_obeyed(self) -> None:
        """Forgets unused settings, after a page has been told of them."""
        if self._not_obeyed:
            self._not_obeyed = False
            with suppress(StoreError, KernelError):  # then it is told once more, at the next start
                await self._keeping.keep_settings(self._settings, self._configured)

    # -- panels

    def _tell_all(self, message: PanelMessage) -> None:
        for panel in list(self._panels):
            tell(panel, message)
