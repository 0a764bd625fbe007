"""What the judge's actors tell each other, and what they are given to work with."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from actors.judge.places import Place
from actors.judge.verdicts import Excess
from actors.judge.waiting import Post
from actors.kernel import ActorRef, MailboxFull, Reply
from codec.judge import (
    BackendMessage,
    LastRun,
    Listed,
    Problem,
    Running,
    RunResult,
    RunSettings,
    Scope,
    Summary,
    Task,
)

T = TypeVar("T")

# -- given by the transports


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

    def watch(
        self, who: ActorRef[Any], places: Sequence[tuple[Path, frozenset[str] | None]], news: object
    ) -> None:
        """From now on tell `who` this news, once, when something has changed."""

    def looked(self, who: ActorRef[Any]) -> None:
        """It has looked since, and may be told again."""

    def unwatch(self, who: ActorRef[Any]) -> None: ...


class PrivateFolder(Protocol):
    @property
    def path(self) -> Path: ...
    def read(self, name: str, most: int) -> Awaitable[bytes | None]:
        """What the program wrote to this file; None if there is none."""


class Ran(Protocol):
    """How a program's run went."""

    @property
    def exit_code(self) -> int | None: ...
    @property
    def signal(self) -> int | None: ...
    @property
    def stopped_for(self) -> Excess | None: ...
    @property
    def cpu_seconds(self) -> float: ...
    @property
    def wall_seconds(self) -> float: ...
    @property
    def peak_bytes(self) -> int: ...
    @property
    def contended(self) -> bool: ...
    @property
    def output(self) -> bytes:
        """Its beginning, if it was more than was to be kept."""

    @property
    def output_size(self) -> int: ...
    @property
    def errors(self) -> tuple[bytes, bytes, int]:
        """Head, tail, and the size of the whole."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of one run of a solution."""

    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int | None
    output_bytes: int
    """So much is kept."""
    flood_bytes: int
    """More than this, and it is stopped."""


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
    ) -> Awaitable[Ran | None]:
        """No `stdin`: there is nothing to read. None: what ran it was ended, by this program or another; it is to be
        run again without a turn, which is alone, and has a result. Raises a KernelError in words for a program that
        cannot be run."""

    def elsewhere(self, module: str, given: Sequence[bytes], bounds: Bounds) -> Awaitable[Ran]:
        """Run a module of ours in a process of its own, with this as its input. Raises a KernelError in words."""

    def apart(self, call: Callable[..., T], *args: Any) -> Awaitable[T]:
        """Call this where it may take a while without holding up others."""


class Line(Protocol):
    """The way to one page. Nothing here waits."""

    def frame(self, text: bytes) -> bytes:
        """A message as it goes over the wire."""

    def offer(self, frames: bytes) -> bool:
        """Send this after what was offered before. False: the page is too far behind, or has gone."""


# -- to the intake


@dataclass(frozen=True, slots=True)
class Posted:
    """Answered when it is kept; fails with a KernelError in words if it is not."""

    task: Task
    encoded: bytes
    """The same, as it is kept."""
    lane: str
    """As in `Post`."""
    reply: Reply[None]


@dataclass(frozen=True, slots=True)
class Refused:
    """What was posted was not understood, or there was no room for it: all who look on should know."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Again:
    """It is time to try this one again."""

    post: Post


@dataclass(frozen=True, slots=True)
class Complain:
    """It is time to tell of what was refused in the last second."""


IntakeMessage = Posted | Refused | Again | Complain


# -- to the shelf


@dataclass(frozen=True, slots=True)
class PlaceFor:
    """Where does this task live? Always the same folder for the same problem, and never another's."""

    task: Task
    reply: Reply[Place]


@dataclass(frozen=True, slots=True)
class Changed:
    """A problem is new, or was run, or its folder is seen to have other tests. `arrived`: it was just posted, and that
    post has this number."""

    listed: Listed
    arrived: bool
    number: int = 0


@dataclass(frozen=True, slots=True)
class Vanished:
    """This problem's folder is not there."""

    id: str


@dataclass(frozen=True, slots=True)
class LookAround:
    """Somebody is back at a page: which problems are still there?"""


@dataclass(frozen=True, slots=True)
class There:
    """Of these problems, whether their folders are there."""

    folders: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class TakeOff:
    """A page does not want this problem in the list. Its folder is left alone."""

    panel: ActorRef[Any]
    id: str


@dataclass(frozen=True, slots=True)
class PutBack:
    """A page wants a problem that is not in the list."""

    panel: ActorRef[Any]
    id: str


@dataclass(frozen=True, slots=True)
class Came:
    """A panel was opened; it is watched."""

    panel: ActorRef[Any]


