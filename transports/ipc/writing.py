"""What is changed in the rooms. Each change is a job, and jobs that come together share one trip and one sync.

A trip: all drafts of all jobs are written and synced at once; then each job in turn gives its drafts their names, or
moves and deletes; then each room in which something has changed is synced. If that fails, every job of the trip has
failed, and may have happened.

What stands in the way of one file only (an entry that cannot be moved, a file that cannot be replaced) is told of that
one, as EntryStuck: nobody else waits for it.
"""

import errno
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from types import MappingProxyType
from typing import Any

import structlog
from msgspec import Struct, field

from codec.ipc import BadRequest, Request, file_of, read_request
from codec.ipc.folder import (
    DRAFTS,
    ROOMS,
    BaseFull,
    BaseGone,
    BaseUnwritable,
    BothFiles,
    EntryStuck,
    Identity,
    IdOfAnother,
    Occupied,
    Torn,
    Tray,
)
from codec.ipc.ids import is_id
from transports.folder.alone import alone
from transports.folder.drafts import discard, rename_new, together, write_drafts
from transports.ipc.archiving import ARCHIVED, ArchiveBlocked, put_away
from transports.ipc.identity import identity_at, identity_of
from transports.ipc.reading import why_not_plain
from transports.ipc.site import OpenedBase, Site, in_words
from transports.ipc.withheld import ALL_ALIKE

FULL = (errno.ENOSPC, errno.EDQUOT)
OF_ALL = frozenset({*FULL, errno.EROFS, *ALL_ALIKE})
"""The errors that any other change would have met as well."""
LARGEST = 16 << 20
"""Bytes of a file that is read."""
SHORT = 64 << 10
"""Bytes that are written, or read, in a fraction of a millisecond where no device is waited for."""
SET_ASIDE = frozenset({Tray.QUARANTINE.value, DRAFTS})
"""The rooms that are used when something may not stay, and for drafts."""
NONE_ASKED: Mapping[str, bytes] = MappingProxyType({})
NONE_SEEN: Mapping[str, BothFiles] = MappingProxyType({})
AWAY = MappingProxyType({Tray.RESPONSES: ".away-", Tray.REQUESTS: ".away-request-"})
_AWAY = re.compile(r"\.away-(request-)?([0-9]+)-([0-9]+)-(.+)", re.DOTALL)

log = structlog.get_logger("ipc")

Refusal = BaseGone | BaseFull | Occupied


class Trip(Struct):
    """What a job needs to be done."""

    base: OpenedBase
    touched: set[int] = field(default_factory=set)
    """The rooms that are to be synced."""


class WriteJob(Struct, frozen=True):
    contents: Sequence[bytes]
    act: Callable[[Trip, Sequence[str]], Any]
    """Is given the drafts of these contents, in a thread."""
    of_one: bool = True
    """It concerns a single request."""
    rooms: Collection[str] = ROOMS
    """It uses no other."""

    @property
    def is_short(self) -> bool:
        return self.of_one and sum(map(len, self.contents)) <= SHORT


class RoomWriter:
    """Used by one thread at a time."""

    def __init__(self, site: Site, *, sync: bool) -> None:
        self._site = site
        self._sync = sync
        self.sync_ms = 0.0
        """Of the last trip that had anything to sync."""

    def run(self, jobs: Sequence[WriteJob]) -> list[Any]:
        """For each job its result, or a Refusal."""
        try:
            rooms = frozenset().union(*(job.rooms for job in jobs))
            with self._site.entered(rooms) as base:
                results = self._run(base, jobs)
                self._site.check(base, rooms)
                return results
        except BaseGone as gone:
            return [gone] * len(jobs)

    def _run(self, base: OpenedBase, jobs: Sequence[WriteJob]) -> list[Any]:
        began = time.perf_counter()
        drafts = write_drafts(base.drafts, [content for job in jobs for content in job.contents], sync=self._sync)
        drafted = time.perf_counter()
        trip, results, at = Trip(base), [], 0
        for job in jobs:
            given = drafts[at : at + len(job.contents)]
            at += len(job.contents)
            results.append(result := self._done(trip, job, given))
            if isinstance(result, Refusal):
                discard(base.drafts, given)
        acted = time.perf_counter()
        if self._sync and trip.touched:
            try:
                together([partial(os.fsync, room) for room in trip.touched])
            except OSError as error:
                return [self._of_all(error)] * len(jobs)
            self.sync_ms = 1000 * (drafted - began + time.perf_counter() - acted)
        return results

    def _done(self, trip: Trip, job: WriteJob, drafts: Sequence[str | OSError]) -> Any:
        names = []
        for draft in drafts:
            if isinstance(draft, OSError):
                return self._of_all(draft)
            names.append(draft)
        try:
            return job.act(trip, names)
        except (Occupied, ArchiveBlocked) as refusal:
            return refusal
        except OSError as error:
            if error.errno in OF_ALL or not all(_may_be_changed(trip.base.rooms[room]) for room in job.rooms):
                return self._of_all(error)
            return EntryStuck(f"a file in {self._site.path} cannot be changed: {in_words(error)}")

    def _of_all(self, error: OSError) -> BaseGone | BaseFull:
        path = self._site.path
        if error.errno in FULL:
            return BaseFull(f"there is no room left on the disk of {path}; make some, and the desk goes on")
        return BaseUnwritable(f"{path} cannot be written to: {in_words(error)}")


