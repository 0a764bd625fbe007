"""A problem: its folder, its cases, its last results, and the run that is under way.

    state      becomes            when
    idle       running            a run is asked for, and there is something to run
    running    idle               all cases are judged, or the run is cancelled, or ends otherwise

Rules
  - What is posted is on the disk before it is shown: tests in the folder, the rest in the store.
  - The folder is the truth about tests: it is read anew whenever somebody opens the problem or runs it, for people edit
    there.
  - One run at a time. Results stay until the next run has one for the same case; while a run goes on, what it has come
    to is kept every other second, so that little is lost with the server.
  - A run is told to those that look and to the panel that asked for it, whatever that shows by now.
  - A run is cancelled when the panel that asked for it has gone and nobody looks on. A panel that merely shows another
    problem has not gone.
  - If the problem crashes, so ends its run; the panels stay, and are shown what is left.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import trio

from actors.judge import ordering
from actors.judge.keeping import Keeping, Kept
from actors.judge.merge import Pair, plan
from actors.judge.messages import (
    Arrived,
    CancelAsked,
    CaseAsked,
    CaseJudged,
    Changed,
    Folders,
    Forsaken,
    Found,
    KeepSoFar,
    Left,
    Machine,
    Opened,
    ProblemMessage,
    RunAsked,
    SettingsNow,
    Shown,
    Trouble,
    tell,
)
from actors.judge.ordering import NotNow
from actors.judge.outputs import MOST_SHOWN, Outputs
from actors.judge.places import Place
from actors.judge.registered import RUNS, SHELF
from actors.judge.run import Order, Run
from actors.judge.telling import standing, summary, told, told_case
from actors.kernel import Actor, ActorRef, ChildSpec, Down, KernelError, Restart, Stop, Timer, Why, in_words
from actors.store import StoreError
from codec.judge import (
    Listed,
    Notice,
    RunComplete,
    Running,
    RunProgress,
    RunReport,
    RunResult,
    RunSettings,
    Scope,
    StateCase,
    StateUpdate,
    Summary,
    Task,
    excerpt,
)
from codec.judge import (
    Problem as Told,
)

FORSAKEN_AFTER = 30.0
PATIENCE = 5.0
KEEP_SECONDS = 2.0



@dataclass(slots=True)
class UnderWay:
    """The run that is under way."""

    run: ActorRef[Any]
    asker: ActorRef[Any] | None
    """None: it has gone."""
    scope: Scope
    began: float
    current: int | None
    """The lowest case that is not judged yet; None: all are."""
    judged: list[RunResult] = field(default_factory=list)


class Problem(Actor[ProblemMessage]):
    def __init__(
        self,
        id: str,  # noqa: A002 - as on the wire
        folders: Folders,
        machine: Machine,
        wall: Callable[[], float],
        cores: int,
    ) -> None:
        self.id = id
        self._folders = folders
        self._machine = machine
        self._wall = wall
        self._cores = cores
        self._names = tuple(id.split("/"))
        self._kept: Kept | None = None
        """None: nobody has ever posted it; there is only a folder."""
        self._found: Found | None = None
        self._results: dict[int, RunResult] = {}
        self._summary: Summary | None = None
        self._interrupted = False
        self._under_way: UnderWay | None = None
        self._panels: set[ActorRef[Any]] = set()
        """Those that look."""
        self._watched: set[ActorRef[Any]] = set()
        """Panels whose end we are told of: those that look, have looked, or have asked for a run."""
        self._forsaken: Timer | None = None
        self._outputs = Outputs()
        self._filing = trio.Lock()
        """Held while something about a run is kept: what happened first is kept first."""

    # -- its life

    async def started(self, kept: object | None) -> None:
        self._keeping = Keeping(self.stage.registry)
        self._kept = await self._keeping.problem(self.id)
        self._results = {result.index: result for result in await self._keeping.results(self.id)}
        self._interrupted = await self._keeping.was_interrupted(self.id)
        if self._kept is not None:
            self._summary = self._kept.summary
        for panel in kept if isinstance(kept, set) else ():
            await self._opened(panel, anew=True)
        self._look_around()

    def keep(self) -> object:
        return self._panels

    async def stopping(self, stop: Stop) -> None:
        async with self._filing:
            if self._under_way is not None:
                await self._keep_results()

    def at_once(self, message: ProblemMessage) -> bool:
        if type(message) is not CaseJudged:
            return False
        self._heard_of(message)
        return True

    async def handle(self, message: ProblemMessage) -> None:
        match message:
            case Arrived(task, place, reply):
                try:
                    reply.set(await self._arrived(task, place))
                except OSError as error:
                    reply.fail(error)
            case Opened(panel, anew):
                await self._opened(panel, anew=anew)
            case Left(panel):
                self._panels.discard(panel)
                self._look_around()
            case RunAsked(panel, scope, indices):
                await self._run_asked(panel, scope, indices)
            case CancelAsked(panel):
                self._cancel(panel)
            case CaseAsked(panel, index):
                await self._show_case(panel, index)
            case CaseJudged():
                self._heard_of(message)
            case KeepSoFar(run):
                if self._under_way is not None and run is self._under_way.run:
                    await self._keep_results()
                    self.tell_later(KEEP_SECONDS, message)
            case Forsaken():
                if not self._panels and self._under_way is None:
                    self.finish()

    async def down(self, down: Down) -> None:
        if self._under_way is not None and down.ref is self._under_way.run:
            await self._run_over(self._under_way, down.stop)
        else:
            self._gone(down.ref)

    # -- what is posted

    async def _arrived(self, task: Task, place: Place) -> Listed:
        found = await self._folders.find(self._names)
        known = {index: Pair(given.digest, wanted.digest) for index, (given, wanted) in found.cases.items()}
        with self.atomic():
            await self._folders.add(self._names, plan(known, task.tests, found.highest))
        self._found = await self._folders.find(self._names)
        self._kept = msgspec.structs.replace(
            self._as_it_stands(),
            task=msgspec.structs.replace(task, tests=()),
            contest_id=place.contest_id,
            task_id=place.task_id,
            identity=place.identity,
            at=self._wall(),
        )
        await self._keep(self._kept)
        self._tell(StateUpdate(self._told()))
        self._look_around()
        return self._kept.listed

    def _as_it_stands(self) -> Kept:
        contest_id, task_id = self._names
        only_a_folder = Kept(task=self._task, contest_id=contest_id, task_id=task_id, identity="", at=self._wall())
        return msgspec.structs.replace(
            self._kept or only_a_folder,
            cases=self._count(),
            summary=self._summary,
            standing=standing(self._in_order()),
        )

    async def _keep(self, kept: Kept) -> None:
        try:
            await self._keeping.keep(kept)
        except (StoreError, KernelError) as error:  # it is shown all the same, and the tests are in their folder
            sentence = f"{self.id} will be forgotten when the server stops, but for its folder: {in_words(error)}"
            await self.stage.registry.get(SHELF).send(Trouble(sentence))

    # -- who looks

    async def _opened(self, panel: ActorRef[Any], *, anew: bool) -> None:
        self._panels.add(panel)
        self._watch(panel)
        try:
            self._found = await self._folders.find(self._names)
        except OSError as error:
            tell(panel, Notice("error", self._unreadable(error)))
        tell(
            panel,
            Shown(
                problem=self._told(),
                results=self._in_order(),
                summary=self._summary,
                running=self._running(),
                interrupted=self._interrupted,
                anew=anew,
            ),
        )
        self._look_around()
        if self._found is not None:
            with suppress(KernelError):  # the list is just beginning anew; it hears of it at the next look
                await self.stage.registry.get(SHELF).send(Changed(self._as_it_stands().listed, arrived=False))

    def _watch(self, panel: ActorRef[Any]) -> None:
        if panel not in self._watched:
            self._watched.add(panel)
            self.monitor(panel)

    def _gone(self, panel: ActorRef[Any]) -> None:
        self._watched.discard(panel)
        self._panels.discard(panel)
        if self._under_way is not None and panel is self._under_way.asker:
            self._under_way.asker = None
        self._look_around()

    def _look_around(self) -> None:
        self.note = f"{self._count() or 0} cases" + ("" if self._under_way is None else ", running")
        if self._forsaken is not None:
            self._forsaken.cancel()
            self._forsaken = None
        if self._panels:
            return
        if self._under_way is None:
            self._forsaken = self.tell_later(FORSAKEN_AFTER, Forsaken())
        elif self._under_way.asker is None:
            self._under_way.run.begin_stop()

    async def _show_case(self, panel: ActorRef[Any], index: int) -> None:
        try:
            given = await self._folders.read(self._names, index, "in")
            wanted = await self._folders.read(self._names, index, "out")
        except OSError as error:
            sentence = f"Case {index} of {self.id} cannot be shown: {error.strerror or error}."
            tell(panel, Notice("warn", sentence))
            return
        shown = told_case(self._names, index, excerpt(given, MOST_SHOWN), excerpt(wanted, MOST_SHOWN), self._folders)
        result, output = self._results.get(index), self._outputs.of(index)
        if result is not None and output:
            actual = excerpt(output, MOST_SHOWN, result.actual_size)
            result = msgspec.structs.replace(result, actual=actual.text, actual_cut=actual.cut)
        tell(panel, StateCase(problem_id=self.id, case=shown, result=result))

    # -- running

    async def _run_asked(self, panel: ActorRef[Any], scope: Scope, indices: tuple[int, ...] | None) -> None:
        began = self.stage.now()
        try:
            order = await self._order(indices)
            make = partial(Run, order, self._folders, self._machine, self.ref)
            spec = ChildSpec(self.stage.new_id(), make, restart=Restart.TEMPORARY)
            run = await self.stage.registry.get(RUNS).start_child(spec)
        except (NotNow, KernelError) as refusal:
            tell(panel, Notice("error", in_words(refusal)))
            if self._under_way is None:
                tell(panel, RunProgress(scope, running=False, problem_id=self.id))
            elif panel in self._panels:  # and hears of that run's end
                tell(panel, self._progress())
            return
        self._under_way = UnderWay(run, panel, scope, began, min(order.indices))
        self._interrupted = False
        self.monitor(run)
        self._watch(panel)
        self._tell_of_run(self._progress())
        self.run_beside(self._mark_run)
        self.tell_later(KEEP_SECONDS, KeepSoFar(run))
        self._look_around()

    async def _order(self, indices: tuple[int, ...] | None) -> Order:
        if self._under_way is not None:
            raise NotNow(f"{self.id} is being run already. Wait for the end of that run, or cancel it.")
        means: list[tuple[RunSettings, Path] | NotNow] = []

        async def choose() -> None:
            means.append(await self._means())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(choose)  # while the disk is waited for
            seen = await self._seen(indices)
            if isinstance(seen, NotNow):
                nursery.cancel_scope.cancel()
        if isinstance(seen, NotNow):
            raise seen
        if isinstance(means[0], NotNow):
            raise means[0]
        found, wanted = seen
        return ordering.order(self._task, self._names, found, wanted, *means[0], self._folders, self._cores)

    async def _seen(self, indices: tuple[int, ...] | None) -> tuple[Found, list[int]] | NotNow:
        """What is in the folder now, and which of it is to be run."""
        try:
            found = self._found = await self._folders.find(self._names)
            return found, ordering.wanted(self._task, self._names, found, self._folders, indices)
        except OSError as error:
            return NotNow(self._unreadable(error))
        except NotNow as refusal:
            return refusal

    async def _means(self) -> tuple[RunSettings, Path] | NotNow:
        """How it is to be run, and with what."""
        try:
            settings: RunSettings = await self.stage.registry.get(SHELF).ask(SettingsNow, timeout=PATIENCE)
            interpreter = await self._machine.resolve(ordering.command(settings))
        except KernelError as error:
            return NotNow(in_words(error))
        if isinstance(interpreter, str):
            return NotNow(ordering.missing(settings, interpreter))
        return settings, interpreter

    async def _mark_run(self) -> None:
        """Beside the run, which need not wait for the disk. Without a mark nobody is told that it was interrupted."""
        with suppress(StoreError, KernelError):
            async with self._filing:
                await self._keeping.run_began(self.id)

    def _cancel(self, panel: ActorRef[Any]) -> None:
        if self._under_way is not None:
            self._under_way.run.begin_stop()
        else:
            tell(panel, Notice("info", f"Nothing of {self.id} is being run."))

    def _heard_of(self, judged: CaseJudged) -> None:
        under_way, result = self._under_way, judged.result
        if under_way is None or judged.run is not under_way.run:
            return
        self._outputs.keep(result.index, judged.output)
        self._results[result.index] = result
        under_way.judged.append(result)
        under_way.current = judged.next
        report = RunReport(under_way.scope, result, self.id)
        self._tell_of_run(*([report] if judged.next is None else [report, self._progress()]))

    async def _run_over(self, under_way: UnderWay, stop: Stop) -> None:
        self._summary = summary(under_way.judged, round((self.stage.now() - under_way.began) * 1000))
        if not stop.why.normal:
            self._tell_of_run(Notice("error", f"The run of {self.id} has failed: {stop}. Run it again."))
        self._tell_of_run(
            RunProgress(under_way.scope, running=False, problem_id=self.id),
            RunComplete(under_way.scope, self._summary, self.id, cancelled=stop.why is not Why.DONE),
        )
        self._under_way = None
        self._look_around()
        self._kept = self._as_it_stands()
        await self.stage.registry.get(SHELF).send(Changed(self._kept.listed, arrived=False))
        self.run_beside(self._keep_run, self._kept)

    async def _keep_run(self, kept: Kept) -> None:
        """Beside the problem, which may be run again meanwhile."""
        async with self._filing:
            await self._kept_for_later(self._keeping.run_over(kept, self._in_order()))

    async def _keep_results(self) -> None:
        await self._kept_for_later(self._keeping.keep_results(self.id, self._in_order()))

    async def _kept_for_later(self, keeping: Awaitable[None]) -> None:
        try:
            await keeping
        except (StoreError, KernelError) as error:
            why = in_words(error)
            self._tell(Notice("warn", f"The results of {self.id} will be forgotten when the server stops: {why}"))

    # -- telling

    @property
    def _task(self) -> Task:
        return self._kept.task if self._kept is not None else Task(name=self._names[-1])

    def _in_order(self) -> tuple[RunResult, ...]:
        """Of the cases that are there."""
        there = self._results if self._found is None else self._found.cases
        return tuple(self._results[index] for index in sorted(self._results) if index in there)

    def _count(self) -> int | None:
        return None if self._found is None else len(self._found.cases)

    def _running(self) -> Running | None:
        run = self._under_way
        return None if run is None else Running(scope=run.scope, current_index=run.current)

    def _progress(self) -> RunProgress | None:
        run = self._under_way
        return None if run is None else RunProgress(run.scope, True, run.current, self.id)

    def _told(self) -> Told:
        return told(self._task, self._names, self._found, self._folders)

    def _unreadable(self, error: OSError) -> str:
        return f"The folder of {self.id} cannot be read: {error.strerror or error}."

    def _tell(self, *messages: object) -> None:
        for panel in self._panels:
            tell(panel, *messages)

    def _tell_of_run(self, *messages: object) -> None:
        self._tell(*messages)
        asker = None if self._under_way is None else self._under_way.asker
        if asker is not None and asker not in self._panels:
            tell(asker, *messages)
