"""The desk: requests are put into its folder, and what becomes of them is read there.

It works on the files alone. A running server is asked, if there is one, for what they do not tell: all attempts, and
what was cancelled. It may come and go.
"""

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

import trio

from codec.ipc import Failure, Outcome, Request, Success, write_request
from codec.ipc.desk import NO_SUCH_REQUEST, DeskTotals, EditorOrder, Handled, RequestDetail, Selection
from troupe.ipc.arrivals import POLL_SECONDS, RESCAN_SECONDS, Arrivals, FileWatch
from troupe.ipc.dropping import Dropping
from troupe.ipc.folder import DeskFolder, Sight
from troupe.ipc.office import Office
from troupe.ipc.results import CANCELLED, OVER, Result, result_of, told
from troupe.ipc.tickets import AnyDesk
from troupe.ipc.troubles import DeskError, IdTaken, NobodyAtTheDesk, NoServer, NoSuchRequest, ServesElsewhere
from troupe.ipc.visits import TakesLonger
from troupe.ipc.whereabouts import base_of, state_dir

T = TypeVar("T")
History = Literal["all", "failed"]
THREADS = 8
FEW = 8
"""So many are looked at in the loop, where that waits for no device."""
JOURNAL_STEPS = (0.0, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.6)
"""Seconds before the server is asked again: it writes its journal after the file that we have seen."""
MOST_WITHDRAWN = 10_000
MOST_DROPPED = 100_000
PRESENCE_SECONDS = 1.0
SERVER_COMMAND = "troupe --set ipc.enabled=true"


