"""What stands in the rooms.

Rules
  - A listing looks at names and kinds only. A file's other properties are asked for when it is opened. It is made in
    steps, and others have their trips between them. Who asks for one in the trip in which it begins is given the same.
    It sets aside what may not stay, or the first hundred of that: for the others nobody waits but the keeper.
  - Only plain files of our own account are opened, up to a limit. What else stands under the name of an id, or ends in
    `.json` and can be none, is moved to quarantine/. Names without `.json` are ignored: other programs keep their
    drafts and folders there.
  - A document that cannot be read may still be being written, and so may a file whose name is no id (torns.py).
  - What the disk does not give is torn until it can be read, and nothing else waits for it (withheld.py). Where no file
    at all can be opened, because we have too many open, the look fails as a whole.
"""

import errno
import hashlib
import os
import re
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from msgspec import Struct

from codec.ipc import BadId, BadRequest, BadResponse, checked, file_of, id_of, read_request, read_response
from codec.ipc.folder import Answer, Asked, BothFiles, Identity, Spoiled, Torn, Tray, Unreadable
from codec.ipc.ids import SUFFIX
from codec.words import counted
from transports.folder.kinds import kind_of
from transports.folder.waitless import open_at_once, read_at_once, stat_at_once
from transports.ipc.ferry import NotShort
from transports.ipc.identity import identity_of
from transports.ipc.site import OpenedBase
from transports.ipc.torns import Stamp, Torns, stamp_of
from transports.ipc.withheld import Withheld

SETTLED_SECONDS = 3.0
"""More than the coarsest step of a disk's clock, which is FAT's."""
STEP = 5_000
"""Of a listing so many names are looked at in one trip..."""
STEP_ASIDE = 100
"""...and of what may not stay so many are set aside."""
_PLAIN_ID = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{4,100})\.json", re.ASCII)
"""Of a name like this the rest need not be asked for (codec/ipc/ids.py): it is too long for a device of Windows."""
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_FILE = frozenset({errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP})
"""What opening a link, a socket or a device says. Every other error is ours or the disk's, and says nothing about the
document: no descriptors are left, for example."""
_UNKNOWN: Stamp = (-1, -1, -1)
"""Of a file of which the disk tells nothing."""

T = TypeVar("T")


class Ways(NamedTuple):
    """How files are looked at."""

    stat: Callable[..., os.stat_result]
    open: Callable[..., int]
    read: Callable[[int, int], bytes]


class _Plain(Struct, frozen=True):
    status: os.stat_result
    data: bytes | None
    """None: it cannot be read."""
    why: str = ""

    @property
    def identity(self) -> Identity:
        return identity_of(self.status)


class _Bad(Struct, frozen=True):
    """It cannot be read, and nobody is writing it any more."""

    plain: _Plain
    why: str


