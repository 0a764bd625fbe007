"""archive/DAY/ID/: requests that are over, with all their files.

Files are first gathered in archive/.staging/DAY~ID~TRAYS/, one rename each, and then the whole folder is renamed into
its day. TRAYS says which files there were. So a kill in between is seen at the next opening, and the rest follows: a
request is wholly in the rooms or wholly in the archive.

A HEAD peer has removed the request that it has answered, and one that was cancelled stands nowhere. Where the journal
has it, it is written there as the last step: a kill before that leaves an archived answer without its request, or an
empty folder; and the order is given again.

A script that submits a new request under an id that was being put away when we were killed loses nothing: its file is
not among those that were gathered, and then the rest stays as well.
"""

import errno
import logging
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import MappingProxyType

from codec.ipc.folder import BaseGone, Identity, Tray
from codec.ipc.ids import BadId, checked, file_of
from transports.folder.drafts import rename_new
from transports.ipc.identity import identity_at
from transports.ipc.withheld import ALL_ALIKE

ARCHIVED = {
    Tray.REQUESTS: "request.json",
    Tray.RESPONSES: "response.json",
    Tray.FAILED: "failed.json",
    Tray.EVALUATIONS: "eval.json",
}
"""What each file is called in the archive, in the order in which they are moved."""
STAGING = ".staging"
ANY = Identity(-1, -1)
"""Of a file of which nobody knows which it is."""
_INITIALS = {tray: tray.value[:3] for tray in ARCHIVED}
_STAGED = re.compile(r"([^~]+)~([^~]+)~([a-z.]*)")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class ArchiveBlocked(BaseGone):
    """What stands in the archive is no folder. The text is a sentence for users."""


Room = Callable[[Tray], int]

logger = logging.getLogger("troupe.ipc")


def put_away(
    room: Room,
    ids: Iterable[str],
    day: str,
    touched: set[int],
    trays: Iterable[Tray] = tuple(ARCHIVED),
    asked: Mapping[str, str] = MappingProxyType({}),
    drafts: int = -1,
    only_these: Mapping[str, Mapping[Tray, Identity | None]] = MappingProxyType({}),
) -> frozenset[str]:
    """`touched`: takes the rooms that are to be synced. The day's own folders have been. `asked`: names of drafts, the
    requests of these ids, which count where none stands. `only_these`: of these ids and trays, no other files than
    these; None: no file."""
    if not _DAY.fullmatch(day):
        raise ValueError(f"a day is written 2026-01-31, and not {day!r}")
    moved = set()
    for name in (day, STAGING):  # before anything is gathered, that could not be filed away then
        _check_folder(name, room(Tray.ARCHIVE))
    staging = _made(STAGING, room(Tray.ARCHIVE))
    try:
        for id in ids:  # noqa: A001 - as in the contract
            known = only_these.get(id, {})
            standing = [tray for tray in trays if _is_to_go(file_of(id), room(tray), known.get(tray, ANY))]
            if not standing and id not in asked:
                continue
            stage = f"{day}~{id}~{'.'.join(_INITIALS[tray] for tray in standing)}"
            with suppress(FileExistsError):
                os.mkdir(stage, 0o700, dir_fd=staging)
            try:
                gathered = _gather(room, staging, stage, id, standing, known)
                if not gathered and id not in asked:
                    os.rmdir(stage, dir_fd=staging)
                    continue
                filed = _file_away(room, staging, stage, day, id)
            except OSError:
                with suppress(OSError):
                    _give_back(room, staging, stage, id)
                raise
            if id in asked and ARCHIVED[Tray.REQUESTS] not in gathered:
                _add_request(asked[id], drafts, filed, day, room)
            moved.add(id)
            touched.update(room(tray) for tray in standing)
        touched.add(room(Tray.ARCHIVE))
        with suppress(FileNotFoundError):
            _sync(day, room(Tray.ARCHIVE))
        os.fsync(staging)
    finally:
        os.close(staging)
    return frozenset(moved)


def finish_archiving(room: Room) -> None:
    """What was begun before a kill."""
    try:
        staging = os.open(STAGING, _FOLDER, dir_fd=room(Tray.ARCHIVE))
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        logger.warning("archive/%s is no folder: nothing is archived until it is moved away", STAGING)
        return
    days = set()
    try:
        for stage in os.listdir(staging):
            match = _STAGED.fullmatch(stage)
            if match is None or not _DAY.fullmatch(match[1]):
                continue
            day, id, initials = match.groups()  # noqa: A001
            standing = [tray for tray, initial in _INITIALS.items() if initial in initials.split(".")]
            with suppress(BadId), _given_back(room, staging, stage, checked(id)):
                if _gather(room, staging, stage, checked(id), standing):
                    _file_away(room, staging, stage, day, id)
                    days.add(day)
                else:
                    os.rmdir(stage, dir_fd=staging)
        for day in days:
            _sync(day, room(Tray.ARCHIVE))
        os.fsync(staging)
    finally:
        os.close(staging)


