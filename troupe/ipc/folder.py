"""The folder of the desk, as a script sees it: it puts requests there, and reads what has become of them.

    requests/ID.json     is there already, and asks for the same: it is the same request
    responses/ID.json    a success ends the request; an error does not, for the server's client end tries again
    failed/ID.json       ends it, but not in the HEAD dialect, whose editors copy every failed attempt there: then only
                         the server knows whether it is still trying
    archive/DAY/ID/      where both are, once the request has been put away
    submitted/ID.json    a copy of the request, until the server's client end has it in its journal: an editor of the
                         HEAD dialect takes requests away, also while that server is not running
    cancelled/ID.json    the request, if it was cancelled while no client end was at work (withdrawing.py)
    state/*.lock         who is at the desk

Requests that come together are synced together, and each gets its name only when it is whole, never over another one.
Everything here blocks: call it in a thread.
"""

import errno
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from codec.ipc import (
    BadRequest,
    BadResponse,
    Dialect,
    Failure,
    Outcome,
    Request,
    Success,
    file_of,
    id_of,
    read_request,
    read_response,
)
from codec.ipc.folder import DRAFTS, MARKS, ROOMS, STATE
from transports.folder.alone import STOPPED_SECONDS, alone
from transports.folder.drafts import NO_LINKS, discard, rename_new, sweep, write_drafts
from transports.folder.memory import lies_in_memory
from transports.folder.owned import NotOurs
from transports.folder.rooted import NotPlain, Rooted
from transports.folder.waitless import is_local
from troupe.ipc.attendance import Attendance, attendance, dialect, holder
from troupe.ipc.troubles import DeskError, NoServer
from troupe.ipc.visits import FolderVisit, TakesLonger, whole
from troupe.ipc.withdrawing import forget_copy, give_back, withdraw

SHORT = 64 << 10
"""Bytes that are read, or written, in a fraction of a millisecond where no device is waited for."""
REQUESTS, SUBMITTED, CANCELLED = "requests", "submitted", "cancelled"
RESPONSES, FAILED, ARCHIVE = "responses", "failed", "archive"
TORN_SECONDS, TORN_STEP = 1.0, 0.02


@dataclass(frozen=True, slots=True)
class Sight:
    """What the files say of a request."""

    outcome: Outcome | None
    """How it ended; None: it goes on."""
    at: float = 0.0
    """When that was written..."""
    asked: float | None = None
    """...and the request; None: its file is not there any more."""
    error: Failure | None = None
    """While it goes on: the error that stands in responses/."""
    is_gone: bool = False
    """There is no file of it."""
    is_copy: bool = False
    """It has failed, and perhaps not for the last time: it is a copy of an editor's answer."""
    is_cancelled: bool = False
    """While no client end was at work."""
    is_put_away: bool = False
    """It is in the archive. There may be a newer request of its id, whose files are not there at the moment."""

    @property
    def failure(self) -> Failure | None:
        """The error that it was answered with, for the last time or not."""
        return self.outcome if isinstance(self.outcome, Failure) else self.error


class _Answered(NamedTuple):
    """What a file says."""

    outcome: Outcome
    at: float
    """When it was written."""
    dialect: Dialect