class RoomReader:
    """Used by one thread at a time, but for its torns."""

    def __init__(self, now: Callable[[], float], largest: int) -> None:
        self._now = now
        self._largest = largest
        self.torns = Torns(now)
        self._listed: dict[Tray, tuple[Stamp, frozenset[str]]] = {}
        self._of_this_trip: dict[Tray, RoomListing] | None = None
        self._stamps: dict[Tray, tuple[Stamp, float]] = {}
        self._entries: dict[Tray, dict[str, Stamp]] = {}
        self._strays: dict[Tray, deque[tuple[str, bool]]] = {}
        """What the last listing has found that may not stay, and whether it has the name of an id."""
        self._withheld = Withheld()

    @contextmanager
    def trip(self) -> Iterator[None]:
        """All that is asked in it was asked before it began."""
        self._of_this_trip = {}
        try:
            yield
        finally:
            self._of_this_trip = None

    @property
    def withheld(self) -> tuple[int, tuple[str, ...]]:
        """How many files cannot be read now, and why of the first."""
        return self._withheld.told

    # -- listing

    def listing(self, base: OpenedBase, tray: Tray) -> "RoomListing":
        """It has begun in this trip."""
        known = {} if self._of_this_trip is None else self._of_this_trip
        if tray not in known:
            known[tray] = RoomListing(tray)
            known[tray].go_on(self, base)
        return known[tray]

    def steps(self, base: OpenedBase, tray: Tray) -> Iterator[frozenset[str] | None]:
        """None, until it is complete. As long as the room has not changed, the last listing is the answer."""
        visible = self.stamp(base, tray)
        if visible is not None and (known := self._listed.get(tray)) is not None and known[0] == visible:
            yield known[1]
            return
        found, strays, is_plain = [], [], _PLAIN_ID.fullmatch
        with _again(base.room(tray)) as folder, os.scandir(folder) as listed:
            for number, one in enumerate(listed, 1):
                if number % STEP == 0:
                    yield None
                name = one.name
                if (plain := is_plain(name)) is not None:
                    id: str | None = plain[1]  # noqa: A001 - as in the contract
                elif name.endswith(SUFFIX):
                    id = id_of(name)  # noqa: A001
                else:
                    continue
                try:
                    is_file = one.is_file(follow_symlinks=False)
                except OSError:  # a listing of this disk tells no kinds: who looks at it will see
                    is_file = True
                if id is None or not is_file:
                    strays.append((name, id))
                else:
                    found.append(id)
        if tray is not Tray.QUARANTINE:
            self._strays[tray] = deque((name, known is not None) for name, known in strays)
            self.set_strays_aside(base, tray)
        ids = frozenset(found)
        if self._withheld or len(self.torns):
            names = {*map(file_of, ids), *(name for name, _ in strays)}
            self._withheld.listed(tray, names)
            self.torns.listed(tray, names)
        self._listed.pop(tray, None)
        if visible is not None and not strays:
            self._listed[tray] = (visible, ids)
        yield ids

    def stamp(self, base: OpenedBase, tray: Tray) -> Stamp | None:
        """It changes when anything comes or goes there. None: that was so recently that the next change may not show,
        because the disk's clock has not gone on."""
        stamp, now = stamp_of(os.fstat(base.room(tray))), self._now()
        known = self._stamps.get(tray)
        if known is None or known[0] != stamp:
            self._stamps[tray] = (stamp, now)
            return None
        return stamp if now - known[1] >= SETTLED_SECONDS else None

    def differences(self, base: OpenedBase, tray: Tray) -> frozenset[str]:
        """The ids whose files are others than the last time that this was asked."""
        before, now = self._entries.get(tray, {}), {}
        with os.scandir(base.room(tray)) as listed:
            for one in listed:
                if one.name.endswith(SUFFIX):
                    try:
                        now[one.name] = stamp_of(one.stat(follow_symlinks=False))
                    except FileNotFoundError:
                        pass
                    except OSError as error:
                        self._withheld.met(tray, one.name, error)
                        now[one.name] = _UNKNOWN
        self._entries[tray] = now
        changed = {name for name, _ in before.items() ^ now.items()}
        return frozenset(id for name in changed if (id := id_of(name)) is not None)  # noqa: A001

    def since(self, base: OpenedBase, tray: Tray, ids: Iterable[str], moment: float) -> set[str]:
        """Those whose files have been written since, or may have been. They were listed, so they are ids."""
        found, room = set(), base.room(tray)
        for id in ids:  # noqa: A001 - as in the contract
            try:
                if os.stat(f"{id}{SUFFIX}", dir_fd=room, follow_symlinks=False).st_mtime >= moment:
                    found.add(id)
            except FileNotFoundError:
                pass
            except OSError as error:
                self._withheld.met(tray, f"{id}{SUFFIX}", error)
                found.add(id)
        return found

    def set_strays_aside(self, base: OpenedBase, tray: Tray) -> None:
        """Some of what the last listing has found that may not stay."""
        strays = self._strays.get(tray, deque())
        for _ in range(min(len(strays), STEP_ASIDE)):
            name, is_id = strays.popleft()
            self._refuse(base, tray, name, is_id=is_id)

    def has_strays(self, tray: Tray) -> bool:
        return bool(self._strays.get(tray))

    def _refuse(self, base: OpenedBase, tray: Tray, name: str, *, is_id: bool) -> None:
        try:
            status = os.stat(name, dir_fd=base.room(tray), follow_symlinks=False)
        except FileNotFoundError:
            self.torns.forget(tray, name)
            self._withheld.given(tray, name)
            return
        except OSError as error:
            self._withheld.met(tray, name, error)
            return
        self._withheld.given(tray, name)
        if not stat.S_ISREG(status.st_mode):
            base.take_in(tray, name, _not_plain(status))
        elif not is_id and self.torns.is_still(tray, name, status):
            self.torns.forget(tray, name)
            base.take_in(tray, name, _why_no_id(name))

    # -- reading

    def look(
        self,
        base: OpenedBase,
        id: str,  # noqa: A002
        short: int | None = None,
        ways: "Ways | None" = None,
    ) -> BothFiles:
        """`short`: raises NotShort if either has more bytes than this, or may not stay."""
        request: Asked | Torn | Unreadable | None
        stands_as: Identity | None = None
        ways = ways or USUAL
        match self._document(base, Tray.REQUESTS, id, read_request, short, ways):
            case _Bad(plain, why):
                request = Unreadable(hashlib.sha256(plain.data or repr(plain.identity).encode()).digest(), why)
                stands_as = plain.identity
            case (found, data, stands_as):
                request = Asked(found, data)
            case other:
                request = other
        match self._document(base, Tray.RESPONSES, id, read_response, short, ways):
            case _Bad(plain, why):
                return BothFiles(request, Spoiled(plain.identity, why), stands_as=stands_as)
            case (answered, data, identity):
                took = None
                if isinstance(request, Asked) and stands_as is not None and identity.changed_ns >= stands_as.changed_ns:
                    took = (identity.changed_ns - stands_as.changed_ns) / 1e9
                return BothFiles(request, Answer(identity, answered.outcome, answered.begun), data, took, stands_as)
            case nothing:
                return BothFiles(request, nothing, stands_as=stands_as)

    def read(self, base: OpenedBase, tray: Tray, id: str) -> bytes | None:  # noqa: A002
        plain = self._given(base, tray, file_of(id))
        return plain.data if isinstance(plain, _Plain) else None

    def _document(
        self,
        base: OpenedBase,
        tray: Tray,
        id: str,  # noqa: A002
        read: Callable[[bytes, str], T],
        short: int | None,
        ways: Ways,
    ) -> tuple[T, bytes, Identity] | _Bad | Torn | None:
        name = file_of(id)
        plain = self._given(base, tray, name, short, ways)
        if isinstance(plain, Torn):
            return plain
        if plain is None:
            self.torns.forget(tray, name)
            return None
        why = plain.why
        if plain.data is not None:
            try:
                found = read(plain.data, id)
            except (BadRequest, BadResponse) as wrong:
                why = str(wrong)
            else:
                self.torns.forget(tray, name)
                return found, plain.data, plain.identity
        return _Bad(plain, why) if self.torns.is_still(tray, name, plain.status) else Torn()

    def _given(
        self, base: OpenedBase, tray: Tray, name: str, short: int | None = None, ways: "Ways | None" = None
    ) -> _Plain | Torn | None:
        """Torn: the disk does not give it."""
        ways = ways or USUAL
        try:
            plain = self._plain(base, tray, name, short, ways)
        except OSError as error:
            if ways is not USUAL:
                raise
            self._withheld.met(tray, name, error)
            return Torn()
        if self._withheld:
            self._withheld.given(tray, name)
        return plain

    def _plain(self, base: OpenedBase, tray: Tray, name: str, short: int | None, ways: Ways) -> _Plain | None:
        """None: there is nothing, or there was something that could not stay."""
        room = base.room(tray)
        try:
            status = ways.stat(name, dir_fd=room)
        except FileNotFoundError:
            return None
        why = why_not_plain(status)
        if why is not None:
            if short is not None:
                raise NotShort
            return None if base.take_in(tray, name, why) else _Plain(status, None, why)
        if short is not None and status.st_size > short:
            raise NotShort
        if status.st_size > self._largest:
            size = counted(status.st_size, "byte")
            return _Plain(status, None, f"it has {size}, and at most {self._largest:,} are read")
        try:
            file = ways.open(name, _OPEN, dir_fd=room)
        except FileNotFoundError:
            return None
        except PermissionError:
            return _Plain(status, None, "its permissions do not allow us to read it")
        except OSError as error:
            if error.errno not in _NO_FILE:
                raise
            return _Plain(status, None, "it was replaced while it was read")
        try:
            before = os.fstat(file)
            if not stat.S_ISREG(before.st_mode):
                return _Plain(status, None, "it was replaced while it was read")
            data = ways.read(file, min(before.st_size, self._largest))
            after = os.fstat(file)
        finally:
            os.close(file)
        if stamp_of(before) != stamp_of(after):
            return _Plain(after, None, "it was written to while it was read")
        return _Plain(after, data)


