"""The editor: launches it where none answers, knows when it is ready, and launches it again when it has gone.

    state        means                                             requests
    STANDING_BY  another manager has this editor                   go on
    LOOKING      is there one already? A ping says so              wait
    STARTING     launched by us, and not ready yet                 wait, for the cold start at most
    UP           ready, or its cold start is over                  go on
    SILENT       the cold start is over, and it answers no ping    go on
    RESTING      it has gone, and is launched again in a while     wait
    ENDING       asked to end: TERM, and after a grace KILL        wait
    STOPPED      it has ended on request                           wait

    EditorLook   time has passed: how is it?
    StopEditor   end it, if it is one that we have launched
    StartEditor  launch it again after that

Rules
  - The editor is nobody's child. It is launched detached, lives on when we end or crash, and is recognised by what its
    launch has left (`EditorProgram`). We end it only when somebody asks for that, and only one that we have launched.
  - A command may hand over to another process and end with 0, as `code` does. So the end of the command says nothing,
    but if it fails; the editor is gone when no process of the launch is left, or where none is known, when it answers
    no ping.
  - One that was up before we came needs no cold start. One that was launched by an earlier process of ours waits for
    the rest of its own.
  - An editor that lives and answers no ping is not ended: it may be asking its user something.
"""

import math
from contextlib import suppress
from functools import partial

from msgspec import Struct

from actors.ipc.editor_states import (
    ANSWERED,
    CLAIMED,
    ENDING,
    FOUND,
    GONE,
    HELD,
    LAUNCHED,
    LOOKING,
    MOVES,
    OUSTED,
    OVERDUE,
    REFUSED,
    RESTED,
    RESTING,
    SILENT,
    STANDING_BY,
    START,
    STARTING,
    STOP,
    STOPPED,
    UP,
    WAITED,
    EditorEvent,
    EditorProgram,
    EditorState,
)
from actors.ipc.given import Base, BaseFull, BaseGone
from actors.ipc.messages import CLIENT_END, LEDGER, EditorNow, Hold, Release
from actors.ipc.pinging import Ping
from actors.kernel import Actor, ChildSpec, KernelError, Key, Mailbox, Reply, Stop, Timer, growing_wait
from codec.ipc.desk import EditorOrder

COLD_START = 20.0
"""As the contract asks for."""
LOOK_SECONDS = 3.0
"""For the first ping. Who is up answers in half a second."""
TICK = 0.25
"""Between two looks, while something is about to change."""
CALM_TICK = 1.0
STANDING_BY_TICK = 5.0
AGAIN_SECONDS = 5.0
"""After which a hold is told again: the client end may have been restarted."""
FIRST_REST, LONGEST_REST = 1.0, 300.0
STEADY_SECONDS = 60.0
"""An editor that was up for so long begins again with the first rest."""
CHECK_SECONDS, MOST_MISSES = 60.0, 3
"""One of which no process is known is pinged so often, and is gone after so many pings without an answer."""
GRACE_SECONDS = 10.0


class Readiness(Struct, frozen=True):
    cold_start: float = COLD_START
    by_ping: bool = False
    """It is ready when it has answered a ping, and `cold_start` is the limit of that."""


BY_TIME = Readiness()


class EditorLook(Struct, frozen=True):
    pass


class StopEditor(Struct, frozen=True):
    reply: Reply[str]
    """What is done about it, in a sentence for users."""


class StartEditor(Struct, frozen=True):
    reply: Reply[str]


EditorMessage = EditorLook | StopEditor | StartEditor
EDITOR = Key[EditorMessage]("ipc/editor")