@dataclass(frozen=True, slots=True)
class Looks:
    """A panel now shows this problem."""

    panel: ActorRef[Any]
    id: str


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    panel: ActorRef[Any]
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SettingsNow:
    reply: Reply[RunSettings]


@dataclass(frozen=True, slots=True)
class Trouble:
    """All who look on should know this."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Publish:
    """It is time to tell the panels of all problems."""


ShelfMessage = (
    PlaceFor | Changed | Vanished | LookAround | There | TakeOff | PutBack | Came | Looks | ChangeSettings
    | SettingsNow | Trouble | Publish
)  # fmt: skip


# -- to a problem


@dataclass(frozen=True, slots=True)
class Arrived:
    """It was posted, for the first time or again. Answered when all is on the disk; fails with the OSError if not."""

    task: Task
    place: Place
    reply: Reply[Listed]
    again: bool = False
    """It may be there in part, as somebody left it who was stopped in the middle of this."""


@dataclass(frozen=True, slots=True)
class Opened:
    """This panel wants to be shown the problem, and told what happens to it. `anew`: as for a page just loaded."""

    panel: ActorRef[Any]
    anew: bool
    settings: RunSettings | None
    """As the panel knows them; None: it does not yet."""


@dataclass(frozen=True, slots=True)
class Left:
    panel: ActorRef[Any]


@dataclass(frozen=True, slots=True)
class RunAsked:
    panel: ActorRef[Any]
    scope: Scope
    indices: tuple[int, ...] | None
    """None: all."""


@dataclass(frozen=True, slots=True)
class CancelAsked:
    panel: ActorRef[Any]


@dataclass(frozen=True, slots=True)
class CaseAsked:
    """All of one case's texts."""

    panel: ActorRef[Any]
    index: int


@dataclass(frozen=True, slots=True)
class LookAgain:
    """Somebody is back at a page that shows the problem."""


@dataclass(frozen=True, slots=True)
class Stirred:
    """Something in its folder has changed."""


@dataclass(frozen=True, slots=True)
class Forsaken:
    """Nobody has looked at the problem for a while."""


@dataclass(frozen=True, slots=True)
class CaseJudged:
    """Cases are told of in the order of their indices. `next`: the lowest that is not judged yet."""

    run: ActorRef[Any]
    result: RunResult
    next: int | None
    output: bytes = b""
    """As in `Judged`."""


@dataclass(frozen=True, slots=True)
class KeepSoFar:
    """This run has been under way for a while: keep what it has come to."""

    run: ActorRef[Any]


ProblemMessage = (
    Arrived | Opened | Left | RunAsked | CancelAsked | CaseAsked | LookAgain | Stirred | Forsaken | CaseJudged
    | KeepSoFar
)  # fmt: skip


# -- to a panel


@dataclass(frozen=True, slots=True)
class Said:
    """The page sent this."""

    text: bytes


@dataclass(frozen=True, slots=True)
class Welcome:
    """What there is; also told anew when the settings have changed."""

    settings: RunSettings
    current: str | None
    asked: bool = False
    """This panel has changed them; it is answered, though they be as before."""


@dataclass(frozen=True, slots=True)
class Follow:
    """Another problem came in: show that, if the page follows."""

    listed: Listed


@dataclass(frozen=True, slots=True)
class IsBack:
    """The problem that the page has wished for is in the list."""

    id: str


@dataclass(frozen=True, slots=True)
class TakenOff:
    """This problem is not in the list any more, by somebody's wish."""

    id: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A problem as it is now."""

    problem: Problem
    results: tuple[RunResult, ...]
    summary: Summary | None
    last: LastRun | None
    running: Running | None
    interrupted: bool
    anew: bool


@dataclass(frozen=True, slots=True)
class Together:
    """What goes to the page in one piece: it is woken once."""

    messages: tuple[BackendMessage, ...]


PanelMessage = Said | Welcome | Follow | IsBack | TakenOff | Shown | Together | BackendMessage


def tell(panel: ActorRef[Any], *messages: Any) -> None:
    """Tell a panel; one whose page takes nothing is let go, and one that has just gone need not hear it."""
    if not panel.alive:
        return
    try:
        panel.hand(messages[0] if len(messages) == 1 else Together(messages))
    except MailboxFull:
        panel.begin_stop()


# -- to a run


@dataclass(frozen=True, slots=True)
class Judged:
    """A case of it has its result."""

    result: RunResult
    output: bytes = b""
    """More of what the program wrote, where the result has only the beginning."""


# -- to a worker


@dataclass(frozen=True, slots=True)
class Go:
    pass