class RoomListing:
    """The ids in a room, gathered in steps."""

    def __init__(self, tray: Tray) -> None:
        self._tray = tray
        self._base: OpenedBase | None = None
        self.ids: frozenset[str] | None = None
        """None: it is not complete."""

    def go_on(self, reading: RoomReader, base: OpenedBase) -> None:
        if self._base is not base:  # it begins; or the folder is another one by now
            self._base, self._steps = base, reading.steps(base, self._tray)
        if self.ids is None:
            try:
                self.ids = next(self._steps)
            except OSError:
                self._base = None  # whoever shares it begins anew
                raise


def why_not_plain(status: os.stat_result) -> str | None:
    """Why this may not stay where a document stands."""
    if not stat.S_ISREG(status.st_mode):
        return _not_plain(status)
    if status.st_uid != os.geteuid():
        return "it belongs to another account"
    return None


def _not_plain(status: os.stat_result) -> str:
    return f"it is a {kind_of(status.st_mode)}, and no plain file"


def _why_no_id(name: str) -> str:
    try:
        checked(name.removesuffix(SUFFIX))
    except BadId as wrong:
        return str(wrong)
    return "it is named after no id"


@contextmanager
def _again(folder: int) -> Iterator[int]:
    """The same folder, opened once more: who lists it does so from a place of his own."""
    opened = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        yield opened
    finally:
        os.close(opened)


def _whole(file: int, size: int) -> bytes:
    """As many bytes as it is said to have: if it has others by now, that shows in what is said of it afterwards."""
    data = os.read(file, size)
    while len(data) < size and (more := os.read(file, size - len(data))):
        data += more
    return data


USUAL = Ways(os.lstat, os.open, _whole)
AT_ONCE = Ways(stat_at_once, open_at_once, read_at_once)
"""Raise BlockingIOError rather than to wait for a disk."""
