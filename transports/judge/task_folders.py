"""The folders of the judge's tasks: `<contestId>/<taskId>/`, with main.py and the tests in it.

    abc999/abc999_a/main.py               made from the template, only if there is none
    abc999/abc999_a/tests/1.in  1.out     a case exists when both files do

A case's answer is written before its input. So an interrupted write leaves an answer without an input. This is not a
case, but its number is in use until the write is repeated. All disk access happens in threads, a few at a time. A disk
may hang, and a thread cannot be ended, so a caller that is cancelled leaves its thread behind.
"""

import functools
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import trio
from msgspec import Struct

from codec.judge import MAIN, fingerprint
from transports.folder.clearance import clear_away
from transports.folder.drafts import lives
from transports.folder.kinds import kind_of
from transports.folder.rooted import FileEntry, Rooted
from transports.folder.waitless import is_local
from transports.judge.known_tests import KnownTests
from transports.judge.stamps import Paths, Stamp, Stamps, followed, stamps, stamps_at_once

T = TypeVar("T")

THREADS = 4
TEMPLATE = b"""\
def main() -> None:
    pass


main()
"""
REMEMBERED = 10_000
"""Files whose digests are remembered while the files are unchanged: tests (of one folder it may be more), and
solutions."""
MOST_FOLDERS = 5_000
"""Folders that are searched for existing tasks."""
CHUNK = 1 << 20
TICK_NS = 100_000_000
"""Longer than any step of a disk's clock. If a file was changed less than this before we read it, a further change
might not alter its entry. So it is read again the next time."""
LONGEST_MAIN = 64 << 20
"""Bytes of a solution that are read to notice a change. For a longer one, its entry has to do."""
_TAKEN = re.compile(r"0*([0-9]{1,9})\.(?:in|out)", re.IGNORECASE | re.ASCII)
"""On a disk that ignores case `3.OUT` is `3.out`."""
_CASE = re.compile(r"([1-9][0-9]{0,8})\.(in|out)", re.ASCII)
_PRIVATE = re.compile(r"troupe-judge-([1-9][0-9]{0,8})(?:\.([0-9]*))?-.*", re.ASCII | re.DOTALL)
"""A private folder's name contains its server's process id (none is longer) and the time when that process began.
Anybody may make folders beside it, with any names."""


class CaseFile(Struct, frozen=True):
    """One file of a case."""

    size: int
    digest: bytes
    head: bytes
    stamp: FileEntry | None = None
    """Of the version that was read; None: unknown."""


NewCase = tuple[int, bytes, bytes | None]
"""Index, input, answer. An answer that is None exists already."""


class Found(Struct, frozen=True):
    """The content of a task's folder."""

    cases: Mapping[int, tuple[CaseFile, CaseFile]]
    """Input and answer, by index, in order."""
    alone: Mapping[int, CaseFile]
    """Answers without an input, by index."""
    highest: int
    """The highest index in use, also by incomplete pairs; 0 if there is none."""
    main: bytes | None
    """The solution's digest; None if there is none."""
    exists: bool
    """Whether the folder exists."""
    odd: Mapping[str, str] = {}
    """What is wrong with which file, so that it is passed over: "missing", or what it is instead: "a link"."""
    main_stamp: Stamp | None = None
    """As of a case's file."""

    @property
    def has_main(self) -> bool:
        return self.main is not None