class DeskFolder:
    def __init__(self, base: Path) -> None:
        self.base = base
        self._rooted = Rooted(base, own=True, marks=MARKS, rooms=ROOMS)
        self._is_made = False
        self.in_memory = self.is_local = False
        """Nothing that is done there waits for a device; what the system has in memory of it can be looked at without
        waiting. Until it is made, neither is known."""

    def make(self) -> None:
        """Makes what is missing. Raises DeskError."""
        devices = set()
        try:
            for room in (REQUESTS, SUBMITTED, CANCELLED, RESPONSES, FAILED, DRAFTS):
                with self._rooted.folder((room,), create=True) as here:
                    devices.add(os.fstat(here).st_dev)
                    if room == DRAFTS:
                        sweep(here)
        except OSError as error:
            raise self._trouble(error) from None
        self._is_made = True
        self.in_memory = len(devices) == 1 and all(map(lies_in_memory, devices))
        self.is_local = len(devices) == 1 and all(map(is_local, devices))

    # -- requests

    def drop(self, requests: Mapping[str, bytes], *, waits: bool = True) -> dict[str, OSError | None]:
        """Puts them into requests/; when it returns they are on the disk. FileExistsError: there is one already.
        `waits`: for another process that submits. Else, raises TakesLonger where it would."""
        if not self._is_made:
            self.make()
        try:
            return self._dropped(requests, waits)
        except FileNotFoundError:  # somebody has removed the folder meanwhile
            self.make()
        except OSError as error:
            raise self._trouble(error) from None
        try:
            return self._dropped(requests, waits)
        except OSError as error:
            raise self._trouble(error) from None

    def _dropped(self, requests: Mapping[str, bytes], waits: bool) -> dict[str, OSError | None]:
        with self._visit() as visit:
            drafts, there, *answered = map(visit.room, (DRAFTS, REQUESTS, RESPONSES, FAILED))
            copies = visit.room(SUBMITTED) if _dialect(visit) is not Dialect.SPEC else None
            fates: dict[str, OSError | None] = {}
            names = {each: file_of(each) for each in requests}

            def is_known(name: str) -> bool:  # an editor takes away the request that it has answered
                return any(_stands(name, room) for room in (there, *answered))

            known = {each for each, name in names.items() if is_known(name)}
            new = {each: data for each, data in requests.items() if each not in known}
            written = write_drafts(drafts, list(new.values()))
            unnamed = dict(zip(new, written, strict=True))
            try:
                with _by_turns(copies, waits):  # or an editor takes the other's request between our look and link
                    for id, draft in zip(new, written, strict=True):  # noqa: A001 - as in the contract
                        if copies is not None and is_known(names[id]):
                            known.add(id)
                            continue
                        fates[id] = _named(draft, names[id], drafts, there, copies)
                        if fates[id] is None:
                            del unnamed[id]
                    if copies is not None:
                        for each in known:  # whoever has put it there may have been killed before it had its copy
                            with suppress(FileNotFoundError, FileExistsError):
                                _linked(names[each], names[each], there, copies)
                fates.update((each, FileExistsError()) for each in known)
                for room in (there, copies):
                    if room is not None:
                        os.fsync(room)
            finally:
                discard(drafts, unnamed.values())
            return fates

    def request(self, id: str) -> Request | None:  # noqa: A002 - as in the contract
        """The one that has this id; None: there is none. Raises DeskError if it cannot be read. An old
        program may still be writing it: that is waited for."""
        until, name = time.monotonic() + TORN_SECONDS, file_of(id)
        while True:
            data = self._content((REQUESTS, name)) or self._content((SUBMITTED, name))
            if data is None:
                return None
            try:
                return read_request(data[0], id)
            except BadRequest as wrong:
                if time.monotonic() > until:
                    raise DeskError(f"There is a request {id} already, and it cannot be read: {wrong}") from None
            time.sleep(TORN_STEP)

    def withdraw(self, id: str) -> bool:  # noqa: A002
        """Cancels it, and notes that for the client end that comes next; whether it stood there, and was not answered.
        Raises NoServer if a client end has come."""
        try:
            self.make()
            with self._visit() as visit:
                there, copies, notes = map(visit.room, (REQUESTS, SUBMITTED, CANCELLED))
                with alone(copies):
                    if self.present().client:
                        raise NoServer(f"A server has just come to {self.base}; cancel it once more")
                    if not withdraw(file_of(id), there, notes):
                        return False
                    is_answered = self._is_answered(visit, id)
                    if is_answered:
                        give_back(file_of(id), there, notes)
                    else:
                        forget_copy(file_of(id), copies, notes)
                    for room in (notes, there, copies):  # it is nowhere gone before it is there
                        os.fsync(room)
                    return not is_answered
        except OSError as error:
            raise self._trouble(error) from None

    def _is_answered(self, visit: FolderVisit, id: str) -> bool:  # noqa: A002
        answer = self._outcome(visit, RESPONSES, file_of(id), id, None)
        return answer is not None and isinstance(answer.outcome, Success)

    # -- what became of them

    def look(self, id: str) -> Sight:  # noqa: A002
        name = file_of(id)
        with self._visit() as visit:
            seen = self._seen(visit, id, name)
            if seen is not None:
                return seen
            return self._put_away(id) or Sight(None, is_gone=self._when(visit, RESPONSES, name) is None)

    def look_at_once(self, id: str) -> Sight:  # noqa: A002
        """Waits for no disk. Raises TakesLonger, if it would have to, if the answer is long, or if there is no request
        any more."""
        if not self.in_memory and not self.is_local:
            raise TakesLonger
        try:
            with self._visit(waits=self.in_memory) as visit:
                seen = self._seen(visit, id, file_of(id), SHORT)
        except BlockingIOError:
            raise TakesLonger from None
        if seen is None or seen.is_cancelled:
            raise TakesLonger
        return seen

    def _seen(self, visit: FolderVisit, id: str, name: str, short: int | None = None) -> Sight | None:  # noqa: A002
        """None: it has no request, and no error stands there."""
        answer = self._outcome(visit, RESPONSES, name, id, short)
        asked = self._when(visit, REQUESTS, name)
        if asked is None and self._was_cancelled(visit, name):  # what has come since is no answer to anybody
            return Sight(None, is_cancelled=True)
        if answer is not None and isinstance(answer.outcome, Success):
            return Sight(answer.outcome, answer.at, asked)
        record = self._outcome(visit, FAILED, name, id, short)
        if record is not None and isinstance(record.outcome, Failure):
            is_copy = record.dialect is Dialect.HEAD and not record.outcome.permanent
            return Sight(record.outcome, record.at, asked, is_copy=is_copy)
        if answer is not None and isinstance(answer.outcome, Failure):
            return Sight(None, error=answer.outcome)
        return None if asked is None else Sight(None)

    def _was_cancelled(self, visit: FolderVisit, name: str) -> bool:
        """It has no request any more."""
        with self._nothing_is_no_trouble():
            note = visit.stat(CANCELLED, name)
            with self._nothing_is_no_trouble():
                return os.path.samestat(visit.stat(SUBMITTED, name), note)
            return True
        return False

    def has_request(self, id: str) -> bool:  # noqa: A002
        return self._exists((REQUESTS, file_of(id)))

    def ended_or_gone(self, ids: Iterable[str]) -> set[str]:
        """Those of which there is an answer or a record, or nothing at all. It looks at names only."""
        wanted = set(ids)
        if len(wanted) <= 64:
            over = {each for each in wanted if any(self._exists((room, file_of(each))) for room in (RESPONSES, FAILED))}
            return over | {each for each in wanted - over if not self._exists((REQUESTS, file_of(each)))}
        over = (self._names(RESPONSES) | self._names(FAILED)) & wanted
        return over | (wanted - over - self._names(REQUESTS))

    def names_tell(self) -> bool:
        """Which requests are over."""
        with self._visit() as visit:
            return _dialect(visit) is not Dialect.HEAD

    def counts(self) -> tuple[int, int, int]:
        """Requests; those of them that have an answer; those of them that failed, perhaps not for the last time if
        names do not tell. A HEAD editor takes a request away when it has answered it, and a script may have taken the
        answer away since: then there is the copy."""
        requests, copies, answered, failed = map(self._names, (REQUESTS, SUBMITTED, RESPONSES, FAILED))
        answered |= copies - requests
        return len(requests | answered | failed), len(answered - failed), len(failed)

    def _put_away(self, id: str) -> Sight | None:  # noqa: A002
        for day in sorted(self._rooted.folders((ARCHIVE,)), reverse=True):
            for name, is_record in (("response.json", False), ("failed.json", True)):
                data = self._content((ARCHIVE, day, id, name))
                found = None if data is None else _read(data, id)
                if found is not None and is_record and found.dialect is Dialect.HEAD and self._is_copy(day, id):
                    continue
                if found is not None and isinstance(found.outcome, Failure) == is_record:
                    asked = self._written((ARCHIVE, day, id, "request.json"))
                    return Sight(found.outcome, found.at, asked, is_put_away=True)
        return None

    def _is_copy(self, day: str, id: str) -> bool:  # noqa: A002
        """An editor's copy of an attempt that failed, put away alone as its request has succeeded later."""
        return not any(self._exists((ARCHIVE, day, id, name)) for name in ("request.json", "response.json"))

    def _outcome(
        self,
        visit: FolderVisit,
        room: str,
        name: str,
        id: str,  # noqa: A002
        short: int | None,
    ) -> _Answered | None:
        """None: there is nothing that can be read, or not yet."""
        with self._nothing_is_no_trouble():
            return _read(visit.read(room, name, short), id)
        return None

    def _when(self, visit: FolderVisit, room: str, name: str) -> float | None:
        """It was written; None: it is not there."""
        with self._nothing_is_no_trouble():
            return visit.stat(room, name).st_mtime
        return None

    # -- who is there

    def present(self) -> Attendance:
        try:
            with self._rooted.folder((STATE,)) as here:
                return attendance(here)
        except FileNotFoundError:
            return Attendance(False, False)
        except OSError as error:
            raise self._trouble(error) from None

    def client_process(self) -> int | None:
        """The one that has the client end; None: there is none that lives."""
        with suppress(OSError), self._rooted.folder((STATE,)) as here:
            return holder("client.lock", here)
        return None

    # --

    @contextmanager
    def _visit(self, *, waits: bool = True) -> Iterator[FolderVisit]:
        visit = FolderVisit(self._rooted, waits)
        try:
            yield visit
        finally:
            visit.close()

    @contextmanager
    def _nothing_is_no_trouble(self) -> Iterator[None]:
        """Where nothing stands that could be read; a link or a pipe is nothing."""
        try:
            yield
        except (FileNotFoundError, NotPlain):
            pass
        except BlockingIOError:
            raise
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENXIO):
                raise self._trouble(error) from None

    def _content(self, names: Sequence[str]) -> tuple[bytes, float] | None:
        with self._nothing_is_no_trouble():
            file = self._rooted.open(names)
            try:
                status = os.fstat(file)
                return whole(file, status.st_size), status.st_mtime
            finally:
                os.close(file)
        return None

    def _exists(self, names: Sequence[str]) -> bool:
        return self._written(names) is not None

    def _written(self, names: Sequence[str]) -> float | None:
        """When; None: it is not there."""
        try:
            with self._rooted.folder(names[:-1]) as here:
                return os.stat(names[-1], dir_fd=here, follow_symlinks=False).st_mtime
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._trouble(error) from None

    def _names(self, room: str) -> set[str]:
        try:
            with self._rooted.folder((room,)) as here:
                return {found for name in os.listdir(here) if (found := id_of(name)) is not None}
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise self._trouble(error) from None

    def _trouble(self, error: OSError) -> DeskError:
        if isinstance(error, NotOurs | NotPlain):
            return DeskError(str(error))
        return DeskError(f"The folder {self.base} cannot be used: {error.strerror or error}")


