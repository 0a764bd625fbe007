"""A workspace's tree as its policy lets the agent see it.

A path that the policy blocks, or does not allow to be read, is refused, and is in no list and in no search's result.
Only the user changes that, over HTTP: nothing that a file or a model says changes it.
"""

from collections.abc import Sequence

from actors.agent.given import FileHit, FileRefused, FileText, Tree, TreeEntry
from codec.agent.globs import matches
from codec.agent.workspaces import Policy


class ReadableTree:
    """The Tree of given.py, within the limits of a policy."""

    def __init__(self, tree: Tree, policy: Policy) -> None:
        self._tree = tree
        self._policy = policy

    async def read(self, path: str, *, first: int = 1, last: int | None = None, most: int = 200_000) -> FileText:
        self._check(path)
        found = await self._tree.read(path, first=first, last=last, most=most)
        self._check(found.path)  # a path can be written in more than one way
        return found

    async def entries(self, folder: str = "", *, most: int = 1000, deep: bool = False) -> Sequence[TreeEntry]:
        if folder.strip("/") and matches(self._policy.blocked_globs, folder):
            raise FileRefused(_refused(folder))
        found = await self._tree.entries(folder, most=most, deep=deep)
        return [each for each in found if self._is_listed(each.path)]

    async def search(self, words: Sequence[str], *, most: int = 50) -> Sequence[FileHit]:
        return [hit for hit in await self._tree.search(words, most=most) if self._is_readable(hit.path)]

    def _is_readable(self, path: str) -> bool:
        return is_readable(self._policy, path)

    def _is_listed(self, path: str) -> bool:
        """A folder is listed unless it is blocked: something in it may be readable."""
        return not matches(self._policy.blocked_globs, path) if path.endswith("/") else self._is_readable(path)

    def _check(self, path: str) -> None:
        if not self._is_readable(path):
            raise FileRefused(_refused(path))


def is_readable(policy: Policy, path: str) -> bool:
    return matches(policy.allowed_read_globs, path) and not matches(policy.blocked_globs, path)


def _refused(path: str) -> str:
    return f"The policy of this workspace does not let the agent read {path}."
