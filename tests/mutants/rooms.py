"""Which sources belong to a room, which tests to it, and which of those are nearest to one file: by the imports that
lead there."""

import ast
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "kernel": (("actors/kernel",), ("tests/kernel",)),
    "codec": (("codec",), ("tests/sidekick", "tests/judge", "tests/console", "tests/program", "tests/ipc")),
    "console": (("actors/console",), ("tests/console",)),
    "agent": (("actors/agent",), ("tests/agent",)),
    "agent-codec": (("codec/agent",), ("tests/agent/codec",)),
    "agent-transports": (("transports/agent",), ("tests/transports/agent",)),
    "policy": (("codec/agent/policy",), ("tests/agent/codec/policy",)),
    "patches": (("codec/agent/patches",), ("tests/agent/codec/patches",)),
    "index": (
        ("codec/agent/index", "actors/agent/index", "transports/agent/index"),
        ("tests/agent/codec/index", "tests/agent/index", "tests/transports/agent/index"),
    ),
    "ipc": (("actors/ipc",), ("tests/ipc", "tests/transports/ipc")),
    "judge": (("actors/judge",), ("tests/judge",)),
    "store": (("actors/store",), ("tests/store",)),
    "transports": (("transports",), ("tests/transports",)),
    "program": (("program",), ("tests/program",)),
    "sidekick": (("actors/sidekick",), ("tests/sidekick", "tests/transports/sidekick")),
    "troupe": (("troupe",), ("tests/troupe", "tests/program/commands")),
}
"""Where its sources are, and where its tests are. A folder inside another room's folder is no part of that room. What
`systems/` wires together is tested by whole processes (tests/house), which no mutant reaches."""

RECORDINGS = ("tests/program/commands/test_recording.py", "tests/program/commands/test_cut_recording.py")
ALSO = {
    "program/commands/record.py": RECORDINGS,
    "program/commands/replay.py": RECORDINGS,
    "program/reel.py": RECORDINGS,
}
"""Tests that stand in another room, and start what they test as a command."""
NEVER = ("tests/web/", "tests/mutants/", "tests/house/", "tests/bench/")
NEAR = 2
"""Imports away: the file itself, or the package that gives it on."""
MOST_NEAR = 16


def sources(root: Path, room: str) -> list[str]:
    found = (path for folder in ROOMS[room][0] for path in (root / folder).rglob("*.py"))
    files = (str(path.relative_to(root)) for path in found)
    return sorted(file for file in files if room_of(file) == room)


def room_of(file: str) -> str:
    return next(room for room, (folders, _) in ROOMS.items() if folder_of(file) in folders)


def folder_of(file: str) -> str:
    """Of a room: the innermost that holds the file."""
    folders = (folder for folders, _ in ROOMS.values() for folder in folders if file.startswith(f"{folder}/"))
    return max(folders, key=len)


class Imports:
    """Who imports whom, of everything in the tree."""

    def __init__(self, root: Path) -> None:
        rooms = [each for each in root.iterdir() if not each.name.startswith(".")]  # nor what tests have fetched there
        files = [path for room in rooms for path in ([room] if room.suffix == ".py" else room.rglob("*.py"))]
        files = [path for path in files if "node_modules" not in path.parts]
        self._known = {_module(str(path.relative_to(root))): str(path.relative_to(root)) for path in files}
        self._importers: defaultdict[str, set[str]] = defaultdict(set)
        for path in files:
            file = str(path.relative_to(root))
            for name in _imported(ast.parse(path.read_bytes())):
                if name in self._known:
                    self._importers[self._known[name]].add(file)

    def distances(self, file: str) -> Mapping[str, int]:
        """How many imports away each file is that leads here."""
        found = {file: 0}
        waiting = deque([file])
        while waiting:
            at = waiting.popleft()
            for importer in sorted(self._importers[at]):
                if importer not in found:
                    found[importer] = found[at] + 1
                    waiting.append(importer)
        return found

    def all_tests(self) -> list[str]:
        """But those of browsers, of the house itself, and those of the whole tree that stand above the rooms."""
        found = (test for test in self._known.values() if Path(test).name.startswith("test_"))
        return sorted(test for test in found if len(Path(test).parts) > 2 and not test.startswith(NEVER))

    def tests(self, file: str) -> tuple[list[str], list[str]]:
        """The nearest, and the others of the room; files each."""
        folders = tuple(f"{folder}/" for folder in ROOMS[room_of(file)][1])
        away = self.distances(file)
        stem = Path(file).stem
        every = self.all_tests()

        def order(test: str) -> tuple[bool, int, bool, str]:
            return Path(test).stem != f"test_{stem}", away.get(test, 99), not test.startswith(folders), test

        own = [
            test
            for test in every
            if test.startswith(folders) or away.get(test, 99) <= NEAR or test in ALSO.get(file, ())
        ]
        own.sort(key=order)
        beside = _mirror(file, own)
        near = [
            test
            for test in own
            if away.get(test, 99) <= NEAR or Path(test).stem == f"test_{stem}" or (beside and test.startswith(beside))
        ][:MOST_NEAR]
        near += [test for test in ALSO.get(file, ()) if test not in near]
        near = near or own[:3]
        return near, [test for test in own if test not in near]


def _mirror(file: str, tests: Iterable[str]) -> str:
    """The folder of tests that stands where this file's folder stands in its room, or else one above; "" at the top."""
    top = ROOMS[room_of(file)][1][0]
    inner = Path(file).parent.relative_to(folder_of(file))
    while inner.parts:
        if any(test.startswith(f"{top}/{inner}/") for test in tests):
            return f"{top}/{inner}/"
        inner = inner.parent
    return ""


def _module(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield alias.name
            case ast.ImportFrom(module=str() as module, names=names, level=0):
                yield module
                for alias in names:
                    yield f"{module}.{alias.name}"
