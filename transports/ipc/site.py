"""The base folder on the disk: its rooms, opened once, and the checks by which we notice that it is another one.

    requests/ responses/ failed/ eval/     as in the contract
    submitted/                             copies of requests that may be taken away before the client end has seen them
    cancelled/                             requests that were cancelled while no client end was at work
    quarantine/                            what may not stay in those (quarantine.py)
    archive/DAY/ID/                        what is over and has been put away (archiving.py)
    state/                                 which server and which client work here (claims.py)
    tmp/                                   drafts: files get their names when they are complete

Rules
  - Everything goes by the descriptors that were opened. Before each use the folder's path, and the rooms that are to be
    used, are compared with them; the keeper compares all of them at each tick. If one is another folder, a link, or
    gone, the base is given up with a sentence, and looked for again at the next use.
  - The base is made where there is none when it is first opened, and never again: what was removed by somebody is made
    again by somebody. Its rooms are made whenever they are missing.

Used from several threads at once.
"""

import os
import shlex
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog

from codec.ipc import Dialect
from codec.ipc.folder import DRAFTS, MARKS, ROOMS, STATE, BaseGone, Tray
from transports.folder.drafts import sweep_old
from transports.folder.memory import lies_in_memory
from transports.folder.owned import NotOurs, why_not_ours
from transports.folder.rooted import NotPlain, Rooted
from transports.folder.waitless import is_local, stat_at_once
from transports.ipc.archiving import finish_archiving
from transports.ipc.claims import Claims, soon
from transports.ipc.quarantine import Quarantine

OLD_DRAFT_SECONDS = 600.0
Stat = Callable[..., os.stat_result]
"""`os.lstat`, or what does not wait for a disk."""

log = structlog.get_logger("ipc")


class OpenedBase:
    """Descriptors. They are closed when nobody uses them any more."""

    def __init__(self, number: int, root: int, rooms: dict[str, int]) -> None:
        self.number = number
        """It is the n-th that was opened."""
        self.root = root
        self.rooms = rooms
        self.places = [(None, os.fstat(root)), *((name, os.fstat(room)) for name, room in rooms.items())]
        """What stood where when it was opened; None: the base itself."""
        devices = {status.st_dev for _, status in self.places}
        self.in_memory = len(devices) == 1 and all(map(lies_in_memory, devices))
        self.is_local = len(devices) == 1 and all(map(is_local, devices))
        self.quarantine = Quarantine(rooms[Tray.QUARANTINE.value], rooms[DRAFTS])
        self.drafts = rooms[DRAFTS]
        self.users = 0
        self.over = False

    def room(self, tray: Tray) -> int:
        return self.rooms[tray.value]

    def take_in(self, tray: Tray, name: str, why: str) -> bool:
        """Moves something that may not stay to quarantine/."""
        return self.quarantine.take_in(self.room(tray), tray.value, name, why)

    def close(self) -> None:
        for folder in (self.root, *self.rooms.values()):
            os.close(folder)


