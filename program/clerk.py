"""The interface between the commands of `troupe ipc` and the desk: a clerk, which knows the desk's folder and server.

The library for scripts (troupe/ipc/) does the work. systems/ipc_commands.py hands it in, and turns its errors into a
`Trouble`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, Protocol

from msgspec import Struct

from codec.ipc import Failure, Outcome, Request
from codec.ipc.desk import Attempt, DeskTotals, EditorOrder, Handled, RequestDetail, Selection
from program.commands.ipc_evaluate import BaseFiles
from program.ipc_arguments import DeskPlace
from program.trouble import WENT_WRONG, Trouble


class ServerAway(Trouble):
    """There is no server that could be asked."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, code=WENT_WRONG)


class Ending(Protocol):
    """How a request ended."""

    @property
    def id(self) -> str: ...
    @property
    def ok(self) -> bool: ...
    @property
    def data(self) -> Any: ...
    @property
    def error(self) -> str: ...
    @property
    def attempts(self) -> tuple[Attempt, ...]: ...


class Seen(Protocol):
    """What the files say of a request."""

    @property
    def outcome(self) -> Outcome | None: ...
    @property
    def error(self) -> Failure | None: ...
    @property
    def is_gone(self) -> bool: ...
    @property
    def is_cancelled(self) -> bool: ...
    @property
    def is_copy(self) -> bool:
        """It has failed, and perhaps not for the last time."""


class Clerk(Protocol):
    @property
    def base(self) -> Path: ...

    def made(self, command: str, params: dict[str, Any], id: str | None, wishes: Mapping[str, Any]) -> Request: ...  # noqa: A002

    def submit(self, requests: Sequence[Request]) -> Mapping[str, str]:
        """Those whose ids other requests have, each with a sentence. The others are submitted."""

    def who_is_missing(self) -> str | None:
        """A sentence, if requests have to wait because nobody serves the folder."""

    def endings(self, ids: Sequence[str], patience: float | None, until: float | None) -> Iterator[Ending]:
        """As they come; no more after `until`, by the clock that nobody sets."""

    def names_tell(self) -> bool:
        """Whether the names of the files tell which requests are over."""

    def counts(self) -> tuple[int, int, int]:
        """Requests, those that have an answer, those that failed: from names alone. If they do not tell, some of the
        last may be tried again."""

    def look(self, id: str) -> Seen: ...  # noqa: A002

    def detail(self, id: str) -> RequestDetail | None:  # noqa: A002
        """Raises ServerAway, as all below do."""

    def totals(self) -> DeskTotals: ...

    def order(self, what: Literal["requeue", "cancel", "archive"], which: Selection) -> Handled: ...

    def editor(self, order: EditorOrder) -> str:
        """What is done about it, in a sentence."""


class DeskMeans(Struct, frozen=True):
    """The means by which these commands reach the outside."""

    visit: Callable[[DeskPlace], AbstractContextManager[Clerk]]
    files: Callable[[Path, DeskPlace], BaseFiles]
    """Of a base, and of the server that is looked for at that place."""
    base: Callable[[DeskPlace], Path]
    wall: Callable[[], float]
