"""The interfaces that the ends of the desk need from outside. transports/ipc/ implements them, and so do the tests.

`Base` is the folder in which requests and responses are exchanged, with its rooms requests/, responses/, failed/ and so
on. Several calls at once share one trip to the disk and, where they write, one sync. Every call raises BaseGone if the
folder is missing, is no longer the one that was opened or may not be used, and BaseFull if the disk has no room.
Neither is an attempt of any request: the call is to be made again, once `BaseIsBack` has been told or after a while.
"""

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from actors.ipc.server_steps import Unreadable
from actors.ipc.steps import Identity, Seen, Torn
from actors.kernel import ActorRef, AnyRef
from codec.ipc import Request
from codec.ipc.desk import RequestDetail, RequestFact

M = TypeVar("M")


class Tray(enum.Enum):
    REQUESTS = "requests"
    RESPONSES = "responses"
    FAILED = "failed"
    EVALUATIONS = "eval"
    QUARANTINE = "quarantine"
    ARCHIVE = "archive"


class BaseGone(Exception):
    """The text is a sentence for users: what is wrong with the folder, and what to do."""


class BaseFull(Exception):
    """The text is a sentence for users."""


class Occupied(Exception):
    """There is a response already, and nothing was written."""


# -- what stands in the folder


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that can be read."""

    request: Request
    data: bytes
    """The file's content."""


@dataclass(frozen=True, slots=True)
class BothFiles:
    """Both files of a request, as they are now."""

    request: Asked | Torn | Unreadable | None
    response: Seen
    answer: bytes | None = None
    """The content of the response, if it can be read."""


# -- news


@dataclass(frozen=True, slots=True)
class FilesChanged:
    """Something has happened to the files of these ids. The same id may be told more than once, never less."""

    ids: Mapping[Tray, frozenset[str]]
    """Of REQUESTS and RESPONSES only."""


@dataclass(frozen=True, slots=True)
class Rescan:
    """Any file may have changed: events were lost, or it is time to look again, or the folder has just been opened."""

    why: str


@dataclass(frozen=True, slots=True)
class BaseIsGone:
    why: str
    """A sentence for users."""


@dataclass(frozen=True, slots=True)
class BaseIsBack:
    """It can be used again. A Rescan follows."""


News = FilesChanged | Rescan | BaseIsGone | BaseIsBack


@dataclass(frozen=True, slots=True)
class BaseHealth:
    path: str
    trouble: str | None
    """A sentence for users; None: it can be used."""
    watched: bool
    """By the kernel's events; False: by looking at intervals."""
    events: int
    overflows: int
    rescans: int
    quarantined: int
    last_sync_ms: float
    reasons: tuple[str, ...] = ()
    """Why the last few things went to quarantine, as sentences, newest first."""


class Base(Protocol):
    def attend(self, who: ActorRef[M], news: Callable[[News], M]) -> None:
        """From now on, until it ends, this actor is told all news; Rescan at once, if the folder can be used."""

    def dismiss(self, who: AnyRef) -> None: ...

    async def ids(self, place: Tray) -> frozenset[str]:
        """Of all plain files there whose name is that of an id. Entries that are none of ours, and may not stay, have
        been moved to quarantine."""

    async def look(self, id: str) -> BothFiles: ...  # noqa: A002 - as in the contract

    async def publish(self, requests: Mapping[str, bytes]) -> None:
        """Renames these requests into place, whether they are there or not. On the disk when it returns."""

    async def answer(self, id: str, data: bytes) -> None:  # noqa: A002
        """Writes a response, never over another one. Raises Occupied. On the disk before it can be seen."""

    async def take_away(self, id: str, identity: Identity) -> bool:  # noqa: A002
        """Deletes the response, if it is still that one."""

    async def set_aside(self, id: str, identity: Identity, why: str) -> None:  # noqa: A002
        """Moves the response to quarantine/, beside a file that holds the reason, if it is still that one."""

    async def withdraw(self, id: str) -> bool:  # noqa: A002
        """Deletes the request; whether there was one."""

    async def write(self, place: Tray, id: str, data: bytes) -> None:  # noqa: A002
        """Writes failed/ID.json or eval/ID.json, over what is there, never through a link."""

    async def read(self, place: Tray, id: str) -> bytes | None:  # noqa: A002
        """None: there is no such plain file."""

    async def archive(self, ids: Iterable[str], day: str) -> frozenset[str]:
        """Moves all files of these requests to archive/DAY/ID/. Returns the ids that were moved. After a kill a request
        is wholly there or wholly here, once the folder has been opened again."""

    async def bring_back(self, id: str) -> bool:  # noqa: A002
        """Deletes failed/ID.json and the response, so that it can be tried anew; whether its request is there."""

    async def health(self) -> BaseHealth: ...


# -- the journal, as the ledger reads it


class FactsPage(Protocol):
    @property
    def facts(self) -> Sequence[RequestFact]: ...

    @property
    def after(self) -> str | None:
        """What the next page is asked for with; None: this is the last."""


class Facts(Protocol):
    """Either call may raise a KernelError: it is to be made again after a while."""

    async def facts(self, after: str = "") -> FactsPage:
        """A line of every request. One that changes meanwhile may come twice; the later line is the newer one."""

    async def detail(self, id: str) -> RequestDetail | None:  # noqa: A002
        """None: there is no such request."""
