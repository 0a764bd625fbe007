"""Walks through a workspace's folder, less what git ignores.

Rules
  - Folders that are near come first, and names are in order.
  - Hidden folders, links, and whatever is no plain file are left out. So are names that are not written in UTF-8, or
    have a key in them (key_shapes.py): a path is told wherever its file is. A folder that cannot be read is left out.
    Only if the folder that was asked for cannot be read, that is an error.
  - The caller says when it is late, and how many folders are enough. `cut` says whether such a limit ended the walk.
  - A caller that asks for an ignored folder means it, so there git's rules do not count.
"""

import os
import stat
import threading
from collections import deque
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import NamedTuple

from codec.agent.ignores import IgnoreRules, TooLate, read_rules
from codec.agent.key_shapes import RUN, holds_key
from codec.agent.tree_paths import DEEPEST, is_closed
from transports.folder.rooted import FileEntry, Rooted

MOST_FOLDERS = 100_000
MOST_IGNORES = 256 << 10
"""Bytes of a .gitignore that are read."""
RULES = ".gitignore"
PART = 500
"""Files of one folder that are handed on together."""
_name_of = attrgetter("name")

GivenUp = threading.Event
Late = Callable[[], bool]
Rules = tuple[tuple[int, IgnoreRules], ...]
"""The deepest first, each with the depth of its folder."""


class WalkedFile(NamedTuple):
    name: str
    entry: FileEntry


class SeenFolder(NamedTuple):
    folders: list[str]
    files: list[WalkedFile]
    rules: Rules
    """For what is below."""


class _Folder(NamedTuple):
    names: tuple[str, ...]
    rules: Rules


class TreeWalk:
    def __init__(
        self, root: Rooted, names: tuple[str, ...], late: Late, *, most: int = MOST_FOLDERS, rules: Rules | None = None
    ) -> None:
        """`rules`: those that hold in the folder, without its own, if they are known."""
        self.cut = False
        """Whether some folders have not been looked at."""
        self.unreadable: list[str] = []
        self._root = root
        self._late = late
        self._most = most
        self._names = names
        self._rules = rules

    def folders(self) -> Iterator[tuple[str, int, list[WalkedFile]]]:
        """Of each its path with a / at the end, its descriptor until the next, and its files."""
        return self._walked(whole=True)

    def parts(self) -> Iterator[tuple[str, int, list[WalkedFile]]]:
        """The same, but a folder comes in parts, each as soon as it has been looked at."""
        return self._walked(whole=False)

    def _walked(self, *, whole: bool) -> Iterator[tuple[str, int, list[WalkedFile]]]:
        rules = (rules_in(self._root, self._names, self._late) or ()) if self._rules is None else self._rules
        waiting = deque([_Folder(self._names, rules)])
        looked = 0
        while waiting:
            if looked >= self._most or self._late():
                self.cut = True
                return
            folder = waiting.popleft()
            looked += 1
            above = "".join(f"{name}/" for name in folder.names)
            try:
                with self._root.folder(folder.names) as here:
                    look = _Look(self._root, here, folder, self._late)
                    for files in [look.files()] if whole else look.parts():
                        yield above, here, files
                    self.cut = self.cut or look.cut
                    if len(folder.names) < DEEPEST:
                        waiting.extend(_Folder((*folder.names, name), look.rules) for name in look.folders)
            except FileNotFoundError:  # it has just gone
                if looked == 1:
                    raise
            except OSError:
                if looked == 1:
                    raise
                self.unreadable.append(above)


def looked_into(root: Rooted, names: tuple[str, ...], late: Late) -> tuple[list[str], list[WalkedFile]]:
    """The folders and the files in a folder."""
    rules = rules_in(root, names, late) or ()
    with root.folder(names) as here:
        seen = seen_in(root, here, names, rules, late)
    return seen.folders, seen.files


def seen_in(root: Rooted, here: int, names: tuple[str, ...], rules: Rules, late: Late) -> SeenFolder:
    """What is in an opened folder. `rules`: those that hold in it, without its own."""
    look = _Look(root, here, _Folder(names, rules), late)
    files = look.files()
    return SeenFolder(look.folders, files, look.rules)


class _Look:
    """At one folder. Its names are listed at once, which takes little; the rest is done as far as somebody asks."""

    def __init__(self, root: Rooted, here: int, folder: _Folder, late: Late) -> None:
        self.rules = folder.rules
        """For what is below."""
        if (own := _own_rules(root, here)) is not None:
            self.rules = ((len(folder.names), own), *self.rules)
        self.folders: list[str] = []
        self.cut = False
        """Whether there was no time for all."""
        self._here = here
        self._names = folder.names
        self._late = late

    def files(self) -> list[WalkedFile]:
        return [file for part in self.parts() for file in part]

    def parts(self) -> Iterator[list[WalkedFile]]:
        """Its files, in order."""
        files: list[WalkedFile] = []
        for one in self._listed():
            if self._late():
                self.cut = True
                break
            name = one.name
            try:
                if one.is_dir(follow_symlinks=False):
                    if not name.startswith(".") and self._is_seen(name, is_folder=True):
                        self.folders.append(name)
                elif one.is_file(follow_symlinks=False) and self._is_seen(name, is_folder=False):
                    files.append(WalkedFile(name, FileEntry.of(one.stat(follow_symlinks=False))))
            except OSError:  # it has just gone
                continue
            except TooLate:
                self.cut = True
                break
            if len(files) == PART:
                yield files
                files = []
        yield files

    def _listed(self) -> list[os.DirEntry[str]]:
        found: list[os.DirEntry[str]] = []
        with os.scandir(self._here) as listed:
            for one in listed:
                if len(found) % PART == 0 and self._late():
                    self.cut = True
                    break
                found.append(one)
        return sorted(found, key=_name_of)

    def _is_seen(self, name: str, *, is_folder: bool) -> bool:
        return is_seen(self._names, self.rules, name, self._late, is_folder=is_folder)


def is_seen(above: tuple[str, ...], rules: Rules, name: str, late: Late, *, is_folder: bool) -> bool:
    """Whether it is not ignored, if the folder that it is in is not. Raises TooLate: a hostile repository may have
    rules without end."""
    # A name that is not written in UTF-8 is not printable.
    if "\\" in name or not name.isprintable() or ((name[0] in ".gG" or not name.isascii()) and is_closed(name)):
        return False
    if len(name) >= RUN and holds_key(name):
        return False
    names = (*above, name)
    for depth, each in rules:
        verdict = each.verdict(names[depth:], folder=is_folder, late=late)
        if verdict is not None:
            return not verdict
    return True


def rules_in(root: Rooted, names: tuple[str, ...], late: Late) -> Rules | None:
    """The rules that hold in this folder, without its own. None if it is ignored itself, or if there is no time."""
    rules: Rules = ()
    for depth in range(len(names)):
        with root.folder(names[:depth]) as here:
            rules = with_own(root, here, depth, rules)
        try:
            seen = is_seen(names[:depth], rules, names[depth], late, is_folder=True)
        except TooLate:
            return None
        if names[depth].startswith(".") or not seen:
            return None
    return rules


def with_own(root: Rooted, here: int, depth: int, rules: Rules) -> Rules:
    own = _own_rules(root, here)
    return rules if own is None else ((depth, own), *rules)


def _own_rules(root: Rooted, here: int) -> IgnoreRules | None:
    try:
        status = os.stat(RULES, dir_fd=here, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            return None
        with open(root.open_in(here, (RULES,)), "rb") as file:
            text = file.read(MOST_IGNORES)
    except OSError:
        return None
    return read_rules(text.decode(errors="surrogateescape"))
