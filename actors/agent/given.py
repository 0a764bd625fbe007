"""The interfaces that the agent needs from outside. transports/agent/ implements them, and so do the tests. What they
say of files is in codec/agent/files.py, which the disk shares.

`Tree` is a workspace's folder, below which alone anything is read. `Providers` are the servers of models.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from codec.agent.files import FileHit, FileLine, FileRefused, FileText, TreeEntry
from codec.agent.models import Delta, ModelFact, ModelRequest, ModelTrouble

__all__ = ["FileHit", "FileLine", "FileRefused", "FileText", "ModelTrouble", "Providers", "Tree", "TreeEntry", "Trees"]


class Tree(Protocol):
    """Paths are relative to the root, with /. A path that leads out of it (.., absolute, a link) is refused, and so are
    devices, FIFOs and whatever `.git` holds. Disk work happens in threads, and can be given up."""

    async def read(self, path: str, *, first: int = 1, last: int | None = None, most: int = 200_000) -> FileText:
        """These lines of a text file, and at most so many characters. Raises FileRefused."""

    async def entries(self, folder: str = "", *, most: int = 1000, deep: bool = False) -> Sequence[TreeEntry]:
        """What is in the folder, folders first; `deep`: files below it at any depth. Ignored files (git's rules) and
        hidden folders are left out. Raises FileRefused."""

    async def search(self, words: Sequence[str], *, most: int = 50) -> Sequence[FileHit]:
        """Files in which these words occur, best first; case does not matter, and parts of identifiers count. A plain
        scan, with a limit on time and bytes."""


class Trees(Protocol):
    def tree(self, path: str) -> Tree: ...

    async def check(self, path: str) -> str:
        """The folder's real path. Raises FileRefused: it is not there, is no folder, or cannot be read."""


class Providers(Protocol):
    def stream(self, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[Delta]]:
        """The model's answer as it comes. Either the block's begin or the iterator raises ModelTrouble. At the end of
        the block, also by a cancellation, the connection is closed at once and nothing of the answer is read any
        more."""

    async def listed(self) -> tuple[Sequence[ModelFact], Sequence[str]]:
        """What the configured servers have now, and a sentence for each that did not answer in a few seconds."""

    async def check(self, request: ModelRequest) -> None:
        """Raises ModelTrouble if that model's server cannot be reached or does not have it."""
