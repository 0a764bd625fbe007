"""The interfaces that the judge's actors need from outside. The transports, or tests, implement them."""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from actors.judge.merge import NewCase
from actors.kernel import ActorRef, AnyRef
from codec.programs import Bounds, Outcome

T = TypeVar("T")
Stamp = Hashable
"""Stands for one version of a file, without its content. It is no `bytes`, which are a digest."""


class CaseFile(Protocol):
    """One file of a case."""

    @property
    def size(self) -> int: ...
    @property
    def digest(self) -> bytes:
        """SHA-256 of all of it."""

    @property
    def head(self) -> bytes: ...
    @property
    def stamp(self) -> Stamp | None:
        """Of the version that was read; None: unknown."""


class Found(Protocol):
    @property
    def cases(self) -> Mapping[int, tuple[CaseFile, CaseFile]]:
        """Input and answer by index, in order."""

    @property
    def alone(self) -> Mapping[int, CaseFile]:
        """Answers without an input."""

    @property
    def highest(self) -> int:
        """The highest index in use; 0 if there is none."""

    @property
    def main(self) -> bytes | None:
        """The solution's digest; None if there is none."""

    @property
    def main_stamp(self) -> Stamp | None:
        """As of a case's file."""

    @property
    def has_main(self) -> bool: ...
    @property
    def exists(self) -> bool:
        """Whether the folder exists."""

    @property
    def odd(self) -> Mapping[str, str]:
        """What is wrong with which file, so that it is passed over: "missing", or what it is instead: "a link"."""


class Stamps(Protocol):
    """The files of a case at one moment. None: it is not there, or nobody knows."""

    @property
    def main(self) -> Stamp | None: ...
    @property
    def given(self) -> Stamp | None: ...
    @property
    def wanted(self) -> Stamp | None: ...


class Used(NamedTuple):
    """The versions of its files that a program has run with. None: there may have been more than one."""

    main: Stamp | None
    given: Stamp | None
    wanted: Stamp | bytes | None
    """Or the digest, if the answer was known already."""


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
        """The existing tasks, which are folders with tests."""

    def present(self, tasks: Sequence[Names]) -> Awaitable[Sequence[bool]]:
        """Which of these folders exist. If this cannot be determined for one, it counts as existing."""

    def watched(self, task: Names) -> Sequence[tuple[Path, frozenset[str] | None]]:
        """The folders in which edits of this task can be seen, and the names in each that matter; None: all names."""

    def add(self, task: Names, choose: Callable[[Found], Sequence[NewCase]]) -> Awaitable[Found]:
        """Writes the cases that `choose` wants beside those that are there, and main.py if it is missing. They are on
        the disk when this returns what is there then. `choose` may be called in a thread."""

    def stamps_at_once(self, task: Names, index: int) -> Stamps | None:
        """The files of a case as they are now. None: to find out might take a while (`stamps`)."""

    def stamps(self, task: Names, index: int) -> Awaitable[Stamps]: ...
    def read(self, task: Names, index: int, kind: str) -> Awaitable[bytes]:
        """The whole content of a case's file; `kind` is in or out."""

    def private(self, task: Names, index: int, input_name: str | None) -> "AbstractAsyncContextManager[PrivateFolder]":
        """A folder for one run, which contains the case's input under this name."""


class Watching(Protocol):
    """Reports changes in folders, if the system supports that. Nothing here waits."""

    def watch(self, who: ActorRef[T], places: Sequence[tuple[Path, frozenset[str] | None]], news: T) -> None:
        """From now on, sends `who` this news once when something has changed."""

    def looked(self, who: AnyRef) -> None:
        """It has looked since then, and may be told again."""

    def unwatch(self, who: AnyRef) -> None: ...


class PrivateFolder(Protocol):
    @property
    def path(self) -> Path: ...
    def read(self, name: str, most: int) -> Awaitable[bytes | None]:
        """The content that the program wrote to this file; None if there is no such file."""


class Turn(Protocol):
    def come(self, begin: Callable[[], None]) -> None:
        """Calls `begin`, which does not raise, as soon as the program may start: now, or later."""

    def over(self) -> None:
        """The program has ended, or will not start."""


class Machine(Protocol):
    """Runs programs."""

    def resolve(self, command: str) -> Awaitable[Path | str]:
        """The interpreter for a command, or a text that says why none works."""

    def room(self) -> AbstractAsyncContextManager[object]:
        """Room for one program. A worker must have it before it takes a case. Otherwise a case that waits for room
        would hold up later cases, which have theirs and wait for their turn."""

    def run(
        self, program: Sequence[str], *, cwd: Path, stdin: Path | None, bounds: Bounds, turn: Turn | None
    ) -> Awaitable[Outcome | None]:
        """Runs a program. Without `stdin` its input is empty. Returns None if its launcher was ended, by this program
        or another. Then it has to be run again without a turn, which means alone, and that has a result. Raises a
        KernelError with a text for the user if the program cannot be run."""

    def elsewhere(self, module: str, given: Sequence[bytes], bounds: Bounds) -> Awaitable[Outcome]:
        """Runs a module of ours in a separate process with this input. Raises a KernelError with a text for the
        user."""

    def apart(self, call: Callable[..., T], *args: Any) -> Awaitable[T]:
        """Calls this in a place where it may take a while without holding up others."""


class Line(Protocol):
    """The connection to one page. Nothing here waits."""

    def frames(self, texts: Iterable[bytes]) -> bytes:
        """Messages in their form on the wire."""

    def offer(self, frames: bytes) -> bool:
        """Sends this after earlier frames. False: the page is too far behind, or has gone."""
