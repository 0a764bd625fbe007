"""A panel: one open page, which shows one problem.

Messages of the page are read here and passed to their problem, or to the shelf. Messages of these go to the page. A
page that does not read is disconnected when its line is full. It connects again and is shown the current state.

A problem's actor ends when nobody has looked at it for a while. If it was just ending when it was opened, it is opened
again. If it has failed for good, it is closed and the page is told.

When a page goes on to another problem, the first one is told at once, even if it has not read yet that it was opened. A
problem that shows itself after that is told again.

A problem that was just posted is shown, unless the page's problem is running. Our own page only wants to be told and
decides for itself, because only the page knows whether the user is typing.
"""

from collections.abc import Callable
from functools import partial
from typing import cast, get_args

from actors.judge.given import Line
from actors.judge.messages.panel import (
    Follow,
    InOnePiece,
    IsBack,
    PanelMessage,
    PassedOn,
    Said,
    Shown,
    TakenOff,
    Welcome,
)
from actors.judge.messages.problem import CancelAsked, CaseAsked, Left, LookAgain, OpenFor, ProblemMessage, RunAsked
from actors.judge.messages.shelf import Came, ChangeSettings, LookAround, Looks, PutBack, TakeOff
from actors.judge.problems import Problems
from actors.judge.registered import SHELF
from actors.judge.telling import unknown
from actors.kernel import Actor, ActorRef, Down, KernelError, Mailbox, Why, in_words
from codec.judge import (
    BackendMessage,
    BadMessage,
    Cancel,
    Forget,
    Listed,
    Look,
    Notice,
    OpenProblem,
    RequestCase,
    RequestInit,
    RunAll,
    RunComplete,
    RunOne,
    RunProgress,
    RunReport,
    RunSettings,
    StateArrived,
    StateCase,
    StateInit,
    StateProblems,
    StateProblemsChanged,
    StateUpdate,
    SwitchInterpreter,
    UpdateSettings,
    read_ui,
    write,
)

panel_mailbox = partial(Mailbox, 4096)
"""Large enough for all results of a large problem, while the panel waits for an actor."""
PASSED_ON = frozenset(get_args(InOnePiece | PassedOn))
"""Messages that go to the page unchanged."""