class Editor(Actor[EditorMessage]):
    def __init__(self, program: EditorProgram, base: Base, readiness: Readiness = BY_TIME) -> None:
        self._program = program
        self._base = base
        self._readiness = readiness
        self.state = STANDING_BY
        self._since = 0.0
        """When this state began."""
        self._launched_at = -math.inf
        self._rests = 0
        """Without a steady editor between them."""
        self._rest = 0.0
        self._known = False
        """Whether a process of the launch has been seen."""
        self._misses = 0
        self._checked_at = 0.0
        self._sentence = ""
        self._told = EditorNow("")
        self._holding: bool | None = None
        self._told_at = self._held_at = -math.inf
        self._timer: Timer | None = None

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(EDITOR, self.ref)
        self._ping = Ping(self._base, self.stage.new_id, self.stage.now)
        if isinstance(kept, tuple):
            self._rests, stopped = kept
            if stopped:
                self.state = STOPPED
        self._since = self.stage.now()
        self._say("")
        self._look_in(0.0)

    def keep(self) -> object:
        return self._rests, self.state in (ENDING, STOPPED)

    @property
    def trouble(self) -> str | None:
        return self._sentence if self.state in (SILENT, RESTING) else None

    async def handle(self, message: EditorMessage) -> None:
        match message:
            case EditorLook():
                await self._look()
            case StopEditor(reply):
                reply.set(await self._stop())
            case StartEditor(reply):
                reply.set(self._start())
            case _:
                self.unknown(message)
        self._tell()
        self._look_in(self._pause())

    async def stopping(self, stop: Stop) -> None:
        """The editor lives on."""
        self._program.release()
        await self._ping.withdraw()

    # -- how it is

    async def _look(self) -> None:
        claimed = await self._program.claim()
        if claimed is not None:
            if self.state is not STANDING_BY:
                await self._ping.withdraw()
                self._become(OUSTED, claimed)
            self._say(claimed)
            return
        match self.state:
            case EditorState.STANDING_BY:
                self._become(CLAIMED, "It is looked whether an editor answers already.")
                await self._look_for_one()
            case EditorState.LOOKING:
                await self._look_for_one()
            case EditorState.STARTING | EditorState.SILENT:
                await self._look_at_new()
            case EditorState.UP:
                await self._look_at_old()
            case EditorState.RESTING:
                if self._passed(self._rest):
                    self._become(RESTED, "It is looked whether an editor answers already.")
            case EditorState.ENDING:
                await self._look_at_ending()
            case EditorState.STOPPED:
                pass

    async def _look_for_one(self) -> None:
        seen = await self._program.look()
        if seen.pid is not None:
            self._known, self._launched_at = True, self.stage.now() - seen.age
            if seen.age < self._readiness.cold_start:
                self._become(LAUNCHED, self._about_start())
            else:
                self._become(FOUND, self._about_up(seen.pid))
            return
        try:
            answered = await self._ping.answered()
        except (BaseGone, BaseFull) as why:
            self._since = self.stage.now()  # nobody could have answered
            self._say(str(why))
            return
        if answered:
            self._known = False
            self._become(ANSWERED, self._about_up(None))
        elif self._passed(LOOK_SECONDS):
            await self._ping.withdraw()
            await self._launch()

    async def _launch(self) -> None:
        refused = await self._program.launch()
        if refused is not None:
            self._have_rest(REFUSED, refused)
            return
        self._known, self._launched_at = False, self.stage.now()
        self._become(LAUNCHED, self._about_start())

    async def _look_at_new(self) -> None:
        """One that is not known to be ready."""
        seen = await self._program.look()
        self._known = self._known or seen.pid is not None
        if seen.pid is None and seen.code not in (None, 0):
            await self._gone(f"{self._program.name} ended with exit code {seen.code}")
            return
        asks = self._readiness.by_ping or seen.pid is None or self.state is SILENT
        if asks and await self._is_answered():
            self._known = seen.pid is not None
            self._become(ANSWERED, self._about_up(seen.pid))
        elif seen.pid is None and (self.state is SILENT or (self._known and seen.code is None)):
            await self._gone("The editor has ended")
        elif self.state is STARTING and self.stage.now() >= self._launched_at + self._readiness.cold_start:
            if seen.pid is None:
                await self._gone(f"{self._program.name} has ended, and no editor answers")
            elif self._readiness.by_ping:
                limit = f"{self._readiness.cold_start:g} s"
                self._become(
                    OVERDUE, f"The editor was launched, and has answered no ping for {limit}; look at its window."
                )
            else:
                await self._ping.withdraw()
                self._become(WAITED, self._about_up(seen.pid))

    async def _look_at_old(self) -> None:
        seen = await self._program.look()
        if self._passed(STEADY_SECONDS):
            self._rests = 0
        if seen.pid is not None:
            self._known = True
        elif self._known:
            await self._gone("The editor has ended")
        elif self.stage.now() >= self._checked_at + CHECK_SECONDS:
            if await self._is_answered():
                self._misses, self._checked_at = 0, self.stage.now()
            elif self.stage.now() >= self._checked_at + CHECK_SECONDS + self._readiness.cold_start:
                self._misses, self._checked_at = self._misses + 1, self.stage.now()
                await self._ping.withdraw()
                if self._misses >= MOST_MISSES:
                    await self._gone("The editor does not answer any more")

    async def _look_at_ending(self) -> None:
        if (await self._program.look()).pid is None:
            self._become(GONE, "The editor was ended, as it was asked for.")
        else:
            await self._program.end(hard=self._passed(GRACE_SECONDS))

    async def _is_answered(self) -> bool:
        try:
            return await self._ping.answered()
        except (BaseGone, BaseFull):
            return False

    async def _gone(self, why: str) -> None:
        await self._ping.withdraw()
        self._have_rest(GONE, why)

    def _have_rest(self, event: EditorEvent, why: str) -> None:
        self._rest = growing_wait(FIRST_REST, self._rests, LONGEST_REST)
        self._rests += 1
        self._become(event, f"{why.rstrip('.')}; it is launched again in {self._rest:g} s.")

    # -- asked for

    async def _stop(self) -> str:
        if self.state in (STANDING_BY, ENDING, STOPPED):
            return self._sentence
        if self.state in (STARTING, UP, SILENT) and (await self._program.look()).pid is None:
            return "No process of this editor is known to have been launched by us; please close it yourself."
        await self._ping.withdraw()
        self._become(STOP, "The editor is asked to end.")
        if self.state is ENDING:
            await self._program.end(hard=False)
        else:
            self._say("No editor is launched, as it was asked for.")
        return self._sentence

    def _start(self) -> str:
        if self.state is STOPPED:
            self._rests = 0
            self._become(START, "It is looked whether an editor answers already.")
        return self._sentence

    def _can_be_asked_for(self) -> EditorOrder | None:
        if self.state is STOPPED:
            return "start"
        ours = self.state in (STARTING, UP, SILENT) and self._known
        return "stop" if ours or self.state in (LOOKING, RESTING) else None

    # -- what others hear

    def _about_start(self) -> str:
        wait = f"{self._readiness.cold_start:g} s"
        until = f"until it answers, {wait} at most" if self._readiness.by_ping else f"{wait} for it"
        return f"The editor was launched; requests wait {until}."

    def _about_up(self, pid: int | None) -> str:
        return "An editor answers that we did not launch." if pid is None else f"The editor is up (process {pid})."

    def _become(self, event: EditorEvent, sentence: str) -> None:
        self.state = MOVES.after(event, self.state, self.ref)
        self._since = self._checked_at = self.stage.now()
        self._misses = 0
        self._say(sentence)

    def _passed(self, seconds: float) -> bool:
        return self.stage.now() >= self._since + seconds

    def _say(self, sentence: str) -> None:
        self._sentence = self.note = sentence

    def _tell(self) -> None:
        """Again and again: whoever listens may have been restarted."""
        now = self.stage.now()
        news = EditorNow(self._sentence, self._can_be_asked_for())
        if news != self._told or now >= self._told_at + AGAIN_SECONDS:
            with suppress(KernelError):  # nobody is there
                self.stage.registry.get(LEDGER).tell(news)
                self._told, self._told_at = news, now
        holding = self.state in HELD
        if holding != self._holding or (holding and now >= self._held_at + AGAIN_SECONDS):
            with suppress(KernelError):
                order = Hold(self._sentence, self._for_how_long()) if holding else Release()
                self.stage.registry.get(CLIENT_END).tell(order)
                self._holding, self._held_at = holding, now

    def _for_how_long(self) -> float:
        """A hold ends by itself if we are no longer there to renew it."""
        if self.state is STARTING:
            return max(0.0, self._launched_at + self._readiness.cold_start - self.stage.now()) + 2 * TICK
        return 3 * AGAIN_SECONDS

    # -- when it is looked next

    def _pause(self) -> float:
        match self.state:
            case EditorState.LOOKING | EditorState.STARTING | EditorState.ENDING:
                return TICK
            case EditorState.RESTING:
                return min(CALM_TICK, max(0.0, self._since + self._rest - self.stage.now()))
            case EditorState.STANDING_BY:
                return STANDING_BY_TICK
            case _:
                return CALM_TICK

    def _look_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.tell_later(seconds, EditorLook())


def editor_spec(program: EditorProgram, base: Base, readiness: Readiness = BY_TIME) -> ChildSpec[EditorMessage]:
    """`program` outlives the actor's crashes: it holds the claim."""
    return ChildSpec("editor", lambda: Editor(program, base, readiness), mailbox=partial(Mailbox, 64))
