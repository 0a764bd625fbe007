"""A command in hand: one request that the server end is at. It looks at the files, asks server_steps.py what to do
next, and does it, until there is nothing to do; then it ends.

    StirCommand   from the server end: its files have changed, or only its response has, or anything may have

Rules
  - Nothing but the steps changes anything. Files are looked at again when news of them has come, and when a step did
    not find them as they were.
  - The handler runs beside the steps. So a request that disappears is noticed meanwhile, and its run cancelled.
  - What is torn waits where it came from, and has another turn when it is whole, also if it has run already.
  - A run that does not end when it is to is left behind (apart.py). Its request fails, and is not run beside it.
  - A folder that is gone, a full disk and a store that is busy cost neither a start nor an answer: the same step is
    taken again, at growing intervals or when news comes.
  - An answer that stood there before its request was ever run may be the answer to another one of that id. So if our
    client end has that other one under way, or is to put that answer away, nothing is concluded from it.
  - What waits for our client end holds no place in hand: it has another turn later. What is removed is the very file
    that was looked at.
  - A crash begins anew with what was journalled last. A run that was under way counts as a start.
  - How a run has ended is journalled once its answer stands. A large answer is journalled before that, and any other
    while it is written, if its run or its writing takes its time. So a kill within this moment finds either, or begins
    the run again, which is counted as any other start.
  - News of our own response is no news. While a success of ours is written, and once it stands, whatever happens to it
    asks for nothing.
  - An answer is in the words that its reader knows. Where the reader is unknown (a plain request may come from a script
    of the contract or from one of the newest peers), it is in both forms.
"""

import logging
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import assert_never

import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.ipc.apart import RunApart, RunIsLost
from actors.ipc.given import TOO_LATE, TROUBLE, Asked, Base, BothFiles, Occupied
from actors.ipc.handlers import CommandContext, Handlers
from actors.ipc.messages import CLIENT_END, TakeUp, Vouched
from actors.ipc.server_journal import FirstStart, ServerJournal
from actors.ipc.server_steps import (
    Cancel,
    Forget,
    Journal,
    Phase,
    Row,
    Run,
    Step,
    Unreadable,
    View,
    Wanted,
    Write,
    first_start,
    next_step,
)
from actors.ipc.steps import Answer, Identity, SetAside, Torn, Wait
from actors.kernel import Actor, KernelError, Key
from codec.ipc import BOTH, Dialect, Failure, Outcome, Request, Success, Wishes, write_response

LARGE_ANSWER = 64 << 10
"""Bytes."""
LONG_RUN_SECONDS = 0.1
"""What took longer is rather journalled at once than run again."""
WRITING_SECONDS = 0.02
"""For so long an answer may be written before how its run has ended is journalled beside that."""
TORN_SECONDS = 1.05
"""What is torn is looked at again when it must be whole or spoiled."""
TAKING_UP_SECONDS = 10.0
"""For so long our client end may take to take a request up. Then it is asked again."""
PUT_OFF_SECONDS = 1.0
"""A request that could not be taken up has another turn after so long, if there is no news of it before."""
AGAIN_SECONDS, SELDOM_SECONDS = 0.5, 30.0
"""The first and the longest interval before a step is tried again that trouble prevented."""

logger = logging.getLogger("troupe.ipc")


class ServerTerms(Struct, frozen=True):
    """The settings of a server end."""

    dialect: Dialect = Dialect.SPEC
    """HEAD: a request is removed once it is answered, and to take its answer away asks for nothing."""
    concurrency: int = 8
    """Commands at once. They mostly wait for a model; a machine's processors are not what they share."""
    command_seconds: float = 300.0
    with_client: bool = False
    """Our client end has this folder, too. It is told of each success. In HEAD it is told of each error, too, and
    takes up what scripts have dropped, before that is removed."""


class ServerMeans(Struct, frozen=True):
    """What all commands share."""

    base: Base
    journal: ServerJournal
    handlers: Handlers
    terms: ServerTerms
    wall: Callable[[], float]
    """Seconds since 1970."""


class StirCommand(Struct, frozen=True):
    """Look again."""

    of_answer: bool = False
    """Only something in responses/ has changed."""


class Settlement(Struct, frozen=True):
    """It is answered, and nothing is to be done unless its request changes or, if so, its answer goes."""

    fingerprint: bytes
    """Of the request."""
    asks_when_taken: bool


class CommandOver(Struct, frozen=True):
    """There is nothing to do for this request."""

    id: str
    heard: int
    """How often it was stirred."""
    settled: Settlement | None = None
    has_row: bool = True
    """The journal knows it."""
    later: Wishes | None = None
    """It may not begin yet, or be removed."""


