"""How the commands of `troupe ipc` reach the desk: by the library that scripts use."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from msgspec.structs import replace

from codec.ipc import BadId, Request, Wishes, write_request
from codec.ipc.desk import DeskTotals, EditorOrder, Handled, RequestDetail, Selection
from codec.ipc.report import Papers
from program.clerk import Clerk, DeskMeans, ServerAway
from program.commands.ipc_evaluate import BaseFiles
from program.ipc_arguments import DeskPlace
from program.trouble import WENT_WRONG, WRONGLY_ASKED, Trouble
from transports.ipc.offline import OfflineBase
from troupe.ipc import BadParams, BlockingDesk, Desk, DeskError, IdTaken, NoServer, NotYet, Result
from troupe.ipc.folder import Sight
from troupe.ipc.office import Office
from troupe.ipc.whereabouts import base_of

SUBMITTER = "troupe ipc"


class DeskClerk:
    def __init__(self, desk: BlockingDesk) -> None:
        self._blocking = desk
        self._desk = cast("Desk", desk.desk)

    @property
    def base(self) -> Path:
        return self._desk.base

    def made(self, command: str, params: dict[str, Any], id: str | None, wishes: Mapping[str, Any]) -> Request:  # noqa: A002
        return self._desk.made(command, params, id, wishes)

    def submit(self, requests: Sequence[Request]) -> Mapping[str, str]:
        try:
            self._blocking.submit_many(requests)
        except IdTaken as some:
            return some.taken
        return {}

    def who_is_missing(self) -> str | None:
        return self._blocking.call(self._desk.who_is_missing)

    def endings(self, ids: Sequence[str], patience: float | None, until: float | None) -> Iterator[Result]:
        tickets = [self._blocking.ticket(each) for each in ids]
        return self._blocking.as_completed(tickets, patience=patience, until=until)

    def names_tell(self) -> bool:
        return self._blocking.call(self._desk.names_tell)

    def counts(self) -> tuple[int, int, int]:
        return self._blocking.call(self._desk.counts)

    def look(self, id: str) -> Sight:  # noqa: A002
        return self._blocking.call(partial(self._desk.look, id))

    def detail(self, id: str) -> RequestDetail | None:  # noqa: A002
        with _asking():
            return self._blocking.call(partial(self._desk.detail, id))

    def totals(self) -> DeskTotals:
        with _asking():
            return self._blocking.call(self._desk.totals)

    def order(self, what: Literal["requeue", "cancel", "archive"], which: Selection) -> Handled:
        with _asking():
            return self._blocking.call(partial(self._desk.order, what, which))

    def editor(self, order: EditorOrder) -> str:
        with _asking():
            return self._blocking.call(partial(self._desk.editor, order))


@contextmanager
def _asking() -> Iterator[None]:
    try:
        yield
    except NoServer as absent:
        raise ServerAway(str(absent)) from None


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except (BadParams, BadId) as wrong:
        raise Trouble(str(wrong), code=WRONGLY_ASKED) from None
    except NotYet as late:
        raise Trouble(str(late), code=WENT_WRONG) from None
    except DeskError as error:
        raise Trouble(str(error), code=WENT_WRONG) from None


@contextmanager
def visit(place: DeskPlace) -> Iterator[Clerk]:
    with (
        _in_words(),
        Desk.blocking(
            place.base, state=place.state_dir, config=place.config, url=place.url, submitter=SUBMITTER
        ) as desk,
    ):
        yield DeskClerk(desk)


def base(place: DeskPlace) -> Path:
    with _in_words():
        return base_of(place.base, place.config)


def files(base: Path, place: DeskPlace) -> BaseFiles:
    return AskingBase(base, Office(base, place.state_dir, place.url))


class AskingBase(OfflineBase):
    """The files of a base; and where a peer of the HEAD dialect has removed a request, what a running server knows of
    it."""

    def __init__(self, base: Path, office: Office) -> None:
        super().__init__(base)
        self._office = office

    def papers(self, id: str) -> Papers:  # noqa: A002 - as in the contract
        papers = super().papers(id)
        if papers.request is not None:
            return papers
        try:
            detail = self._office.detail(id)
        except DeskError:  # nobody is there who knows more
            return papers
        if detail is None or not isinstance(detail.params, dict):
            return papers
        wishes = Wishes(submitter=detail.fact.submitter, reference=detail.reference)
        request = Request(id=id, command=detail.fact.command, params=detail.params, wishes=wishes)
        return replace(papers, request=write_request(request), seconds=detail.fact.seconds)


IPC = DeskMeans(visit, files, base, time.time)
