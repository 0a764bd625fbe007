"""Watches a workspace's folder with all below it by inotify, less what git ignores and what is hidden; or has it looked
at (looking.py).

Rules
  - A folder is watched before it is read. So a file that is made in it meanwhile is either seen or reported, and a tree
    that appears while it is written is watched whole.
  - Files that git ignores are not watched: node_modules costs nothing. If a .gitignore has changed, its whole folder
    counts as changed.
  - A save is several events. So a lone event is reported after a few milliseconds, together with the others of its
    save; a flood is gathered for longer.
  - A file that is written to and kept open, as a log is, or cut off by its name, is reported after OPEN_SECONDS, and
    once in so long a time.
  - A renamed folder stays watched under its new name, because inotify knows it by its number and not by its path. Both
    names are reported. A folder that has left the workspace is no longer watched.
  - If events were lost, all is watched anew, and anything may have changed. If the system allows no more watches, that
    is an error whose sentence says what to do.

Folders are opened in threads, by descriptor, and links are not followed. A thread that hangs is left behind, and adds
no watch after that.
"""

import errno
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import TypeVar

import trio

from codec.agent.ignores import TooLate
from codec.agent.index.telling import WatchNews, WatchTrouble
from codec.agent.tree_paths import DEEPEST
from transports.agent.index.looking import FolderGone, TreeLook
from transports.agent.walking import RULES, Rules, is_seen, rules_in, with_own
from transports.folder.feed import Gathered, gathered
from transports.folder.inotify import ANYTHING, Inotify
from transports.folder.rooted import Identity, Rooted, identities

SETTLE_SECONDS, FLOOD_SECONDS = 0.003, 0.1
FLOOD = 200
"""Events at once."""
OPEN_SECONDS, OPEN_SETTLE_SECONDS = 2.0, 0.02
"""Until it is reported that a file is written to that nobody closes; and between two looks at the events of such files
alone."""
WATCH_SECONDS = 60.0
"""To watch a whole tree."""
MOST_FOLDERS = 100_000
THREADS = 4
WORK_SECONDS, REST_SECONDS = 0.001, 0.0002
LOOK_SECONDS = 2.0
"""Between two looks at a folder."""
SHARE = 20.0
"""Of the time at least, for one part of looking..."""
LOOKERS = 4
"""...at so many folders; more of them are looked at less often."""
LIMIT = Path("/proc/sys/fs/inotify/max_user_watches")
LOOKS = "Until then the folder is looked at every few seconds."

Names = tuple[str, ...]
News = Callable[[WatchNews], None]
T = TypeVar("T")


