"""What has changed in whole trees of folders: in which folder, under which names.

    tree = TreeFeed(Inotify())
    await trio.to_thread.run_sync(tree.watch, root)
    while True:
        changes = await tree.changes()

Rules
  - A new folder is watched first and listed then, and all that it holds is told as changed, because it may have come
    before the watch. So a reader that looks at everything reported misses nothing.
  - A folder that is moved or deleted takes with it what is below it: that is not told name by name.
  - Links are not followed.
  - If events were lost, `lost` says so: everything is watched anew, and whoever is told looks at everything.
  - The number of watched folders is limited. `why_not` says so if there are more, or the system allows no more.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import trio
from msgspec import Struct, field

from codec.words import counted
from transports.folder.feed import EventPace, Gathered, gathered
from transports.folder.inotify import ARRIVALS, NO_LINKS, Inotify

MOST_FOLDERS = 50_000


class TreeChanges(Struct):
    names: dict[Path, set[str]] = field(default_factory=dict)
    """By the folder that they are in."""
    anew: set[Path] = field(default_factory=set)
    """Folders that may be others than before: what was known of them is to be forgotten. What they hold is in
    `names`."""
    lost: bool = False

    def add(self, folder: Path, names: Iterable[str]) -> None:
        self.names.setdefault(folder, set()).update(names)


class _Branch(Struct):
    path: Path
    number: int
    below: dict[str, "_Branch"] = field(default_factory=dict)


class TreeFeed:
    """Closes nothing: whoever made the inotify closes it."""

    def __init__(self, inotify: Inotify, *, most: int = MOST_FOLDERS) -> None:
        self.why_not: str | None = None
        """Why not everything is watched."""
        self._inotify = inotify
        self._most = most
        self._roots: dict[Path, _Branch | None] = {}
        self._branches: dict[int, _Branch] = {}
        self._pace, self._settle = EventPace(), 0.0

    @property
    def folders(self) -> int:
        return len(self._branches)

    def watch(self, root: Path) -> None:
        """Blocks."""
        self._drop(self._roots.get(root))
        self._roots[root] = self._grow(root, TreeChanges())

    async def changes(self) -> TreeChanges:
        """Waits until there are any. If it is cancelled, what it would have told is lost, and so it is called by a task
        that does nothing else."""
        while True:
            found = await gathered(self._inotify, settle=self._settle)
            self._settle = self._pace.settle(found.events)
            changes = TreeChanges(lost=found.lost)
            for number, names in found.names.items():
                if (branch := self._branches.get(number)) is not None:
                    changes.add(branch.path, names)
            if found.lost or not found.replaced.isdisjoint(self._branches):
                await trio.to_thread.run_sync(self._follow, found, changes)
            if changes.lost or changes.names:
                return changes

    # -- in a thread

    def _follow(self, found: Gathered, changes: TreeChanges) -> None:
        """Folders have come or gone."""
        if found.lost:
            for root in self._roots:
                self.watch(root)
            return
        for root, branch in list(self._roots.items()):
            if branch is not None and branch.number in found.itself:
                self.watch(root)
                changes.lost = True
        for number in found.folders:
            branch = self._branches.get(number)
            for name in found.names.get(number, ()) if branch is not None else ():
                assert branch is not None
                self._drop(branch.below.pop(name, None))
                if (grown := self._grow(branch.path / name, changes)) is not None:
                    branch.below[name] = grown

    def _grow(self, top: Path, changes: TreeChanges) -> _Branch | None:
        """Watches it and all below. None: it is no folder, or there is no room for it."""
        first = self._watched(top)
        waiting = [first] if first is not None else []
        while waiting:
            branch = waiting.pop()
            names, folders = _listed(branch.path)
            changes.anew.add(branch.path)
            changes.add(branch.path, names)
            for name in folders:
                if (below := self._watched(branch.path / name)) is not None:
                    branch.below[name] = below
                    waiting.append(below)
        return first

    def _watched(self, folder: Path) -> _Branch | None:
        if len(self._branches) >= self._most:
            self.why_not = f"only {counted(self._most, 'folder')} are watched"
            return None
        try:
            number = self._inotify.add(folder, ARRIVALS | NO_LINKS)
        except (FileNotFoundError, NotADirectoryError):
            return None  # what is above it tells of it when it comes
        except OSError as error:
            self.why_not = error.strerror or str(error)
            return None
        if (before := self._branches.get(number)) is not None:
            # Moved here from elsewhere in the tree, where it has not been missed yet. What was below it may have left.
            for below in before.below.values():
                self._drop(below)
        branch = self._branches[number] = _Branch(folder, number)
        return branch

    def _drop(self, branch: _Branch | None) -> None:
        if branch is not None and self._branches.get(branch.number) is branch:
            for each in _all_of(branch):
                if self._branches.get(each.number) is each:
                    del self._branches[each.number]
                    self._inotify.remove(each.number)


def _all_of(branch: _Branch) -> Iterator[_Branch]:
    waiting = [branch]
    while waiting:
        each = waiting.pop()
        waiting.extend(each.below.values())
        yield each


def _listed(folder: Path) -> tuple[list[str], list[str]]:
    """All names in it, and those of folders."""
    names, folders = [], []
    try:
        with os.scandir(folder) as listed:
            for one in listed:
                names.append(one.name)
                if one.is_dir(follow_symlinks=False):
                    folders.append(one.name)
    except OSError:  # it has gone, or may not be read
        return names, folders
    return names, folders
