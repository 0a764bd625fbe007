"""Finds the files of a workspace, and those that differ from what the index has.

A file may have several names (hard links). Whoever writes to it by one of them changes it under all, and nobody tells
of the others. So if one of them is looked at, the index is asked for the rest.
"""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from codec.agent.ignores import TooLate
from codec.agent.index.telling import FOLDER_LEFT_OUT
from codec.words import counted
from transports.agent.index.database import IndexUnusable
from transports.agent.walking import RULES, Late, Rules, TreeWalk, WalkedFile, is_seen, rules_in, with_own
from transports.folder.rooted import FileEntry, Rooted

MOST_FILES = 200_000
MOST_TOLD = 5
"""Unreadable folders that are named."""
BATCH = 500
"""Files after which it is told what has been found."""
MOST_LETTERS = 1 << 18
"""Of the paths that are told at once: far less than a frame holds."""

Told = Callable[[Sequence[tuple[str, int]], int], None]
"""Called with files that are not as the index has them, with their sizes, and with the number of files so far."""


@dataclass
class ScanOutcome:
    """What came of a scan."""

    gone: list[str] = field(default_factory=list)
    seen: int = 0
    troubles: list[str] = field(default_factory=list)


def scan(
    root: Rooted, connection: sqlite3.Connection, paths: Sequence[str] | None, lively: Late, told: Told
) -> ScanOutcome:
    """Raises IndexUnusable if the root cannot be read."""
    look = ScanOutcome()
    unread: list[str] = []
    linked: set[int] = set()
    for scope, walked in _scopes_and_links(root, connection, paths, lively, unread, linked):
        known = _known(connection, scope)
        changed: list[tuple[str, int]] = []
        first, letters = look.seen, 0
        for above, files in walked:
            for name, entry in files:
                if look.seen >= MOST_FILES:
                    break
                look.seen += 1
                path = f"{above}{name}"
                if known.pop(path, None) != entry:
                    changed.append((path, entry.size))
                    letters += len(path)
                if look.seen - first >= BATCH or letters >= MOST_LETTERS:
                    told(changed, look.seen)
                    changed, first, letters = [], look.seen, 0
            if look.seen >= MOST_FILES:
                look.troubles.append(
                    f"The workspace has more than {MOST_FILES:,} files. Those that are farthest down are left out."
                )
                break
        told(changed, look.seen)
        look.gone += known
    look.troubles += [f"{path.rstrip('/')} cannot be read: {FOLDER_LEFT_OUT}" for path in unread[:MOST_TOLD]]
    if len(unread) > MOST_TOLD:
        look.troubles.append(f"{counted(len(unread) - MOST_TOLD, 'more folder')} cannot be read.")
    return look


def in_lots(paths: Sequence[str]) -> Iterator[list[str]]:
    """As many at once as may be told at once."""
    lot: list[str] = []
    letters = 0
    for path in paths:
        lot.append(path)
        letters += len(path)
        if len(lot) >= BATCH or letters >= MOST_LETTERS:
            yield lot
            lot, letters = [], 0
    if lot:
        yield lot


def _known(connection: sqlite3.Connection, scope: str | None) -> dict[str, FileEntry]:
    """What the index has of a file or folder."""
    rows = "SELECT path, size, mtime_ns, ctime_ns, inode FROM file"
    if not scope:
        found = connection.execute(rows)
    else:
        found = connection.execute(f"{rows} WHERE path = ? OR path > ? AND path < ?", (scope, f"{scope}/", f"{scope}0"))
    known = {path: FileEntry(*entry) for path, *entry in found}
    if not all(isinstance(path, str) for path in known):
        raise sqlite3.DatabaseError("a path that is no text")
    return known


Walked = Iterator[tuple[str, list[WalkedFile]]]


