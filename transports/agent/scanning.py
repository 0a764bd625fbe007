"""Lists a workspace's folder, less what git ignores (walking.py), and finds the files that hold certain words.

A walk is limited by time and by the number of folders, and a scan by bytes, too. At a limit, what was found until then
counts. Near files come first, so a limit leaves out those that are farthest away.
"""

import time
from collections.abc import Sequence

from codec.agent.file_texts import decoded, is_private_key, is_secret_name
from codec.agent.files import FileHit, TreeEntry
from codec.agent.looking_up import FileFind, looked_through, needles, ranked, sought
from codec.agent.withheld import without_blocks
from transports.agent.walking import GivenUp, Late, TreeWalk, looked_into
from transports.folder.rooted import Rooted

WALK_SECONDS = 5.0
SCAN_SECONDS = 4.0
SCAN_BYTES = 256 << 20
LARGEST_SCANNED = 1 << 20
HEAD = 8_000
"""Bytes in which a NUL says that a file is no text, as for git."""
MOST_FINDS = 4_000
WORK_SECONDS, REST_SECONDS = 0.001, 0.0001


def listed_folder(root: Rooted, names: tuple[str, ...], most: int, given_up: GivenUp) -> list[TreeEntry]:
    folders, files = looked_into(root, names, _late(given_up, time.monotonic() + WALK_SECONDS))
    above = "".join(f"{name}/" for name in names)
    entries = [TreeEntry(f"{above}{name}/") for name in folders]
    return [*entries, *(TreeEntry(f"{above}{each.name}", each.entry.size) for each in files)][:most]


def listed_files(root: Rooted, names: tuple[str, ...], most: int, given_up: GivenUp) -> list[TreeEntry]:
    found: list[TreeEntry] = []
    for above, _here, files in TreeWalk(root, names, _late(given_up, time.monotonic() + WALK_SECONDS)).folders():
        found += (TreeEntry(f"{above}{each.name}", each.entry.size) for each in files)
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
    late = _late(given_up, deadline)
    for above, here, files in TreeWalk(root, (), late).folders():
        for each in files:
            if left <= 0 or late():
                return ranked(found, looked, most)
            if each.entry.size > LARGEST_SCANNED or is_secret_name(each.name):
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
            find = None if text is None else looked_through(path, without_blocks(text[0], path), every, breath)
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


def _late(given_up: GivenUp, deadline: float) -> Late:
    return lambda: given_up.is_set() or time.monotonic() > deadline
