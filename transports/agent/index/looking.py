"""A workspace's folder, looked at again and again where the system does not watch it, less what git ignores and what is
hidden.

A look at a large tree takes long, and is wanted every two seconds. So no look is at all of it:

    what lately changed, was told or opened     each time
    the times of folders, in turns              what is made, deleted, renamed or replaced in one changes its time
    the files of folders, in turns              what is written in place changes nothing but the file

Rules
  - A look takes TURN_SECONDS of the processor, and ends there; the next one goes on where it was. Only what somebody
    has just made or renamed is looked at whole.
  - The first look is at everything, and nothing is told before it is over. So what changes while the index is made from
    it is told later.
  - A file is known by its times, its size and its number. One that has changed within the last tick of the disk's clock
    might change again and look the same: it counts as another one the next time.
  - Of a folder that is new, has gone, or has other rules, the folder itself is told.

Folders are opened by descriptor, and links are not followed. Everything here but `close` blocks, and is called in one
thread at a time.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from codec.agent.tree_paths import DEEPEST
from transports.agent.walking import MOST_FOLDERS, RULES, Rules, seen_in
from transports.folder.rooted import FileEntry, Rooted

TURN_SECONDS = 0.1
"""Of the processor, for one look."""
FOR_TIMES = 0.5
"""The share of it that is for the times of folders."""
MOST_FILES = 200_000
PART = 200
"""Files of one folder that are looked at without a look at the clock."""
WORK_SECONDS, REST_SECONDS = 0.001, 0.0002
NOTHING, UNSURE = 0, -1
"""Instead of the mark of a file or a folder, which is neither: there is none; it might change, and look the same."""

Names = tuple[str, ...]
Rounds = Callable[[], Iterator[None]]


class FolderGone(Exception):
    """The folder itself is not where it was."""


class _Looked:
    """A folder, as it was when it was looked at last."""

    __slots__ = ("above", "files", "folders", "rules", "time")

    def __init__(self, above: Rules) -> None:
        self.above = above
        """The rules that hold in it, without its own."""
        self.time = UNSURE
        self.rules = UNSURE
        self.files: dict[str, int] = {}
        self.folders: frozenset[str] = frozenset()


class TreeLook:
    """One tree."""

    def __init__(self, root: Rooted) -> None:
        self._root = root
        self._folders: dict[Names, _Looked] = {}
        self._files = 0
        self._closed = False
        self._identity = 0, 0
        self._told: dict[str, None] = {}
        self._times: Iterator[None] = iter(())
        self._contents: Iterator[None] = iter(())
        self._rested = 0.0
        self.took = 0.0
        """Seconds of the processor, for the last look."""

    def __len__(self) -> int:
        """Files."""
        return self._files

    def close(self) -> None:
        """Whoever looks just then ends soon."""
        self._closed = True

    def begin(self) -> None:
        """Raises FolderGone."""
        self._folders.clear()
        self._files = 0
        self._identity = self._root_is()
        self._take_in((), ())

    def turn(self, warm: Iterable[str]) -> list[str]:
        """What may have changed. `warm`: paths that are looked at in any case. Raises FolderGone."""
        began = time.thread_time()
        self._told = {}
        self._check_root()
        for path in warm:
            self._look_at(tuple(path.split("/")))
        now = time.thread_time()
        until = max(began + TURN_SECONDS, now)
        self._times = self._go_on(self._times, self._all_times, now + (until - now) * FOR_TIMES)
        self._contents = self._go_on(self._contents, self._all_contents, until)
        self.took = time.thread_time() - began
        return list(self._told)

    def _check_root(self) -> None:
        if self._root_is() != self._identity:
            raise FolderGone
        if () not in self._folders:  # it could not be opened for a moment
            self._take_in((), ())
            self._tell(())

    def _go_on(self, round_: Iterator[None], anew: Rounds, until: float) -> Iterator[None]:
        """Until then, to the end of this round, or of another one. At least one step is taken."""
        for another in (True, False):
            for _ in round_:
                self._breathe()
                if self._closed or time.thread_time() >= until:
                    return round_
            if another:
                round_ = anew()
        return round_

    def _all_times(self) -> Iterator[None]:
        for names in list(self._folders):
            self._look_at_time(names)
            yield

    def _all_contents(self) -> Iterator[None]:
        for names in list(self._folders):
            known = self._folders.get(names)
            files = iter(list(known.files) if known is not None else ())
            while part := list(islice(files, PART)):
                self._look_at_files(names, part)
                yield

    # -- one of them

    def _look_at(self, names: Names) -> None:
        """Whatever it is."""
        if names not in self._folders:
            names, last = names[:-1], names[-1:]
            if (known := self._folders.get(names)) is None:
                return
            self._look_at_files(names, [name for name in last if name in known.files])
        self._look_at_time(names)

    def _look_at_time(self, names: Names) -> None:
        known = self._folders.get(names)
        if known is None:
            return
        try:
            with self._root.folder(names) as here:
                if _time_of(here) != known.time:
                    self._list(names, known, here)
        except OSError:
            self._drop(names)
            self._tell(names)

    def _look_at_files(self, names: Names, files: Iterable[str]) -> None:
        known = self._folders.get(names)
        if known is None:
            return
        try:
            with self._root.folder(names) as here:
                for name in files:
                    mark = _mark_of(name, here)
                    if mark != known.files.get(name, NOTHING) or mark == UNSURE:
                        self._tell((*names, name))
                        if mark != NOTHING:
                            known.files[name] = mark
                        else:
                            known.time = UNSURE
                if _mark_of(RULES, here) != known.rules:
                    known.time = UNSURE
        except OSError:
            known.time = UNSURE

    def _list(self, names: Names, known: _Looked, here: int) -> None:
        """Anything in this folder may be another one."""
        rules = known.rules
        before, folders = known.files, known.folders
        below = self._read(names, known, here)
        if known.rules != rules:
            for name in folders:
                self._drop((*names, name))
            self._take_in_all(names, known.folders, below)
            self._tell(names)
            return
        for name in before.keys() | known.files.keys():
            mark = known.files.get(name)
            if mark != before.get(name) or mark == UNSURE:
                self._tell((*names, name))
        for name in folders - known.folders:
            self._drop((*names, name))
            self._tell((*names, name))
        for name in known.folders - folders:
            self._tell((*names, name))
        self._take_in_all(names, known.folders - folders, below)

    # -- what is known

    def _take_in(self, names: Names, above: Rules) -> None:
        """This folder and those below it, near ones first."""
        waiting = deque([(names, above)])
        while waiting and not self._closed:
            names, above = waiting.popleft()
            if len(self._folders) >= MOST_FOLDERS or self._files >= MOST_FILES:
                return
            known = _Looked(above)
            try:
                with self._root.folder(names) as here:
                    below = self._read(names, known, here)
            except OSError:  # it has just gone, or may not be read
                continue
            self._folders[names] = known
            if len(names) < DEEPEST:
                waiting.extend(((*names, name), below) for name in sorted(known.folders))

    def _take_in_all(self, names: Names, folders: Iterable[str], rules: Rules) -> None:
        if len(names) < DEEPEST:
            for name in sorted(folders):
                self._take_in((*names, name), rules)

    def _read(self, names: Names, known: _Looked, here: int) -> Rules:
        """Returns the rules for what is below."""
        known.time = _time_of(here)  # before it is listed
        known.rules = _mark_of(RULES, here)
        found = seen_in(self._root, here, names, known.above, self._late)
        self._files += len(found.files) - len(known.files)
        known.files = {name: _mark(entry) for name, entry in found.files}
        known.folders = frozenset(found.folders)
        return found.rules

    def _drop(self, above: Names) -> None:
        for names in [names for names in self._folders if names[: len(above)] == above]:
            self._files -= len(self._folders.pop(names).files)

    def _tell(self, names: Names) -> None:
        self._told["/".join(names)] = None

    def _root_is(self) -> tuple[int, int]:
        try:
            with self._root.folder(()) as here:
                status = os.fstat(here)
        except OSError:
            raise FolderGone from None
        return status.st_dev, status.st_ino

    def _late(self) -> bool:
        self._breathe()
        return self._closed

    def _breathe(self) -> None:
        """A thread that computes holds up the server's loop."""
        if time.monotonic() - self._rested > WORK_SECONDS:
            time.sleep(REST_SECONDS)
            self._rested = time.monotonic()


def _time_of(folder: int) -> int:
    return _mark(FileEntry.of(os.fstat(folder)))


def _mark_of(name: str, here: int) -> int:
    try:
        status = os.stat(name, dir_fd=here, follow_symlinks=False)
    except FileNotFoundError:
        return NOTHING
    return _mark(FileEntry.of(status)) if stat.S_ISREG(status.st_mode) else NOTHING


def _mark(entry: FileEntry) -> int:
    return UNSURE if entry.is_fresh else hash(entry) or 1
