"""A base folder that is only on paper: what transports/ipc/ does on a disk, in memory, for the tests of both ends.

`foreign_*` is what peers do behind our back; each is told as news. `gone` and `full` make every call fail.
"""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import trio

from actors.ipc.given import (
    Asked,
    BaseFull,
    BaseGone,
    BaseHealth,
    BaseIsBack,
    BaseIsGone,
    BaseUnwritable,
    BothFiles,
    EntryStuck,
    FilesChanged,
    IdOfAnother,
    News,
    Occupied,
    Rescan,
    Tray,
    WritingFails,
    WritingWorks,
)
from actors.ipc.server_steps import Unreadable
from actors.ipc.steps import Answer, Identity, Seen, Spoiled, Torn
from actors.kernel import ActorRef, AnyRef, KernelError
from codec.ipc import BadRequest, BadResponse, Request, read_request, read_response

numbers = itertools.count(1)
ARCHIVED = (Tray.REQUESTS, Tray.RESPONSES, Tray.FAILED, Tray.EVALUATIONS)
TORN_SECONDS = 1.0
STUCK = "a file cannot be changed"


class PaperBase:
    def __init__(self) -> None:
        self.files: dict[tuple[Tray, str], tuple[Identity, bytes, float]] = {}
        self.quarantined: list[tuple[str, str]] = []
        self.withheld: tuple[str, ...] = ()
        """What the disk does not give, as sentences."""
        self.archived: dict[str, str] = {}
        self.requests_archived: dict[str, bytes] = {}
        """Those that stood nowhere any more."""
        self.gone: str | None = None
        self.other_client: str | None = None
        """A sentence, if another client end has the folder."""
        self.known = False
        """A client has lived here before: its successor looks at all requests."""
        self._full = self._unwritable = self._has_failed = False
        self.entries_stuck: set[str] = set()
        """Requests whose own files cannot be changed."""
        self.stopped: str | None = None
        """Our own server end is a process that is stopped."""
        self.sync_seconds = 0.0
        """An answer can be seen so long before it is on the disk."""
        self.listing_seconds = 0.0
        """To list a room takes so long, and the list is of when that began."""
        self.missed_seconds = 0.0
        """To ask all files for their times takes so long."""
        self.calls: list[str] = []
        self._listeners: dict[AnyRef, Callable[[News], None]] = {}
        self._onlookers = trio.lowlevel.ParkingLot()

    @property
    def full(self) -> bool:
        return self._full

    @full.setter
    def full(self, now: bool) -> None:
        self._full = now
        self._whether_writing_works()

    @property
    def unwritable(self) -> bool:
        return self._unwritable

    @unwritable.setter
    def unwritable(self, now: bool) -> None:
        self._unwritable = now
        self._whether_writing_works()

    def _whether_writing_works(self) -> None:
        if self._has_failed and not self._full and not self._unwritable:
            self._has_failed = False
            self._tell(WritingWorks())

    # -- as given

    def attend(self, who: ActorRef[Any], news: Callable[[News], Any]) -> None:
        self._listeners[who] = lambda what: who.tell(news(what))
        self._listeners[who](BaseIsGone(self.gone) if self.gone else Rescan("it has just been opened"))

    def dismiss(self, who: AnyRef) -> None:
        self._listeners.pop(who, None)

    async def claim_server(self) -> str | None:
        await self._trip("claim server")
        return None

    async def release_server(self) -> None:
        await self._trip("release server")

    async def claim_client(self) -> str | None:
        await self._trip("claim client")
        return self.other_client

    async def release_client(self) -> None:
        await self._trip("release client")

    async def stopped_server(self) -> str | None:
        await trio.lowlevel.checkpoint()
        return self.stopped

    async def missed(self, ids: Collection[str], place: Tray = Tray.REQUESTS) -> frozenset[str]:
        await self._trip("missed" if place is Tray.REQUESTS else f"missed {place.value}")
        if self.missed_seconds:
            await trio.sleep(self.missed_seconds)
        there = frozenset(name for where, name in self.files if where is place and name in ids)
        return there if self.known else frozenset()

    async def ids(self, place: Tray) -> frozenset[str]:
        await self._trip(f"ids {place.value}")
        found = frozenset(name for where, name in self.files if where is place)
        if self.listing_seconds:
            await trio.sleep(self.listing_seconds)
        return found

    async def look(self, id: str) -> BothFiles:  # noqa: A002
        await self._trip(f"look {id}")
        request, (response, answer) = self._request(id), self._response(id)
        stands_as = None if request is None or isinstance(request, Torn) else self.files[Tray.REQUESTS, id][0]
        took = None
        if isinstance(request, Asked) and isinstance(response, Answer):
            took = self.files[Tray.RESPONSES, id][2] - self.files[Tray.REQUESTS, id][2]
        return BothFiles(request, response, answer, None if took is None or took < 0.0 else took, stands_as)

    async def publish(
        self, requests: Mapping[str, bytes], first: Collection[str] = (), *, by_turns: bool = False
    ) -> Mapping[str, EntryStuck]:
        await self._trip(f"publish {' '.join(requests)}", writes=True)
        stuck = {id: EntryStuck(STUCK) for id in requests if id in self.entries_stuck}  # noqa: A001
        for id, data in requests.items():  # noqa: A001
            is_first = id in first
            submitted = self._submitted(id, by_turns and is_first)
            if id in stuck:
                continue
            if submitted is not None and not submitted.asks_the_same(read_request(data, id)):
                stuck[id] = IdOfAnother(f"another request {id} was submitted at the same time")
            elif submitted is None or not is_first:
                self._put(Tray.REQUESTS, id, data)
        return stuck

    def _submitted(self, id: str, by_turns: bool) -> Request | None:  # noqa: A002
        for tray in (Tray.REQUESTS, Tray.SUBMITTED) if by_turns else (Tray.REQUESTS,):
            with suppress(KeyError, BadRequest):
                return read_request(self.files[tray, id][1], id)
        return None

    async def answer(self, id: str, data: bytes) -> Identity:  # noqa: A002
        await self._trip(f"answer {id}", writes=True)
        if (Tray.RESPONSES, id) in self.files:
            raise Occupied(id)
        self._put(Tray.RESPONSES, id, data)
        written, _, _ = self.files[Tray.RESPONSES, id]
        if self.sync_seconds:
            await trio.sleep(self.sync_seconds)
        return written

    async def take_away(self, id: str, identity: Identity) -> bool:  # noqa: A002
        await self._trip(f"take away {id}")
        return self._take(id, identity)

    async def set_aside(self, id: str, identity: Identity, why: str) -> None:  # noqa: A002
        await self._trip(f"set aside {id}")
        if self._take(id, identity):
            self.quarantined.append((id, why))

    async def withdraw(self, id: str, identity: Identity | None = None) -> bool:  # noqa: A002
        await self._trip(f"withdraw {id}")
        if id in self.entries_stuck:
            raise EntryStuck(STUCK)
        there = self.files.get((Tray.REQUESTS, id))
        is_it = there is not None and identity in (None, there[0])
        return is_it and self._drop(Tray.REQUESTS, id)

    async def forget(self, copies: Mapping[str, bytes], place: Tray = Tray.SUBMITTED) -> None:
        await self._trip("forget")
        for id, data in copies.items():  # noqa: A001
            if (there := self.files.get((place, id))) is not None and there[1] == data:
                self._drop(place, id)

    async def cancelled(self) -> frozenset[str]:
        await self._trip("cancelled")
        ids = frozenset(name for where, name in self.files if where is Tray.CANCELLED)
        for id in ids:  # noqa: A001
            if self.files.get((Tray.SUBMITTED, id)) == self.files[Tray.CANCELLED, id]:
                self._drop(Tray.SUBMITTED, id)
        return ids

    async def write(self, place: Tray, id: str, data: bytes) -> None:  # noqa: A002
        await self._trip(f"write {place.value} {id}", writes=True)
        self._put(place, id, data)

    async def read_several(self, place: Tray, ids: Sequence[str]) -> Mapping[str, bytes]:
        found = {id: await self.read(place, id) for id in ids}  # noqa: A001
        return {id: data for id, data in found.items() if data is not None}  # noqa: A001

    async def read(self, place: Tray, id: str) -> bytes | None:  # noqa: A002
        await self._trip(f"read {place.value} {id}")
        there = self.files.get((place, id))
        return there[1] if there else None

    async def archive(
        self,
        ids: Iterable[str],
        day: str,
        only: Tray | None = None,
        asked: Mapping[str, bytes] = MappingProxyType({}),
        seen: Mapping[str, BothFiles] = MappingProxyType({}),
    ) -> frozenset[str]:
        await self._trip("archive")
        moved = set()
        for id in ids:  # noqa: A001
            if id in self.entries_stuck:
                raise EntryStuck(STUCK)
            there = self.files.get((Tray.REQUESTS, id))
            if id in asked and there is None:
                self.requests_archived[id] = asked[id]
            newer = {tray for tray, identity in _seen(seen.get(id)) if self._differs(tray, id, identity)}
            trays = [each for each in ([only] if only else ARCHIVED) if each not in newer]
            if sum(self._drop(place, id) for place in trays) or id in asked:
                self.archived[id] = day
                moved.add(id)
        return frozenset(moved)

    def _differs(self, tray: Tray, id: str, identity: Identity | None) -> bool:  # noqa: A002
        there = self.files.get((tray, id))
        return there is not None and there[0] != identity

    async def reopen(self, id: str) -> bool:  # noqa: A002
        await self._trip(f"reopen {id}")
        return self._drop(Tray.FAILED, id)

    async def health(self) -> BaseHealth:
        count, whys = len(self.withheld), self.withheld[:20]
        return BaseHealth(
            "/paper", self.gone, True, 0, 0, 0, len(self.quarantined), 0.0, withheld=count, withheld_reasons=whys
        )

    # -- behind our back

    def foreign_put(self, place: Tray, id: str, data: bytes) -> None:  # noqa: A002
        self._put(place, id, data)

    def foreign_cancel(self, id: str) -> None:  # noqa: A002
        """As the library for scripts does without a server."""
        self.files[Tray.CANCELLED, id] = self.files.pop((Tray.REQUESTS, id))
        self._drop(Tray.SUBMITTED, id)
        self._changed(Tray.REQUESTS, id)

    def foreign_drop(self, place: Tray, id: str) -> None:  # noqa: A002
        self._drop(place, id)

    async def change(self) -> None:
        """Waits for the next one to a request, its copy or a response, whoever makes it."""
        await self._onlookers.park()

    def lose(self, why: str) -> None:
        self.gone = why
        self._tell(BaseIsGone(why))

    def mend(self) -> None:
        self.gone = None
        self._tell(BaseIsBack())
        self._tell(Rescan("it has just been opened"))

    def overflow(self) -> None:
        self._tell(Rescan("events were lost"))

    # --

    async def _trip(self, what: str, *, writes: bool = False) -> None:
        await trio.lowlevel.checkpoint()
        self.calls.append(what)
        if self.gone is not None:
            raise BaseGone(self.gone)
        if writes and (self.full or self.unwritable):
            why = "the disk is full" if self.full else "the disk cannot be written to"
            if not self._has_failed:
                self._has_failed = True
                self._tell(WritingFails(why))
            raise BaseFull(why) if self.full else BaseUnwritable(why)

    def _put(self, place: Tray, id: str, data: bytes) -> None:  # noqa: A002
        number = next(numbers)
        self.files[place, id] = (Identity(number, number), data, trio.current_time())
        self._changed(place, id)

    def _drop(self, place: Tray, id: str) -> bool:  # noqa: A002
        was = self.files.pop((place, id), None) is not None
        if was:
            self._changed(place, id)
        return was

    def _take(self, id: str, identity: Identity) -> bool:  # noqa: A002
        there = self.files.get((Tray.RESPONSES, id))
        return there is not None and there[0] == identity and self._drop(Tray.RESPONSES, id)

    def _changed(self, place: Tray, id: str) -> None:  # noqa: A002
        if place in (Tray.REQUESTS, Tray.SUBMITTED, Tray.RESPONSES):
            self._onlookers.unpark_all()
            self._tell(FilesChanged({place: frozenset({id})}))

    def _tell(self, news: News) -> None:
        for who, tell in list(self._listeners.items()):
            try:
                tell(news)
            except KernelError:  # it has ended
                self._listeners.pop(who)

    def _request(self, id: str) -> Asked | Torn | Unreadable | None:  # noqa: A002
        there = self.files.get((Tray.REQUESTS, id))
        if there is None:
            return None
        _, data, since = there
        try:
            return Asked(read_request(data, id), data)
        except BadRequest as wrong:
            if trio.current_time() - since < TORN_SECONDS:
                return Torn()
            return Unreadable(data[:32], str(wrong))

    def _response(self, id: str) -> tuple[Seen, bytes | None]:  # noqa: A002
        there = self.files.get((Tray.RESPONSES, id))
        if there is None:
            return None, None
        identity, data, since = there
        try:
            answered = read_response(data, id)
            return Answer(identity, answered.outcome, answered.begun), data
        except BadResponse as wrong:
            if trio.current_time() - since < TORN_SECONDS:
                return Torn(), None
            return Spoiled(identity, str(wrong)), None


def _seen(files: BothFiles | None) -> Iterator[tuple[Tray, Identity | None]]:
    if files is not None:
        yield Tray.REQUESTS, files.stands_as
        if not isinstance(files.response, Torn):
            yield Tray.RESPONSES, None if files.response is None else files.response.identity