class KnownBefore(Struct, frozen=True):
    files: BothFiles | None = None
    """As they have just been found."""
    may_have_row: bool = True
    start: FirstStart | None = None
    """It has no row but this, which is on its way."""

    def begun(self, id: str, means: ServerMeans) -> "KnownBefore":  # noqa: A002 - as in the contract
        """The same. If it is to run at once, its start is on its way to the journal: to make its command takes as long,
        and need not wait for that."""
        files = self.files
        if self.may_have_row or files is None or files.response is not None or not isinstance(files.request, Asked):
            return self
        request = files.request.request
        if request.wishes.deadline is not None or request.wishes.not_before is not None:
            return self
        with suppress(KernelError):  # the command tries it again
            return replace(self, start=means.journal.begin(first_start(id, Wanted(request.fingerprint))))
        return self


class CommandRan(Struct, frozen=True):
    """Its handler has ended, or is lost. What is left to do waits for disks, and the next one may run meanwhile."""

    id: str
    lost: bool = False
    """It goes on, though it was to end."""


CommandReport = CommandOver | CommandRan
SERVER_REPORTS = Key[CommandReport]("ipc/server")


class RunningCommand(Actor[StirCommand]):
    def __init__(self, id: str, means: ServerMeans, known: "list[KnownBefore]") -> None:  # noqa: A002
        """`known`: what its first incarnation need not find out; it is taken out."""
        self._id = id
        self._means = means
        before = known.pop() if known else KnownBefore()
        self._files = before.files
        """None: they are to be looked at."""
        self._row: Row | None = None
        self._start = before.start
        self._loaded = not before.may_have_row and before.start is None
        self._unsaved: Row | None = None
        """The row is decided, and its journalling is to be done with the writing; this is what the journal knows."""
        self._wake = trio.Event()
        self._stirred = False
        self._heard = 0
        self._may_run = self._running = self._written = self._over = self._ran = False
        self._is_ours = False
        """The response that stands there, or is being written, is a success of ours."""
        self._began = self._took = 0.0
        """When the run has begun, and how many seconds it took."""
        self._saved = trio.Event()
        """Set but while a row is journalled beside the writing."""
        self._saved.set()
        self._ended: Outcome | None = None
        self._run_apart: RunApart[Outcome] | None = None
        self._fault: Exception | None = None
        """Raised by a run: a fault of ours, for what a handler raises is an outcome."""
        self._run_is_gone = trio.Event()
        self._dialects: Collection[Dialect] = BOTH

    async def started(self, kept: object | None) -> None:
        self._written = kept is True
        self.run_beside(self._work)

    def keep(self) -> object:
        """Whether the answer that the journal knows was written: somebody may have taken it away since."""
        return self._written

    def at_once(self, message: StirCommand) -> bool:
        self._heard += 1
        if not (message.of_answer and self._is_ours):
            self._stirred = True
            self._wake.set()
        return True

    async def handle(self, message: StirCommand) -> None:
        match message:
            case StirCommand():
                self.at_once(message)
            case _:
                self.unknown(message)

    def let_go(self) -> None:
        if self._run_apart is not None:
            self._run_apart.leave()

    # -- the steps

    async def _work(self) -> None:
        seconds = AGAIN_SECONDS
        while not self._over:
            if self._fault is not None:
                raise self._fault
            if self._wake.is_set():
                self._wake = trio.Event()
                if self._stirred:
                    self._stirred = self._is_ours = False
                    self._files = None
            try:
                if not self._loaded:
                    await self._load()
                if self._files is None:
                    self._files = await self._means.base.look(self._id)
                    continue  # what came meanwhile is newer
                await self._step(self._files)
            except Occupied:
                self._files, self._is_ours = None, False
            except TROUBLE as trouble:
                self.note = str(trouble)
                self._files, self._is_ours = None, False
                await self._rest(seconds)
                seconds = min(2 * seconds, SELDOM_SECONDS)
            else:
                seconds, self.note = AGAIN_SECONDS, None

    async def _load(self) -> None:
        start, self._start = self._start, None
        if start is None:
            self._row = await self._means.journal.load(self._id)
        else:
            self._row, self._may_run = await start.saved(), True
        self._loaded = True

    async def _step(self, files: BothFiles) -> None:
        if self._is_to_be_removed(files):
            await self._remove(files)
            self._files = None
            return
        if self._may_begin(files) and isinstance(files.request, Asked):
            now, wishes = self._means.wall(), files.request.request.wishes
            if wishes.deadline is not None and wishes.deadline <= now:
                self._ended = Failure(TOO_LATE, permanent=True)
            elif wishes.not_before is not None and wishes.not_before > now:
                self._finish(later=wishes)
                return
        step = next_step(self._id, self._row, self._view(files))
        if self._unsaved is not None and not isinstance(step, Write):
            await self._save_decided()
        if isinstance(step, Wait):
            await self._wait(files)
        else:
            await self._do(step, files)

    async def _do(self, step: Step, files: BothFiles) -> None:
        base, journal = self._means.base, self._means.journal
        match step:
            case Journal(Row(phase=Phase.ASKED)) if self._ran:
                self._finish(heard=-1)  # the next run has a turn of its own
            case Journal(row):
                if row.phase is Phase.DECIDED and not self._stirred:
                    self._unsaved = self._row
                else:
                    await journal.save(row, self._row)
                begins = row.phase is Phase.ASKED and row.starts > (self._row.starts if self._row else 0)
                self._row, self._ended, self._written, self._may_run = row, None, False, begins
            case Forget():
                await self._forget()
            case Run():
                assert isinstance(files.request, Asked)
                self._begin(files.request.request)
            case Cancel():
                if self._run_apart is not None:
                    self._run_apart.cancel()
                await self._run_is_gone.wait()
                self._ended = None
            case Write(outcome):
                self._choose_words(files)
                tries = max(self._row.starts if self._row else 0, 1)
                at = datetime.fromtimestamp(self._means.wall(), UTC).isoformat()
                self._is_ours = isinstance(outcome, Success) and self._means.terms.dialect is Dialect.SPEC
                data = write_response(self._id, outcome, self._dialects, attempt=tries, begun=tries, at=at)
                answer = Answer(await self._answer(data), outcome, tries)
                self._vouch(files, answer, len(data))
                self._files = replace(files, response=answer)  # if somebody takes it away, there is news of that
            case SetAside(identity, why):
                await base.set_aside(self._id, identity, why)
                self._files = None
            case Wait():
                pass
            case _:
                assert_never(step)

    async def _answer(self, data: bytes) -> Identity:
        if self._unsaved is not None and len(data) > LARGE_ANSWER:
            await self._save_decided()
        if self._unsaved is None:
            written = await self._means.base.answer(self._id, data)
            self._written = True
            return written
        patience = 0.0 if self._took > LONG_RUN_SECONDS else WRITING_SECONDS
        late = self.stage.timers.after(patience, self._begin_to_save)
        try:
            written = await self._means.base.answer(self._id, data)
            self._written = True
        finally:
            late.cancel()
            await self._saved.wait()
        self._unsaved = None  # the next row says so, and says all that this one did
        return written

    def _vouch(self, files: BothFiles, answer: Answer, size: int) -> None:
        """Tells our client end of it, for its reader may take it away before that looks. In SPEC, to take an error away
        asks for another run."""
        asked, client = files.request, self.stage.registry.find(CLIENT_END)
        if not self._means.terms.with_client or client is None:
            return
        is_told = isinstance(answer.outcome, Success) or self._means.terms.dialect is Dialect.HEAD
        if isinstance(asked, Asked) and is_told:
            with suppress(KernelError):  # it is too busy: it will find the response, or not
                client.hand(Vouched(asked, answer, self._took, len(asked.data) + size))

    def _begin_to_save(self) -> None:
        self._saved = trio.Event()
        self.run_beside(self._save_beside)

    async def _save_beside(self) -> None:
        try:
            with suppress(*TROUBLE):  # the answer may stand all the same; else it is tried again before the next step
                await self._save_decided()
        finally:
            self._saved.set()

    async def _save_decided(self) -> None:
        assert self._row is not None
        await self._means.journal.save(self._row, self._unsaved)
        self._unsaved = None

    def _may_begin(self, files: BothFiles) -> bool:
        row = self._row
        idle = not self._running and self._ended is None
        return idle and files.response is None and (row is None or (row.phase is Phase.ASKED and row.starts == 0))

    def _is_to_be_removed(self, files: BothFiles) -> bool:
        row = self._row
        if self._means.terms.dialect is not Dialect.HEAD or row is None or row.phase is not Phase.ANSWERED:
            return False
        return row.fingerprint == fingerprint_of(files)

    async def _remove(self, files: BothFiles) -> None:
        fingerprint, base = fingerprint_of(files), self._means.base
        is_found = self._row is not None and self._row.found
        if self._means.terms.with_client and fingerprint is not None:
            try:
                client = self.stage.registry.get(CLIENT_END)
                await client.ask(partial(TakeUp, self._id, fingerprint, is_found), timeout=TAKING_UP_SECONDS)
            except KernelError:
                await self._put_removal_off(files)
                return
        if is_found and (files.response is None or await base.look(self._id) != files):
            await self._forget()  # it was another one's answer, and our client end has put it away
        elif not self._stirred:
            await base.withdraw(self._id, files.stands_as)

    async def _put_removal_off(self, files: BothFiles) -> None:
        """Our client end waits for the end of another request of this id, or is not there. Who waits for that without
        running anything has no place in hand: what is to end may need it."""
        if self._row is not None and self._row.found:  # it may be the other request's
            await self._forget()
        if self._stirred:
            return  # it may be another one by now
        wishes = files.request.request.wishes if isinstance(files.request, Asked) else Wishes()
        self._finish(later=replace(wishes, not_before=self._means.wall() + PUT_OFF_SECONDS, deadline=None))

    async def _forget(self) -> None:
        await self._means.journal.forget([self._id])
        self._row = None

    def _view(self, files: BothFiles) -> View:
        there = files.request
        request = Wanted(there.request.fingerprint) if isinstance(there, Asked) else there
        return View(request, files.response, self._may_run, self._running, self._ended, self._written)

    def _choose_words(self, files: BothFiles) -> None:
        match files.request:
            case Unreadable():
                self._dialects = tuple(Dialect)
            case Asked(Request(dialect=Dialect.PROMPT)):
                self._dialects = (Dialect.PROMPT,)
            case _ if self._means.terms.dialect is Dialect.HEAD:
                self._dialects = (Dialect.HEAD,)
            case Asked(Request(wishes=wishes)) if wishes != Wishes():
                self._dialects = (Dialect.SPEC,)
            case _:
                self._dialects = BOTH

    # -- the run

    def _begin(self, request: Request) -> None:
        assert self._row is not None
        means, seconds, command = self._means, self._means.terms.command_seconds, request.command
        context = CommandContext(request, self._row.starts, means.handlers, means.journal, means.wall)
        run, on_end = partial(means.handlers.run, context, seconds), partial(self._has_run, command)
        self._may_run, self._running = False, True
        self._run_is_gone = trio.Event()
        self._began = self.stage.now()
        self._run_apart = RunApart(run, seconds, f"{self.ref.path}: {command}", self.stage.timers, on_end)

    def _has_run(self, command: str, outcome: Outcome | None, error: Exception | None) -> None:
        is_lost = isinstance(error, RunIsLost)
        if is_lost:
            seconds = self._means.terms.command_seconds
            logger.warning("%s of the request %s does not let itself be ended, and goes on", command, self._id)
            self._ended = Failure(
                f"{command} was not over after {seconds:g} seconds, and did not let itself be ended", permanent=True
            )
        else:
            self._ended, self._fault = outcome, error
        self._running, self._ran, self._run_apart = False, True, None
        self._took = self.stage.now() - self._began
        self._run_is_gone.set()
        self._wake.set()
        self._report(CommandRan(self._id, is_lost))

    # -- waiting, and the end

    async def _wait(self, files: BothFiles) -> None:
        if self._running:
            await self._wake.wait()
        elif isinstance(files.request, Torn) or isinstance(files.response, Torn):
            self._finish(heard=-1)  # it waits in the reception, and others have its place meanwhile
        elif not self._wake.is_set():
            self._finish()

    async def _rest(self, seconds: float) -> None:
        """News may shorten it, but not to nothing: the same trouble may be met again at once."""
        await trio.sleep(AGAIN_SECONDS)
        with trio.move_on_after(seconds - AGAIN_SECONDS):
            await self._wake.wait()

    def _finish(self, later: Wishes | None = None, heard: int | None = None) -> None:
        row, settled = self._row, None
        if row is not None and row.phase is Phase.ANSWERED and later is None:
            settled = Settlement(row.fingerprint, row.asks_when_taken)
        self._report(CommandOver(self._id, self._heard if heard is None else heard, settled, row is not None, later))
        self._over = True
        self.finish()

    def _report(self, report: CommandReport) -> None:
        end = self.stage.registry.find(SERVER_REPORTS)
        if end is not None:
            end.hand(report, urgent=True)


def fingerprint_of(files: BothFiles) -> bytes | None:
    match files.request:
        case Asked(request):
            return request.fingerprint
        case Unreadable(fingerprint):
            return fingerprint
        case _:
            return None
