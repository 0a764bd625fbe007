"""The files that say what a workspace's tests run, and whether they still say what they said when the turn began.

The policy may let tests run without asking. That was meant of the tests as they were. So if anybody has changed what
they run since (a tool of the agent, a command, the user), a user is asked.

Rules
  - The files are read when the turn begins, before its model is asked, and again when a test command is to be run.
  - A user who approves a command has seen what its files said when it was asked about: from then on that counts.
  - A file counts as changed if nobody can tell: in a turn that goes on after the end of a server, on a disk that does
    not answer, for a file that may not be read.
  - Files that git ignores, and files beyond the nearest MOST_LISTED, are looked at only in the workspace's root.
"""

from collections.abc import Collection

import trio

from actors.agent.given import FileRefused, Tree
from codec.agent.policy import TELLING_NAMES, FilesTold, differing

LOOKING_SECONDS = 5.0
MOST_LISTED, MOST_READ = 20_000, 300
HIDDEN = (".cargo/config.toml",)
"""In folders that are not listed."""


class TellingFiles:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._seen: FilesTold = {}
        self._known: set[str] = set()
        """The names of files that were looked at when the turn began, or when somebody approved."""

    async def begin(self) -> None:
        """The turn begins."""
        now = await self.now()
        if now is not None:
            self._seen, self._known = now, set(TELLING_NAMES)

    async def now(self) -> FilesTold | None:
        """None: it cannot be told."""
        try:
            with trio.move_on_after(LOOKING_SECONDS):
                near = [entry.path for entry in await self._tree.entries("")]
                deep = [entry.path for entry in await self._tree.entries("", most=MOST_LISTED, deep=True)]
                paths = {path for path in (*near, *deep) if path.rpartition("/")[2] in TELLING_NAMES}
                if len(paths) <= MOST_READ:
                    return {path: await self._digest(path) for path in sorted(paths.union(HIDDEN))}
        except FileRefused:
            return None
        return None

    async def _digest(self, path: str) -> str | None:
        try:
            return (await self._tree.read(path, most=1)).digest
        except FileRefused:
            return "" if path in HIDDEN else None

    def changed(
        self, names: Collection[str], now: FilesTold | None, modified: Collection[str]
    ) -> Collection[str] | None:
        """Those of the files with these names that do not say any more what they said. None: it cannot be told.
        `modified`: by the agent's tools, also where nobody looks."""
        if now is None or not self._known.issuperset(names):
            return None
        found = differing(self._seen, now) | {path for path in modified if path not in self._seen and path not in now}
        return {path for path in found if path.rpartition("/")[2] in names}

    def approved(self, names: Collection[str], then: FilesTold | None) -> None:
        """Somebody has approved a command of which files with these names say what it runs, as they were `then`."""
        if then is not None:
            others = {path: told for path, told in self._seen.items() if path.rpartition("/")[2] not in names}
            self._seen = others | {path: told for path, told in then.items() if path.rpartition("/")[2] in names}
            self._known |= set(names)