class TaskFolders:
    def __init__(self, root: Path, *, tests_dir: str, template: str, head_bytes: int) -> None:
        self.tests_dir = tests_dir
        self._root = Rooted(root)
        self._tests = tuple(part for part in tests_dir.split("/") if part)
        self._template = template
        self._head = head_bytes
        self._threads = trio.CapacityLimiter(THREADS)
        self._known = KnownTests[tuple[FileEntry, CaseFile]](REMEMBERED)
        self._mains: dict[tuple[str, ...], tuple[bytes, Stamp]] = {}
        self._local: dict[tuple[str, ...], bool] = {}
        """Whether a folder of tests that was found is on a disk which may be looked at without waiting."""
        self._swept = False

    @property
    def root(self) -> Path:
        return self._root.root

    def path(self, task: Sequence[str], *names: str) -> Path:
        return self._root.path((*task, *names))

    def case_paths(self, task: Sequence[str], index: int) -> tuple[Path, Path]:
        return self.path(task, *self._tests, f"{index}.in"), self.path(task, *self._tests, f"{index}.out")

    async def find(self, task: Sequence[str]) -> Found:
        return await self._in_thread(self._find, tuple(task))

    async def tasks(self) -> list[tuple[str, str]]:
        """Folders with tests, two levels below the root; in a large workspace only the first ones. This is called at
        the start, so it also begins to delete the private folders of killed servers."""
        self._begin_to_sweep()
        return await self._in_thread(self._tasks)

    async def present(self, tasks: Sequence[Sequence[str]]) -> list[bool]:
        """Which of these folders exist. If this cannot be determined for one, it counts as existing."""
        return await self._in_thread(lambda: [self._is_there(tuple(task)) for task in tasks])

    def watched(self, task: Sequence[str]) -> list[tuple[Path, frozenset[str] | None]]:
        """The folders in which edits of this task can be seen, beginning with the root's parent, and the names in each
        that matter; None: all names."""
        ways = (*task, *self._tests)
        places: list[tuple[Path, frozenset[str] | None]] = [(self.root.parent, frozenset((self.root.name,)))]
        for depth, name in enumerate(ways):
            names = frozenset((name, MAIN)) if depth == len(task) else frozenset((name,))
            places.append((self.path(ways[:depth]), names))
        return [*places, (self.path(ways), None)]

    async def add(self, task: Sequence[str], choose: Callable[[Found], Sequence[NewCase]]) -> Found:
        """Writes the cases that `choose` wants beside those that are there, and main.py if it is missing. Returns what
        is there then. They are on the disk when this returns. `choose` is called in a thread. Raises FileExistsError if
        an index is in use. After a cancellation it is unknown which cases were written, but each file is complete or
        missing."""
        return await self._in_thread(self._add, tuple(task), choose)

    async def read(self, task: Sequence[str], index: int, kind: str) -> bytes:
        """`kind`: in or out."""
        return await self._in_thread(self._root.read, (*task, *self._tests, f"{index}.{kind}"))

    def stamps_at_once(self, task: Sequence[str], index: int) -> Stamps | None:
        """The files of a case as they are now. None: only a thread may look, because that might take a while."""
        return stamps_at_once(self._paths(task, index)) if self._local.get(tuple(task)) else None

    async def stamps(self, task: Sequence[str], index: int) -> Stamps:
        return await self._in_thread(stamps, self._paths(task, index))

    def _paths(self, task: Sequence[str], index: int) -> Paths:
        """As plain texts: to make paths would take longer than to look."""
        folder = "/".join((str(self.root), *task))
        case = "/".join((folder, *self._tests, str(index)))
        return f"{folder}/{MAIN}", f"{case}.in", f"{case}.out"

    @asynccontextmanager
    async def private(self, task: Sequence[str], index: int, input_name: str | None) -> AsyncIterator["PrivateFolder"]:
        """A folder for one run, which contains the case's input under this name. It is deleted after the block; if that
        is cancelled, it is deleted soon after, and before the server's process ends."""
        name = f"troupe-judge-{os.getpid()}.{_born(os.getpid())}-{os.urandom(6).hex()}"
        given_up = threading.Event()
        self._begin_to_sweep()
        try:
            folder = await self._in_thread(self._lay_out, name, given_up, tuple(task), index, input_name)
            yield PrivateFolder(folder, self._in_thread)
        finally:
            given_up.set()
            clear = functools.partial(_clear, name)
            try:  # in a thread that is not one of our few: a program may have left a million files
                await trio.to_thread.run_sync(clear, thread_name=f"clearing {name} away", abandon_on_cancel=True)
            except trio.Cancelled:
                threading.Thread(target=clear, name=f"clearing {name} away").start()
                raise

    async def _in_thread(self, call: Callable[..., T], *args: object) -> T:
        return await trio.to_thread.run_sync(
            functools.partial(call, *args),
            thread_name=f"working in {self.root}",
            abandon_on_cancel=True,
            limiter=self._threads,
        )

    def _begin_to_sweep(self) -> None:
        """Begins to sweep, once. Nothing waits for the end of it, because a program may have left a million files. The
        next start finds what is left."""
        if not self._swept:
            self._swept = True
            place = Path(tempfile.gettempdir())
            threading.Thread(target=_sweep, args=(place,), name=f"sweeping {place}", daemon=True).start()

    # -- in a thread

    def _find(self, task: tuple[str, ...]) -> Found:
        folder = (*task, *self._tests)
        highest, cases, alone = 0, dict[int, tuple[CaseFile, CaseFile]](), dict[int, CaseFile]()
        odd = self._odd_main(task)
        with self._root.folder_if_there(folder) as here:
            if here is None:
                main, stamp = self._main_of(task)
                return Found({}, {}, 0, main, self._root.has_folder(task), odd, stamp)
            if task not in self._local:
                self._remember(self._local, task, is_local(os.fstat(here).st_dev))
            entries = self._root.entries_in(here)
            texts = _Texts(folder, here, self._known.of(folder))
            for name, entry in entries.items():
                taken = _TAKEN.fullmatch(name)
                if taken is None:
                    continue
                number = int(taken[1])
                highest = max(highest, number)
                given, answer = f"{number}.in", f"{number}.out"
                wanted = entries.get(answer)
                if number and name in (given, answer):
                    if entry is None:
                        odd[name] = _kind(self.path(folder, name))
                    other = answer if name == given else given
                    if other not in entries:
                        odd[other] = "missing"
                if name == given and number and entry is not None and wanted is not None:
                    one = self._text(texts, given, entry, odd)
                    two = self._text(texts, answer, wanted, odd)
                    if one is not None and two is not None:
                        cases[number] = one, two
                elif name == answer and number and entry is not None and given not in entries:
                    text = self._text(texts, answer, entry, odd)
                    alone |= {} if text is None else {number: text}
            self._known.looked(folder, texts.now)
        main, stamp = self._main_of(task)
        return Found(dict(sorted(cases.items())), alone, highest, main, True, odd, stamp)

    def _odd_main(self, task: tuple[str, ...]) -> dict[str, str]:
        path = self.path(task, MAIN)
        return {MAIN: _kind(path)} if os.path.lexists(path) and not path.is_file() else {}

    def _main_of(self, task: tuple[str, ...]) -> tuple[bytes | None, Stamp | None]:
        """Its digest, and of which version."""
        path = self.path(task, MAIN)
        now = time.time_ns()
        if not path.is_file():
            return None, None
        stamp = followed(path)
        if stamp is None:  # it has just gone
            return b"", None
        known = self._mains.get(task)
        if known is not None and known[1] == stamp:
            return known
        entry = stamp if isinstance(stamp, FileEntry) else stamp[1]
        try:
            if entry.size > LONGEST_MAIN:
                digest = fingerprint(repr(entry).encode()).digest()
            else:
                with open(path, "rb") as file:
                    digest = fingerprint(file.read()).digest()
        except OSError:  # a run will report the error
            return b"", stamp
        if stamp != followed(path):
            return digest, None
        if now - entry.touched_ns > TICK_NS:
            self._remember(self._mains, task, (digest, stamp))
        return digest, stamp

    @staticmethod
    def _remember(known: dict[tuple[str, ...], T], task: tuple[str, ...], what: T) -> None:
        if len(known) >= REMEMBERED:
            known.clear()
        known[task] = what

    def _is_there(self, task: tuple[str, ...]) -> bool:
        try:
            return self._root.has_folder(task)
        except OSError:
            return True

    def _text(self, texts: "_Texts", name: str, entry: FileEntry, odd: dict[str, str]) -> CaseFile | None:
        try:
            return self._read_text(texts, name, entry)
        except FileNotFoundError:  # since it was listed
            odd[name] = "missing"
        except PermissionError:
            odd[name] = "not readable for this account"
        return None

    def _read_text(self, texts: "_Texts", name: str, entry: FileEntry) -> CaseFile:
        known = texts.before.get(name)
        if known is not None and known[0] == entry:
            texts.now[name] = known
            return known[1]
        now = time.time_ns()
        digest, head, size = fingerprint(), b"", 0
        with open(self._root.open_in(texts.here, (*texts.folder, name)), "rb") as file:
            while part := file.read(CHUNK):
                digest.update(part)
                head = head or part[: self._head]
                size += len(part)
            unchanged = FileEntry.of(os.fstat(file.fileno())) == entry
        text = CaseFile(size, digest.digest(), head, entry if unchanged else None)
        if unchanged and now - entry.touched_ns > TICK_NS:
            texts.now[name] = entry, text
        return text

    def _tasks(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        seen = 0
        for contest in self._root.folders(()):
            for task in self._root.folders((contest,)):
                seen += 1
                if seen > MOST_FOLDERS:
                    return found
                if self._has_cases((contest, task)):
                    found.append((contest, task))
        return found

    def _has_cases(self, task: tuple[str, ...]) -> bool:
        try:
            return any(map(_CASE.fullmatch, self._root.entries((*task, *self._tests))))
        except OSError:  # skip this one; the other folders are still tasks
            return False

    def _add(self, task: tuple[str, ...], choose: Callable[[Found], Sequence[NewCase]]) -> Found:
        with self._root.folder_made(task) as (home, new):
            found = Found({}, {}, 0, None, exists=True) if new else self._find(task)
            chosen = choose(found)
            files = {}
            for index, given, wanted in chosen:
                if wanted is not None:
                    files[f"{index}.out"] = wanted
                files[f"{index}.in"] = given
            self._root.write_new((*task, *self._tests), files, within=home, new=new)
            main = self._main()
            try:
                self._root.write_new(task, {MAIN: main}, within=home, new=new)
            except FileExistsError:
                digest, _ = self._main_of(task)
            else:
                digest = fingerprint(main).digest()
        odd = {name: why for name, why in found.odd.items() if name not in files}
        return self._with(found, chosen, digest, odd)

    def _with(self, found: Found, chosen: Sequence[NewCase], main: bytes | None, odd: Mapping[str, str]) -> Found:
        """The content after these cases were written. They need not be read again: each file is as it was given, or as
        it was found."""
        cases, alone = dict(found.cases), dict(found.alone)
        for index, given, wanted in chosen:
            answer = alone.pop(index) if wanted is None else self._case_file(wanted)
            cases[index] = (self._case_file(given), answer)
        return Found(dict(sorted(cases.items())), alone, max(found.highest, *cases, 0), main, True, odd)

    def _case_file(self, content: bytes) -> CaseFile:
        return CaseFile(len(content), fingerprint(content).digest(), content[: self._head])

    def _main(self) -> bytes:
        if not self._template:
            return TEMPLATE
        try:
            return Path(self._template).read_bytes()
        except OSError as error:
            raise OSError(f"the template {self._template} cannot be read: {error.strerror}") from None

    def _lay_out(
        self, name: str, given_up: threading.Event, task: tuple[str, ...], index: int, input_name: str | None
    ) -> Path:
        folder = Path(tempfile.gettempdir(), name)
        folder.mkdir(0o700)
        try:
            if input_name is not None:
                with (
                    open(self._root.open((*task, *self._tests, f"{index}.in")), "rb") as source,
                    open(folder / input_name, "xb") as copy,
                ):
                    shutil.copyfileobj(source, copy, CHUNK)
        finally:
            if given_up.is_set():  # and deleted, perhaps before the folder existed
                clear_away(folder)
        return folder


class _Texts(Struct):
    """The tests of a folder, while they are looked at."""

    folder: tuple[str, ...]
    here: int
    """The open folder."""
    before: Mapping[str, tuple[FileEntry, CaseFile]]
    """What was known of its files. `now` is what is known of them after this look."""
    now: dict[str, tuple[FileEntry, CaseFile]] = {}


def _kind(path: Path) -> str:
    """What this is in the place of a file."""
    try:
        return f"a {kind_of(path.lstat().st_mode)}"
    except OSError:  # it has just gone
        return "missing"


def _clear(name: str) -> None:
    clear_away(Path(tempfile.gettempdir(), name))


def _sweep(place: Path) -> None:
    """Deletes the private folders of servers that were killed."""
    for folder in place.glob("troupe-judge-*-*"):
        found = _PRIVATE.fullmatch(folder.name)
        if found and not (lives(int(found[1])) and found[2] in (None, "", _born(int(found[1])))):
            clear_away(folder)


def _born(pid: int) -> str:
    """The time when this process began, in the system's own units, because another process may have its number by now.
    Empty if the system does not tell, or the process does not exist."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


class PrivateFolder:
    def __init__(self, path: Path, in_thread: Callable[..., Awaitable[bytes]]) -> None:
        self.path = path
        self._in_thread = in_thread

    async def read(self, name: str, most: int) -> bytes | None:
        """The content that the program wrote to this file; None if there is no readable file."""
        try:
            return await self._in_thread(Rooted(self.path).read, (name,), most)
        except OSError:
            return None