@contextmanager
def _given_back(room: Room, staging: int, stage: str, id: str) -> Iterator[None]:  # noqa: A002
    """What cannot be gathered or filed away keeps nothing else from being so. Its files stand in their rooms again."""
    try:
        yield
    except OSError as error:
        if error.errno in ALL_ALIKE:
            raise
        logger.warning("the request %s cannot be archived, and is where it was: %s", id, error.strerror)
        with suppress(OSError):  # somebody else's entry: it is left there
            _give_back(room, staging, stage, id)


def _give_back(room: Room, staging: int, stage: str, id: str) -> None:  # noqa: A002
    there = os.open(stage, _FOLDER, dir_fd=staging)
    try:
        for tray, name in ARCHIVED.items():
            with suppress(FileNotFoundError, FileExistsError):  # a newer one has come in its place
                rename_new(name, file_of(id), there, room(tray))
                os.fsync(room(tray))
        os.rmdir(stage, dir_fd=staging)
    finally:
        os.close(there)


def _check_folder(name: str, here: int) -> None:
    """Raises ArchiveBlocked, if something else stands there."""
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
            raise ArchiveBlocked(f"archive/{name} is no folder; move it away, and what is over can be archived again")


def _gather(
    room: Room,
    staging: int,
    stage: str,
    id: str,  # noqa: A002
    standing: Iterable[Tray],
    known: Mapping[Tray, Identity | None] = MappingProxyType({}),
) -> Collection[str]:
    """What there is now. What is moved is looked at again: in between, a script may have put another file in its place.
    That is given back, unless its script has put one more there."""
    there = os.open(stage, _FOLDER, dir_fd=staging)
    try:
        gathered = set(os.listdir(there))
        if ARCHIVED[Tray.REQUESTS] in gathered and _stands(file_of(id), room(Tray.REQUESTS)):
            return gathered  # this one is new
        for tray in standing:
            if ARCHIVED[tray] not in gathered:
                with suppress(FileNotFoundError):
                    rename_new(file_of(id), ARCHIVED[tray], room(tray), there)
                    if known.get(tray, ANY) in (ANY, identity_at(there, ARCHIVED[tray])):
                        gathered.add(ARCHIVED[tray])
                    else:
                        _give_back_one(ARCHIVED[tray], file_of(id), there, room(tray))
        return gathered
    finally:
        os.close(there)


def _give_back_one(name: str, back: str, there: int, room: int) -> None:
    try:
        rename_new(name, back, there, room)
    except FileExistsError:
        os.unlink(name, dir_fd=there)


def _add_request(draft: str, drafts: int, filed: str, day: str, room: Room) -> None:
    with _opened(day, room(Tray.ARCHIVE)) as there, _opened(filed, there) as folder:
        rename_new(draft, ARCHIVED[Tray.REQUESTS], drafts, folder)
        os.fsync(folder)


def _file_away(room: Room, staging: int, stage: str, day: str, id: str) -> str:  # noqa: A002
    """The name of its folder there."""
    there = _made(day, room(Tray.ARCHIVE))
    try:
        for number in range(1, 100_000):
            with suppress(FileExistsError):
                name = id if number == 1 else f"{id}~{number}"
                rename_new(stage, name, staging, there)
                return name
    finally:
        os.close(there)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), id)


def _made(name: str, here: int) -> int:
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=here)
    return os.open(name, _FOLDER, dir_fd=here)


def _sync(name: str, here: int) -> None:
    with _opened(name, here) as folder:
        os.fsync(folder)


@contextmanager
def _opened(name: str, here: int) -> Iterator[int]:
    folder = os.open(name, _FOLDER, dir_fd=here)
    try:
        yield folder
    finally:
        os.close(folder)


def _is_to_go(name: str, here: int, identity: Identity | None) -> bool:
    if identity is ANY:
        return _stands(name, here)
    return identity is not None and identity_at(here, name) == identity


def _stands(name: str, here: int) -> bool:
    try:
        os.stat(name, dir_fd=here, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
