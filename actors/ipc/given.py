"""The interfaces that the ends of the desk need from outside. transports/ipc/ implements them, and so do the tests.

`Base` is the folder in which requests and responses are exchanged, with its rooms requests/, responses/, failed/ and so
on. What can stand there, and the news of it, are in codec/ipc/folder.py, which the disk shares. Several calls at once
share one trip to the disk and, where they write, one sync. Every call raises BaseGone if the folder is missing, is no
longer the one that was opened or may not be used, and BaseFull if the disk has no room. Neither is an attempt of any
request: the call is to be made again, once `BaseIsBack` or `WritingWorks` has been told, or after a while. Of a
BaseGone, BaseUnwritable is raised if nothing in it can be changed, and EntryStuck if a single file cannot be.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from actors.kernel import ActorRef, AnyRef, KernelError
from actors.store import StoreError
from codec.ipc.desk import RequestDetail, RequestFact
from codec.ipc.folder import (
    Asked,
    BaseFull,
    BaseGone,
    BaseHealth,
    BaseIsBack,
    BaseIsGone,
    BaseUnwritable,
    BothFiles,
    EntryStuck,
    FilesChanged,
    Identity,
    IdOfAnother,
    News,
    Occupied,
    Rescan,
    Tray,
    WritingFails,
    WritingWorks,
)

__all__ = [
    "TOO_LATE",
    "TROUBLE",
    "Asked",
    "Base",
    "BaseFull",
    "BaseGone",
    "BaseHealth",
    "BaseIsBack",
    "BaseIsGone",
    "BaseUnwritable",
    "BothFiles",
    "EntryStuck",
    "FilesChanged",
    "IdOfAnother",
    "News",
    "Occupied",
    "Rescan",
    "Tray",
    "WritingFails",
    "WritingWorks",
]

M = TypeVar("M")

TOO_LATE = "its deadline passed before anybody had begun it"

TROUBLE = (BaseGone, BaseFull, StoreError, KernelError)
"""Errors that are no fault of the request."""


class Base(Protocol):
    def attend(self, who: ActorRef[M], news: Callable[[News], M]) -> None:
        """From now on, until it ends, this actor is told all news; at once Rescan, if the folder can be used, and
        WritingFails, if that is so."""

    def dismiss(self, who: AnyRef) -> None: ...

    async def claim_server(self) -> str | None:
        """Makes this process the one server of the folder, until it releases that or ends. Else a sentence for users:
        who the server is, and that our end is kept down. Each claim is made once; who wants both ends makes both."""

    async def release_server(self) -> None: ...

    async def claim_client(self) -> str | None:
        """The same for the client end."""

    async def release_client(self) -> None: ...

    async def stopped_server(self) -> str | None:
        """A sentence, if our server end of this folder is another process, and that is stopped (as by SIGSTOP)."""

    async def missed(self, ids: Collection[str], place: Tray = Tray.REQUESTS) -> frozenset[str]:
        """Of these files, those that have come since the last client of this folder is known to have lived, or
        shortly before. If there was none, since shortly before our start: what was there long before the first client
        is history."""

    async def ids(self, place: Tray) -> frozenset[str]:
        """Of all plain files there whose name is that of an id. Entries that are none of ours, and may not stay, have
        been moved to quarantine."""

    async def look(self, id: str) -> BothFiles: ...  # noqa: A002 - as in the contract

    async def publish(
        self, requests: Mapping[str, bytes], first: Collection[str] = (), *, by_turns: bool = False
    ) -> Mapping[str, EntryStuck]:
        """Renames these requests into place, whether they are there or not. On the disk when it returns, but for those
        whose places cannot be written to: it says why, for each. `first`: those that nobody has published yet, as far
        as we know. If a script has meanwhile, what it has put there stays. IdOfAnother: it is another request.
        `by_turns`: its peer may have taken that away, so its copy counts as well."""

    async def answer(self, id: str, data: bytes) -> Identity:  # noqa: A002
        """Writes a response, never over another one, and says which file it is. Raises Occupied. On the disk before it
        can be seen."""

    async def take_away(self, id: str, identity: Identity) -> bool:  # noqa: A002
        """Deletes the response, if it is still that one."""

    async def set_aside(self, id: str, identity: Identity, why: str) -> None:  # noqa: A002
        """Moves the response to quarantine/, beside a file that holds the reason, if it is still that one."""

    async def withdraw(self, id: str, identity: Identity | None = None) -> bool:  # noqa: A002
        """Deletes the request, if it is still that one, or any if none is named; whether there was one."""

    async def forget(self, copies: Mapping[str, bytes], place: Tray = Tray.SUBMITTED) -> None:
        """Deletes these from submitted/, or cancelled/, if they still are what they were."""

    async def cancelled(self) -> frozenset[str]:
        """What scripts have cancelled while there was no client end. The copies of these requests are deleted. Whoever
        was cancelling while this client end came has done so, and nobody else will."""

    async def write(self, place: Tray, id: str, data: bytes) -> None:  # noqa: A002
        """Writes failed/ID.json or eval/ID.json, over what is there, never through a link."""

    async def read(self, place: Tray, id: str) -> bytes | None:  # noqa: A002
        """None: there is no such plain file."""

    async def read_several(self, place: Tray, ids: Sequence[str]) -> Mapping[str, bytes]:
        """Those of them that are plain files. They cost one trip to the disk."""

    async def archive(
        self,
        ids: Iterable[str],
        day: str,
        only: Tray | None = None,
        asked: Mapping[str, bytes] = ...,
        seen: Mapping[str, BothFiles] = ...,
    ) -> frozenset[str]:
        """Moves all files of these requests, or only those of one tray, to archive/DAY/ID/. Returns the ids that were
        moved. `asked`: the requests, which are written there if they stand nowhere any more. `seen`: what stood there
        when somebody looked; other requests and responses that stand there by now stay. After a kill a request is
        wholly there or wholly here, once the folder has been opened again."""

    async def reopen(self, id: str) -> bool:  # noqa: A002
        """Deletes failed/ID.json, which says that it is over; whether there was one."""

    async def health(self) -> BaseHealth: ...


# -- the journal, as the ledger reads it


class FactsPage(Protocol):
    @property
    def facts(self) -> Sequence[RequestFact]: ...

    @property
    def after(self) -> str | None:
        """What the next page is asked for with; None: this is the last."""


class Facts(Protocol):
    """Either call may raise a KernelError or a StoreError: it is to be made again after a while. The store refuses what
    cannot be an id."""

    async def facts(self, after: str = "") -> FactsPage:
        """A line of every request. One that changes meanwhile may come twice; the later line is the newer one."""

    async def detail(self, id: str) -> RequestDetail | None:  # noqa: A002
        """None: there is no such request."""
