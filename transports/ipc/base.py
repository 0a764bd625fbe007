"""The base folder on a real disk: `Base` of actors/ipc/given.py.

Whatever is asked of it rides to the disk with one of two ferries (ferry.py). So what only reads waits for no sync:

    reading   ids, look, read, claims      reading.py
    writing   all else                     writing.py

In a folder that lies in memory, a look at one small request, and a change of one, are made in the loop itself. On a
disk, so is such a look if the system has all of it in memory, as it has what was just written: that waits for no disk.

News is told to those who attend. The keeper (keeper.py) finds most of it out; that the folder is gone, or back, is also
noticed by any trip. An actor whose mailbox has no room for news is told to look at everything, as soon as it has room.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import structlog
import trio
from msgspec import Struct

from actors.kernel import ActorRef, AnyRef, MailboxFull
from codec.ipc import Dialect
from codec.ipc.folder import (
    ROOMS,
    STATE,
    BaseFull,
    BaseGone,
    BaseHealth,
    BaseIsBack,
    BaseIsGone,
    BaseUnwritable,
    BothFiles,
    EntryStuck,
    Identity,
    News,
    Rescan,
    Tray,
    WritingFails,
    WritingWorks,
)
from transports.folder.alone import alone
from transports.ipc import writing
from transports.ipc.archiving import ArchiveBlocked
from transports.ipc.claims import CLIENT, SERVER, stopped_server
from transports.ipc.ferry import Ferry, NotShort
from transports.ipc.processes import Census
from transports.ipc.reading import AT_ONCE, RoomListing, RoomReader, Ways
from transports.ipc.site import OpenedBase, Site, in_words
from transports.ipc.writing import LARGEST, SET_ASIDE, SHORT, RoomWriter, WriteJob

PATIENCE = 30.0
"""Seconds to wait for the disk."""
MISSED_SECONDS = 30.0
"""An end touches its lock every few seconds, so it may have lived this much longer."""
GROUP = 500
"""Of more requests at once, so many are published in one trip: who comes meanwhile rides in the next."""
STEP = 2_000
"""Of many files so many are asked for their times in one trip, so that others need not wait for all of them."""
LOOKS, WRITES = 256, 512
OPENED = "the folder has just been opened"

M = TypeVar("M")
T = TypeVar("T")
ReadJob = Callable[[RoomReader, OpenedBase], Any]
LOOKED_AT = frozenset({Tray.REQUESTS.value, Tray.RESPONSES.value})

log = structlog.get_logger("ipc")


class LookJob(Struct, frozen=True):
    """The one that is done most often. It uses no other rooms, unless something has to go to quarantine/."""

    id: str
    short: int | None = None

    @property
    def rooms(self) -> frozenset[str]:
        return LOOKED_AT if self.short is not None else LOOKED_AT | SET_ASIDE

    def __call__(self, reading: RoomReader, opened: OpenedBase, ways: Ways | None = None) -> BothFiles:
        return reading.look(opened, self.id, self.short, ways)


class Attending(Struct):
    tell: Callable[[News], None]
    behind: bool = False
    """It has missed news."""


class FolderBase:
    def __init__(
        self,
        path: Path,
        *,
        sync: bool = True,
        now: Callable[[], float] = time.monotonic,
        largest: int = LARGEST,
        patience: float = PATIENCE,
        ends: Collection[str] = frozenset(),
        dialect: Dialect = Dialect.SPEC,
    ) -> None:
        """`sync`: what has been written is on the disk, and not only on its way there. `now`: a clock that nobody
        sets. `ends`: that are to be claimed together; `dialect`: of those who answer (claims.py)."""
        self._largest = largest
        self._site = Site(path, writing.give_back_what_is_away, ends, dialect)
        self._reading = RoomReader(now, largest)
        self._writing = RoomWriter(self._site, sync=sync)
        site = self._site
        self._reads = self._ferry(
            self._read_all, "reading the desk's folder", LOOKS, patience, lambda: site.in_memory or site.is_local
        )
        self._writes = self._ferry(
            self._writing.run, "writing to the desk's folder", WRITES, patience, lambda: site.in_memory
        )
        self._census = Census()
        self._listeners: dict[AnyRef, Attending] = {}
        self._openings = 0
        self._trouble: str | None = None
        self._unwritable: str | None = None
        """Why the last change could not be made, and no other could have been..."""
        self._wanted_bytes = 0
        """...of so many bytes."""
        self._blocked: str | None = None
        """Something stood in the way of the last thing that was to be archived..."""
        self._blocked_day = ""
        """...on this day."""
        self.stir: Callable[[], None] = lambda: None
        """Is called when the keeper has something to do."""
        self.watched = False
        self.events = self.overflows = self.rescans = 0

    def _ferry(
        self,
        run: Callable[[Sequence[Any]], Sequence[Any]],
        name: str,
        most: int,
        patience: float,
        near: Callable[[], bool],
    ) -> Ferry[Any]:
        def hangs() -> BaseGone:
            return BaseGone(f"{self._site.path} has not answered for {patience:g} seconds; see what its disk is doing")

        return Ferry(run, name, most=most, patience=patience, hangs=hangs, after=self._after, near=near)

    # -- news

    def attend(self, who: ActorRef[M], news: Callable[[News], M]) -> None:
        listener = self._listeners[who] = Attending(lambda what: who.hand(news(what)))
        if self._trouble is not None:
            self._tell_one(listener, BaseIsGone(self._trouble))
        elif self._openings:
            self._tell_one(listener, Rescan(OPENED))
        if self._unwritable is not None:
            self._tell_one(listener, WritingFails(self._unwritable))

    def dismiss(self, who: AnyRef) -> None:
        self._listeners.pop(who, None)

    def tell(self, news: News) -> None:
        if isinstance(news, Rescan):
            self.rescans += 1
        for who, listener in list(self._listeners.items()):
            if not who.alive:
                del self._listeners[who]
            elif not listener.behind:
                self._tell_one(listener, news)
                if listener.behind:
                    self.stir()

    def _tell_one(self, listener: Attending, news: News) -> None:
        try:
            listener.tell(news)
        except MailboxFull:
            listener.behind = True

    def catch_up(self) -> bool:
        """Those who have missed news are told how things are. Whether some still have no room."""
        for listener in self._listeners.values():
            if listener.behind:
                listener.behind = False
                for news in self._as_things_are():
                    if not listener.behind:
                        self._tell_one(listener, news)
        return any(listener.behind for listener in self._listeners.values())

    def _as_things_are(self) -> Iterable[News]:
        yield WritingWorks() if self._unwritable is None else WritingFails(self._unwritable)
        if self._trouble is not None:
            yield BaseIsGone(self._trouble)
        else:
            yield BaseIsBack()
            yield Rescan("news had no room in the mailbox")

    def _after(self) -> None:
        """A trip has ended: is the folder gone, or back?"""
        trouble, openings = self._site.trouble, self._site.openings
        if trouble != self._trouble:
            self._trouble = trouble
            if trouble is None:
                log.info("the folder of the desk can be used again", path=str(self._site.path))
                self.tell(BaseIsBack())
            else:
                log.warning(trouble)
                self.tell(BaseIsGone(trouble))
            self.stir()
        if trouble is None and openings != self._openings:
            self._openings = openings
            self.tell(Rescan(OPENED))
            self.stir()
        if self._reading.torns.next_due() is not None:
            self.stir()

    # -- reading

    async def claim_server(self) -> str | None:
        return await self._claim(SERVER)

    async def release_server(self) -> None:
        await trio.lowlevel.checkpoint()
        self._site.claims.release(SERVER)

    async def claim_client(self) -> str | None:
        return await self._claim(CLIENT)

    async def release_client(self) -> None:
        await trio.lowlevel.checkpoint()
        self._site.claims.release(CLIENT)

    async def _claim(self, end: str) -> str | None:
        why: str | None = await self.visit(lambda _, opened: self._site.claims.claim(opened.rooms[STATE], end))
        return why

    async def stopped_server(self) -> str | None:
        pid: int | None = await self.visit(lambda _, opened: stopped_server(opened.rooms[STATE], self._census))
        if pid is None:
            return None
        return f"process {pid} is the server of {self._site.path}, and is stopped; `kill -CONT {pid}` lets it go on"

    def live(self) -> None:
        """Our ends live. Blocks: the keeper calls this in a thread."""
        self._site.claims.touch()

    async def missed(self, ids: Collection[str], place: Tray = Tray.REQUESTS) -> frozenset[str]:
        found: set[str] = set()
        all_ids = list(ids)
        for start in range(0, len(all_ids), STEP):
            some = all_ids[start : start + STEP]

            def read(reading: RoomReader, opened: OpenedBase, some: list[str] = some) -> set[str]:
                return reading.since(opened, place, some, self._site.claims.lived(CLIENT) - MISSED_SECONDS)

            found |= await self.visit(read)
        return frozenset(found)

    async def ids(self, place: Tray) -> frozenset[str]:
        listing: RoomListing = await self.visit(lambda reading, opened: reading.listing(opened, place))
        while listing.ids is None:
            await self.visit(listing.go_on)
        return listing.ids

    async def set_strays_aside(self, place: Tray) -> None:
        """All that the last listing has found and that may not stay there. For the keeper."""
        while self.has_strays(place):
            await self.visit(lambda reading, opened: reading.set_strays_aside(opened, place))

    def has_strays(self, place: Tray) -> bool:
        return self._reading.has_strays(place)

    async def look(self, id: str) -> BothFiles:  # noqa: A002 - as in the contract
        found: BothFiles = await self._reads.ride(LookJob(id), short=LookJob(id, SHORT))
        return found

    async def read(self, place: Tray, id: str) -> bytes | None:  # noqa: A002
        found: bytes | None = await self.visit(lambda reading, opened: reading.read(opened, place, id))
        return found

    async def read_several(self, place: Tray, ids: Sequence[str]) -> Mapping[str, bytes]:
        def read(reading: RoomReader, opened: OpenedBase) -> dict[str, bytes]:
            found = ((id, reading.read(opened, place, id)) for id in ids)  # noqa: A001
            return {id: data for id, data in found if data is not None}  # noqa: A001

        found: dict[str, bytes] = await self.visit(read)
        return found

    async def visit(self, job: ReadJob) -> Any:
        """The job is done in a thread. For the keeper too."""
        return await self._reads.ride(job)

    def _read_all(self, jobs: Sequence[ReadJob]) -> list[Any]:
        (first, *others) = jobs
        if not others and isinstance(first, LookJob) and first.short is not None and not self._site.in_memory:
            return [self._seen_at_once(first)]
        try:
            with self._site.entered(_used(jobs)) as opened, self._reading.trip():
                return [self._read_one(job, opened) for job in jobs]
        except BaseGone as gone:
            return [gone] * len(jobs)

    def _seen_at_once(self, look: LookJob) -> BothFiles:
        """In the loop."""
        try:
            with self._site.entered_at_once(look.rooms) as opened:
                return look(self._reading, opened, AT_ONCE)
        except OSError:  # there is more to do, or to say, than here
            raise NotShort from None

    def _read_one(self, job: ReadJob, opened: OpenedBase) -> Any:
        try:
            return job(self._reading, opened)
        except OSError as error:
            return BaseGone(f"{self._site.path} cannot be read: {in_words(error)}")

    # -- writing

    async def publish(
        self, requests: Mapping[str, bytes], first: Collection[str] = (), *, by_turns: bool = False
    ) -> Mapping[str, EntryStuck]:
        stuck: dict[str, EntryStuck] = {}
        for some in _groups(requests):
            try:
                stuck |= await self._write(writing.publishing(some, some.keys() & first, by_turns=by_turns))
            except EntryStuck as each:
                stuck |= {id: EntryStuck(str(each)) for id in some}  # noqa: A001 - as in the contract
        return stuck

    async def answer(self, id: str, data: bytes) -> Identity:  # noqa: A002
        written: Identity = await self._write(writing.answering(id, data))
        return written

    async def take_away(self, id: str, identity: Identity) -> bool:  # noqa: A002
        taken: bool = await self._write(writing.taking_away(id, identity))
        return taken

    async def set_aside(self, id: str, identity: Identity, why: str) -> None:  # noqa: A002
        await self._write(writing.setting_aside(id, identity, why))

    async def withdraw(self, id: str, identity: Identity | None = None) -> bool:  # noqa: A002
        was: bool = await self._write(writing.withdrawing(id, identity))
        return was

    async def forget(self, copies: Mapping[str, bytes], place: Tray = Tray.SUBMITTED) -> None:
        await self._write(writing.forgetting(copies, place))

    async def cancelled(self) -> frozenset[str]:
        def wait(_: RoomReader, opened: OpenedBase) -> None:
            with alone(opened.room(Tray.SUBMITTED)):
                pass

        await self.visit(wait)
        ids = await self.ids(Tray.CANCELLED)
        if ids:
            await self._write(writing.forgetting_cancelled(ids))
        return ids

    async def write(self, place: Tray, id: str, data: bytes) -> None:  # noqa: A002
        await self._write(writing.writing(place, id, data))

    async def archive(
        self,
        ids: Iterable[str],
        day: str,
        only: Tray | None = None,
        asked: Mapping[str, bytes] = writing.NONE_ASKED,
        seen: Mapping[str, BothFiles] = writing.NONE_SEEN,
    ) -> frozenset[str]:
        moved: frozenset[str] = frozenset()
        for some in _groups(dict.fromkeys(ids)):
            try:
                known = {id: asked[id] for id in some if id in asked}  # noqa: A001
                there = {id: seen[id] for id in some if id in seen}  # noqa: A001
                moved |= await self._write(writing.archiving(some, day, only, known, there))
            except ArchiveBlocked as blocked:
                self._blocked, self._blocked_day = str(blocked), day
                self.stir()
                raise
            self._blocked = None
        return moved

    async def reopen(self, id: str) -> bool:  # noqa: A002
        was: bool = await self._write(writing.reopening(id))
        return was

    @property
    def is_halted(self) -> bool:
        """The last change could not be made, for a reason that others would meet as well."""
        return self._unwritable is not None or self._blocked is not None

    async def try_again(self) -> None:
        """Whether it could be made now: whoever wanted it may have given up. Raises what it would."""
        if self._unwritable is not None:
            await self._write(writing.trying(min(self._wanted_bytes, self._largest)))
        if self._blocked is not None:
            await self.archive((), self._blocked_day)

    async def _write(self, job: WriteJob) -> Any:
        try:
            done = await self._writes.ride(job, short=job if job.is_short else None)
        except (BaseFull, BaseUnwritable) as why:
            before, self._unwritable = self._unwritable, str(why)
            self._wanted_bytes = sum(map(len, job.contents))
            if self._unwritable != before:
                self.tell(WritingFails(self._unwritable))
            self.stir()
            raise
        if self._unwritable is not None:
            self._unwritable = None
            self.tell(WritingWorks())
        return done

    # -- looking

    def soonest(self) -> float | None:
        """In how many seconds a torn file may be known to be spoiled."""
        return self._reading.torns.next_due()

    def due(self) -> Mapping[Tray, frozenset[str]]:
        """Files that are to be looked at again, by their names."""
        return self._reading.torns.due()

    @property
    def openings(self) -> int:
        """How often the folder has been opened."""
        return self._site.openings

    @property
    def trouble(self) -> str | None:
        return self._trouble

    async def health(self) -> BaseHealth:
        await trio.lowlevel.checkpoint()
        quarantined, reasons = self._site.quarantined()
        withheld, whys = self._reading.withheld
        return BaseHealth(
            path=str(self._site.path),
            trouble=self._trouble or self._unwritable,
            watched=self.watched,
            events=self.events,
            overflows=self.overflows,
            rescans=self.rescans,
            quarantined=quarantined,
            reasons=reasons,
            last_sync_ms=self._writing.sync_ms,
            blocked=self._blocked,
            withheld=withheld,
            withheld_reasons=whys,
        )

    def close(self) -> None:
        """Releases what was claimed. Whatever is asked afterwards opens it again."""
        self._site.close()


def _used(jobs: Sequence[ReadJob]) -> Collection[str]:
    rooms: set[str] = set()
    for job in jobs:
        if not isinstance(job, LookJob):
            return ROOMS
        rooms |= job.rooms
    return rooms


def _groups(all_of_them: Mapping[str, T]) -> Iterable[dict[str, T]]:
    """One at least: whether the folder can be used is known by a trip."""
    items = list(all_of_them.items())
    for start in range(0, max(1, len(items)), GROUP):
        yield dict(items[start : start + GROUP])