# -- the jobs


def publishing(requests: Mapping[str, bytes], first: Collection[str] = (), *, by_turns: bool = False) -> WriteJob:
    """Its result are those that could not be put there, and why. If that is all of them, one reason is raised.

    What scripts have put there under these ids stays, if it is another request. `first`: of these, scripts may be
    submitting the same now, and that stays as well. `by_turns`: or was taken by a peer, so they and we take turns."""

    def act(trip: Trip, drafts: Sequence[str]) -> dict[str, EntryStuck]:
        stuck: dict[str, OSError] = {}
        taken: dict[str, EntryStuck] = {}
        with alone(trip.base.room(Tray.SUBMITTED)) if turns else nullcontext():
            for id, draft in zip(requests, drafts, strict=True):  # noqa: A001 - as in the contract
                try:
                    if _put_unless_taken(trip, id, requests[id], draft, id in first, turns):
                        continue
                except OSError as error:
                    if error.errno in OF_ALL:
                        raise
                    stuck[id] = error
                else:
                    taken[id] = IdOfAnother(f"another request {id} was submitted at the same time")
                discard(trip.base.drafts, [draft])
        if stuck and len(stuck) == len(requests):
            raise next(iter(stuck.values()))
        for id, why in stuck.items():  # noqa: A001
            taken[id] = EntryStuck(f"requests/{file_of(id)} cannot be written: {in_words(why)}")
        return taken

    turns = by_turns and bool(first)
    rooms = SET_ASIDE | {Tray.REQUESTS.value, *([Tray.SUBMITTED.value] if turns else [])}
    return WriteJob(list(requests.values()), act, of_one=len(requests) == 1 and not turns, rooms=rooms)


def answering(id: str, data: bytes) -> WriteJob:  # noqa: A002
    def act(trip: Trip, drafts: Sequence[str]) -> Identity:
        base, name = trip.base, file_of(id)
        written = identity_of(os.lstat(drafts[0], dir_fd=base.drafts))
        while True:
            try:
                rename_new(drafts[0], name, base.drafts, base.room(Tray.RESPONSES))
                trip.touched.add(base.room(Tray.RESPONSES))
                return written
            except FileExistsError:
                if not _cleared(trip, Tray.RESPONSES, name):
                    raise Occupied(id) from None

    return WriteJob([data], act, rooms=SET_ASIDE | {Tray.RESPONSES.value})


def writing(tray: Tray, id: str, data: bytes) -> WriteJob:  # noqa: A002
    return WriteJob([data], lambda trip, drafts: _put(trip, tray, file_of(id), drafts[0]))


def taking_away(id: str, identity: Identity) -> WriteJob:  # noqa: A002
    return WriteJob([], partial(_taken_away, tray=Tray.RESPONSES, id=id, identity=identity))


def setting_aside(id: str, identity: Identity, why: str) -> WriteJob:  # noqa: A002
    def act(trip: Trip, _: Sequence[str]) -> None:
        base, name = trip.base, file_of(id)
        if identity_at(base.room(Tray.RESPONSES), name) == identity:
            if not base.take_in(Tray.RESPONSES, name, why):
                raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), name)
            trip.touched |= {base.room(Tray.RESPONSES), base.room(Tray.QUARANTINE)}

    return WriteJob([], act)


def withdrawing(id: str, identity: Identity | None = None) -> WriteJob:  # noqa: A002
    """`identity`: only if it is still that one."""
    if identity is not None:
        return WriteJob([], partial(_taken_away, tray=Tray.REQUESTS, id=id, identity=identity))
    return WriteJob([], lambda trip, _: _deleted(trip, Tray.REQUESTS, file_of(id)))


