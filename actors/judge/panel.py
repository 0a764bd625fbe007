"""A panel: one open page, which shows one problem.

What the page says is read here and goes to the problem it is about, or to the shelf; what those say goes to the page. A
page that does not take what it is told is let go once its line is full: it connects again, and is shown what is.

A problem that nobody looked at for a while leaves; if it was just leaving when it was opened, it is opened again. One
that has failed for good is shut, and the page is told.
"""

from collections.abc import Callable
from functools import partial
from typing import cast

from actors.judge.messages import (
    Came,
    CancelAsked,
    CaseAsked,
    ChangeSettings,
    Follow,
    Left,
    Line,
    Looks,
    Opened,
    PanelMessage,
    ProblemMessage,
    RunAsked,
    Said,
    Shown,
    Together,
    Welcome,
)
from actors.judge.registered import SHELF
from actors.judge.shelving import Shelving
from actors.kernel import Actor, ActorRef, Down, KernelError, Mailbox, Why, in_words
from codec.judge import (
    BackendMessage,
    BadMessage,
    Cancel,
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
    StateCase,
    StateInit,
    StateProblems,
    StateUpdate,
    SwitchInterpreter,
    UpdateSettings,
    read_ui,
    write,
)

panel_mailbox = partial(Mailbox, 4096)
"""Room for all results of a large problem, while the panel waits for an actor."""
PASSED_ON = frozenset({Together, RunProgress, RunReport, RunComplete, Notice, StateCase, StateUpdate})
"""What goes to the page as it is."""


class Panel(Actor[PanelMessage]):
    def __init__(self, line: Line, shelving: Shelving) -> None:
        self._line = line
        self._shelving = shelving
        self._settings: RunSettings | None = None
        """None: the shelf has not said yet."""
        self._shown: str | None = None
        self._problem: ActorRef[ProblemMessage] | None = None
        """Invariant: both are None, or none is; and it is watched, once."""
        self._awaited = False
        """The problem was opened, and has not been shown yet."""
        self._unwatch: Callable[[], None] = _nothing
        self._known: set[str] = set()
        """The problems that the page has been told of."""
        self._wanted: str | None = None
        """What the page comes back to, until it is opened: the shelf has not said yet what there is."""
        self._greeted = False
        """The page has asked for the state, and is told of every change since."""
        self._owes_init = False
        """It has asked, and was not answered yet. Whatever problem is shown next answers it."""

    async def started(self, kept: object | None) -> None:
        await self.stage.registry.get(SHELF).send(Came(self.ref))

    def at_once(self, message: PanelMessage) -> bool:
        if type(message) not in PASSED_ON:
            return False
        self._pass_on(message)
        return True

    async def handle(self, message: PanelMessage) -> None:
        match message:
            case Said(text):
                await self._said(text)
            case Welcome(settings, current):
                await self._welcome(settings, current)
            case Follow(id):
                if id != self._shown:
                    await self._open(id, anew=False)
            case Shown():
                self._show(message)
            case StateProblems(problems):
                self._known = {problem.id for problem in problems}
                self._say(message)
            case _:
                self._pass_on(message)

    async def down(self, down: Down) -> None:
        if down.ref is not self._problem or self._shown is None:
            return
        lost, self._shown, self._problem = self._shown, None, None
        if down.stop.why is Why.DONE:
            await self._open(lost, anew=True)
        else:
            self._say(Notice("error", f"{lost} has failed ({down.stop}). Open it again."))

    # -- what the page says

    async def _said(self, text: bytes) -> None:
        try:
            wish = read_ui(text)
        except BadMessage as error:
            self._say(Notice("error", f"That was not understood: {error}"))
            return
        shelf = self.stage.registry.get(SHELF)
        match wish:
            case RequestInit(id):
                self._greeted = self._owes_init = True
                self._wanted = id
                await self._greet()
            case OpenProblem(id):
                if self._knows(id):
                    await self._open(id, anew=True)
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
            sentence = f"There is no problem {id[:80]!r} here. Send it with Competitive Companion, or open another one."
            self._say(Notice("error", sentence))
        return id in self._known

    # -- what it shows

    async def _greet(self) -> None:
        """Show the page all there is. Before the shelf has said what is set, that is nothing; it comes by itself."""
        if not self._greeted or self._settings is None or await self._open_wanted():
            return
        if self._problem is not None:
            if not self._awaited:
                self._awaited = True
                await self._problem.send(Opened(self.ref, anew=True))
        else:
            self._owes_init = False
            self._say(StateInit(settings=self._settings))

    async def _welcome(self, settings: RunSettings, current: str | None) -> None:
        changed = settings != self._settings
        self._settings = settings
        opened = await self._open_wanted()
        if not opened and self._problem is None and current is not None:
            opened = await self._open(current, anew=True)
        if changed and not opened:
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
            if self._problem is not None:
                self._problem.urgent(Left(self.ref))
            self._unwatch()
            self._unwatch = self.monitor(problem)
        self._shown, self._problem, self._awaited = id, problem, True
        await self.stage.registry.get(SHELF).send(Looks(self.ref, id))
        await problem.send(Opened(self.ref, anew))
        return True

    async def _find(self, id: str) -> ActorRef[ProblemMessage] | None:  # noqa: A002
        try:
            return await self._shelving.problem(self.stage.registry, id)
        except KernelError as error:
            self._say(Notice("error", f"{id!r} cannot be opened: {in_words(error)}"))
            return None

    def _show(self, shown: Shown) -> None:
        if shown.problem.id != self._shown:
            return
        self._awaited = False
        if not self._greeted or self._settings is None:
            return
        if not shown.anew:
            self._say(StateUpdate(shown.problem))
        if shown.anew or self._owes_init or shown.results or shown.running:  # the update has no room for those
            self._owes_init = False
            self._say(
                StateInit(
                    problem=shown.problem,
                    settings=self._settings,
                    results=shown.results,
                    summary=shown.summary,
                    running=shown.running,
                    interrupted=shown.interrupted,
                )
            )

    def _pass_on(self, message: PanelMessage) -> None:
        if type(message) is Together:
            self._say(*message.messages)
        else:
            self._say(cast("BackendMessage", message))

    def _say(self, *messages: BackendMessage) -> None:
        if not self._line.offer(b"".join([self._line.frame(write(message)) for message in messages])):
            self.finish()


def _nothing() -> None:
    pass