class Panel(Actor[PanelMessage]):
    def __init__(self, line: Line, problems: Problems) -> None:
        self._line = line
        self._problems = problems
        self._settings: RunSettings | None = None
        """None: the shelf has not sent them yet."""
        self._shown: str | None = None
        self._problem: ActorRef[ProblemMessage] | None = None
        """Invariant: both are None, or neither; and the problem is monitored, once."""
        self._awaited = False
        """Whether the problem was opened and has not been shown yet."""
        self._asked_with: RunSettings | None = None
        """The settings with which it was opened: the results that it shows are outdated, or not, by these."""
        self._unwatch: Callable[[], None] = _nothing
        self._known: set[str] = set()
        """The problems that the page has been told of."""
        self._wanted: str | None = None
        """The problem that the page comes back to, until it is opened. The shelf has not sent its list yet."""
        self._greeted = False
        """Whether the page has asked for the state, and so is told of every change."""
        self._follows = True
        self._is_run = False
        """Whether the shown problem is running."""
        self._owes_init = False
        """Whether the page has asked for the state, or changed a setting, and still waits for the answer. The next
        problem that is shown answers it."""

    @property
    def called(self) -> str:
        return "page" if self._shown is None else f"page {self._shown}"

    async def started(self, kept: object | None) -> None:
        await self.stage.registry.get(SHELF).send(Came(self.ref))

    def at_once(self, message: PanelMessage) -> bool:
        if type(message) not in PASSED_ON:
            return False
        self._pass_on(cast("InOnePiece | PassedOn", message))
        return True

    async def handle(self, message: PanelMessage) -> None:
        match message:
            case Said(text):
                await self._said(text)
            case Welcome():
                await self._welcome(message)
            case Follow(listed):
                await self._arrived(listed)
            case IsBack(id):
                await self._open(id, anew=True)
            case TakenOff(id):
                if id == self._shown:
                    self._close()
                    self._owes_init = self._greeted
                    self._answer_without_problem()
            case Shown():
                await self._show(message)
            case StateProblems(problems):
                self._known = {problem.id for problem in problems}
                self._say(message)
            case StateProblemsChanged(gone, problems):
                self._known.difference_update(gone)
                self._known.update(problem.id for problem in problems)
                self._say(message)
            case InOnePiece() | RunProgress() | RunReport() | RunComplete() | Notice() | StateCase() | StateUpdate():
                self._pass_on(message)
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        if down.ref is not self._problem or self._shown is None:
            return
        lost, self._shown, self._problem = self._shown, None, None
        if down.stop.why is Why.DONE:
            await self._open(lost, anew=True)
        else:
            self._say(Notice("error", f"{lost} has failed ({down.stop}). Open it again."))
        self._answer_without_problem()

    # -- what the page says

    async def _said(self, text: bytes) -> None:
        try:
            wish = read_ui(text)
        except BadMessage as error:
            self._say(Notice("error", f"That was not understood: {error}"))
            return
        shelf = self.stage.registry.get(SHELF)
        match wish:
            case RequestInit(id, follow):
                self._greeted = self._owes_init = True
                self._wanted, self._follows = id, follow
                await self._greet()
            case OpenProblem(id):
                if id in self._known:
                    await self._open(id, anew=True)
                else:
                    await shelf.send(PutBack(self.ref, id))
            case Forget(id):
                if id == self._shown and self._is_run:
                    self._say(Notice("warn", f"{id} is running. Cancel the run before you remove it."))
                elif self._knows(id):
                    await shelf.send(TakeOff(self.ref, id))
            case Look():
                await shelf.send(LookAround())
                if self._problem is not None:
                    await self._problem.send(LookAgain())
            case SwitchInterpreter(interpreter):
                await shelf.send(ChangeSettings(self.ref, {"interpreter": interpreter}))
            case UpdateSettings(changes):
                await shelf.send(ChangeSettings(self.ref, changes))
            case RunOne(index, id):
                await self._to(id, RunAsked(self.ref, "one", (index,)))
            case RunAll(indices, id):
                await self._to(id, RunAsked(self.ref, "all", indices))
            case Cancel(id):
                await self._to(id, CancelAsked(self.ref))
            case RequestCase(index, id):
                await self._to(id, CaseAsked(self.ref, index))

    async def _to(self, id: str | None, message: ProblemMessage) -> None:  # noqa: A002 - as on the wire
        problem = self._problem
        if id is not None and id != self._shown:
            problem = await self._find(id) if self._knows(id) else None
        elif problem is None:
            self._say(Notice("warn", "No problem is loaded yet. Send one with Competitive Companion."))
        if problem is not None:
            await problem.send(message)

    def _knows(self, id: str) -> bool:  # noqa: A002
        if id not in self._known:
            self._say(Notice("error", unknown(id)))
        return id in self._known

    # -- what it shows

    async def _greet(self) -> None:
        """Shows the page the whole state. Before the shelf has sent the settings there is none; it then comes by
        itself."""
        if not self._greeted or self._settings is None:
            return
        self._owes_init = True
        if await self._open_wanted():
            return
        if self._problem is not None and not self._awaited:  # otherwise `_show` asks again if these are other settings
            await self._ask(self._problem, anew=True)
        self._answer_without_problem()

    def _answer_without_problem(self) -> None:
        if self._owes_init and self._problem is None and self._settings is not None:
            self._owes_init = False
            self._say(StateInit(settings=self._settings, commands=self._problems.commands))

    async def _welcome(self, told: Welcome) -> None:
        changed = told.settings != self._settings
        self._settings = told.settings
        opened = await self._open_wanted()
        if not opened and self._problem is None and told.current is not None:
            opened = await self._open(told.current, anew=True)
        if (changed or told.asked) and not opened:
            await self._greet()

    async def _open_wanted(self) -> bool:
        wanted, self._wanted = self._wanted, None
        if wanted is None or wanted == self._shown or not self._knows(wanted):
            return False
        return await self._open(wanted, anew=True)

    async def _open(self, id: str, *, anew: bool) -> bool:  # noqa: A002
        problem = await self._find(id)
        if problem is None:
            return False
        if problem is not self._problem:
            self._close()
            self._unwatch = self.monitor(problem)
        self._shown, self._problem = id, problem
        await self.stage.registry.get(SHELF).send(Looks(self.ref, id))
        await self._ask(problem, anew=anew)
        return True

    async def _ask(self, problem: ActorRef[ProblemMessage], *, anew: bool) -> None:
        self._awaited, self._asked_with = True, self._settings
        await problem.send(OpenFor(self.ref, anew, self._settings))

    def _close(self) -> None:
        if self._problem is not None:
            self._problem.urgent(Left(self.ref))
        self._unwatch()
        self._unwatch = _nothing
        self._shown = self._problem = None
        self._is_run = False

    async def _arrived(self, listed: Listed) -> None:
        if listed.id == self._shown:
            return
        if self._follows and not self._is_run:
            await self._open(listed.id, anew=False)
            return
        self._say(StateArrived(listed))
        if self._follows:
            sentence = f"New: {listed.name or listed.id}. It is not shown, because {self._shown} is running."
            self._say(Notice("info", sentence))

    async def _find(self, id: str) -> ActorRef[ProblemMessage] | None:  # noqa: A002
        try:
            return await self._problems.actor(self.stage.registry, id)
        except KernelError as error:
            self._say(Notice("error", f"{id!r} cannot be opened: {in_words(error)}"))
            return None

    async def _show(self, shown: Shown) -> None:
        if shown.problem.id != self._shown or self._problem is None:
            opened_late = self._problems.known(self.stage.registry, shown.problem.id or "")
            if opened_late is not None:
                opened_late.urgent(Left(self.ref))
            return
        if self._asked_with != self._settings:
            await self._ask(self._problem, anew=True)
            return
        self._awaited = False
        self._is_run = shown.running is not None
        if not self._greeted or self._settings is None:
            return
        if not shown.anew:
            self._say(StateUpdate(shown.problem))
        more = shown.results or shown.running or shown.last  # the update has no room for those
        if shown.anew or self._owes_init or more:
            self._owes_init = False
            self._say(
                StateInit(
                    problem=shown.problem,
                    settings=self._settings,
                    results=shown.results,
                    summary=shown.summary,
                    last=shown.last,
                    running=shown.running,
                    interrupted=shown.interrupted,
                    commands=self._problems.commands,
                )
            )

    def _pass_on(self, message: InOnePiece | PassedOn) -> None:
        messages = message.messages if isinstance(message, InOnePiece) else (message,)
        first = messages[0]
        if type(first) is RunProgress:  # of messages sent together, only the first begins or ends a run
            if first.problem_id == self._shown:
                self._is_run = first.running
        elif type(first) is StateUpdate and first.problem.id != self._shown:
            return  # it was on its way when the page was shown another one
        self._say(*messages)

    def _say(self, *messages: BackendMessage) -> None:
        if not self._line.offer(self._line.frames(map(write, messages))):
            self.finish()


def _nothing() -> None:
    pass
