"""The folders of the judge's tasks: `<contestId>/<taskId>/`, with main.py and the tests in it.

    abc999/abc999_a/main.py               made from the template, only if there is none
    abc999/abc999_a/tests/1.in  1.out     a case is there when both are

A case's answer is written before its input, so one that was cut short is an answer without an input: no case, but its
number is taken, until who was cut short writes it again. Everything that touches the disk happens in threads, a few at
a time. A disk may hang, and a thread cannot be ended: whoever is cancelled while one works leaves it behind.
"""

import functools
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import trio

from codec.judge import fingerprint
from transports.folder.clearance import clear_away
from transports.folder.rooted import Entry, Rooted, lives

T = TypeVar("T")

THREADS = 4
MAIN = "main.py"
TEMPLATE = b"""\
def main() -> None:
    pass


main()
"""
REMEMBERED = 10_000
"""Files whose digest is not taken again while they stay as they are."""
MOST_FOLDERS = 5_000
"""Looked through for tasks that were there before us."""
CHUNK = 1 << 20
TICK_NS = 100_000_000
"""Longer than any step of a disk's clock: what was changed less than this before it was read may be changed again
without that being seen at its entry, so it is read again the next time."""
LONGEST_MAIN = 64 << 20
"""Bytes of a solution that are read to tell whether it is another; of a longer one its entry has to do."""
_TAKEN = re.compile(r"0*([0-9]{1,9})\.(?:in|out)", re.IGNORECASE | re.ASCII)
"""On a disk that ignores case `3.OUT` is `3.out`."""
_CASE = re.compile(r"([1-9][0-9]{0,8})\.(in|out)", re.ASCII)
_PRIVATE = re.compile(r"troupe-judge-([1-9][0-9]{0,8})(?:\.([0-9]*))?-.*", re.ASCII | re.DOTALL)
"""A private folder, and whose: the server's number, and when it was born. Anybody may make folders beside them, and
call those as he likes; no process has a longer number."""


@dataclass(frozen=True, slots=True)
class Text:
    """One file of a case."""

    size: int
    digest: bytes
    head: bytes


