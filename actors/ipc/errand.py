"""An errand: one request in flight. It looks at the files, asks client_steps.py what to do next, and does it.

    NewsOfIt    from the client end: something has happened to its files, or anything may have

Rules
  - Nothing but the steps changes anything, and each is taken on a fresh look. What this process remembers of the
    request (View) is lost with it, and what the journal knows is not.
  - An attempt's time runs from when its request was seen to be in place, or from when the peer has last answered what
    was asked for before, by a clock that counts only the seconds in which this process could work (running.py). It is
    over only if a look after that finds no answer, the folder is well, and our own server end is no stopped process.
  - Between an attempt that failed and the next one it rests, longer each time, and never exactly as long as another.
  - Nothing is published over another request of its id. Once its own attempt has failed, or that one was answered, it
    has had its last one.
  - A folder that is gone, a full disk or a store that is busy is no attempt: it waits, and takes the same step again.
  - A crash begins anew with what was journalled last. How an attempt ended waits for the disk only if the answer is to
    be taken away after that: while the answer stands, a power cut can undo no more than it tells anew.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.ipc.client_steps import (
    MOST_ATTEMPTS,
    OVERDUE,
    Journal,
    Publish,
    Record,
    Row,
    State,
    Step,
    TakeAway,
    View,
    next_step,
)
from actors.ipc.copies import taken_answer
from actors.ipc.dossier import Dossier, begun, is_of, is_overwritten, labelled, made_way, noted, stepped
from actors.ipc.fairness import WALL_SECONDS
from actors.ipc.given import TOO_LATE, TROUBLE, Asked, Base, BothFiles, IdOfAnother, Tray
from actors.ipc.journal import ClientJournal
from actors.ipc.noting import Noting
from actors.ipc.publishing import Publishing
from actors.ipc.running import Headway, RunningClock
from actors.ipc.steps import OTHER, Answer, Identity, SetAside, Spoiled, Torn, Wait
from actors.ipc.telling_time import day_of, moment_of
from actors.ipc.uptime import Uptime
from actors.ipc.vouching import TAKEN, Vouching
from actors.kernel import Actor
from codec.ipc import BadRequest, Dialect, Failure, read_request, write_response

TORN_SECONDS = 1.05
"""A torn document is looked at again when it must be whole or spoiled."""
GONE_SECONDS = 0.25
"""A request that has stood and has gone is published anew only if nothing else is heard of it for so long: a script may
have taken it away with its response, and our server end may be about to say so. So it may whose answer it is that lies
beside another request."""
AGAIN_SECONDS = 1.0
RESTED_SECONDS = 30.0
"""A HEAD peer removes a request within milliseconds of its answer. One that has not by then has died."""
MOST_BACKOFF_SECONDS = 300.0
OVERTAKEN = "another request of this id was written in its place"
MOST_PATIENCE = 10
"""However a peer gets on with others, an attempt lasts at most so many times `attempt_seconds`."""


class ClientTerms(Struct, frozen=True):
    """The settings of a client end."""

    dialect: Dialect = Dialect.SPEC
    """Of the peer that answers: `SPEC` or `HEAD`."""
    in_flight: int | None = None
    """Requests that are published, or whose answers are awaited, at the same time. None: as suits the dialect."""
    attempt_seconds: float = 300.0
    backoff_seconds: float = 1.0
    """Before the second attempt; twice as long before the third; give or take a half."""
    immediate: bool = False
    """No rest between attempts."""
    retention_days: float | None = None
    """Requests that ended before are archived. None: never by itself."""

    @property
    def most_in_flight(self) -> int:
        """A HEAD peer runs whatever is there at once, without a limit of its own."""
        return self.in_flight or (8 if self.dialect is Dialect.HEAD else 256)


class ErrandMeans(Struct, frozen=True):
    """What all errands share."""

    base: Base
    journal: ClientJournal
    publishing: Publishing
    noting: Noting
    vouching: Vouching
    clock: RunningClock
    headway: Headway
    terms: ClientTerms
    wall: Callable[[], float]
    uptime: Callable[[], Uptime | None]
    on_over: Callable[[Dossier], None]
    """Is told of each request that has ended, before its errand ends, and of each that was cancelled."""
    touched: set[str]
    """Open requests of whose own files there has been news since their errands looked at them."""
    stale: set[str]
    """Open requests beside which files of another one of their id may lie."""


class NewsOfIt(Struct, frozen=True):
    """Look again."""


class Errand(Actor[NewsOfIt]):
    def __init__(self, means: ErrandMeans, dossier: Dossier, first: BothFiles | None = None) -> None:
        """`first`: what a look has shown just now."""
        self._means = means
        self._dossier = dossier
        self._first = None if dossier.stale else first
        self._wake = trio.Event()
        self._published = 0
        self._recorded = False
        self._cleared = False
        self._reopened = False
        self._since: float | None = None
        """When the present attempt was seen to be under way, by the running clock."""
        self._rest_until: float | None = None
        self._gone_since: float | None = None
        """When its request was first seen to have gone while it was under way."""
        self._untold: tuple[Identity, float] | None = None
        """The answer that was seen beside another request, and when that was first. Either's it may be."""
        self._answered: tuple[Identity, float] | None = None
        """The answer that was seen beside its request, and when that was first, by the running clock."""
        self._mentioned = False

    async def started(self, kept: object | None) -> None:
        if isinstance(kept, Dossier):
            self._dossier = kept
        self.run_beside(self._work)

    def keep(self) -> object:
        return self._dossier

    def at_once(self, message: NewsOfIt) -> bool:
        self._wake.set()
        return True

    async def handle(self, message: NewsOfIt) -> None:
        match message:
            case NewsOfIt():
                self._wake.set()
            case _:
                self.unknown(message)

    # -- the work

    async def _work(self) -> None:
        while not self._dossier.is_over:
            self._wake = trio.Event()
            try:
                seconds = await self._as_far_as_possible()
                self.note = None
            except TROUBLE as error:
                self.note = f"it waits: {error}"
                seconds = AGAIN_SECONDS
            if not self._dossier.is_over:
                with trio.move_on_after(seconds):
                    await self._wake.wait()
        self._means.on_over(self._dossier)
        self.finish()

    async def _as_far_as_possible(self) -> float:
        """Steps until there is only waiting left, and for how long at most."""
        if self._dossier.stale:
            await self._put_away_what_is_old()
        if self._dossier.attempt == 0 and not self._reopened:  # requeued
            await self._means.base.reopen(self._dossier.id)  # the journal has what it says
            self._reopened = True
        while not self._dossier.is_over:
            overdue = await self._is_overdue()
            files = self._first or await self._recalled(await self._look())
            files = self._means.vouching.completed(self._dossier.id, files, self._dossier)
            self._first = None
            if await self._is_anothers(files):
                await self._make_way()
                return 0.0
            self._mention_another_content(files)
            if (seconds := self._until_it_is_told(files)) > 0.0:
                return seconds
            row = self._dossier.row
            step = self._step(row, files, overdue=overdue)
            if isinstance(step, Wait):
                return self._waiting(files)
            if isinstance(step, Publish) and (seconds := self._until_it_is_missed(files)) > 0.0:
                return seconds
            if row.state is State.RETRYING and (seconds := self._rest(row, step)) > 0.0:
                return min(seconds, TORN_SECONDS) if isinstance(files.response, Torn) else seconds
            try:
                await self._do(step, files)
            except IdOfAnother:
                if self._dossier.begun:
                    await self._journal(_overtaken(row), files)
                else:
                    await self._make_way()
            if isinstance(step, Publish) and self._published and not self._wake.is_set() and not self._may_be_taken:
                return self._under_way()
        return 0.0

    async def _look(self) -> BothFiles:
        self._means.touched.discard(self._dossier.id)  # what comes meanwhile is newer
        return await self._means.base.look(self._dossier.id)

    @property
    def _is_first(self) -> bool:
        """A script may have submitted the same, or another request of its id."""
        return self._dossier.attempt == 1

    @property
    def _may_be_taken(self) -> bool:
        """By a peer, before we published it; and what is told of that may have been told before."""
        return self._is_first and self._means.terms.dialect is Dialect.HEAD

    async def _is_anothers(self, files: BothFiles) -> bool:
        """Before ours was published, a script has submitted another request of its id, and its peer runs that."""
        before, base = self._dossier, self._means.base
        is_first = self._is_first and before.state is State.POLLING and before.under_way is None
        if not is_first or self._published or before.source != "submitted":
            return False
        if isinstance(files.response, Answer) and files.response.identity == TAKEN:  # it is to ours
            return False
        if files.request is not None:
            return is_overwritten(before, files)
        if not self._may_be_taken:
            return False
        copy = await base.read(Tray.SUBMITTED, before.id)
        try:
            return copy is not None and not is_of(before, read_request(copy, before.id))
        except BadRequest:
            return False

    async def _make_way(self) -> None:
        means = self._means
        after = made_way(self._dossier, means.wall(), means.uptime())
        (self._dossier,) = await means.journal.keep(after)
        means.noting.changed(self._dossier)
        means.touched.add(after.id)  # the other one has its turn

    async def _recalled(self, files: BothFiles) -> BothFiles:
        """A script has submitted the same while the first attempt was on its way. If a HEAD peer has taken it, and its
        answer is gone, too, the script has read it (copies.py)."""
        row, base = self._dossier.row, self._means.base
        is_under_way = self._may_be_taken and row.state is State.POLLING and self._published == 1
        if not is_under_way or files.request is not None or files.response is not None:
            return files
        copy = await base.read(Tray.SUBMITTED, row.id)
        try:
            if copy is None or not is_of(self._dossier, read_request(copy, row.id)):
                return files
        except BadRequest:
            return files
        return replace(files, response=Answer(TAKEN, taken_answer(row.id, await base.read(Tray.FAILED, row.id))))

    def _step(self, row: Row, files: BothFiles, *, overdue: bool) -> Step:
        view = View(
            request=files.request is not None and not self._has_gone(files),
            response=files.response,
            published=self._published,
            overdue=overdue,
            rested=self._rests_for(files) >= RESTED_SECONDS,
            recorded=self._recorded,
            cleared=self._cleared,
        )
        step = next_step(row, view, self._means.terms.dialect)
        if self._is_overtaken(row, step, files):
            return Journal(_overtaken(row))
        deadline = self._dossier.deadline
        if deadline is None or self._dossier.begun or not isinstance(step, Publish | Wait):
            return step
        if self._means.wall() < deadline:
            return step
        failure = Failure(TOO_LATE, permanent=True)
        return Journal(Row(row.id, State.FAILING, row.attempt, (*row.failures, failure)))

    def _is_overtaken(self, row: Row, step: Step, files: BothFiles) -> bool:
        """Another attempt would be made in place of another request of its id, which stands there. Or that one was
        answered, so this one will not be."""
        if not is_overwritten(self._dossier, files):
            return False
        if row.state is State.RETRYING:
            return row.attempt > 0 and isinstance(step, Journal) and step.row.state is State.POLLING
        is_answered = files.response is None and self._means.vouching.is_told(row.id, files.request)
        return row.state is State.POLLING and is_answered and isinstance(step, Publish | Wait)

    async def _do(self, step: Step, files: BothFiles) -> None:
        means, id = self._means, self._dossier.id  # noqa: A001 - as in the contract
        match step:
            case Journal(row):
                await self._journal(row, files)
            case Publish():
                is_first = self._is_first and not self._cleared
                with self._until_deadline():  # the gate may be shut for longer
                    await means.publishing.publish(id, self._dossier.content, is_first=is_first)
                    self._published, self._cleared, self._since = self._dossier.attempt, False, None
            case TakeAway(identity):
                await means.base.take_away(id, identity)
                self._cleared = means.terms.dialect is Dialect.HEAD and files.request is not None
            case SetAside(identity, why):
                await means.base.set_aside(id, identity, why)
                self._cleared = True
            case Record():
                await means.base.write(Tray.FAILED, id, self._last_answer(files))
                self._recorded = True
            case _:
                raise AssertionError(step)

    async def _journal(self, row: Row, files: BothFiles) -> None:
        means, before = self._means, self._dossier
        now = means.wall()
        after = stepped(before, row, now, self._attempt_seconds(), means.uptime())
        if row.state is State.SUCCESS:
            is_ours = not (is_overwritten(before, files) and _may_be_the_next_ones(files))
            if isinstance(files.response, Answer) and is_ours:
                after = replace(after, answered=files.response.identity)
            if before.row.failures or before.earlier:  # its peer, or we, have copied an answer there
                await means.base.archive([before.id], day_of(now), Tray.FAILED)
        if before.state is State.RETRYING and row.state is not State.POLLING:
            after = noted(after, f"{moment_of(now)}: an answer came after the time of attempt {before.begun} was over.")
        is_failed = row.failures != before.row.failures
        if isinstance(files.response, Answer) and (is_failed or row.state is State.SUCCESS):
            after = labelled(after, files.response, now)
        if row == _overtaken(before.row):
            after = noted(after, f"{moment_of(now)}: it is not tried again, for {OVERTAKEN}")
        if row.state is State.POLLING and row.attempt > 1:
            after = begun(after, now)
        is_ending = row.state in (State.SUCCESS, State.FAILING, State.GAVE_UP)
        (self._dossier,) = await means.journal.keep(after, soft=is_ending)
        if self._since is not None and isinstance(files.response, Answer):
            means.headway.answered(self._since, means.clock.read())
        self._since = self._rest_until = None
        means.noting.changed(self._dossier)
        if is_failed:
            means.vouching.forget(before)  # an error counts once
        if row.state is State.SUCCESS:
            means.noting.succeeded(self._dossier)

    # -- time

    def _until_deadline(self) -> AbstractContextManager[object]:
        """The deadline counts until the request has begun. It is one of the clock on the wall, which goes on while a
        machine sleeps, and may be set: so that clock is looked at again after a while."""
        deadline = self._dossier.deadline
        if deadline is None or self._dossier.begun:
            return nullcontext()
        return trio.move_on_after(min(WALL_SECONDS, max(0.0, deadline - self._means.wall())))

    async def _is_overdue(self) -> bool:
        means = self._means
        if self._since is None or self._left(self._since) > 0.0:
            return False
        if (await means.base.health()).trouble is not None or await means.base.stopped_server() is not None:
            self._since = means.clock.read()
            return False
        return True

    def _rests_for(self, files: BothFiles) -> float:
        """For how many seconds this answer has stood beside its request, which a HEAD peer removes at once."""
        answer, now = files.response, self._means.clock.read()
        if not isinstance(answer, Answer) or files.request is None:
            self._answered = None
            return 0.0
        if self._answered is None or self._answered[0] != answer.identity:
            self._answered = answer.identity, now
        return now - self._answered[1]

    def _waiting(self, files: BothFiles) -> float:
        left = self._under_way()
        if isinstance(files.response, Answer):
            left = min(left, RESTED_SECONDS)
        return min(left, TORN_SECONDS) if isinstance(files.response, Torn | Spoiled) else left

    def _under_way(self) -> float:
        """The request is in place, and there is no answer. In how many seconds the attempt is overdue."""
        means = self._means
        if self._dossier.under_way is None:
            self._dossier = begun(self._dossier, means.wall())
            means.noting.changed(self._dossier)
        if self._since is None:
            self._since = means.clock.read()
        return max(0.01, self._left(self._since))

    def _left(self, since: float) -> float:
        means = self._means
        most = since + (MOST_PATIENCE - 1) * means.terms.attempt_seconds
        began = max(since, min(most, means.headway.last_before(since)))
        return means.terms.attempt_seconds - (means.clock.read() - began)

    def _attempt_seconds(self) -> float | None:
        return None if self._since is None else self._means.clock.read() - self._since

    def _rest(self, row: Row, step: Step) -> float:
        """How long it still rests before the next attempt. An answer that came late is taken at once."""
        terms = self._means.terms
        is_late_answer = isinstance(step, Journal) and step.row.state is not State.POLLING
        if terms.immediate or row.attempt == 0 or is_late_answer:
            return 0.0
        if self._rest_until is None:
            seconds = terms.backoff_seconds * 2.0 ** (row.attempt - 1) * (0.5 + self.stage.random.random())
            self._rest_until = self.stage.now() + min(seconds, MOST_BACKOFF_SECONDS)
        return self._rest_until - self.stage.now()

    def _until_it_is_missed(self, files: BothFiles) -> float:
        if files.request is not None or not self._has_stood:
            self._gone_since = None
            return 0.0
        now = self.stage.now()
        if self._gone_since is None:
            self._gone_since = now
        return self._gone_since + GONE_SECONDS - now

    def _until_it_is_told(self, files: BothFiles) -> float:
        """How long it still waits to be told whose answer lies there. A foreign peer tells nothing."""
        answer, now = files.response, self.stage.now()
        if not isinstance(answer, Answer) or not is_overwritten(self._dossier, files):
            return 0.0
        if answer.identity == TAKEN or self._means.vouching.knows(self._dossier.id, answer):
            return 0.0
        if self._untold is None or self._untold[0] != answer.identity:
            self._untold = answer.identity, now
        return self._untold[1] + GONE_SECONDS - now

    @property
    def _has_stood(self) -> bool:
        """Whether the request has been there for its present attempt, as far as is known."""
        before = self._dossier
        if self._published == before.attempt or (before.source == "dropped" and before.attempt == 1):
            return True
        is_removed = self._means.terms.dialect is Dialect.HEAD and before.attempt > 1  # by a peer, with its last answer
        return before.under_way is not None and not is_removed

    # -- what else is in the folder

    async def _put_away_what_is_old(self) -> None:
        """If a script has put this request there, over the old one, it stays: its peer may be running it. So does a
        newer one. A HEAD peer may have answered it since, and removed it."""
        base, id, day = self._means.base, self._dossier.id, day_of(self._means.wall())  # noqa: A001 - as in the contract
        files = await base.look(id)
        answer, is_head = files.response, self._means.terms.dialect is Dialect.HEAD
        is_old = isinstance(answer, Answer | Spoiled) and answer.identity in self._dossier.old
        stands = isinstance(files.request, Asked) and not self._is_old(files.request)
        is_answered = is_head and files.request is None and answer is not None and not is_old
        if stands or (is_answered and self._dossier.source == "dropped"):
            for tray in (Tray.FAILED, Tray.EVALUATIONS):
                await base.archive([id], day, tray)
            if is_old:
                assert isinstance(answer, Answer | Spoiled)
                await base.set_aside(id, answer.identity, OTHER)
                self._cleared = True
        else:
            await base.archive([id], day, seen={id: files})
        (self._dossier,) = await self._means.journal.keep(replace(self._dossier, stale=False, old=(), instead_of=b""))
        self._means.stale.discard(id)

    def _is_old(self, there: Asked) -> bool:
        """What stands there is the request that is over."""
        dossier = self._dossier
        if is_of(dossier, there.request):
            return False
        if not dossier.instead_of:
            return dossier.source == "submitted"
        return there.request.essence == dossier.instead_of

    def _last_answer(self, files: BothFiles) -> bytes:
        """The response that told of the last failure; where there was none, one of ours."""
        row = self._dossier.row
        if isinstance(files.response, Answer) and files.response.identity == row.read and files.answer is not None:
            return files.answer
        failure = row.failures[-1]
        if failure.message == OVERDUE:
            times = "once" if self._dossier.begun == 1 else f"{min(self._dossier.begun, MOST_ATTEMPTS)} times"
            failure = Failure(f"{OVERDUE}; it was asked for {times}", failure.permanent)
        at = moment_of(self._means.wall())
        return write_response(row.id, failure, (self._means.terms.dialect,), attempt=row.attempt, at=at)

    def _has_gone(self, files: BothFiles) -> bool:
        """A HEAD peer has answered it and removed it, and the next request of its id stands there."""
        is_head = self._means.terms.dialect is Dialect.HEAD
        is_there = is_head and isinstance(files.response, Answer)
        return is_there and is_overwritten(self._dossier, files) and not _may_be_the_next_ones(files)

    def _mention_another_content(self, files: BothFiles) -> None:
        """Somebody has written another request over ours while it was under way."""
        if not is_overwritten(self._dossier, files):
            return
        self._means.touched.add(self._dossier.id)  # it has its turn when this one is over
        if self._mentioned:
            return
        self._mentioned = True
        sentence = "its file was overwritten with other content while it was under way; that is another request."
        self._dossier = noted(self._dossier, f"{moment_of(self._means.wall())}: {sentence}")


def _may_be_the_next_ones(files: BothFiles) -> bool:
    """The answer is newer than the request that stands there, and nobody has told whose it is."""
    answer = files.response
    return isinstance(answer, Answer) and answer.identity != TAKEN and bool(files.took)


def _overtaken(row: Row) -> Row:
    """It ends with the attempts that it has had."""
    told = () if row.state is State.RETRYING else (Failure(OVERTAKEN, permanent=True),)
    return Row(row.id, State.FAILING, row.attempt, (*row.failures, *told))