def _scopes_and_links(
    root: Rooted,
    connection: sqlite3.Connection,
    paths: Sequence[str] | None,
    late: Late,
    unread: list[str],
    linked: set[int],
) -> Iterator[tuple[str | None, Walked]]:
    """Each file or folder that is to be looked at, and the files that are there; then the other names of the files."""
    yield from _scopes(root, paths, late, unread, linked)
    if paths is not None and linked:
        asked = {_without_rules(path.strip("/")) for path in paths}
        others = connection.execute("SELECT path, inode FROM file").fetchall()
        rest = [path for path, number in others if number in linked and asked.isdisjoint(_and_above(path))]
        if rest:
            yield from _scopes(root, rest, late, unread, set())


def _and_above(path: str) -> Iterator[str]:
    """A path, and those of the folders that it is in."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _scopes(
    root: Rooted, paths: Sequence[str] | None, late: Late, unread: list[str], linked: set[int]
) -> Iterator[tuple[str | None, Walked]]:
    """`linked`: is told the numbers of files with several names, if they are asked for one by one."""
    if paths is not None and any(path.strip("/") in ("", ".", RULES) for path in paths):
        paths = None
    if paths is None:
        yield None, _below(TreeWalk(root, (), late), unread, is_root=True)
        return
    wanted = sorted({_without_rules(path.strip("/")) for path in paths})
    if "" in wanted:
        yield None, _below(TreeWalk(root, (), late), unread, is_root=True)
        return
    roads = _Roads(root, late)
    last = None
    for path in wanted:
        if last is not None and path.startswith(f"{last}/"):
            continue
        last = path
        yield path, _at(root, tuple(path.split("/")), roads, late, unread, linked)


def _without_rules(path: str) -> str:
    """What git ignores has changed: so anything in that folder may have."""
    return path.rpartition("/")[0] if path.rpartition("/")[2] == RULES else path


def _at(
    root: Rooted, names: tuple[str, ...], roads: "_Roads", late: Late, unread: list[str], linked: set[int]
) -> Walked:
    *above, name = names
    try:
        rules = roads.into(tuple(above))
        if rules is None:
            return
        with root.folder(above) as here:
            status = os.stat(name, dir_fd=here, follow_symlinks=False)
            is_folder = stat.S_ISDIR(status.st_mode)
            if not is_seen(tuple(above), rules, name, late, is_folder=is_folder):
                return
    except (OSError, TooLate):  # it has gone
        return
    if is_folder:
        if not name.startswith("."):
            yield from _below(TreeWalk(root, names, late, rules=rules), unread, is_root=False)
    elif stat.S_ISREG(status.st_mode):
        if status.st_nlink > 1:
            linked.add(status.st_ino)
        yield "".join(f"{each}/" for each in above), [WalkedFile(name, FileEntry.of(status))]


def _below(walk: TreeWalk, unread: list[str], *, is_root: bool) -> Walked:
    try:
        for above, _, files in walk.parts():
            yield above, files
    except OSError as error:
        if is_root:
            raise _unreadable(error) from error
    unread += walk.unreadable


def check_root(root: Rooted) -> None:
    """What is not found in a folder that is not there has not gone. Raises IndexUnusable."""
    try:
        with root.folder(()):
            pass
    except OSError as error:
        raise _unreadable(error) from error


def _unreadable(error: OSError) -> IndexUnusable:
    return IndexUnusable(f"The workspace's folder cannot be read: {_reason(error)}.")


def _reason(error: OSError) -> str:
    match error:
        case FileNotFoundError():
            return "it is not there"
        case NotADirectoryError():
            return "it is a file, or a link"
    return (error.strerror or "the disk fails").lower()


class _Roads:
    """The rules that hold in folders, with their own."""

    def __init__(self, root: Rooted, late: Late) -> None:
        self._root = root
        self._late = late
        self._rules: dict[tuple[str, ...], Rules | None] = {}

    def into(self, names: tuple[str, ...]) -> Rules | None:
        """None: nothing in there counts."""
        if names not in self._rules:
            rules = rules_in(self._root, names, self._late)
            if rules is not None:
                with self._root.folder(names) as here:
                    rules = with_own(self._root, here, len(names), rules)
            self._rules[names] = rules
        return self._rules[names]
