"""The watcher: tells actors soon after something has changed in the folders that they watch.

    Watch      watch these folders for this actor from now on, in place of its earlier ones. The actor gets a notice at
               once, because nobody knows what happened before
    Looked     the actor has read its folders and may be notified again
    Unwatch    stop watching for this actor (also done when an actor ends)
    Settled    a moment has passed since an event: the actors concerned are notified
    AskAgain   it is time to ask once more for what the system did not allow

Rules
  - A change after a notice leads to another notice once the actor has looked. So no change is missed, and an actor has
    at most one notice waiting, however much is written.
  - A folder is watched by its path. If it is deleted, moved away or made anew, it is found again, because the folders
    above it are watched too. Watches are renewed before a notice is sent, so an actor that looks then sees everything
    that was done in a new folder.
  - If events were lost, or this actor has crashed, all actors are notified.
  - The number of watched folders is limited. Without inotify, or if the system allows no more of it, nothing is watched
    and no notices are sent; `note` says so. Folders are then read only when a user looks at them. Other programs may
    give back what they have taken of it, so it is tried again every half minute.

Folders are opened in a thread, because a disk may hang. Nothing here knows what the folders hold.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import trio
from msgspec import Struct, field

from actors.kernel import Actor, ActorRef, AnyRef, ChildSpec, Down, KernelError, Key, Mailbox, MailboxFull, Registry
from codec.words import counted
from transports.folder.feed import Gathered, gathered
from transports.folder.inotify import TRY_SECONDS, Inotify

SETTLE_SECONDS = 0.03
"""An editor takes several steps to save a file. Notices wait until it is done."""
AGAIN_SECONDS = 1.0
"""A notice that found a full mailbox is sent again after this time."""
PATIENCE = 5.0
"""Seconds to wait for a disk."""
MOST_FOLDERS = 4_096
THREADS = 4

M = TypeVar("M")

Opened = tuple[Mapping[Path, int], str | None]
"""The folders that could be watched, and the reason if some could not."""
WatchedPlace = tuple[Path, frozenset[str] | None]
"""A folder, and the names in it that matter; None: all of them."""


class WatchFolders(Struct, frozen=True):
    who: AnyRef
    places: tuple[WatchedPlace, ...]
    stir: Callable[[], None]
    """Tells it that something has changed."""


class Looked(Struct, frozen=True):
    who: AnyRef


class Unwatch(Struct, frozen=True):
    who: AnyRef


class Settled(Struct, frozen=True):
    pass


class AskAgain(Struct, frozen=True):
    pass


WatcherMessage = WatchFolders | Looked | Unwatch | Settled | AskAgain


class Watching:
    """The watcher's interface for other actors."""

    def __init__(self, name: Key[WatcherMessage], registry: Registry) -> None:
        self._name = name
        self._registry = registry

    def watch(self, who: ActorRef[M], places: Sequence[WatchedPlace], news: M) -> None:
        self._tell(WatchFolders(who, tuple(places), partial(who.tell, news)))

    def looked(self, who: AnyRef) -> None:
        self._tell(Looked(who))

    def unwatch(self, who: AnyRef) -> None:
        self._tell(Unwatch(who))

    def _tell(self, message: WatcherMessage) -> None:
        with suppress(KernelError):  # there is no watcher, or it is overloaded: nothing is watched
            self._registry.get(self._name).tell(message)


class Watched(Struct):
    """The folders that are watched for one actor."""

    places: tuple[WatchedPlace, ...]
    stir: Callable[[], None]
    numbers: dict[int, list[frozenset[str] | None]] = field(default_factory=dict)
    """For each folder, by its number, the names that matter in it."""
    stirred: bool = True
    """Whether something has happened since its last notice."""
    told: bool = False
    """Whether it has a notice and has not looked since."""
    unsure: bool = True
    """Whether its folders may have been replaced, or could not be watched."""
    why_not: str | None = None
    """Why not all of them are watched."""

    def concerned(self, found: Gathered) -> bool:
        if found.lost:
            return True
        for number, mattering in self.numbers.items():
            names = found.names.get(number, set())
            if number in found.itself or any(each is None and names for each in mattering):
                return True
            if any(each is not None and not each.isdisjoint(names) for each in mattering):
                return True
        return False


