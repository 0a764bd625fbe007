"""A problem: its folder, its cases, its last results, and the run that is under way.

    state      becomes            when
    idle       running            a run is asked for, and there is something to run
    running    idle               all cases are judged, or the run is cancelled, or it ends in another way

Rules
  - A post is on the disk before it is shown: its tests in the folder, the rest in the store.
  - The folder is the truth about tests, because users edit there. It is read whenever a user opens the problem, runs it
    or comes back to it, after a run that has used what nobody has read yet and, if folders can be watched, as soon as
    something in it has changed while a panel shows it or a run is under way. Panels are told about the folder's content
    before anything that depends on it. A page forgets the result of a case that is gone. So if a case comes back, its
    last result is told again.
  - There is one run at a time (underway.py). A result stays until a later run has one for the same case, and is shown
    with the reasons why it is out of date (ledger.py). During a run its results are stored a few times a second, so
    that little is lost if the server ends.
  - A run is reported to the panels that show the problem, and to the panel that asked for it, whatever that shows by
    now.
  - A run is cancelled when the panel that asked for it has gone and no other panel shows the problem. A panel that
    merely shows another problem has not gone. When the server ends, the panels go first: then nobody has cancelled the
    run, and it was interrupted.
  - If the problem crashes, its run ends too. The panels stay and are shown the remaining state.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import msgspec

from actors.judge import ordering
from actors.judge.audience import Audience
from actors.judge.filing import Filing
from actors.judge.given import Folders, Found, Machine, Watching
from actors.judge.keeping import Keeping, Kept
from actors.judge.ledger import Ledger, Present, same, version_of
from actors.judge.means import with_means
from actors.judge.merge import NewCase, Pair, plan
from actors.judge.messages.panel import PanelMessage, PassedOn, Shown, tell
from actors.judge.messages.problem import (
    Arrived,
    CancelAsked,
    CaseAsked,
    CaseJudged,
    KeepSoFar,
    Left,
    LookAgain,
    NobodyLooks,
    OpenFor,
    ProblemMessage,
    RunAsked,
    Stirred,
)
from actors.judge.messages.shelf import Changed, Vanished
from actors.judge.ordering import NotNow
from actors.judge.outputs import MOST_SHOWN, Outputs
from actors.judge.places import TaskPlace
from actors.judge.registered import RUNS, SHELF
from actors.judge.run import Run, RunOrder
from actors.judge.stderr import Consoles
from actors.judge.telling import told, told_case
from actors.judge.underway import UnderWay
from actors.judge.versions import Versions
from actors.kernel import (
    Actor,
    ActorRef,
    AnyRef,
    ChildSpec,
    Down,
    KernelError,
    Restart,
    Stop,
    Timer,
    TooManyChildren,
    Why,
    in_words,
)
from actors.store import StoreError
from codec.judge import (
    Listed,
    Notice,
    RunComplete,
    RunProgress,
    RunReport,
    RunSettings,
    Scope,
    StateCase,
    StateUpdate,
    Task,
    excerpt,
    fingerprint,
)
from codec.judge import (
    ShownProblem as Told,
)
from codec.words import counted

FORSAKEN_AFTER, POSTED_AFTER = 30.0, 5.0
"""Seconds until a problem ends after its last panel has left, and if it never had one. So of many posted problems only
a few are in memory at a time."""
KEEP_SECONDS, KEEP_SHARE = 0.25, 20.0
"""While a run goes on, its results are kept so often; but where that takes long, it takes one part in so many."""
MANY_RUNS = "As many problems are being run as can be at a time. Run it again when one of them is done."


class Problem(Actor[ProblemMessage]):
    def __init__(
        self,
        id: str,  # noqa: A002 - as on the wire
        folders: Folders,
        machine: Machine,
        wall: Callable[[], float],
        cores: int,
        watching: Watching | None = None,
    ) -> None:
        self.id = id
        self._folders = folders
        self._machine = machine
        self._wall = wall
        self._cores = cores
        self._watching = watching
        self._names = tuple(id.split("/"))
        self._kept: Kept | None = None
        """None: it was never posted, and is only a folder."""
        self._found: Found | None = None
        self._ledger = Ledger()
        self._versions = Versions()
        self._interrupted = False
        self._under_way: UnderWay | None = None
        self._audience = Audience()
        self._stirs = False
        """The folder is watched."""
        self._cannot_be_read: str | None = None
        """As those who look are shown."""
        self._watched: set[ActorRef[PanelMessage]] = set()
        """Panels whose end we are told of: those that look, have looked, or have asked for a run."""
        self._forsaken: Timer | None = None
        self._outputs = Outputs()
        self._consoles = Consoles()

    # -- its life

    async def started(self, kept: object | None) -> None:
        self._keeping = Keeping(self.stage.registry)
        self._filing = Filing(self._keeping, self.id, self._audience.tell)
        self._kept, records, mark = await self._keeping.problem(self.id)
        self._ledger.records = {record.result.index: record for record in records}
        self._interrupted = mark is not None
        if mark is not None:
            self._ledger.over(mark, None)
        elif self._kept is not None:
            self._ledger.over(self._kept.last, self._kept.summary)
        if isinstance(kept, Audience):
            for panel in kept.panels:
                await self._opened(panel, kept.settings, anew=True)
        self._look_around()

    def keep(self) -> object:
        return self._audience

    async def stopping(self, stop: Stop) -> None:
        if self._under_way is not None:
            await self._filing.at_last(self._ledger.kept)

    def at_once(self, message: ProblemMessage) -> bool:
        if type(message) is not CaseJudged:
            return False
        self._heard_of(message)
        return True

    async def handle(self, message: ProblemMessage) -> None:
        match message:
            case Arrived(task, place, reply, at, again):
                try:
                    reply.set(await self._arrived(task, place, at, again=again))
                except (OSError, StoreError, KernelError) as error:  # the intake keeps the post and tries again
                    reply.fail(error)
                    if self._found is not None:  # some or all of the tests may be there, and somebody may know others
                        await self._look()
            case OpenFor(panel, anew, settings):
                await self._opened(panel, settings, anew=anew)
            case Left(panel):
                self._audience.panels.discard(panel)
                self._look_around()
            case RunAsked(panel, scope, indices):
                await self._run_asked(panel, scope, indices)
            case CancelAsked(panel):
                self._cancel(panel)
            case CaseAsked(panel, index):
                await self._show_case(panel, index)
            case CaseJudged():
                self._heard_of(message)
            case LookAgain():
                await self._look()
            case Stirred():
                await self._look()
                if self._watching is not None:
                    self._watching.looked(self.ref)
            case KeepSoFar(run):
                if self._under_way is not None and run is self._under_way.run:
                    began = self.stage.now()
                    await self._filing.so_far(self._ledger.kept())
                    self.tell_later(max(KEEP_SECONDS, KEEP_SHARE * (self.stage.now() - began)), message)
            case NobodyLooks():
                if self.ref.statistics().mailbox.queued:  # somebody wants something, which would be lost
                    self._look_around()
                elif not self._audience.panels and self._under_way is None:
                    self.finish()
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        if self._under_way is not None and down.ref is self._under_way.run:
            if down.stop.why is Why.DONE or not self.stage.ends:
                await self._run_over(self._under_way, down.stop)
                if self._versions.is_any_unread:
                    await self._look()
        else:
            self._gone(down.ref)

    # -- what is posted

    async def _arrived(self, task: Task, place: TaskPlace, at: float, *, again: bool) -> Listed:
        before = self._found
        with self.atomic():
            found = await self._folders.add(self._names, partial(_new_cases, task, again=again))
        kept = msgspec.structs.replace(
            self._as_it_stands(),
            task=msgspec.structs.replace(task, tests=()),
            cases=len(found.cases),
            contest_id=place.contest_id,
            task_id=place.task_id,
            identity=place.identity,
            at=at,
        )
        await self._keeping.keep(kept)
        self._kept = kept
        self._take(found)
        if self._audience.panels:  # to make the message takes longer than to read a post
            self._tell_change(before)
        self._look_around()
        return kept.listed

    def _as_it_stands(self) -> Kept:
        contest_id, task_id = self._names
        only_a_folder = Kept(task=self._task, contest_id=contest_id, task_id=task_id, identity="", at=self._wall())
        return msgspec.structs.replace(
            self._kept or only_a_folder,
            cases=self._count(),
            summary=self._ledger.summary,
            last=self._ledger.last,
            standing=self._ledger.standing(),
        )

    # -- who looks

    async def _opened(self, panel: ActorRef[PanelMessage], settings: RunSettings | None, *, anew: bool) -> None:
        self._audience.panels.add(panel)
        self._watch(panel)
        self._audience.settings = settings or self._audience.settings
        try:
            await self._see(but=panel)
        except OSError as error:
            tell(panel, Notice("error", self._cannot_read(error, but=panel)))
            self._know()
        tell(panel, self._shown(anew=anew))
        self._look_around()
        await self._tell_shelf()

    # -- what is there

    async def _look(self) -> None:
        """Reads the folder, because something in it may have changed."""
        try:
            await self._see()
        except OSError as error:
            known = self._cannot_be_read
            if (sentence := self._cannot_read(error)) != known:
                self._audience.tell(Notice("error", sentence))

    async def _see(self, but: ActorRef[PanelMessage] | None = None) -> Found:
        """The current content of the folder. If it has changed, the panels are told, except for one that is about to be
        told more."""
        found = await self._folders.find(self._names)
        could_not, self._cannot_be_read = self._cannot_be_read, None
        before = self._found
        settled = self._take(found)
        changed = not same(before, found)
        if changed or could_not or settled:
            self._tell_change(before, but=but)
        if settled and self._under_way is None:
            self.run_beside(self._filing.at_last, self._ledger.kept)
        if changed:
            self._look_around()
        if (changed or settled) and before is not None:
            await self._tell_shelf()
        return found

    def _cannot_read(self, error: OSError, but: ActorRef[PanelMessage] | None = None) -> str:
        """The sentence that says so. The problem is shown with it until the folder has been read again."""
        sentence = f"The folder of {self.id} cannot be read: {error.strerror or error}."
        if sentence != self._cannot_be_read:
            self._cannot_be_read = sentence
            self._audience.tell(self._update(), but=but)
        return sentence

    def _take(self, found: Found) -> bool:
        """The folder was read. Returns whether more is known now of what a result depends on."""
        self._found = found
        self._know()
        if not self._versions.read(found):
            return False
        settled = False
        for index in self._versions.ran_last:
            settled |= self._ledger.rests_on(index, partial(self._versions.basis, index))
        return settled

    def _know(self) -> None:
        """The current state may be another."""
        self._ledger.present = Present.of(self._found, self._audience.settings, self._task)

    async def _tell_shelf(self) -> None:
        if self._found is None:
            return
        now = self._as_it_stands()
        if self._found.exists and self._kept is not None and now.listed != self._kept.listed:
            self._kept = now
            self.run_beside(self._filing.stands, now)
        news = Changed(now.listed, arrived=False) if self._found.exists else Vanished(self.id)
        with suppress(KernelError):  # the shelf is restarting; it is told at the next reading
            await self.stage.registry.get(SHELF).send(news)

    def _watch(self, panel: ActorRef[PanelMessage]) -> None:
        if panel not in self._watched:
            self._watched.add(panel)
            self.monitor(panel)

    def _gone(self, panel: AnyRef) -> None:
        self._watched.discard(panel)
        self._audience.panels.discard(panel)
        if self._under_way is not None and panel is self._under_way.asker:
            self._under_way.asker = None
        self._look_around()

    def _look_around(self) -> None:
        self.note = counted(self._count() or 0, "case") + ("" if self._under_way is None else ", running")
        if self._forsaken is not None:
            self._forsaken.cancel()
            self._forsaken = None
        self._watch_folder(wanted=bool(self._audience.panels) or self._under_way is not None)
        if self._audience.panels:
            return
        if self._under_way is None:
            self._forsaken = self.tell_later(FORSAKEN_AFTER if self._watched else POSTED_AFTER, NobodyLooks())
        elif self._under_way.asker is None and not self.stage.ends:
            self._under_way.run.begin_stop()

    def _watch_folder(self, *, wanted: bool) -> None:
        if self._watching is None or wanted == self._stirs:
            return
        self._stirs = wanted
        if wanted:
            self._watching.watch(self.ref, self._folders.watched(self._names), Stirred())
        else:
            self._watching.unwatch(self.ref)

    async def _show_case(self, panel: ActorRef[PanelMessage], index: int) -> None:
        try:
            await self._see()  # a panel that is shown the case as it is now must know the others as they are now
            given = await self._folders.read(self._names, index, "in")
            wanted = await self._folders.read(self._names, index, "out")
        except OSError as error:
            sentence = f"Case {index} of {self.id} cannot be shown: {error.strerror or error}."
            tell(panel, Notice("warn", sentence))
            return
        now = version_of(fingerprint(given).digest(), fingerprint(wanted).digest())
        texts = excerpt(given, MOST_SHOWN), excerpt(wanted, MOST_SHOWN)
        shown = told_case(self._names, index, *texts, now, self._folders)
        result, output = self._ledger.result(index), self._outputs.of(index)
        if result is not None and output:
            actual = excerpt(output, MOST_SHOWN, result.actual_size)
            result = msgspec.structs.replace(result, actual=actual.text, actual_cut=actual.cut)
        tell(panel, StateCase(problem_id=self.id, case=shown, result=result))

    # -- running

    async def _run_asked(self, panel: ActorRef[PanelMessage], scope: Scope, indices: tuple[int, ...] | None) -> None:
        began = self.stage.now()
        try:
            order = await self._order(indices)
            make = partial(Run, order, self._folders, self._machine, self.ref)
            spec = ChildSpec(self.stage.new_id(), make, restart=Restart.TEMPORARY, unread_is_lost=False)
            run = await self.stage.registry.get(RUNS).start_child(spec)
        except (NotNow, KernelError) as refusal:
            words = MANY_RUNS if isinstance(refusal, TooManyChildren) else in_words(refusal)
            if self._under_way is None:
                tell(panel, Notice("error", words))
                tell(panel, RunProgress(scope, running=False, problem_id=self.id))
            else:  # that passes
                tell(panel, Notice("info", words))
                if panel in self._audience.panels:  # it will hear of that run's end
                    tell(panel, self._under_way.begun(self.id))
            return
        indices = tuple(order.indices)
        number, present = self._ledger.next_run, self._ledger.present
        self._under_way = UnderWay(run, panel, scope, number, indices, present, began, min(indices))
        self._interrupted = False
        self._versions.run_begins()
        self.monitor(run)
        self._watch(panel)
        self._tell_of_run(self._under_way.begun(self.id))
        self.run_beside(self._filing.run_began, self._under_way.last(cancelled=True))  # the run waits for no disk
        self.tell_later(KEEP_SECONDS, KeepSoFar(run))
        self._look_around()

    async def _order(self, indices: tuple[int, ...] | None) -> RunOrder:
        if self._under_way is not None:
            raise NotNow(f"{self.id} is being run already. Wait for the end of that run, or cancel it.")
        look = partial(self._seen, indices)
        (found, wanted), settings, interpreter = await with_means(look, self.stage.registry, self._machine)
        self._audience.settings = settings
        self._know()
        return ordering.order(self._task, self._names, found, wanted, settings, interpreter, self._folders, self._cores)

    async def _seen(self, indices: tuple[int, ...] | None) -> tuple[Found, list[int]] | NotNow:
        """The current content of the folder, and the cases in it that are to be run."""
        try:
            found = await self._see()
            return found, ordering.wanted(self._task, self._names, found, self._folders, indices)
        except OSError as error:
            return NotNow(self._cannot_read(error))
        except NotNow as refusal:
            return refusal

    def _cancel(self, panel: ActorRef[PanelMessage]) -> None:
        if self._under_way is not None:
            self._under_way.run.begin_stop()
        else:
            tell(panel, Notice("info", f"{self.id} is not running."))

    def _heard_of(self, judged: CaseJudged) -> None:
        under_way, result = self._under_way, judged.result
        if under_way is None or judged.run is not under_way.run:
            return
        self._outputs.keep(result.index, judged.output)
        result = msgspec.structs.replace(result, console=self._consoles.fitted(result.index, result.console))
        under_way.judged.append(result)
        self._versions.ran(result.index, judged.used)
        basis = self._versions.basis(result.index, under_way.ordered.basis(result.index))
        result = self._ledger.record(under_way.number, result, basis)
        under_way.current = judged.next
        report = RunReport(under_way.scope, result, self.id)
        self._tell_of_run(*([report] if judged.next is None else [report, under_way.progress(self.id)]))

    async def _run_over(self, under_way: UnderWay, stop: Stop) -> None:
        summary, cancelled = under_way.summary(self.stage.now()), stop.why is not Why.DONE
        self._ledger.over(under_way.last(cancelled=cancelled), summary)
        if not stop.why.normal:
            self._tell_of_run(Notice("error", f"The run of {self.id} has failed: {stop}. Run it again."))
        self._tell_of_run(
            RunProgress(under_way.scope, running=False, problem_id=self.id, run=under_way.number),
            RunComplete(under_way.scope, summary, self.id, cancelled=cancelled, run=under_way.number),
        )
        self._under_way = None
        self._look_around()
        self._kept = self._as_it_stands()
        await self._tell_shelf()
        self.run_beside(self._filing.run_over, self._kept, self._ledger.kept())

    # -- telling

    @property
    def _task(self) -> Task:
        return self._kept.task if self._kept is not None else Task(name=self._names[-1])

    def _count(self) -> int | None:
        return None if self._found is None else len(self._found.cases)

    def _told(self) -> Told:
        return told(self._task, self._names, self._found, self._folders, self._cannot_be_read)

    def _update(self) -> StateUpdate:
        return StateUpdate(self._told(), self._ledger.outdated())

    def _shown(self, *, anew: bool) -> Shown:
        under_way = self._under_way
        return Shown(
            problem=self._told(),
            results=self._ledger.results(),
            summary=self._ledger.summary if under_way is None else None,
            last=self._ledger.last,
            running=None if under_way is None else under_way.running(),
            interrupted=self._interrupted,
            anew=anew,
        )

    def _tell_change(self, before: Found | None, but: ActorRef[PanelMessage] | None = None) -> None:
        """The panels know what was found before, and are told what there is now."""
        if before is None or all(result.index in before.cases for result in self._ledger.results()):
            self._audience.tell(self._update(), but=but)
        else:
            self._audience.show(self._shown(anew=False), but=but)

    def _tell_of_run(self, *messages: PassedOn) -> None:
        self._audience.tell_of_run(None if self._under_way is None else self._under_way.asker, *messages)


def _new_cases(task: Task, found: Found, *, again: bool) -> list[NewCase]:
    known = {index: Pair(given.digest, wanted.digest) for index, (given, wanted) in found.cases.items()}
    alone = {index: wanted.digest for index, wanted in found.alone.items()} if again else {}
    return plan(known, task.tests, found.highest, alone)