def forgetting(copies: Mapping[str, bytes], tray: Tray = Tray.SUBMITTED) -> WriteJob:
    """Those in submitted/, or cancelled/, that still are what they were. A newer copy stands in requests/ as well,
    unless it was taken from there already."""

    def act(trip: Trip, _: Sequence[str]) -> None:
        room = trip.base.room(tray)
        for id, data in copies.items():  # noqa: A001
            with _stays_if_stuck():
                if _content(room, file_of(id), len(data) + 1) == data:
                    os.unlink(file_of(id), dir_fd=room)
                    trip.touched.add(room)

    return WriteJob([], act, of_one=len(copies) == 1, rooms=frozenset({tray.value}))


def forgetting_cancelled(ids: Collection[str]) -> WriteJob:
    """The copies of what was cancelled: those that are the very files in cancelled/. Others are newer requests'."""

    def act(trip: Trip, _: Sequence[str]) -> None:
        copies, notes = trip.base.room(Tray.SUBMITTED), trip.base.room(Tray.CANCELLED)
        for name in map(file_of, ids):
            with _stays_if_stuck():
                if os.path.samestat(os.lstat(name, dir_fd=copies), os.lstat(name, dir_fd=notes)):
                    os.unlink(name, dir_fd=copies)
                    trip.touched.add(copies)

    return WriteJob([], act, of_one=False, rooms=frozenset({Tray.SUBMITTED.value, Tray.CANCELLED.value}))


@contextmanager
def _stays_if_stuck() -> Iterator[None]:
    """What cannot be deleted now is asked for again."""
    try:
        yield
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno in OF_ALL:
            raise


def archiving(
    ids: Iterable[str],
    day: str,
    only: Tray | None = None,
    asked: Mapping[str, bytes] = NONE_ASKED,
    seen: Mapping[str, BothFiles] = NONE_SEEN,
) -> WriteJob:
    """`asked`: the requests of these ids, as far as they are known; they count where none stands. `seen`: what stood
    there, as far as anybody has looked; requests and responses that are newer stay."""
    trays = tuple(ARCHIVED) if only is None else (only,)

    def act(trip: Trip, drafts: Sequence[str]) -> frozenset[str]:
        requests = dict(zip(asked, drafts, strict=True))
        only_these = {id: dict(_identities(files)) for id, files in seen.items()}  # noqa: A001
        try:
            return put_away(trip.base.room, ids, day, trip.touched, trays, requests, trip.base.drafts, only_these)
        finally:
            discard(trip.base.drafts, drafts)

    return WriteJob(list(asked.values()), act, of_one=False)


def _identities(files: BothFiles) -> Iterator[tuple[Tray, Identity | None]]:
    """A response that was torn may be whole by now, and is the same."""
    yield Tray.REQUESTS, files.stands_as
    if not isinstance(files.response, Torn):
        yield Tray.RESPONSES, None if files.response is None else files.response.identity


def reopening(id: str) -> WriteJob:  # noqa: A002
    return WriteJob([], lambda trip, _: _deleted(trip, Tray.FAILED, file_of(id)))


def trying(size: int = 1) -> WriteJob:
    """A draft of so many bytes is written and deleted."""

    def act(trip: Trip, drafts: Sequence[str]) -> None:
        discard(trip.base.drafts, drafts)
        if not all(map(_may_be_changed, trip.base.rooms.values())):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    return WriteJob([b" " * size], act)


# -- their steps


def _put_unless_taken(
    trip: Trip,
    id: str,  # noqa: A002
    data: bytes,
    draft: str,
    is_first: bool,
    by_turns: bool,
) -> bool:
    """False: a script has submitted another one of its id. Nobody takes turns with scripts where requests stay."""
    base, name = trip.base, file_of(id)
    takes_turns = is_first and by_turns
    if not takes_turns:
        with suppress(FileExistsError):
            rename_new(draft, name, base.drafts, base.room(Tray.REQUESTS))
            trip.touched.add(base.room(Tray.REQUESTS))
            return True
    submitted = _submitted(trip, id, (Tray.REQUESTS, Tray.SUBMITTED) if takes_turns else (Tray.REQUESTS,))
    if submitted is not None and not submitted.asks_the_same(read_request(data, id)):
        return False
    if submitted is not None and is_first:
        discard(base.drafts, [draft])
    else:
        _put(trip, Tray.REQUESTS, name, draft)
    return True