class Watcher(Actor[WatcherMessage]):
    def __init__(self, name: Key[WatcherMessage]) -> None:
        self._name = name
        self._wanted: dict[AnyRef, Watched] = {}
        self._inotify: Inotify | None = None
        self._settling = self._trying = False
        self._threads = trio.CapacityLimiter(THREADS)
        self._why_none: str | None = None
        """Why nothing is watched."""

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(self._name, self.ref)
        if isinstance(kept, dict):
            for who, wanted in kept.items():
                self._wanted[who] = Watched(wanted.places, wanted.stir)
                self.monitor(who)
        self._ask_for_inotify()
        self._settle()
        self._say()

    def keep(self) -> object:
        return self._wanted

    async def handle(self, message: WatcherMessage) -> None:
        match message:
            case WatchFolders(who, places, stir):
                if who not in self._wanted:
                    self.monitor(who)
                self._forget(who)
                self._wanted[who] = Watched(places, stir)
                await self._tell_all()
            case Looked(who):
                if (wanted := self._wanted.get(who)) is not None:
                    wanted.told = False
                    if wanted.stirred:
                        self._settle()
            case Unwatch(who):
                self._forget(who)
            case Settled():
                self._settling = False
                await self._tell_all()
            case AskAgain():
                self._trying = False
                self._ask_for_inotify()
                for wanted in self._wanted.values():
                    wanted.unsure = wanted.unsure or wanted.why_not is not None
                await self._tell_all()
            case _:
                self.unknown(message)
        self._say()

    async def down(self, down: Down) -> None:
        self._forget(down.ref)
        self._say()

    # -- what happens

    def _ask_for_inotify(self) -> None:
        if self._inotify is None:
            try:
                self._inotify = Inotify()
            except OSError as error:
                self._why_none = error.strerror or str(error)
            else:
                self._why_none = None
                self.run_beside(self._listen, self._inotify)

    async def _listen(self, inotify: Inotify) -> None:
        try:
            while True:
                self._heard(await gathered(inotify, settle=SETTLE_SECONDS))
        finally:
            inotify.close()

    def _heard(self, found: Gathered) -> None:
        for wanted in self._wanted.values():
            if wanted.concerned(found):
                wanted.stirred = True
                wanted.unsure = wanted.unsure or found.lost or not found.replaced.isdisjoint(wanted.numbers)
            for number in found.over:
                wanted.numbers.pop(number, None)
        if any(wanted.stirred and not wanted.told for wanted in self._wanted.values()):
            self._settle()

    def _settle(self) -> None:
        if not self._settling:
            self._settling = True
            self.tell_later(0.0, Settled())

    async def _tell_all(self) -> None:
        if self._inotify is None:
            return
        await self._watch_anew(self._inotify)
        for wanted in self._wanted.values():
            if not wanted.stirred or wanted.told:
                continue
            try:
                wanted.stir()
            except MailboxFull:
                self.tell_later(AGAIN_SECONDS, Settled())
            else:
                wanted.stirred, wanted.told = False, True

    # -- folders

    async def _watch_anew(self, inotify: Inotify) -> None:
        unsure = [wanted for wanted in self._wanted.values() if wanted.unsure]
        for wanted in unsure:
            wanted.unsure = False
            room = MOST_FOLDERS - len(self._watched())
            folders = [folder for folder, _ in wanted.places][: max(0, room)]
            opened, why_not = await self._opened(inotify, folders) or ({}, wanted.why_not)
            wanted.stirred = wanted.stirred or wanted.why_not is not None  # nobody knows what has happened since
            wanted.why_not = why_not
            before, wanted.numbers = wanted.numbers, {}
            for folder, names in wanted.places:
                if folder in opened:
                    wanted.numbers.setdefault(opened[folder], []).append(names)
            self._let_go(before)

    async def _opened(self, inotify: Inotify, folders: Sequence[Path]) -> Opened | None:
        """None: the disk does not answer."""
        with trio.move_on_after(PATIENCE):
            call = partial(_add, inotify, folders)
            return await trio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=self._threads)
        return None

    def _watched(self) -> set[int]:
        return {number for wanted in self._wanted.values() for number in wanted.numbers}

    def _forget(self, who: AnyRef) -> None:
        if (gone := self._wanted.pop(who, None)) is not None:
            self._let_go(gone.numbers)

    def _let_go(self, numbers: Iterable[int]) -> None:
        if self._inotify is not None:
            for number in set(numbers) - self._watched():
                self._inotify.remove(number)

    def _say(self) -> None:
        count = len(self._watched())
        reasons = (self._why_none, *(wanted.why_not for wanted in self._wanted.values()))
        why_not = next((why for why in reasons if why is not None), None)
        watched = f"{counted(count, 'folder')} watched"
        self.note = watched if why_not is None else f"{watched}; not all that are looked at: {why_not}"
        if why_not is not None and not self._trying:
            self._trying = True
            self.tell_later(TRY_SECONDS, AskAgain())


def _add(inotify: Inotify, folders: Sequence[Path]) -> Opened:
    """Runs in a thread."""
    found: dict[Path, int] = {}
    why_not = None
    for folder in folders:
        try:
            found[folder] = inotify.add(folder)
        except (FileNotFoundError, NotADirectoryError):
            continue  # the folder above reports when this one appears
        except OSError as error:
            why_not = error.strerror or str(error)
    return found, why_not


def watcher_spec(name: Key[WatcherMessage]) -> ChildSpec[WatcherMessage]:
    return ChildSpec("watcher", lambda: Watcher(name), mailbox=partial(Mailbox, 4_096))
