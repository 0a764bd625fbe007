"""The interfaces that the agent needs from outside. transports/agent/ implements them, and so do the tests. Their words
for files are in codec/agent/files.py, which the disk shares; those for commands are in codec/agent/commands.py.

`Tree` is a workspace's folder, below which alone anything is read. `Providers` are the servers of models.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from codec.agent.action_events import StreamName
from codec.agent.commands import CommandOrder, CommandOutcome
from codec.agent.files import (
    FileHit,
    FileImage,
    FileLine,
    FileModified,
    FileRefused,
    FileReplacement,
    FileText,
    FileUnknown,
    TreeEntry,
)
from codec.agent.models import Delta, ModelConfig, ModelFact, ModelRequest, ModelTrouble

__all__ = [
    "CommandOrder",
    "CommandOutcome",
    "Commands",
    "FileHit",
    "FileImage",
    "FileLine",
    "FileModified",
    "FileRefused",
    "FileReplacement",
    "FileText",
    "FileUnknown",
    "Hands",
    "ModelTrouble",
    "Providers",
    "Tree",
    "TreeEntry",
    "Trees",
]


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


class Hands(Protocol):
    """The same folder, to be changed. It refuses what Tree refuses, and also hard links and files of other accounts. A
    caller that is cancelled while its change runs is free at once, also if the disk hangs. What became of the change is
    known when such changes have `rested`. Until then nothing else is changed in this folder."""

    async def images(self, paths: Sequence[str]) -> Sequence[FileImage | FileRefused | None]:
        """The whole files, as they are now. None: there is none."""

    def refusals(self, contents: Sequence[tuple[str, bytes | None]]) -> Sequence[FileRefused | None]:
        """Of the paths with what would stand there: why one of them would be refused by `change`, whatever the files
        are now. The disk is not looked at."""

    async def change(
        self, changes: Sequence[FileReplacement], made: list[str] | None = None
    ) -> Sequence[str | FileRefused | None]:
        """Each file is replaced, made or deleted in one step, if it is still as it was; and is on the disk then. The
        answers: its new digest; None, if it is deleted; or why it was left as it is (FileModified: it has changed;
        FileUnknown: nobody knows yet whether it was).
        All new contents are on the disk before the first file is replaced, so a full disk changes nothing. Into `made`
        come the folders that were made for new files, and stay."""

    async def clear(self, folders: Sequence[str]) -> Sequence[str]:
        """Removes those of these folders that are empty, the deepest first; the answer: which."""

    async def rested(self) -> None:
        """Returns when nothing is under way any more of changes that were given up. That may take for ever."""


class Trees(Protocol):
    def tree(self, path: str) -> Tree: ...

    def hands(self, path: str) -> Hands: ...

    async def check(self, path: str) -> str:
        """The folder's real path. Raises FileRefused: it is not there, is no folder, or cannot be read."""


class Providers(Protocol):
    def stream(self, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[Delta]]:
        """The model's answer as it comes. Either the block's begin or the iterator raises ModelTrouble. At the end of
        the block, also by a cancellation, the connection is closed at once and nothing of the answer is read any
        more."""

    def expect(self, model: ModelConfig) -> None:
        """Raises ModelTrouble if the settings do not allow that this model's server is asked. So do `stream` and
        `check`."""

    async def listed(self) -> tuple[Sequence[ModelFact], Sequence[str]]:
        """What the configured servers have now, and a sentence for each that did not answer in a few seconds."""

    async def check(self, request: ModelRequest) -> None:
        """Raises ModelTrouble if that model's server cannot be reached or does not have it."""


class Commands(Protocol):
    async def run(
        self, order: CommandOrder, said: Callable[[StreamName, str], None], stop: "Stopping"
    ) -> CommandOutcome:
        """Runs it to its end, or until `stop`; then everything of it is ended, and `stopped` is the outcome. When this
        returns, nothing of the command is left: its keeper has said so. `said` gets its output as it comes."""

    def environment(self, order: CommandOrder) -> Mapping[str, str]:
        """The complete environment in which it would run."""

    async def confines(self) -> bool:
        """Whether a command can be kept off the network here. Found out once."""


class Stopping(Protocol):
    """trio.Event is one."""

    async def wait(self) -> object: ...