def _submitted(trip: Trip, id: str, trays: Sequence[Tray]) -> Request | None:  # noqa: A002
    """By a script: what stands there, or else its copy, which stays when a peer has taken the request."""
    for tray in trays:
        room = trip.base.room(tray)
        with suppress(OSError, BadRequest):
            submitted = read_request(_content(room, file_of(id), LARGEST), id)
            trip.touched.add(room)
            return submitted
    return None


def _may_be_changed(room: int) -> bool:
    return os.access(".", os.W_OK | os.X_OK, dir_fd=room)


def _put(trip: Trip, tray: Tray, name: str, draft: str) -> None:
    """Over what is there. What is no plain file of ours is moved to quarantine/ first."""
    base, room = trip.base, trip.base.room(tray)
    _cleared(trip, tray, name)
    os.rename(draft, name, src_dir_fd=base.drafts, dst_dir_fd=room)
    trip.touched.add(room)


def _cleared(trip: Trip, tray: Tray, name: str) -> bool:
    """Whether nothing stands there, or nothing any more. A plain file of ours stays."""
    room = trip.base.room(tray)
    try:
        status = os.stat(name, dir_fd=room, follow_symlinks=False)
    except FileNotFoundError:
        return True
    if (why := why_not_plain(status)) is None:
        return False
    if not trip.base.take_in(tray, name, why):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), name)
    trip.touched |= {room, trip.base.room(Tray.QUARANTINE)}
    return True


def _deleted(trip: Trip, tray: Tray, name: str) -> bool:
    if _cleared(trip, tray, name):
        return False
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=trip.base.room(tray))
        trip.touched.add(trip.base.room(tray))
        return True
    return False


def _content(room: int, name: str, most: int) -> bytes:
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=room)
    try:
        return os.read(file, most)
    finally:
        os.close(file)


def _taken_away(trip: Trip, _: Sequence[str], *, tray: Tray, id: str, identity: Identity) -> bool:  # noqa: A002
    """What is taken is first renamed, then looked at, and then deleted: in between, a peer may have put another one in
    its place."""
    away = _away(trip, tray, id, identity)
    if away is None:
        return False
    os.unlink(away, dir_fd=trip.base.drafts)
    return True


def _away(trip: Trip, tray: Tray, id: str, identity: Identity) -> str | None:  # noqa: A002
    """The name of that file among the drafts, to which it has been moved. None: it is not there."""
    base, name = trip.base, file_of(id)
    room = base.room(tray)
    if identity_at(room, name) != identity:
        return None
    away = f"{AWAY[tray]}{identity.number}-{identity.changed_ns}-{id}"
    try:
        os.rename(name, away, src_dir_fd=room, dst_dir_fd=base.drafts)
    except FileNotFoundError:
        return None
    trip.touched.add(room)
    if identity_at(base.drafts, away) == identity:
        return away
    _give_back(base, tray, away, name)
    return None


def _give_back(base: OpenedBase, tray: Tray, away: str, name: str) -> None:
    try:
        rename_new(away, name, base.drafts, base.room(tray))
    except FileExistsError:
        why = f"a newer {tray.value.removesuffix('s')} has come in its place"
        base.quarantine.take_in(base.drafts, tray.value, away, why)


def give_back_what_is_away(base: OpenedBase) -> None:
    """What was being taken away when we were killed stands where it stood: that step is taken again."""
    for name in os.listdir(base.drafts):
        if (match := _AWAY.fullmatch(name)) is not None and is_id(match[4]):  # else it is none of ours
            tray = Tray.REQUESTS if match[1] else Tray.RESPONSES
            try:
                _give_back_one(base, tray, name, file_of(match[4]), Identity(int(match[2]), int(match[3])))
            except OSError as error:
                if error.errno in ALL_ALIKE:
                    raise
                log.warning("cannot be given back", entry=ascii(name), room=DRAFTS, error=in_words(error))


def _give_back_one(base: OpenedBase, tray: Tray, away: str, name: str, identity: Identity) -> None:
    is_one = identity_at(base.drafts, away) == identity
    try:
        rename_new(away, name, base.drafts, base.room(tray))
    except FileExistsError:
        if is_one:  # it had been read, and its successor is there
            os.unlink(away, dir_fd=base.drafts)
        else:
            _give_back(base, tray, away, name)