class TreeWatch:
    """One tree. Everything here but `close` blocks, and is called in one thread at a time."""

    def __init__(self, root: Rooted, inotify: Inotify) -> None:
        self._root = root
        self._inotify = inotify
        self._folders: dict[int, tuple[Names, Rules]] = {}
        """By their numbers, each with the rules for what is in it."""
        self._lock = threading.Lock()
        self._closed = False
        self._identity: Identity | None = None
        self._rested = 0.0

    def __len__(self) -> int:
        return len(self._folders)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._inotify.close()

    def begin(self) -> None:
        """Raises WatchTrouble or FolderGone."""
        self._folders.clear()
        try:
            with self._root.folder(()) as here:
                status = os.fstat(here)
                self._identity = status.st_dev, status.st_ino
        except OSError:
            raise FolderGone from None
        self._add((), ())

    def taken(self, found: Gathered) -> tuple[list[str], bool]:
        """Paths that may have changed, and whether anything may have. Raises WatchTrouble or FolderGone."""
        if found.lost or self._root_number() in found.itself | found.over:
            self._check_root()
            self.begin()
            return [], True
        for number in found.over:
            self._folders.pop(number, None)
        told: dict[str, None] = {}
        left: list[Names] = []
        for number, names in found.names.items():
            if (folder := self._folders.get(number)) is None:
                continue
            above, rules = folder
            for name in sorted(names):
                if name == RULES:
                    self._forget(above)
                    self._add(above, self._rules(above))
                    told["/".join(above)] = None
                elif number in found.folders:
                    self._take_folder(above, rules, name, told, left)
                elif self._is_seen(above, rules, name, is_folder=False):
                    told["/".join((*above, name))] = None
        for gone in left:
            self._forget(gone)
        return (list(told), False) if "" not in told else ([], True)

    def _take_folder(self, above: Names, rules: Rules, name: str, told: dict[str, None], left: list[Names]) -> None:
        """Something of this name has come or gone, and may have been a folder."""
        names = (*above, name)
        try:
            with self._root.folder(above) as here:
                is_folder = os.path.isdir(f"/proc/self/fd/{here}/{name}") and not os.path.islink(
                    f"/proc/self/fd/{here}/{name}"
                )
        except OSError:
            is_folder = False
        if not is_folder:
            left.append(names)
            if any(self._is_seen(above, rules, name, is_folder=either) for either in (False, True)):
                told["/".join(names)] = None  # git may ignore files of this name, and no folder that was here
        elif not name.startswith(".") and self._is_seen(above, rules, name, is_folder=True):
            self._add(names, rules)
            told["/".join(names)] = None

    def _root_number(self) -> int:
        return next((number for number, (names, _) in self._folders.items() if not names), -1)

    def _check_root(self) -> None:
        try:
            with self._root.folder(()) as here:
                status = os.fstat(here)
        except OSError:
            raise FolderGone from None
        if (status.st_dev, status.st_ino) != self._identity:
            raise FolderGone

    def _rules(self, names: Names) -> Rules:
        """Those that hold in this folder, without its own."""
        try:
            return rules_in(self._root, names, lambda: self._closed) or ()
        except OSError:
            return ()

    def _is_seen(self, above: Names, rules: Rules, name: str, *, is_folder: bool) -> bool:
        until = time.monotonic() + 1.0
        try:
            return is_seen(above, rules, name, lambda: time.monotonic() > until, is_folder=is_folder)
        except TooLate:
            return True

    # -- watches

    def _add(self, names: Names, rules: Rules) -> None:
        """Watches this folder and those below it."""
        waiting = deque([(names, rules)])
        while waiting and not self._closed:
            names, rules = waiting.popleft()
            try:
                with self._root.folder(names) as here:
                    number = self._watch(here)
                    rules = with_own(self._root, here, len(names), rules)
                    self._folders[number] = names, rules
                    if len(names) < DEEPEST:
                        waiting.extend(((*names, name), rules) for name in self._below(here, names, rules))
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.ENOMEM):
                    raise WatchTrouble(too_many(len(self._folders))) from None
                continue  # it has just gone, or may not be read
            if len(self._folders) > MOST_FOLDERS:
                raise WatchTrouble(f"There are more than {MOST_FOLDERS:,} folders, too many to watch them all.")
            if time.monotonic() - self._rested > WORK_SECONDS:  # a thread that computes holds up the server's loop
                time.sleep(REST_SECONDS)
                self._rested = time.monotonic()

    def _watch(self, folder: int) -> int:
        with self._lock:
            if self._closed:
                raise OSError(errno.ECANCELED, "it is not watched any more")
            return self._inotify.add_opened(folder, ANYTHING)

    def _below(self, here: int, names: Names, rules: Rules) -> list[str]:
        with os.scandir(here) as listed:
            return [
                one.name
                for one in listed
                if not one.name.startswith(".")
                and one.is_dir(follow_symlinks=False)
                and self._is_seen(names, rules, one.name, is_folder=True)
            ]

    def _forget(self, above: Names) -> None:
        """This folder is not there any more, or its rules are others. What was moved has its new name already."""
        gone = [number for number, (names, _) in self._folders.items() if names[: len(above)] == above and names]
        for number in gone:
            del self._folders[number]
            with self._lock:
                if not self._closed:
                    self._inotify.remove(number)


