"""A session's turn, from the message with which it begins to its last word. Its states are in session_states.py.

Rules
  - Each turn has exactly one MessageFinal, and nothing comes after that. A turn says its own; for one that is
    cancelled, cannot begin, or fails, the session does, when the turn's actor has ended.
  - The actor is started when the message is kept, and only then.
  - A cancelled turn is not heard any more from that moment. What it holds dies with its actor.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from msgspec.structs import replace

from actors.agent.messages import (
    TURNS,
    ContextChanged,
    SessionMessage,
    TurnMessage,
    TurnOrder,
)
from actors.agent.queueing import steering
from actors.agent.record import SessionRecord
from actors.agent.retelling import SoFar, timestamp
from actors.agent.session_states import CANCELLABLE, CLOSING, IDLE, KEEPING, MOVES, SPEAKS, TurnEvent
from actors.agent.turning import CANCEL_GRACE, CurrentTurn, NotPrepared, final, model_of, order
from actors.agent.writing import answer
from actors.kernel import Actor, ActorRef, AnyRef, ChildSpec, Down, KernelError, MailboxFull, Reply, Stop, in_words
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
    UserMessage,
)
from codec.agent.kept import TurnMark, Waiting
from codec.agent.models import ModelConfig
from codec.agent.sessions import SessionStatus

logger = logging.getLogger("troupe.agent")

MakeTurn = Callable[[TurnOrder], ChildSpec[TurnMessage]]


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A session's message to itself: the turn's actor has ended, and all that it has said is heard."""

    turn: CurrentTurn
    stop: Stop


@dataclass(frozen=True, slots=True)
class TurnMeans:
    """What turns are made with."""

    make_turn: MakeTurn
    wall: Callable[[], float]
    """Seconds since 1970."""
    new_id: Callable[[], str]


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
        self._state = IDLE
        self._turn: CurrentTurn | None = None
        """None if and only if the state is idle."""

    @property
    def idle(self) -> bool:
        return self._state is IDLE

    def _move(self, event: TurnEvent) -> None:
        self._state = MOVES.after(event, self._state, self._session.ref.path)

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
                made = await order(registry, session.ref, record.log, record.row, turn)
                self.use(made.model)
                self._started(turn, await registry.get(TURNS).start_child(self._means.make_turn(made)))
                return
        except NotPrepared as error:
            turn.failed = error
        except KernelError as error:
            turn.failed = NotPrepared("INTERNAL", f"The turn could not be begun: {in_words(error)}.")
        crowd = registry.find(TURNS)
        half = None if crowd is None else crowd.child(turn.id)
        if half is not None:  # it was cancelled while it started
            await half.stop(CANCEL_GRACE)
        if turn is self._turn:
            self._conclude(turn)

    def _started(self, turn: CurrentTurn, actor: ActorRef[TurnMessage]) -> None:
        self._move(TurnEvent.STARTED)
        turn.actor = actor
        self._session.monitor(actor)
        if self._state not in SPEAKS:
            actor.begin_stop(CANCEL_GRACE)

    # -- it speaks, and is told something

    def _speaking(self, turn_id: str) -> CurrentTurn | None:
        """The turn, if it has this id and is heard."""
        turn = self._turn
        return turn if turn is not None and turn.id == turn_id and self._state in SPEAKS else None

    def says(self, turn_id: str, event: LogEvent) -> None:
        turn, record = self._speaking(turn_id), self._record
        if turn is None:
            return
        try:
            entry = record.say(event)
        except (ValueError, TypeError, RecursionError) as error:
            logger.error("a turn of %s said what cannot be kept: %s", self._session.ref.path, error)
            self._break_off(turn, "The turn was ended, because it said what cannot be kept.")
            return
        turn.so_far.add(entry)
        match event:
            case MessageFinal(metadata=metadata):
                self._move(TurnEvent.FINAL)
                self._said_last_word(
                    "completed" if metadata.success else "cancelled" if metadata.cancelled else "error"
                )
                if turn.actor is not None:
                    turn.actor.begin_stop(CANCEL_GRACE)
            case PlanPresented(steps=steps, current_step=step):
                record.change(total_steps=len(steps), current_step=step)
            case ContextUsage(used=used, window=window):
                record.change(context_used=used, context_window=window)
            case ContextCompacted(upto=upto):
                record.change(compacted=upto)
        if record.overfull and self._state in SPEAKS:
            self._break_off(turn, "The turn was ended, because what it says cannot be kept.")

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

    # -- it ends

    def cancel(self) -> None:
        turn = self._turn
        if turn is None:
            return
        if self._state is KEEPING:
            self._conclude(turn)
        elif self._state in CANCELLABLE:
            self._move(TurnEvent.CANCEL)
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
        self._conclude(turn)

    def _conclude(self, turn: CurrentTurn) -> None:
        """Nothing of the turn is left. If it has not said its last word, the session does."""
        if self._state is not CLOSING:
            failed = turn.failed
            cancelled = failed is None
            if failed is not None:
                self._record.say(ServerError(error=ErrorBody(code=failed.code, message=str(failed))))
            interrupted = failed is not None and turn.actor is not None
            now = self._means.wall()
            self._record.say(final(turn.mark, turn.so_far, now, cancelled=cancelled, interrupted=interrupted))
            self._said_last_word("cancelled" if cancelled else "error")
        self._move(TurnEvent.OVER)
        self._turn = None
        self._over()

    def _said_last_word(self, status: SessionStatus) -> None:
        record, now = self._record, timestamp(self._means.wall())
        record.change(turn=None, fact=replace(record.row.fact, running=False, status=status, updated_at=now))

    async def mend(self, mark: TurnMark) -> None:
        """Ends the turn that was under way when this session or its process failed."""
        turns = self._session.stage.registry.find(TURNS)
        left = None if turns is None else turns.child(mark.turn_id)
        if left is not None:
            await left.stop(CANCEL_GRACE)
        so_far = SoFar(await self._record.log.entries(mark.seq))
        self._record.say(final(mark, so_far, self._means.wall(), interrupted=True))
        self._said_last_word("error")


def said_now(waiting: Waiting, turn_id: str, *, steers: bool = False) -> UserMessage:
    return UserMessage(
        message=waiting.message,
        message_id=waiting.message_id,
        turn_id=turn_id,
        context=waiting.context,
        by=waiting.by,
        steers=steers,
        at=waiting.at,
    )
