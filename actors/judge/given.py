"""What the judge's actors are given to work with, by the transports or by a test."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from actors.kernel import ActorRef, AnyRef
from codec.programs import Bounds, Outcome

T = TypeVar("T")


class Text(Protocol):
    """One file of a case."""

    @property
    def size(self) -> int: ...
    @property
    def digest(self) -> bytes:
        """SHA-256 of all of it."""

    @property
    def head(self) -> bytes: ...


class Found(Protocol):
    @property
    def cases(self) -> Mapping[int, tuple[Text, Text]]:
        """Input and answer by index, in order."""

    @property
    def alone(self) -> Mapping[int, Text]:
        """Answers without an input."""

    @property
    def highest(self) -> int:
        """Of all indices in use; 0 if there is none."""

    @property
    def main(self) -> bytes | None:
        """The solution's digest; None if there is none."""

    @property
    def has_main(self) -> bool: ...
    @property
    def exists(self) -> bool:
        """Whether there is such a folder at all."""


Names = Sequence[str]


class Folders(Protocol):
    """The tasks' folders. Everything may raise OSError."""

    @property
    def root(self) -> Path: ...
    @property
    def tests_dir(self) -> str: ...
    def path(self, task: Names, *names: str) -> Path: ...
    def case_paths(self, task: Names, index: int) -> tuple[Path, Path]: ...
    def find(self, task: Names) -> Awaitable[Found]: ...
    def tasks(self) -> Awaitable[Sequence[tuple[str, str]]]:
        """Those that are there, as folders with tests in them."""

    def present(self, tasks: Sequence[Names]) -> Awaitable[Sequence[bool]]:
        """Which of these folders are there. One of which that cannot be told is."""

    def watched(self, task: Names) -> Sequence[tuple[Path, frozenset[str] | None]]:
        """The folders in which an edit of this task shows, and the names of what matters in each; None: all."""

    def add(self, task: Names, cases: Sequence[tuple[int, bytes, bytes | None]]) -> Awaitable[None]:
        """New cases, on the disk when this is over, and main.py if there is none. An answer that is None is there."""

    def read(self, task: Names, index: int, kind: str) -> Awaitable[bytes]:
        """All of a case's file; `kind` is in or out."""

    def private(self, task: Names, index: int, input_name: str | None) -> "AbstractAsyncContextManager[PrivateFolder]":
        """A folder for one run, with the case's input in it under this name."""


class Watching(Protocol):
    """Tells of what changes in folders, where that can be had. Nothing here waits."""

    def watch(self, who: ActorRef[T], places: Sequence[tuple[Path, frozenset[str] | None]], news: T) -> None:
        """From now on tell `who` this news, once, when something has changed."""

    def looked(self, who: AnyRef) -> None:
        """It has looked since, and may be told again."""

    def unwatch(self, who: AnyRef) -> None: ...


class PrivateFolder(Protocol):
    @property
    def path(self) -> Path: ...
    def read(self, name: str, most: int) -> Awaitable[bytes | None]:
        """What the program wrote to this file; None if there is none."""


class Turn(Protocol):
    def come(self, begin: Callable[[], None]) -> None:
        """`begin`, which does not raise, is called as soon as the program may start: now, or later."""

    def over(self) -> None:
        """It has ended, or will not start."""


class Machine(Protocol):
    """Runs programs."""

    def resolve(self, command: str) -> Awaitable[Path | str]:
        """The interpreter that a command stands for; or why there is none that works, in words."""

    def room(self) -> AbstractAsyncContextManager[object]:
        """Room for one program, to be had before a case is taken: a case that waits for room would hold up those after
        it, which have theirs and wait for it."""

    def run(
        self, program: Sequence[str], *, cwd: Path, stdin: Path | None, bounds: Bounds, turn: Turn | None
    ) -> Awaitable[Outcome | None]:
        """No `stdin`: there is nothing to read. None: what ran it was ended, by this program or another; it is to be
        run again without a turn, which is alone, and has a result. Raises a KernelError in words for a program that
        cannot be run."""

    def elsewhere(self, module: str, given: Sequence[bytes], bounds: Bounds) -> Awaitable[Outcome]:
        """Run a module of ours in a process of its own, with this as its input. Raises a KernelError in words."""

    def apart(self, call: Callable[..., T], *args: Any) -> Awaitable[T]:
        """Call this where it may take a while without holding up others."""


class Line(Protocol):
    """The way to one page. Nothing here waits."""

    def frame(self, text: bytes) -> bytes:
        """A message as it goes over the wire."""

    def offer(self, frames: bytes) -> bool:
        """Send this after what was offered before. False: the page is too far behind, or has gone."""