class OpenFiles:
    """Files that somebody writes to and has not closed, so that nobody knows when they are whole."""

    def __init__(self) -> None:
        self.due = math.inf
        """When they are reported."""
        self._names: dict[int, set[str]] = {}
        """By the numbers of their folders."""

    def held_back(self, found: Gathered) -> bool:
        """Takes them out of what was found, or puts them in if it is time. Whether nothing is left."""
        now = trio.current_time()
        for number, names in found.names.items():
            names -= found.unfinished.get(number, set())
            if number in self._names:
                self._names[number] -= names
        for number, names in found.unfinished.items():
            if names:
                self._names.setdefault(number, set()).update(names)
        if now >= self.due:
            for number, names in self._names.items():
                found.names.setdefault(number, set()).update(names)
            self._names.clear()
            self.due = math.inf
        elif self._names and self.due == math.inf:
            self.due = now + OPEN_SECONDS
        return not (any(found.names.values()) or found.itself or found.over or found.lost)


class TreeWatches:
    """`closed`: Troupe's own folders."""

    def __init__(self, closed: Collection[Path] = ()) -> None:
        self._closed = identities(closed)
        self._threads = trio.CapacityLimiter(THREADS)
        self._lookers = 0

    async def watch(self, path: str, told: News) -> None:
        """Tells paths, and whether anything may have changed, until it is cancelled; returns when the folder is gone.
        Raises WatchTrouble."""
        try:
            inotify = Inotify()
        except OSError as error:
            raise WatchTrouble(no_inotify(error)) from None
        tree = TreeWatch(Rooted(Path(path), firm=True, closed=self._closed), inotify)
        try:
            await self._do(tree.begin, path)
            told(WatchNews(lost=True))
            opened = OpenFiles()
            settle = SETTLE_SECONDS
            while True:
                found = Gathered()
                with trio.move_on_at(opened.due):
                    found = await gathered(inotify, settle=settle)
                settle = FLOOD_SECONDS if found.events > FLOOD else SETTLE_SECONDS
                if opened.held_back(found):
                    settle = OPEN_SETTLE_SECONDS
                    continue
                paths, lost = await self._do(lambda found=found: tree.taken(found), path)  # type: ignore[misc]
                if paths or lost:
                    told(WatchNews(tuple(paths), lost))
        except FolderGone:
            return
        finally:
            tree.close()

    async def look(self, path: str, told: News, warm: Callable[[], Collection[str]]) -> None:
        """The same by looking. `warm`: paths that each look is at. Raises WatchTrouble if the disk does not answer."""
        tree = TreeLook(Rooted(Path(path), firm=True, closed=self._closed))
        self._lookers += 1
        try:
            await self._do(tree.begin, path)
            told(WatchNews(lost=True))
            while True:
                await trio.sleep(max(LOOK_SECONDS, SHARE * tree.took) * max(1.0, self._lookers / LOOKERS))
                paths = await self._do(partial(tree.turn, warm()), path)
                if paths:
                    told(WatchNews(lost=True) if "" in paths else WatchNews(tuple(paths)))
        except FolderGone:
            return
        finally:
            self._lookers -= 1
            tree.close()

    async def _do(self, job: Callable[[], T], path: str) -> T:
        with trio.move_on_after(WATCH_SECONDS):
            return await trio.to_thread.run_sync(
                job, thread_name=f"watching {path}", abandon_on_cancel=True, limiter=self._threads
            )
        raise WatchTrouble(f"The disk of {path} does not answer in time.")


def too_many(watched: int) -> str:
    try:
        most = int(LIMIT.read_text())
    except (OSError, ValueError):
        most = 0
    now = f" ({most:,} now)" if most else ""
    more = max(524_288, 4 * most)
    return (
        f"The system watches no more than {watched:,} folders here: raise the limit fs.inotify.max_user_watches{now}, "
        f"such as with `sudo sysctl fs.inotify.max_user_watches={more}`. {LOOKS}"
    )


def no_inotify(error: OSError) -> str:
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return (
            "The system allows no more watches of this account: raise the limit fs.inotify.max_user_instances, such as "
            f"with `sudo sysctl fs.inotify.max_user_instances=1024`. {LOOKS}"
        )
    return f"Folders cannot be watched here ({error.strerror or error}), so this one is looked at every few seconds."