@dataclass(frozen=True, slots=True)
class Found:
    """What a task's folder holds."""

    cases: Mapping[int, tuple[Text, Text]]
    """Input and answer, by index, in order."""
    alone: Mapping[int, Text]
    """Answers without an input, by index."""
    highest: int
    """Of all indices in use, of broken pairs too; 0 if there is none."""
    main: bytes | None
    """The solution's digest; None if there is none."""
    exists: bool
    """Whether there is such a folder at all."""

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
        self._known: dict[tuple[str, ...], tuple[Entry, Text]] = {}
        self._mains: dict[tuple[str, ...], tuple[Entry, bytes]] = {}
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
        """Folders with tests in them, two levels below the root; of a large workspace only the first ones. Asked for at
        the start, when it is time to clear away what servers that were killed have left, too."""
        self._begin_to_sweep()
        return await self._in_thread(self._tasks)

    async def present(self, tasks: Sequence[Sequence[str]]) -> list[bool]:
        """Which of these folders are there. One of which that cannot be told is."""
        return await self._in_thread(lambda: [self._is_there(tuple(task)) for task in tasks])

    def watched(self, task: Sequence[str]) -> list[tuple[Path, frozenset[str] | None]]:
        """The folders in which an edit of this task shows, from the root's own on, and the names of what matters in
        each; None: all of them."""
        ways = (*task, *self._tests)
        places: list[tuple[Path, frozenset[str] | None]] = [(self.root.parent, frozenset((self.root.name,)))]
        for depth, name in enumerate(ways):
            names = frozenset((name, MAIN)) if depth == len(task) else frozenset((name,))
            places.append((self.path(ways[:depth]), names))
        return [*places, (self.path(ways), None)]

    async def add(self, task: Sequence[str], cases: Sequence[tuple[int, bytes, bytes | None]]) -> None:
        """New cases, on the disk when this returns, and main.py if there is none. An answer that is None is there.
        FileExistsError: one is taken. Whoever is cancelled meanwhile does not know which are written, but each is whole
        or not there."""
        await self._in_thread(self._add, tuple(task), cases)

    async def read(self, task: Sequence[str], index: int, kind: str) -> bytes:
        """`kind`: in or out."""
        return await self._in_thread(self._root.read, (*task, *self._tests, f"{index}.{kind}"))

    @asynccontextmanager
    async def private(self, task: Sequence[str], index: int, input_name: str | None) -> AsyncIterator["PrivateFolder"]:
        """A folder for one run, with the case's input in it under this name. It is gone after the block; if that is
        cancelled, soon after it, and before the server's process is."""
        name = f"troupe-judge-{os.getpid()}.{_born(os.getpid())}-{os.urandom(6).hex()}"
        given_up = threading.Event()
        self._begin_to_sweep()
        try:
            folder = await self._in_thread(self._lay_out, name, given_up, tuple(task), index, input_name)
            yield PrivateFolder(folder, self._in_thread)
        finally:
            given_up.set()
            clear = functools.partial(_clear, name)
            try:  # not of our few: a program may have left a million files
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
        """Once. Nobody waits for it: a program may have left a million files, and what is not gone when we end is
        found the next time."""
        if not self._swept:
            self._swept = True
            place = Path(tempfile.gettempdir())
            threading.Thread(target=_sweep, args=(place,), name=f"sweeping {place}", daemon=True).start()

    # -- in a thread

    def _find(self, task: tuple[str, ...]) -> Found:
        folder = (*task, *self._tests)
        entries = self._root.entries(folder)
        highest, cases, alone = 0, dict[int, tuple[Text, Text]](), dict[int, Text]()
        for name, entry in entries.items():
            taken = _TAKEN.fullmatch(name)
            if taken is None:
                continue
            number = int(taken[1])
            highest = max(highest, number)
            given, answer = f"{number}.in", f"{number}.out"
            wanted = entries.get(answer)
            if name == given and number and entry is not None and wanted is not None:
                cases[number] = (self._text((*folder, given), entry), self._text((*folder, answer), wanted))
            elif name == answer and number and entry is not None and given not in entries:
                alone[number] = self._text((*folder, answer), entry)
        exists = bool(entries) or self._root.has_folder(task)
        return Found(dict(sorted(cases.items())), alone, highest, self._main_of(task), exists)

    def _main_of(self, task: tuple[str, ...]) -> bytes | None:
        path = self.path(task, MAIN)
        now = time.time_ns()
        if not path.is_file():
            return None
        try:
            entry = Entry.of(path.stat())
            known = self._mains.get(task)
            if known is not None and known[0] == entry:
                return known[1]
            long = entry.size > LONGEST_MAIN
            digest = fingerprint(repr(entry).encode() if long else path.read_bytes()).digest()
        except OSError:  # whoever runs it is told so; it is not what it was before
            return b""
        if now - entry.touched_ns > TICK_NS:
            if len(self._mains) >= REMEMBERED:
                self._mains.clear()
            self._mains[task] = (entry, digest)
        return digest

    def _is_there(self, task: tuple[str, ...]) -> bool:
        try:
            return self._root.has_folder(task)
        except OSError:
            return True

    def _text(self, names: tuple[str, ...], entry: Entry) -> Text:
        known = self._known.get(names)
        if known is not None and known[0] == entry:
            return known[1]
        now = time.time_ns()
        digest, head, size = fingerprint(), b"", 0
        with open(self._root.open(names), "rb") as file:
            while part := file.read(CHUNK):
                digest.update(part)
                head = head or part[: self._head]
                size += len(part)
        text = Text(size, digest.digest(), head)
        if now - entry.touched_ns > TICK_NS:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[names] = (entry, text)
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
        except OSError:  # whatever that is, the other folders are tasks all the same
            return False

    def _add(self, task: tuple[str, ...], cases: Sequence[tuple[int, bytes, bytes | None]]) -> None:
        files = {}
        for index, given, wanted in cases:
            if wanted is not None:
                files[f"{index}.out"] = wanted
            files[f"{index}.in"] = given
        self._root.write_new((*task, *self._tests), files)
        with suppress(FileExistsError):
            self._root.write_new(task, {MAIN: self._main()})

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
            if given_up.is_set():  # and cleared away, perhaps before there was anything
                clear_away(folder)
        return folder


def _clear(name: str) -> None:
    clear_away(Path(tempfile.gettempdir(), name))


def _sweep(place: Path) -> None:
    """Away with the private folders of servers that were killed."""
    for folder in place.glob("troupe-judge-*-*"):
        found = _PRIVATE.fullmatch(folder.name)
        if found and not (lives(int(found[1])) and found[2] in (None, "", _born(int(found[1])))):
            clear_away(folder)


def _born(pid: int) -> str:
    """When that process began, in the system's own count: its number may be another's by now. Nothing where that is not
    told, or it is not there."""
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
        """What the program wrote to this file; None if there is none that can be read."""
        try:
            return await self._in_thread(Rooted(self.path).read, (name,), most)
        except OSError:
            return None
