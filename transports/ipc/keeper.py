"""The keeper of the base folder: it watches it, and tells those who attend what has changed.

    KeepWatch   look at the folder as a whole: is it still there, has anything changed, is anything due? The keeper
                tells this to itself, after `tick` seconds at the latest

Rules
  - What the kernel reports is told at once, by names. If it has lost events, all attendees rescan.
  - If anything has come or gone since the last tick, all attendees rescan. So changes that the kernel did not report,
    as on disks of other machines, are found as well. An idle folder costs nothing.
  - Without inotify the folder is looked at every half second, or less often where that takes long. Where the system
    allows no more of it, it is tried again every half minute.
  - A folder that is gone is looked for every second.
  - A look at all names costs time in a folder of a hundred thousand. It takes at most one part in twenty of the time.
  - Of very many entries that may not stay a few are set aside at a time, beside all else.
  - What could not be changed, because the disk is full or something stands in the archive, is told as trouble. Whoever
    wanted the change may have given up, so every second the keeper tries whether it could be made now.
  - A folder that was just opened is not listed: the ends do so, and wait for this. What they leave is found at the next
    tick.
"""

import math
import time
from contextlib import suppress

import trio
from msgspec import Struct

from actors.kernel import Actor, ChildSpec, Key, Mailbox, MailboxFull, Stop, Timer
from codec.ipc import id_of
from codec.ipc.folder import BaseFull, BaseGone, FilesChanged, Rescan, Tray
from codec.ipc.ids import SUFFIX
from codec.words import counted
from transports.folder.feed import EventPace, Gathered, gathered
from transports.folder.inotify import ARRIVALS, TRY_SECONDS, Inotify
from transports.ipc.base import FolderBase
from transports.ipc.reading import RoomReader
from transports.ipc.site import OpenedBase, in_words
from transports.ipc.torns import Stamp

TICK_SECONDS = 5.0
GONE_SECONDS = 1.0
POLL_SECONDS = 0.5
BEHIND_SECONDS = 0.5
SHARE = 20
"""Polling takes at most one part in so many of the time, and so does listing what changes."""
WATCHED = (Tray.REQUESTS, Tray.SUBMITTED, Tray.RESPONSES)


class KeepWatch(Struct, frozen=True):
    pass


KEEPER = Key[KeepWatch]("ipc/base")


