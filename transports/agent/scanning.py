"""Walks through a workspace's folder: what is in it, less what git ignores, and which of it holds some words.

Rules
  - Folders that are near come first, and names are in order, so what a limit leaves out is what is farthest away.
  - Hidden folders, links, and whatever is no plain file are left out, and so are names that are not written in UTF-8. A
    folder that cannot be read is left out. Only if the one that was asked for cannot be read, that is an error.
  - A walk is limited by time and by the number of folders, and a scan by bytes, too. What was found until then counts.
  - Whoever asks for what is in an ignored folder means it, and there git's rules do not count.
"""

import os
import stat
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codec.agent.file_texts import decoded, is_private_key, is_secret_name
from codec.agent.files import FileHit, TreeEntry
from codec.agent.ignores import IgnoreRules, read_rules
from codec.agent.looking_up import FileFind, looked_through, needles, ranked, sought
from codec.agent.tree_paths import DEEPEST, is_closed
from codec.agent.withheld import without_private_keys
from transports.folder.rooted import Rooted

WALK_SECONDS = 5.0
SCAN_SECONDS = 4.0
MOST_FOLDERS = 100_000
MOST_IGNORES = 1 << 20
"""Bytes of a .gitignore that are read."""
SCAN_BYTES = 256 << 20
LARGEST_SCANNED = 1 << 20
HEAD = 8_000
"""Bytes in which a NUL says that a file is no text, as for git."""
MOST_FINDS = 4_000
WORK_SECONDS, REST_SECONDS = 0.001, 0.0001

GivenUp = threading.Event


class _Plain(NamedTuple):
    name: str
    size: int


class _Folder(NamedTuple):
    names: tuple[str, ...]
    rules: tuple[tuple[int, IgnoreRules], ...]
    """The deepest first, each with the depth of its folder."""


def listed_folder(root: Rooted, names: tuple[str, ...], most: int, given_up: GivenUp) -> list[TreeEntry]:
    folder = _Folder(names, _rules_above(root, names))
    with root.folder(names) as here:
        folders, files, _ = _look(root, here, folder, given_up, time.monotonic() + WALK_SECONDS)
    above = "".join(f"{name}/" for name in names)
    entries = [TreeEntry(f"{above}{name}/") for name in folders]
    return [*entries, *(TreeEntry(f"{above}{each.name}", each.size) for each in files)][:most]


def listed_files(root: Rooted, names: tuple[str, ...], most: int, given_up: GivenUp) -> list[TreeEntry]:
    found: list[TreeEntry] = []
    for above, _here, files in _walked(root, names, given_up, time.monotonic() + WALK_SECONDS):
        found += (TreeEntry(f"{above}{each.name}", each.size) for each in files)
        if len(found) >= most:
            break
    return found[:most]


def scanned(root: Rooted, words: Sequence[str], most: int, given_up: GivenUp) -> list[FileHit]:
    every = sought(words)
    if not every:
        return []
    wanted = needles(every)
    plain = [needle.encode() for needle in wanted] if all(map(str.isascii, wanted)) else None
    deadline = time.monotonic() + SCAN_SECONDS
    breath = Breath()
    found: list[FileFind] = []
    left, looked = SCAN_BYTES, 0
    for above, here, files in _walked(root, (), given_up, deadline):
        for each in files:
            if left <= 0 or given_up.is_set() or time.monotonic() > deadline:
                return ranked(found, looked, most)
            if each.size > LARGEST_SCANNED or is_secret_name(each.name):
                continue
            looked += 1
            breath()
            path = f"{above}{each.name}"
            data = _read(root, here, each.name)
            left -= len(data)
            if plain is not None and not _holds(data, path, plain):
                continue
            if b"\0" in data[:HEAD] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
                continue
            text = None if is_private_key(each.name, data) else decoded(data)
            find = None if text is None else looked_through(path, without_private_keys(text[0]), every, breath)
            if find is not None:
                found.append(find)
                if len(found) > 2 * MOST_FINDS:
                    found = sorted(found, key=lambda find: -sum(find.by_word))[:MOST_FINDS]
    return ranked(found, looked, most)