class Site:
    def __init__(
        self,
        path: Path,
        tidy: Callable[[OpenedBase], None] = lambda opened: None,
        ends: Collection[str] = frozenset(),
        dialect: Dialect = Dialect.SPEC,
    ) -> None:
        """`tidy`: is called with each that is opened, before it is used. `ends`, `dialect`: see claims.py."""
        self.path = path
        self._shown = str(path)
        self._tidy = tidy
        self.trouble: str | None = None
        self.openings = 0
        """How often it has been opened. After another opening anything may have changed."""
        self.claims = Claims(path, ends=ends, dialect=dialect)
        self._rooted = Rooted(path, own=True, marks=MARKS, rooms=ROOMS, said=lambda sentence: log.warning(sentence))
        self._opened: OpenedBase | None = None
        self._made = False
        self._lock = threading.Lock()

    @property
    def in_memory(self) -> bool:
        """It is open, and nothing that is done there waits for a device."""
        opened = self._opened
        return opened is not None and opened.in_memory

    @property
    def is_local(self) -> bool:
        """It is open, and what the system has in memory of it can be looked at without waiting (waitless.py)."""
        opened = self._opened
        return opened is not None and opened.is_local

    @contextmanager
    def entered_at_once(self, rooms: Collection[str]) -> Iterator[OpenedBase]:
        """For a look that waits for nothing: not for a disk, nor for a thread that does. Raises BlockingIOError; also
        where the base is not as it was, for then there is more to do."""
        if not self._lock.acquire(blocking=False):
            raise BlockingIOError
        try:
            opened = self._opened
            if opened is None or self._why_astray(opened, rooms, stat_at_once) is not None:
                raise BlockingIOError
            yield opened
        finally:
            self._lock.release()

    @contextmanager
    def entered(self, rooms: Collection[str] = ROOMS) -> Iterator[OpenedBase]:
        """`rooms`: no other is used. Raises BaseGone."""
        with self._lock:
            opened = self._current(rooms)
            opened.users += 1
        try:
            yield opened
        except OSError as error:
            with self._lock:
                why = self._why_astray(opened)
            raise BaseGone(why or f"{self.path} cannot be used: {in_words(error)}") from error
        finally:
            with self._lock:
                opened.users -= 1
                self._let_go(opened)

    def check(self, opened: OpenedBase, rooms: Collection[str] = ROOMS) -> None:
        """Raises BaseGone if it is no longer the one that was opened."""
        with self._lock:
            if (why := self._why_astray(opened, rooms)) is not None:
                raise BaseGone(why)

    def close(self) -> None:
        """In the loop. If a thread has the folder in hand, whose disk hangs, all is left to the end of this process."""
        self.claims.close()
        with soon(self._lock) as is_ours:
            if is_ours:
                self._give_up()

    def quarantined(self) -> tuple[int, tuple[str, ...]]:
        """How many things, and the last reasons."""
        opened = self._opened
        return (0, ()) if opened is None else (opened.quarantine.count, tuple(opened.quarantine.latest))

    # -- under the lock

    def _current(self, rooms: Collection[str]) -> OpenedBase:
        if self._opened is not None and self._why_astray(self._opened, rooms) is not None:
            self._give_up()
        if self._opened is None:
            self._opened = self._open()
            self.openings += 1
        self.trouble = None
        return self._opened

    def _open(self) -> OpenedBase:
        folders: list[int] = []
        try:
            folders.append(self._rooted.open_root(create=not self._made))
            rooms = {}
            for name in ROOMS:
                rooms[name] = self._rooted.enter(folders[0], (name,), create=True)
                folders.append(rooms[name])
            if (why := self.claims.renew(rooms[STATE])) is not None:
                raise NotOurs(why)
            opened = OpenedBase(self.openings + 1, folders[0], rooms)
            sweep_old(opened.drafts, OLD_DRAFT_SECONDS)
            finish_archiving(opened.room)
            self._tidy(opened)
            opened.quarantine.look_over()
        except OSError as error:
            for folder in folders:
                os.close(folder)
            self.trouble = self._sentence(error)
            raise BaseGone(self.trouble) from None
        self._made = True
        return opened

    def _sentence(self, error: OSError) -> str:
        if isinstance(error, NotOurs | NotPlain):
            return str(error)
        if isinstance(error, FileNotFoundError) and self._made:
            return self._gone(self._shown)
        return f"{self.path} cannot be used: {in_words(error)}"

    def _why_astray(self, opened: OpenedBase, rooms: Collection[str] = ROOMS, stat: Stat = os.lstat) -> str | None:
        """Why this is not the base any more; None: it is."""
        for name, was in opened.places:
            if name is not None and name not in rooms:
                continue
            why = self._why_differs(opened.root, name, was, stat)
            if why is not None:
                self.trouble = why
                return why
        return None

    def _why_differs(self, root: int, name: str | None, was: os.stat_result, stat: Stat) -> str | None:
        path = self._shown if name is None else f"{self._shown}/{name}"
        try:
            there = stat(self._shown) if name is None else stat(name, dir_fd=root)
        except BlockingIOError:  # nobody knows, and that is no trouble
            raise
        except FileNotFoundError:
            return self._gone(path)
        except OSError as error:
            return f"{path} cannot be used: {in_words(error)}"
        if (why := why_not_ours(there, path)) is not None:
            return why
        return None if os.path.samestat(there, was) else f"another folder stands at {path} now"

    def _gone(self, path: str) -> str:
        return f"{path} is gone; make it again, and the desk goes on: mkdir -m 700 {shlex.quote(path)}"

    def _give_up(self) -> None:
        if self._opened is not None:
            self._opened.over = True
            self._let_go(self._opened)
            self._opened = None

    def _let_go(self, opened: OpenedBase) -> None:
        if opened.over and opened.users == 0:
            with suppress(OSError):
                opened.close()


def in_words(error: OSError) -> str:
    return error.strerror or str(error)