def _named(draft: str | OSError, name: str, drafts: int, there: int, copies: int | None) -> OSError | None:
    if isinstance(draft, OSError):
        return OSError(f"it could not be written: {draft.strerror}")  # FileExistsError is said of requests only
    try:
        if copies is None or not _linked(draft, name, drafts, there):
            rename_new(draft, name, drafts, there)
        else:
            _left_as_copy(draft, name, drafts, there, copies)
    except OSError as error:
        return error
    return None


@contextmanager
def _by_turns(copies: int | None, waits: bool) -> Iterator[None]:
    """No other process submits meanwhile. Without `waits`, for none is waited: raises TakesLonger."""
    if copies is None:
        yield
        return
    with alone(copies, STOPPED_SECONDS if waits else 0.0) as is_alone:
        if not is_alone and not waits:
            raise TakesLonger
        yield


def _left_as_copy(draft: str, name: str, drafts: int, there: int, copies: int) -> None:
    """If that fails, the request is not submitted."""
    try:
        os.replace(draft, name, src_dir_fd=drafts, dst_dir_fd=copies)
    except OSError:
        with suppress(OSError):
            os.unlink(name, dir_fd=there)
        raise


def _linked(draft: str, name: str, drafts: int, there: int) -> bool:
    """False: this file system gives no file two names. Raises FileExistsError."""
    try:
        os.link(draft, name, src_dir_fd=drafts, dst_dir_fd=there, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        return False
    return True


def _dialect(visit: FolderVisit) -> Dialect | None:
    """If it is not the contract's, somebody may answer a request and remove it before a client end has seen it."""
    with suppress(OSError):
        return dialect(visit.room(STATE))
    return None


def _read(written: tuple[bytes, float], id: str) -> _Answered | None:  # noqa: A002
    """None: it cannot be read, or not yet."""
    try:
        response = read_response(written[0], id)
    except BadResponse:
        return None
    return _Answered(response.outcome, written[1], response.dialect)


def _stands(name: str, here: int) -> bool:
    return os.access(name, os.F_OK, dir_fd=here, follow_symlinks=False)