class Breath:
    """Lets others run: while a thread computes, the server's loop waits up to 5 ms for each turn."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self) -> None:
        if time.monotonic() - self._last > WORK_SECONDS:
            time.sleep(REST_SECONDS)
            self._last = time.monotonic()


def _holds(data: bytes, path: str, wanted: Sequence[bytes]) -> bool:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True  # it may: its letters are two bytes wide
    lowered, low_path = data.lower(), path.lower().encode()
    return any(each in lowered or each in low_path for each in wanted)


def _read(root: Rooted, here: int, name: str) -> bytes:
    """Nothing, if it has become something else meanwhile, or may not be read."""
    try:
        with open(root.open_in(here, (name,)), "rb") as file:
            return file.read(LARGEST_SCANNED)
    except OSError:
        return b""


# -- the walk


def _walked(
    root: Rooted, names: tuple[str, ...], given_up: GivenUp, deadline: float
) -> Iterator[tuple[str, int, list[_Plain]]]:
    """Of each folder its path with a / at the end, its descriptor until the next, and its files."""
    waiting = deque([_Folder(names, _rules_above(root, names))])
    looked = 0
    while waiting and looked < MOST_FOLDERS and not given_up.is_set() and time.monotonic() < deadline:
        folder = waiting.popleft()
        looked += 1
        try:
            with root.folder(folder.names) as here:
                folders, files, rules = _look(root, here, folder, given_up, deadline)
                if len(folder.names) < DEEPEST:
                    waiting.extend(_Folder((*folder.names, name), rules) for name in folders)
                yield "".join(f"{name}/" for name in folder.names), here, files
        except OSError:
            if looked == 1:
                raise


def _look(
    root: Rooted, here: int, folder: _Folder, given_up: GivenUp, deadline: float
) -> tuple[list[str], list[_Plain], tuple[tuple[int, IgnoreRules], ...]]:
    """Its folders, its files, and the rules for what is below."""
    rules = folder.rules
    if (own := _own_rules(root, here)) is not None:
        rules = ((len(folder.names), own), *rules)
    folders: list[str] = []
    files: list[_Plain] = []
    with os.scandir(here) as listed:
        for count, one in enumerate(listed):
            if count % 1000 == 999 and (given_up.is_set() or time.monotonic() > deadline):
                break
            name = one.name
            try:
                if one.is_dir(follow_symlinks=False):
                    if not name.startswith(".") and _is_seen(folder, rules, name, is_folder=True):
                        folders.append(name)
                elif one.is_file(follow_symlinks=False) and _is_seen(folder, rules, name, is_folder=False):
                    files.append(_Plain(name, one.stat(follow_symlinks=False).st_size))
            except OSError:  # it has just gone
                continue
    return sorted(folders), sorted(files), rules


def _is_seen(folder: _Folder, rules: Sequence[tuple[int, IgnoreRules]], name: str, *, is_folder: bool) -> bool:
    if not name.isascii() and not _is_utf8(name):
        return False
    if "\\" in name or not name.isprintable() or ((name[0] in ".gG" or not name.isascii()) and is_closed(name)):
        return False
    names = (*folder.names, name)
    for depth, each in rules:
        verdict = each.verdict(names[depth:], folder=is_folder)
        if verdict is not None:
            return not verdict
    return True


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _rules_above(root: Rooted, names: tuple[str, ...]) -> tuple[tuple[int, IgnoreRules], ...]:
    """The rules that hold in this folder, without its own; none if it is ignored itself."""
    rules: tuple[tuple[int, IgnoreRules], ...] = ()
    for depth in range(len(names)):
        with root.folder(names[:depth]) as here:
            if (own := _own_rules(root, here)) is not None:
                rules = ((depth, own), *rules)
        if names[depth].startswith(".") or not _is_seen(
            _Folder(names[:depth], ()), rules, names[depth], is_folder=True
        ):
            return ()
    return rules


def _own_rules(root: Rooted, here: int) -> IgnoreRules | None:
    try:
        status = os.stat(".gitignore", dir_fd=here, follow_symlinks=False)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    text = _read(root, here, ".gitignore")[:MOST_IGNORES]
    return read_rules(text.decode(errors="surrogateescape"))
