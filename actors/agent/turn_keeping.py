"""A session's turn, from the message with which it begins to its last word. Its states are in session_states.py.

Rules
  - Each turn has exactly one MessageFinal, and nothing comes after that. A turn says its own. The session says it for a
    turn that is cancelled, cannot begin, or fails, when the turn's actor has ended.
  - The actor is started when the message is kept, and only then.
  - A cancelled turn is not heard any more from that moment. Everything that it holds dies with its actor, and when the
    last word is said, nothing of its commands is left either. Its requests are resolved before that.
  - A turn whose requests have outlived its actor is suspended (suspending.py). It goes on in another actor when all
    answers are kept, or it is cancelled: never both.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.agent.approving import Approvals
from actors.agent.last_words import LastWords
from actors.agent.letting_go import LettingGo
from actors.agent.means import TurnMeans
from actors.agent.messages import (
    TURNS,
    ContextChanged,
    RequestSettled,
    SessionMessage,
    TurnAsks,
    TurnKeeps,
    TurnMessage,
    TurnOrder,
)
from actors.agent.queueing import said_now, steering
from actors.agent.record import SessionRecord
from actors.agent.requests import waiting
from actors.agent.retelling import SoFar, timestamp
from actors.agent.session_states import (
    CANCELLABLE,
    CLOSING,
    IDLE,
    KEEPING,
    MOVES,
    SPEAKS,
    SUSPENDED,
    TurnEvent,
)
from actors.agent.suspending import can_go_on, found_again
from actors.agent.turning import CANCEL_GRACE, CurrentTurn, NotPrepared, model_of, order
from actors.agent.writing import answer
from actors.kernel import Actor, ActorRef, AnyRef, Down, KernelError, MailboxFull, Reply, Stop, in_words
from codec.agent.approvals import Pending
from codec.agent.context import EditorContext
from codec.agent.events import (
    ContextCompacted,
    ContextUsage,
    ErrorBody,
    LogEvent,
    MessageFinal,
    ModelChanged,
    ModelNow,
    PlanPresented,
    ServerError,
)
from codec.agent.kept import TurnMark, Waiting
from codec.agent.models import ModelConfig
from codec.agent.sessions import SessionStatus
from codec.agent.workspaces import LONGEST_WAIT

MEND_SECONDS = 3.0
"""For the end of commands that a failed session has left: it starts within a limit."""
LOOKING_SECONDS, LOOKING_AT_START = 0.15, 1.0
"""For the files that a turn was changing when it ended; a person waits for the first of these."""

logger = logging.getLogger("troupe.agent")


class TurnEnded(Struct, frozen=True):
    """A session's message to itself: the turn's actor has ended, and all that it has said is heard."""

    turn: CurrentTurn
    stop: Stop


class TurnKeeping:
    def __init__(
        self,
        session: Actor[SessionMessage | TurnEnded],
        record: SessionRecord,
        means: TurnMeans,
        over: Callable[[], None],
    ) -> None:
        """`over` is called when a turn is over."""
        self._session = session
        self._record = record
        self._means = means
        self._over = over
        self.approvals = Approvals(session, record, means.wall, means.new_id, self._settled, means.files_now)
        self._images = LettingGo(record)
        self._last_words = LastWords(session, record, means, self.approvals)
        self._state = IDLE
        self._turn: CurrentTurn | None = None
        """None if and only if the state is idle."""
        self._closed = trio.Event()
        """Of the turn that closes: it is over."""

    @property
    def idle(self) -> bool:
        return self._state is IDLE

    @property
    def rests(self) -> bool:
        """Whether nothing happens to it before somebody says something."""
        return self._state is IDLE or (self._state is SUSPENDED and not self.approvals.expires)

    async def closed(self) -> None:
        """Waits until a turn that closes is over."""
        if self._state is CLOSING:
            await self._closed.wait()

    def _move(self, event: TurnEvent) -> None:
        self._state = MOVES.after(event, self._state, self._session.ref.path)
        self._record.suspended = self._state is SUSPENDED

    def use(self, current: ModelConfig) -> None:
        """The current model is this. Raises NotPrepared."""
        record = self._record
        config = model_of(record.row.fact, current)
        model, before = ModelNow(provider=config.provider, model_name=config.model_name), record.row.model
        if model != before:
            record.change(model=model, context_window=config.context_window)
            if before is not None:
                record.say(ModelChanged(model=model))

    # -- it begins

    def begin(self, waiting: Waiting) -> None:
        self._move(TurnEvent.BEGIN)
        message = said_now(waiting, self._means.new_id())
        now = self._means.wall()
        record = self._record
        mark = TurnMark(turn_id=message.turn_id, seq=record.next, began=now)
        turn = self._turn = CurrentTurn(mark, message)
        fact = replace(record.row.fact, running=True, status="active", updated_at=timestamp(now))
        queue = tuple(each for each in record.row.queue if each is not waiting)
        record.change(turn=mark, queue=queue, fact=fact, current_step=0, total_steps=0)
        record.say(message)
        record.writing.then(partial(self._kept, turn))

    def _kept(self, turn: CurrentTurn) -> None:
        if turn is self._turn:
            self._move(TurnEvent.KEPT)
            self._session.run_beside(self._prepare, turn)

    async def _prepare(self, turn: CurrentTurn) -> None:
        session, record = self._session, self._record
        registry = session.stage.registry
        try:
            with turn.preparing:
                await self._images.look()
                self._images.begin()
                made = await order(registry, session.ref, record.log, record.row, turn)
                self.use(made.model)
                turn.approval_seconds = min(made.policy.approval_timeout_s, LONGEST_WAIT)
                self._started(turn, made, await registry.get(TURNS).start_child(self._means.make_turn(made)))
                return
        except NotPrepared as error:
            turn.failed = error
        except KernelError as error:
            turn.failed = NotPrepared("INTERNAL", f"The turn could not be begun: {in_words(error)}.")
        crowd = registry.find(TURNS)
        half = None if crowd is None else crowd.child(turn.id)
        if half is not None:  # it was cancelled while it started
            await half.stop(CANCEL_GRACE)
        await self._conclude_after_commands(turn)

    def _started(self, turn: CurrentTurn, made: TurnOrder, actor: ActorRef[TurnMessage]) -> None:
        self._move(TurnEvent.STARTED)
        turn.actor = actor
        self._session.monitor(actor)
        if self._state not in SPEAKS:
            actor.begin_stop(CANCEL_GRACE)
        known = {each.request_id: each.result for each in made.resumed}
        pending = self._record.row.pending
        late = tuple(each for each in pending if each.result != known.get(each.request_id, each.result))
        if late and self._state in SPEAKS:
            self._record.writing.then(partial(self._settled, late))

    # -- it speaks, and is told something

    def _speaking(self, turn_id: str) -> CurrentTurn | None:
        """The turn, if it has this id and is heard."""
        turn = self._turn
        return turn if turn is not None and turn.id == turn_id and self._state in SPEAKS else None

    def says(self, turn_id: str, event: LogEvent) -> None:
        turn = self._speaking(turn_id)
        if turn is not None:
            with self._what_can_be_kept(turn):
                self._hear(turn, event)

    def asks(self, message: TurnAsks) -> None:
        turn = self._speaking(message.turn_id)
        if turn is not None:
            with self._what_can_be_kept(turn):
                self.approvals.ask(message.requests, turn.approval_seconds)

    def keeps(self, message: TurnKeeps) -> None:
        turn = self._speaking(message.turn_id)
        if turn is not None:
            with self._what_can_be_kept(turn):
                self._record.check(message.events)
                for event in message.events:
                    self._hear(turn, event)
                self.approvals.keep(message.begun, message.over, message.applied)
        if self._speaking(message.turn_id) is None:
            answer(message.reply, False)
        else:
            self._record.writing.then(partial(self._kept_for, message))

    def _kept_for(self, message: TurnKeeps) -> None:
        """Whoever is cancelled meanwhile must not act any more."""
        answer(message.reply, self._speaking(message.turn_id) is not None)

    @contextmanager
    def _what_can_be_kept(self, turn: CurrentTurn) -> Iterator[None]:
        """A turn that says anything else, or more of it, is ended."""
        try:
            yield
        except (ValueError, TypeError, RecursionError) as error:
            logger.error("a turn of %s said what cannot be kept: %s", self._session.ref.path, error)
            self._break_off(turn, "The turn was ended, because it said what cannot be kept.")
        if self._record.overfull and self._state in SPEAKS:
            self._break_off(turn, "The turn was ended, because what it says cannot be kept.")

    def _hear(self, turn: CurrentTurn, event: LogEvent) -> None:
        record = self._record
        if type(event) is MessageFinal:
            self.approvals.cancel()
        turn.so_far.add(record.say(event))
        match event:
            case MessageFinal(metadata=metadata):
                self._move(TurnEvent.FINAL)
                end: SessionStatus = "cancelled" if metadata.cancelled else "error"
                self._last_words.are_said("completed" if metadata.success else end)
                if turn.actor is not None:
                    turn.actor.begin_stop(CANCEL_GRACE)
            case PlanPresented(steps=steps, current_step=step):
                record.change(total_steps=len(steps), current_step=step)
            case ContextUsage(used=used, window=window):
                record.change(context_used=used, context_window=window)
            case ContextCompacted(upto=upto):
                record.change(compacted=upto)

    def steer(self, turn_id: str, reply: Reply[Any]) -> None:
        """What was said to steer this turn becomes part of it."""
        record = self._record
        steers, rest = steering(record.row.queue)
        if self._speaking(turn_id) is None or not steers:
            reply.set(())
            return
        said = tuple(said_now(each, turn_id, steers=True) for each in steers)
        record.change(queue=rest)
        for each in said:
            record.say(each)
        record.writing.then(partial(answer, reply, said))

    def tell(self, context: EditorContext) -> None:
        if self._turn is not None and self._turn.actor is not None:
            with suppress(MailboxFull):  # the next one says it all
                self._turn.actor.tell(ContextChanged(context))

    def _settled(self, requests: Sequence[Pending]) -> None:
        """These are kept as they are now."""
        turn = self._turn
        if turn is None:
            return
        if self._state is SUSPENDED:
            self.go_on()
        elif self._state in SPEAKS and turn.actor is not None:
            for each in requests:
                turn.actor.hand(RequestSettled(each), urgent=True)

    # -- it goes on, when it was suspended

    def go_on(self) -> None:
        """If all its answers are there. (They are kept, too, before it does.)"""
        turn = self._turn
        if turn is not None and self._state is SUSPENDED and not waiting(self._record.row.pending):
            self._record.writing.then(partial(self._resume, turn))

    def _resume(self, turn: CurrentTurn) -> None:
        if turn is self._turn and self._state is SUSPENDED:
            self._move(TurnEvent.RESUME)
            self._record.show()
            self._session.run_beside(self._prepare, turn)

    # -- it ends

    def cancel(self) -> None:
        turn = self._turn
        if turn is None:
            return
        if self._state is KEEPING:
            self._conclude(turn)
        elif self._state is SUSPENDED:
            self._conclude(turn)
            self._session.run_beside(self.look_at_images)
        elif self._state in CANCELLABLE:
            self._move(TurnEvent.CANCEL)
            self.approvals.cancel()
            turn.preparing.cancel()
            if turn.actor is not None:
                turn.actor.begin_stop(CANCEL_GRACE)

    def _break_off(self, turn: CurrentTurn, why: str) -> None:
        """Ends a turn that cannot go on."""
        turn.failed = NotPrepared("INTERNAL", why)
        self.cancel()

    def is_of(self, ref: AnyRef) -> bool:
        """Whether this is the turn's actor."""
        return self._turn is not None and ref is self._turn.actor

    def down(self, down: Down) -> None:
        """The turn's actor has ended. Its last messages, which this notice has overtaken, are heard first."""
        assert self._turn is not None
        self._session.tell_later(0, TurnEnded(self._turn, down.stop))

    def ended(self, message: TurnEnded) -> None:
        turn = message.turn
        if turn is not self._turn:
            return
        if self._state in SPEAKS:
            logger.error("a turn of %s ended without its last word (%s)", self._session.ref.path, message.stop)
            turn.failed = NotPrepared("INTERNAL", "The turn has failed; the log of the server says why. Try it again.")
        self._session.run_beside(self._conclude_after_commands, turn)

    async def _conclude_after_commands(self, turn: CurrentTurn) -> None:
        await self._means.commands_ended(self._session.stage.registry, turn.id)
        if turn is self._turn and self._state is not CLOSING:
            await self._last_words.look_at_files(turn.so_far, LOOKING_SECONDS)
        await self._images.look()
        if turn is self._turn:
            self._conclude(turn)

    async def look_at_images(self) -> None:
        """At what a turn has left of which nobody acts any more."""
        await self._images.look(lambda: self._state in (IDLE, KEEPING, SUSPENDED))

    def _conclude(self, turn: CurrentTurn) -> None:
        """Nothing of the turn is left. If it has not said its last word, the session does."""
        if self._state is not CLOSING:
            failed = turn.failed
            cancelled = failed is None
            if failed is not None:
                self._record.say(ServerError(error=ErrorBody(code=failed.code, message=str(failed))))
            interrupted = failed is not None and turn.actor is not None
            self._last_words.say(turn.mark, turn.so_far, cancelled=cancelled, interrupted=interrupted)
        self._last_words.look_again(turn.so_far)
        self._move(TurnEvent.OVER)
        self._turn = None
        self._closed.set()
        self._closed = trio.Event()
        self._over()

    async def mend(self, mark: TurnMark) -> None:
        """Suspends or ends the turn that was under way when this session or its process failed."""
        registry = self._session.stage.registry
        turns = registry.find(TURNS)
        left = None if turns is None else turns.child(mark.turn_id)
        if left is not None:
            await left.stop(CANCEL_GRACE)
        with trio.move_on_after(MEND_SECONDS):
            await self._means.commands_ended(registry, mark.turn_id)
        entries = await self._record.log.entries(mark.seq - 1)
        turn = found_again(mark, entries)
        if turn is not None and can_go_on(self._record.row.pending):
            self._turn = turn
            self._move(TurnEvent.SUSPEND)
            self.approvals.watch()
        else:
            so_far = SoFar(entries)
            await self._last_words.look_at_files(so_far, LOOKING_AT_START)
            self._last_words.say(mark, so_far, interrupted=True)
            self._last_words.look_again(so_far)