class BaseKeeper(Actor[KeepWatch]):
    def __init__(self, base: FolderBase, tick: float) -> None:
        self._base = base
        self._tick = tick
        self._inotify: Inotify | None = None
        self._why_not: str | None = None
        self._watching: OpenedBase | None = None
        """The folders that are watched are this one's."""
        self._openings = -1
        self._is_blind = True
        self._tried_at = -math.inf
        self._may_try = False
        self._numbers: dict[int, Tray | None] = {}
        """Of the watched rooms; None: the base itself."""
        self._stamps: dict[Tray, Stamp | None] = {}
        self._unlisted: set[Tray] = set()
        """Something may stand there that may not stay."""
        self._next_listing = -math.inf
        self._is_tidying = False
        """What may not stay is being set aside."""
        self._is_trying = False
        """Whether the folder can be changed again is being found out."""
        self._tried_again_at = -math.inf
        self._looked_at = -1e9
        self._interval = tick
        self._timer: Timer | None = None
        self._stirred = False

    @property
    def trouble(self) -> str | None:
        return self._base.trouble

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(KEEPER, self.ref)
        self._base.watched = False
        self._base.stir = self._stir
        self._stir()

    async def stopping(self, stop: Stop) -> None:
        self._base.stir = lambda: None
        self._base.watched = False
        if stop.why.normal:
            self._base.close()

    async def handle(self, message: KeepWatch) -> None:
        match message:
            case KeepWatch():
                self._stirred = False
                await self._look()
            case _:
                self.unknown(message)

    def _stir(self) -> None:
        if not self._stirred:
            self._stirred = True
            with suppress(MailboxFull):  # then there is one in it
                self.ref.tell(KeepWatch())

    # -- what the kernel tells

    def _try_to_watch(self, now: float) -> None:
        """Other programs may take all that the system allows, and give it back."""
        if self._is_blind and now >= self._tried_at + TRY_SECONDS:
            self._tried_at = now
            self._may_try = True
            if self._inotify is None:
                try:
                    self._inotify = Inotify()
                except OSError as error:
                    self._why_not = in_words(error)
                else:
                    self.run_beside(self._listen, self._inotify)

    async def _listen(self, inotify: Inotify) -> None:
        try:
            pace, settle = EventPace(), 0.0
            while True:
                found = await gathered(inotify, settle=settle)
                settle = pace.settle(found.events)
                self._heard(found)
        finally:
            inotify.close()

    def _heard(self, found: Gathered) -> None:
        base = self._base
        base.events += found.events
        changed: dict[Tray, frozenset[str]] = {}
        for number, names in found.names.items():
            tray = self._numbers.get(number)
            if tray is not None:
                ids = frozenset(id for name in names if (id := id_of(name)) is not None)  # noqa: A001 - as in the contract
                if ids:
                    changed[tray] = ids
                if len(ids) < len(names) and any(id_of(name) is None and name.endswith(SUFFIX) for name in names):
                    self._stamps.pop(tray, None)
                    self._look_soon()
            elif number in self._numbers:
                self._look_soon()
        if changed:
            base.tell(FilesChanged(changed))
        if found.lost:
            base.overflows += 1
            base.tell(Rescan("events were lost"))
        if found.itself & self._numbers.keys():
            self._look_soon()

    def _look_soon(self) -> None:
        self._looked_at = -1e9
        self._stir()

    # -- what it looks for itself

    async def _look(self) -> None:
        base, now = self._base, trio.current_time()
        if self._timer is not None:
            self._timer.cancel()
        self._say_what_is_due()
        if now - self._looked_at >= self._interval or base.openings != self._openings:
            self._looked_at = now
            self._try_to_watch(now)
            try:
                took = await self._visit()
            except BaseGone:
                self._interval = GONE_SECONDS
            else:
                self._interval = min(self._tick, max(POLL_SECONDS, SHARE * took)) if self._is_blind else self._tick
                if self._unlisted:
                    self._interval = min(self._interval, max(0.0, self._next_listing - time.monotonic()))
        pause = self._looked_at + self._interval - now
        if (soonest := base.soonest()) is not None:
            pause = min(pause, soonest + 0.01)
        if base.catch_up():
            pause = min(pause, BEHIND_SECONDS)
        if base.is_halted:
            pause = min(pause, GONE_SECONDS)
            if not self._is_trying and now - self._tried_again_at >= GONE_SECONDS:
                self._is_trying, self._tried_again_at = True, now
                self.run_beside(self._try_again)
        self._timer = self.tell_later(max(pause, 0.0), KeepWatch())
        self._say()

    async def _try_again(self) -> None:
        try:
            with suppress(BaseGone, BaseFull):  # it is as it was: tried again at the next look
                await self._base.try_again()
        finally:
            self._is_trying = False

    def _say_what_is_due(self) -> None:
        due = self._base.due()
        changed = {tray: frozenset(id for name in names if (id := id_of(name))) for tray, names in due.items()}  # noqa: A001
        if any(changed.values()):
            self._base.tell(FilesChanged({tray: ids for tray, ids in changed.items() if tray in WATCHED and ids}))
        for tray, names in due.items():
            if any(id_of(name) is None for name in names):
                self._stamps.pop(tray, None)
                self._looked_at = -1e9

    async def _visit(self) -> float:
        """How long it took."""
        began = time.monotonic()
        before, opened, was_blind = self._stamps, self._watching, self._is_blind
        now, changed, opened_now = await self._base.visit(self._see)
        if opened_now is opened:
            await self._list({tray for tray in WATCHED if now[tray] is None or before.get(tray) is None})
        self._stamps = now
        self._watching, self._openings = opened_now, opened_now.number
        self._base.watched = not self._is_blind
        if opened_now is not opened or (was_blind and not self._is_blind):
            self._base.tell(Rescan("the folder is watched from now on"))
        elif any(changed.values()):
            self._base.tell(FilesChanged({tray: ids for tray, ids in changed.items() if ids}))
        elif any(now[tray] is None or before.get(tray) != now[tray] for tray in WATCHED):
            self._base.tell(Rescan("it is time to look again"))
        return time.monotonic() - began

    async def _list(self, changed: set[Tray]) -> None:
        """What may not stay in these rooms is moved away. In rooms that change all the time that is done less often."""
        self._unlisted |= changed
        began = time.monotonic()
        if self._unlisted and began >= self._next_listing:
            for tray in self._unlisted:
                await self._base.ids(tray)
            self._unlisted = set()
            ended = time.monotonic()
            self._next_listing = ended + SHARE * (ended - began)
            if not self._is_tidying and any(map(self._base.has_strays, WATCHED)):
                self._is_tidying = True
                self.run_beside(self._tidy)

    async def _tidy(self) -> None:
        try:
            with suppress(BaseGone):  # what is left is found again when the folder is back
                for tray in WATCHED:
                    await self._base.set_strays_aside(tray)
        finally:
            self._is_tidying = False

    def _see(
        self, reading: RoomReader, opened: OpenedBase
    ) -> tuple[dict[Tray, Stamp | None], dict[Tray, frozenset[str]], OpenedBase]:
        """Runs in a thread."""
        self._base.live()
        if opened is not self._watching or (self._is_blind and self._may_try):
            self._may_try = False
            self._is_blind = self._inotify is None or not self._watch(self._inotify, opened)
        stamps = {tray: reading.stamp(opened, tray) for tray in WATCHED}
        changed = {tray: reading.differences(opened, tray) for tray in WATCHED} if self._is_blind else {}
        return stamps, changed, opened

    def _watch(self, inotify: Inotify, opened: OpenedBase) -> bool:
        """False: the system allows no more of it, or has no /proc."""
        places: dict[int, Tray | None] = {opened.root: None, **{opened.room(tray): tray for tray in WATCHED}}
        try:
            numbers = {inotify.add_opened(folder, ARRIVALS): tray for folder, tray in places.items()}
        except OSError as error:
            self._why_not = in_words(error)
            return False
        before, self._numbers = self._numbers, numbers
        for number in before.keys() - numbers.keys():
            inotify.remove(number)
        return True

    def _say(self) -> None:
        told = counted(self._base.events, "event")
        self.note = f"looks at intervals: {self._why_not}" if self._is_blind else told


def keeper_spec(base: FolderBase, *, tick: float = TICK_SECONDS) -> ChildSpec[KeepWatch]:
    return ChildSpec("base", lambda: BaseKeeper(base, tick), mailbox=lambda: Mailbox(16))