class Desk(AnyDesk):
    def __init__(
        self,
        base: str | os.PathLike[str] | None = None,
        *,
        submitter: str | None = None,
        history: History = "all",
        state: str | os.PathLike[str] | None = None,
        config: Path | None = None,
        url: str | None = None,
        rescan: float = RESCAN_SECONDS,
        poll: float = POLL_SECONDS,
    ) -> None:
        """`base`: the folder; otherwise $TROUPE_IPC_BASE, the configuration, or the usual one. `submitter`: whose turn
        it is; by default every script has its own. `history`: whose attempts are all asked for; "failed" saves a
        question to the server for each success. `state`: the state directory of a server that has another than the
        usual one. `url`: the address of the server's desk."""
        super().__init__(submitter)
        self.base = base_of(base, config)
        self.folder = DeskFolder(self.base)
        where = Path(state) if state is not None else state_dir()
        self.office = Office(self.base, where, url, elsewhere=self.folder.client_process)
        self._history = history
        self._dropping = Dropping(self.folder)
        self._arrivals = Arrivals(self.folder, rescan=rescan, poll=poll)
        self._threads = trio.CapacityLimiter(THREADS)
        self._withdrawn: dict[str, None] = {}
        self._dropped: dict[str, float] = {}
        """When the last that this desk has submitted were, by the clock on the wall."""
        self._presence: tuple[float, str | None] = (float("-inf"), None)

    def close(self) -> None:
        self._arrivals.close()
        self.office.close()

    # -- beyond submitting and waiting

    async def cancel(self, ids: Sequence[str]) -> list[str]:
        """Those that were cancelled. Without a server, a request is taken away before anybody has answered it, and the
        server that comes next is told. Raises NoServer if a client end is at work that cannot be asked: it would
        publish the request again."""
        cancelled = await self._in_thread(partial(self._cancelled, list(ids)))
        self._arrivals.stir(cancelled)
        return cancelled

    async def detail(self, id: str) -> RequestDetail | None:  # noqa: A002 - as in the contract
        """Everything that the server knows of a request, with all attempts; None: it knows of none. Raises NoServer."""
        return await self._in_thread(partial(self.office.detail, id))

    async def totals(self) -> DeskTotals:
        """Raises NoServer."""
        return await self._in_thread(self.office.totals)

    async def names_tell(self) -> bool:
        """Whether the names of the files tell which requests are over: not where an editor of the HEAD dialect removes
        what it has answered."""
        return await self._in_thread(self.folder.names_tell)

    async def counts(self) -> tuple[int, int, int]:
        """From the names of the files alone: requests, those that have an answer, those that failed."""
        return await self._in_thread(self.folder.counts)

    async def who_is_missing(self) -> str | None:
        """A sentence, if requests have to wait."""
        return await self._in_thread(self._who_is_missing)

    async def look(self, id: str) -> Sight:  # noqa: A002
        """From the files alone: what is known of a request."""
        return await self._in_thread(partial(self.folder.look, id))

    async def order(self, what: Literal["requeue", "cancel", "archive"], which: Selection) -> Handled:
        """Raises NoServer."""
        return await self._in_thread(partial(self.office.order, what, which))

    async def editor(self, order: EditorOrder) -> str:
        """What is done about it, in a sentence. Raises NoServer."""
        return await self._in_thread(partial(self.office.editor, order))

    # -- submitting

    async def _submit(self, requests: Sequence[Request]) -> None:
        together: dict[str, Request] = {}
        for request in requests:
            if not _ask_the_same(together.setdefault(request.id, request), request):
                raise IdTaken({request.id: _taken(request, together[request.id])})
        contents = {each.id: write_request(each) for each in together.values()}
        self._arrivals.expect(contents)
        fates: dict[str, OSError | None] = {}
        began = time.time()
        try:
            fates = await self._dropping.drop(contents)
        finally:
            self._arrivals.expect_no_more(each for each in contents if each not in fates or fates[each] is not None)
        for each in (each for each, fate in fates.items() if fate is None):
            self._dropped[each] = began
            self._withdrawn.pop(each, None)
        _forget_oldest(self._dropped, MOST_DROPPED)
        there = [each for each in together.values() if isinstance(fates[each.id], FileExistsError)]
        for name, fate in fates.items():
            if fate is not None and not isinstance(fate, FileExistsError):
                raise DeskError(f"The request {name} could not be written to {self.base}: {fate.strerror or fate}")
        if there:
            await self._in_thread(partial(self._compare, there))

    def _compare(self, requests: Iterable[Request]) -> None:
        taken = {}
        for request in requests:
            other = self.folder.request(request.id)
            if other is None and (detail := self._asked(request.id)) is not None:  # an editor took it away
                other = Request(id=request.id, command=detail.fact.command, params=detail.params or {})
            if other is None:
                taken[request.id] = (
                    f"There is an answer to {request.id} already, and not the request that it answers, so nobody can "
                    "say whether that was the same. Start the server, which may know; or choose another id"
                )
            elif not _ask_the_same(other, request):
                taken[request.id] = _taken(request, other)
        if taken:
            raise IdTaken(taken)

    # -- waiting

    async def _check_known(self, id: str) -> None:  # noqa: A002
        if await self._in_thread(partial(self._is_unknown, id)):
            raise self._no_such(id)

    def _no_such(self, id: str) -> NoSuchRequest:  # noqa: A002
        return NoSuchRequest(
            f"There is no request {id} in {self.base}, nor an answer to it in its archive. Submit it, or correct the id"
        )

    def _is_unknown(self, id: str) -> bool:  # noqa: A002
        if id in self._withdrawn or not self.folder.look(id).is_gone:
            return False
        try:
            return self.office.detail(id) is None and self.folder.look(id).is_gone
        except DeskError:  # nobody is there who could know it; a client end may be about to publish it again
            return not self.folder.present().client

    def new_watch(self) -> FileWatch:
        return FileWatch(self._arrivals, self._ended, self._complain)

    async def _ended(self, ids: list[str]) -> list[Result]:
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._history == "failed" and len(ids) <= FEW:
            with suppress(TakesLonger):
                found = self._results_at_once(ids)
                await trio.lowlevel.cancel_shielded_checkpoint()
                return found
        return await self._in_thread(partial(self._results, ids))

    def _results(self, ids: list[str]) -> list[Result]:
        return [result for each in ids if (result := self._result(each)) is not None]

    def _results_at_once(self, ids: list[str]) -> list[Result]:
        """In the loop. Raises TakesLonger, if the server is to be asked."""
        sights = [(each, self.folder.look_at_once(each)) for each in ids]
        if any(isinstance(sight.outcome, Failure) for _, sight in sights):
            raise TakesLonger
        return [
            result_of(each, sight.outcome, sight.at, asked=sight.asked)
            for each, sight in sights
            if sight.outcome is not None
        ]

    def _result(self, id: str) -> Result | None:  # noqa: A002
        sight = self.folder.look(id)
        if sight.is_cancelled:
            return Result(id, ok=False, error=CANCELLED, cancelled=True)
        if sight.is_gone:
            if id in self._withdrawn:
                return Result(id, ok=False, error=CANCELLED, cancelled=True)
            detail = self._asked(id)
            return told(detail) if detail is not None else None
        if sight.outcome is None:
            return None
        if sight.is_put_away:
            return self._put_away(id, sight, sight.outcome)
        is_failure = isinstance(sight.outcome, Failure)
        if not is_failure and self._history == "failed":
            return result_of(id, sight.outcome, sight.at, asked=sight.asked)
        detail = self._settled(id)
        if detail is None:
            return None if sight.is_copy else result_of(id, sight.outcome, sight.at, asked=sight.asked)
        if is_failure and detail.fact.state not in OVER:  # an editor's copy of an attempt that is not the last
            return None
        if detail.fact.state == "cancelled":
            return told(detail)
        if is_failure and detail.fact.state == "success":  # a later attempt was, while the server was asked
            now = self.folder.look(id)
            return result_of(id, now.outcome, now.at, detail) if isinstance(now.outcome, Success) else told(detail)
        return result_of(id, sight.outcome, sight.at, detail)

    def _put_away(self, id: str, sight: Sight, outcome: Outcome) -> Result | None:  # noqa: A002
        """What the archive has is the answer to an earlier request of this id, if there is another one under way."""
        detail = self._asked(id)
        if detail is not None:
            return told(detail)
        if sight.at < self._dropped.get(id, -math.inf):
            return None
        return result_of(id, outcome, sight.at, asked=sight.asked)

    def _settled(self, id: str) -> RequestDetail | None:  # noqa: A002
        """What the server knows, once it has noted what we have seen."""
        detail = None
        for pause in JOURNAL_STEPS:
            time.sleep(pause)
            detail = self._asked(id)
            if detail is None and not self._will_be_known(id):
                break
            if detail is not None and detail.fact.state in OVER and not self._is_asked_again(detail):
                return detail
        return None if detail is None or self._is_asked_again(detail) else detail

    def _is_asked_again(self, detail: RequestDetail) -> bool:
        """It was cancelled, which takes its file away, and submitted once more: the server has yet to see that. Or what
        it tells of has made way for this one."""
        return detail.made_way or (detail.fact.state == "cancelled" and self.folder.has_request(detail.fact.id))

    def _will_be_known(self, id: str) -> bool:  # noqa: A002
        """The client end has yet to journal it: it stands in the folder, and the server does not know it."""
        return self.office.is_there and self.folder.has_request(id) and self.folder.present().client

    def _asked(self, id: str) -> RequestDetail | None:  # noqa: A002
        try:
            return self.office.detail(id)
        except DeskError:  # nobody is there, or not now
            return None

    async def _complain(self, id: str) -> None:  # noqa: A002
        at, why = self._presence
        if trio.current_time() - at > PRESENCE_SECONDS:
            why = await self.who_is_missing()
            self._presence = (trio.current_time(), why)
        sight = await self.look(id)
        if why is None and sight.is_gone and await self._in_thread(partial(self._asked, id)) is None:
            raise self._no_such(id)  # a client end that cannot be asked would have published it again by now
        if why is not None:
            if sight.is_gone:
                why = f"Its file was taken away, and nobody is at the desk who could say why. Submit {id} again"
            elif sight.failure is not None:
                why = f"It was answered with an error ({sight.failure.message}). {why}"
            raise NobodyAtTheDesk(f"The request {id} is not over. {why}")
        if sight.is_copy and sight.failure is not None:
            try:
                await self._in_thread(partial(self.office.detail, id))
            except DeskError as trouble:
                failed = f"The request {id} has failed ({sight.failure.message})"
                raise NobodyAtTheDesk(
                    f"{failed}, and only its server knows whether it tries again: {trouble}"
                ) from None

    def _who_is_missing(self) -> str | None:
        present = self.folder.present()
        if present.server and present.client:
            return None
        kept = "The request is kept, and will go on by itself"
        if not present.server and not present.client:
            try:
                self.office.totals()
            except ServesElsewhere as elsewhere:
                return f"Nobody is at the desk in {self.base}. {elsewhere}. {kept}"
            except DeskError:  # nobody who could say more
                pass
            return f"Nobody is at the desk in {self.base}: start the server with `{SERVER_COMMAND}`. {kept}"
        if not present.client:
            return (
                f"Somebody answers requests in {self.base}, but nobody tries again what fails: switch the client end "
                f"on with `troupe --set ipc.client=true`. {kept}"
            )
        return None  # the client end knows how long it waits for an answer

    # --

    def _cancelled(self, ids: list[str]) -> list[str]:
        cancelled: list[str] = []
        try:
            for pause in JOURNAL_STEPS:  # what was just submitted, the server has yet to see
                time.sleep(pause)
                handled = self.office.order("cancel", Selection(ids=tuple(ids)))
                cancelled += handled.ids
                unknown = (each for each, why in handled.refused.items() if why == NO_SUCH_REQUEST)
                ids = [each for each in unknown if each in self._dropped and self._will_be_known(each)]
                if not ids:
                    return cancelled
            return cancelled
        except NoServer:
            if self.folder.present().client:
                raise
        for each in ids:
            sight = self.folder.look(each)
            if sight.outcome is None and not sight.is_cancelled and self.folder.withdraw(each):
                self._withdrawn[each] = None
                cancelled.append(each)
        _forget_oldest(self._withdrawn, MOST_WITHDRAWN)
        return cancelled

    async def _in_thread(self, call: Callable[[], T]) -> T:
        """Left behind, if we are cancelled: a disk may hang."""
        return await trio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=self._threads)


def _forget_oldest(known: dict[str, T], most: int) -> None:
    while len(known) > most:
        del known[next(iter(known))]


def _ask_the_same(one: Request, other: Request) -> bool:
    """Wishes do not count: a script that goes on where it was killed may have another deadline."""
    return one is other or (one.command == other.command and one.params == other.params)


def _taken(request: Request, other: Request) -> str:
    what = f"for {other.command}" if other.command != request.command else "with other params"
    return f"There is a request {request.id} already, {what}. Choose another id, or none; or archive the old one"
