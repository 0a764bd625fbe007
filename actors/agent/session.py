"""A session: one log, one turn at a time, and the clients that are attached. Its states are in session_states.py.

Rules
  - It alone writes its log, so it alone gives numbers (outflow.py). What happens is kept before it is sent, shown or
    answered; tokens alone are sent earlier (writing.py).
  - A session outlives its clients and the process. A turn that was under way when either end of it failed has ended:
    its MessageFinal says that it was interrupted, with the text that is kept. What waits in the queue begins then.
  - Each turn has exactly one MessageFinal, and nothing comes after that. A turn says its own; for one that is
    cancelled, cannot begin, or fails, the session does, when the turn's actor has ended.
  - A cancelled turn is not heard any more from that moment. What it holds dies with its actor.
  - Whatever clients are told of the state is true of what is kept.
  - A session that nobody needs ends: no client, no turn, nothing that waits. Then it is a row in the store.
  - No handler waits for anything, so every message may be handled where it is brought.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
import trio
from msgspec import UNSET
from msgspec.structs import replace

from actors.agent.attendees import Attendees, ClientRef, TooManyClients, said_error
from actors.agent.log import SessionLog
from actors.agent.messages import (
    MODELS,
    SESSIONS,
    TURNS,
    Attach,
    Attachment,
    ClientSays,
    ContextChanged,
    CurrentModelAsked,
    DeleteNow,
    Detach,
    LogEntry,
    SessionChanged,
    SessionGone,
    SessionMessage,
    SessionNoted,
    ShowState,
    SteersAsked,
    TurnMessage,
    TurnOrder,
    TurnSays,
)
from actors.agent.outflow import Outflow
from actors.agent.queueing import MOST_MESSAGE_BYTES, accepted, carried, entitled, refusal, remembered, steering
from actors.agent.retelling import SoFar, timestamp
from actors.agent.session_states import CANCELLABLE, CLOSING, IDLE, KEEPING, MOVES, SPEAKS, TurnEvent
from actors.agent.turning import CANCEL_GRACE, CurrentTurn, NotPrepared, final, model_of, order
from actors.agent.writing import SessionCommit, Writing, answer
from actors.kernel import Actor, ActorRef, ChildSpec, Down, KernelError, MailboxFull, Reply, Stop, Timer, in_words
from actors.store import StoreError
from codec.agent.client_messages import (
    ApprovalResponse,
    CancelTurn,
    ClientHello,
    ClientMessage,
    ClientPing,
    CommandResult,
    ContextUpdate,
    FileChanges,
    PatchApplyResult,
    UserSays,
    Withdraw,
)
from codec.agent.context import EditorContext, changed
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
    ServerPong,
    SessionState,
    Token,
    UserMessage,
)
from codec.agent.kept import SessionRow, TurnMark, Waiting, event_text
from codec.agent.models import ModelConfig
from codec.agent.sessions import SessionFact, SessionStatus

REST_SECONDS = 60.0
"""After so long without a client, a turn and anything that waits, a session ends."""
MOST_EVENT_BYTES = 16 << 20
MOST_WAITING_BYTES = 8 << 20
"""Of events that cannot be kept: beyond it, their turn is ended."""
MODEL_SECONDS = 2.0
ERASE_AGAIN_SECONDS = 1.0

logger = logging.getLogger("troupe.agent")

MakeTurn = Callable[[TurnOrder], ChildSpec[TurnMessage]]


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn's actor has ended, and all that it has said is heard."""

    turn: CurrentTurn
    stop: Stop


@dataclass(frozen=True, slots=True)
class RestNow:
    """Nobody has needed the session for a while."""


SessionActorMessage = SessionMessage | TurnEnded | RestNow


class Session(Actor[SessionActorMessage]):
    def __init__(self, id: str, make_turn: MakeTurn, wall: Callable[[], float], new_id: Callable[[], str]) -> None:  # noqa: A002
        self.id = id
        self._make_turn = make_turn
        self._wall = wall
        self._new_id = new_id
        self._clients = Attendees()
        self._context = EditorContext()
        self._loaded = False
        self._state = IDLE
        self._turn: CurrentTurn | None = None
        """None if and only if the state is idle."""
        self._kept = SessionState()
        """What is kept, as clients see it..."""
        self._shown = SessionState()
        """...and as they were shown it, with what needs not be kept."""
        self._noted: SessionFact | None = None
        self._deleting: list[Reply[None]] = []
        self._rest: Timer | None = None

    @property
    def called(self) -> str:
        return "session"

    @property
    def trouble(self) -> str | None:
        return self._writing.trouble if self._loaded else None

    # -- its life

    async def started(self, kept: object | None) -> None:
        self._log = SessionLog(self.stage.registry, self.id)
        row = await self._log.row()
        if row is None:  # it is deleted
            self.finish()
            return
        self._row = row
        last = max(row.reserved, await self._log.last_number())
        self._outflow = Outflow(last)
        self._writing = Writing(
            self._log,
            self._outflow,
            await self._log.length(),
            row.reserved,
            lambda: self._row,
            self._was_kept,
            self._in_trouble,
        )
        self._loaded = True
        self._noted = row.fact
        self._kept = self._shown = shown(row)
        await self._look_at_model()
        if row.turn is not None:
            await self._mend(row.turn)
        self.run_beside(self._writing.serve)
        if row.deleted:
            self.run_beside(self._erase)
        else:
            self._go_on()

    async def _look_at_model(self) -> None:
        with suppress(KernelError, NotPrepared):
            models = self.stage.registry.get(MODELS)
            self._use(await models.ask(CurrentModelAsked, timeout=MODEL_SECONDS))

    async def _mend(self, mark: TurnMark) -> None:
        """Ends the turn that was under way."""
        turns = self.stage.registry.find(TURNS)
        left = None if turns is None else turns.child(mark.turn_id)
        if left is not None:
            await left.stop(CANCEL_GRACE)
        so_far = SoFar(await self._log.entries(mark.seq))
        self._say(final(mark, so_far, self._wall(), interrupted=True))
        self._turn_is_over("error")

    async def stopping(self, stop: Stop) -> None:
        if stop.why.normal and self._loaded and not self._row.deleted:
            await self._writing.settle()

    def at_once(self, message: SessionActorMessage) -> bool:
        self._hear(message)
        return True

    async def handle(self, message: SessionActorMessage) -> None:
        self._hear(message)

    def _hear(self, message: SessionActorMessage) -> None:
        match message:
            case TurnSays(turn_id, event):
                self._turn_says(turn_id, event)
            case Attach(client, hello, reply):
                self._attach(client, hello, reply)
            case Detach(client):
                self._detach(client)
            case ClientSays(client, said, reply):
                self._client_says(client, said, reply)
            case SteersAsked(turn_id, reply):
                self._steer(turn_id, reply)
            case SessionChanged():
                self._change_fact(message)
            case DeleteNow(reply):
                self._deleting.append(reply)
                self._change(queue=())
                self._cancel()
                self._go_on()
            case TurnEnded(turn, stop):
                if turn is self._turn:
                    self._turn_ended(turn, stop)
            case RestNow():
                self._rest = None
                if self._idle and self._writing.settled:
                    self.finish()
                else:
                    self._look_around()
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        turn = self._turn
        if turn is not None and down.ref is turn.actor:
            self.tell_later(0, TurnEnded(turn, down.stop))  # after all that it has said, which this notice overtook
        else:
            self._detach(down.ref)

    @property
    def _idle(self) -> bool:
        return not (self._clients or self._turn or self._row.queue or self._deleting)

    def _look_around(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
        if self._idle:
            self._rest = self.tell_later(REST_SECONDS, RestNow())

    # -- what is kept, and then sent and shown

    def _say(self, event: LogEvent) -> LogEntry:
        """An event of the log, from here on. Raises ValueError or TypeError if it cannot be kept."""
        seq = self._outflow.next
        text = event_text(seq, event)
        if len(text) > MOST_EVENT_BYTES:
            raise ValueError(f"an event has {len(text):,} bytes, and {MOST_EVENT_BYTES:,} is the most")
        entry = LogEntry(seq, event, text)
        self._outflow.add(entry)
        if type(event) is Token:
            self._writing.soon()
        else:
            self._writing.now()
        self._send()
        return entry

    def _send(self) -> None:
        entries = self._outflow.to_send()
        if entries:
            self._clients.deliver(entries)

    def _change(self, **parts: Any) -> None:
        """Changes the row."""
        self._row = replace(self._row, **parts)
        self._writing.changed()

    def _was_kept(self, commit: SessionCommit) -> None:
        self._send()
        if commit.changed:
            self._kept = shown(commit.row)
        self._show()
        if commit.row.fact != self._noted:
            with suppress(KernelError):  # it reads the rows when it starts again, and the next change tells it all
                self.stage.registry.get(SESSIONS).tell(SessionNoted(commit.row.fact))
                self._noted = commit.row.fact
        self._look_around()

    def _show(self, but: ClientRef | None = None) -> None:
        state = replace(self._kept, clients=len(self._clients), trouble=self._writing.trouble)
        if state != self._shown:
            self._shown = state
            self._clients.show(ShowState(state, self._outflow.sent), but=but)

    def _in_trouble(self) -> None:
        trouble = self._writing.trouble
        if self._shown.trouble is None:
            logger.error("the session %s cannot keep what happens: %s", self.id, trouble)
            self._clients.tell_all(
                said_error("INTERNAL", f"What happens cannot be kept at the moment: {trouble}. It is tried again.")
            )
        self._show()

    # -- clients

    def _attach(self, client: ClientRef, hello: ClientHello, reply: Reply[Attachment]) -> None:
        if client not in self._clients:
            if self._clients.full:
                reply.fail(TooManyClients())
                return
            self.monitor(client)
        self._clients.attach(client, hello)
        self._show(but=client)
        reply.set(Attachment(self._outflow.sent, self._outflow.tail, self._shown))
        self._look_around()

    def _detach(self, client: Any) -> None:
        left = self._clients.detach(client)
        if left is not None:
            if left.hello.cancel_on_disconnect:
                self._cancel()
            self._show()
            self._look_around()

    def _client_says(self, client: ClientRef, said: ClientMessage, reply: Reply[None]) -> None:
        match said:
            case UserSays():
                self._user_says(client, said, reply)
                return
            case Withdraw(message_id=id):
                self._withdraw(client, id, reply)
                return
            case CancelTurn():
                self._cancel()
            case ContextUpdate(updates=updates):
                self._context = changed(self._context, updates)
                self._tell_turn()
            case ApprovalResponse(request_id=id) | PatchApplyResult(patch_id=id) | CommandResult(command_id=id):
                self._refuse(client, f"Nothing of the id {id!r} waits for an answer.")
            case FileChanges():
                pass  # there is no index yet
            case ClientPing(timestamp=timestamp):
                self._clients.tell(client, ServerPong(timestamp=timestamp))
            case ClientHello():
                self._refuse(client, "client.hello has been said already.")
        answer(reply)

    def _refuse(self, client: ClientRef, why: str, code: Any = "INVALID_MESSAGE") -> None:
        self._clients.tell(client, said_error(code, why))

    def _user_says(self, client: ClientRef, said: UserSays, reply: Reply[None]) -> None:
        id = said.message_id or self._new_id()  # noqa: A001
        if id in self._row.taken:
            self._writing.promise(reply)
            return
        context = carried(self._context, said.context)
        message = accepted(said, id, context, self._clients.name(client), self._wall())
        refused = self._why_not(message)
        if refused is not None:
            self._clients.tell(client, refused)
            answer(reply)
            return
        self._context = replace(context, mentions=(), command=None)
        fact = replace(
            self._row.fact,
            title=self._row.fact.title or entitled(said.message),
            updated_at=timestamp(self._wall()),
        )
        self._change(fact=fact, taken=remembered(self._row.taken, id), queue=(*self._row.queue, message))
        self._go_on()
        self._writing.promise(reply)

    def _why_not(self, message: Waiting) -> Any:
        if self._deleting:
            return said_error("SESSION_NOT_FOUND", "This session is being deleted.", recoverable=False)
        if self._writing.trouble is not None:
            why = f"The message was not taken, because it cannot be kept: {self._writing.trouble}. Say it again later."
            return said_error("INTERNAL", why)
        if len(message.message) + len(msgspec.json.encode(message.context)) > MOST_MESSAGE_BYTES:
            why = f"A message and its context have at most {MOST_MESSAGE_BYTES:,} bytes. Say less, or less context."
            return said_error("INVALID_MESSAGE", why, where="$.context")
        if self._turn is not None and (why_not := refusal(self._row.queue, message)) is not None:
            return said_error("BUSY", why_not)
        return None

    def _withdraw(self, client: ClientRef, id: str, reply: Reply[None]) -> None:  # noqa: A002
        queue = tuple(each for each in self._row.queue if each.message_id != id)
        if len(queue) == len(self._row.queue):
            self._refuse(client, f"No message of the id {id!r} waits. It may have begun.")
            answer(reply)
            return
        self._change(queue=queue)
        self._writing.promise(reply)

    def _change_fact(self, message: SessionChanged) -> None:
        parts = {name: getattr(message.change, name) for name in message.change.__struct_fields__}
        parts = {name: part for name, part in parts.items() if part is not UNSET}
        fact = replace(self._row.fact, **parts, updated_at=timestamp(self._wall()))
        self._change(fact=fact)
        if any(name.startswith("model_") for name in parts):
            self.run_beside(self._look_at_model)

        def kept() -> None:
            if message.reply.wanted:
                message.reply.set(fact)

        self._writing.then(kept)

    def _use(self, current: ModelConfig) -> None:
        config = model_of(self._row.fact, current)
        model = ModelNow(provider=config.provider, model_name=config.model_name)
        before = self._row.model
        if model != before:
            self._change(model=model, context_window=config.context_window)
            if before is not None:
                self._say(ModelChanged(model=model))

    # -- the turn begins

    def _move(self, event: TurnEvent) -> None:
        self._state = MOVES.after(event, self._state, f"the session {self.id}")

    def _go_on(self) -> None:
        """Begins what waits, if no turn is under way; removes the session, if that is wanted."""
        if self._state is IDLE:
            if self._deleting:
                if not self._row.deleted:
                    self._row = replace(self._row, deleted=True)
                    self.run_beside(self._erase)
            elif self._row.queue:
                self._begin(self._row.queue[0])
        self._look_around()

    def _begin(self, waiting: Waiting) -> None:
        self._move(TurnEvent.BEGIN)
        message = UserMessage(
            message=waiting.message,
            message_id=waiting.message_id,
            turn_id=self._new_id(),
            context=waiting.context,
            by=waiting.by,
            at=waiting.at,
        )
        mark = TurnMark(turn_id=message.turn_id, seq=self._outflow.next, began=self._wall())
        turn = self._turn = CurrentTurn(mark, message)
        fact = replace(self._row.fact, running=True, status="active", updated_at=timestamp(self._wall()))
        self._change(turn=mark, queue=self._row.queue[1:], fact=fact, current_step=0, total_steps=0)
        self._say(message)
        self._writing.then(partial(self._turn_kept, turn))

    def _turn_kept(self, turn: CurrentTurn) -> None:
        if turn is self._turn:
            self._move(TurnEvent.KEPT)
            self.run_beside(self._prepare, turn)

    async def _prepare(self, turn: CurrentTurn) -> None:
        registry = self.stage.registry
        try:
            with turn.preparing:
                made = await order(registry, self.ref, self._log, self._row.fact, turn, self._row.compacted)
                self._use(made.model)
                self._turn_started(turn, await registry.get(TURNS).start_child(self._make_turn(made)))
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

    def _turn_started(self, turn: CurrentTurn, actor: ActorRef[TurnMessage]) -> None:
        assert turn is self._turn
        self._move(TurnEvent.STARTED)
        turn.actor = actor
        self.monitor(actor)
        if self._state not in SPEAKS:
            actor.begin_stop(CANCEL_GRACE)

    # -- the turn speaks

    def _turn_says(self, turn_id: str, event: LogEvent) -> None:
        turn = self._turn
        if turn is None or turn.id != turn_id or self._state not in SPEAKS:
            return
        try:
            entry = self._say(event)
        except (ValueError, TypeError, RecursionError) as error:
            logger.error("a turn of the session %s said what cannot be kept: %s", self.id, error)
            self._break_off(turn, "The turn was ended, because it said what cannot be kept.")
            return
        turn.so_far.add(entry)
        match event:
            case Token():
                if self._outflow.waiting_bytes > MOST_WAITING_BYTES:
                    self._break_off(turn, "The turn was ended, because what it says cannot be kept.")
            case MessageFinal(metadata=metadata):
                self._move(TurnEvent.FINAL)
                self._turn_is_over("completed" if metadata.success else "cancelled" if metadata.cancelled else "error")
                if turn.actor is not None:
                    turn.actor.begin_stop(CANCEL_GRACE)
            case PlanPresented(steps=steps, current_step=step):
                self._change(total_steps=len(steps), current_step=step)
            case ContextUsage(used=used, window=window):
                self._change(context_used=used, context_window=window)
            case ContextCompacted(upto=upto):
                self._change(compacted=upto)

    def _steer(self, turn_id: str, reply: Reply[Any]) -> None:
        turn = self._turn
        steers, rest = steering(self._row.queue)
        if turn is None or turn.id != turn_id or self._state not in SPEAKS or not steers:
            reply.set(())
            return
        said = tuple(
            UserMessage(
                message=each.message,
                message_id=each.message_id,
                turn_id=turn_id,
                context=each.context,
                by=each.by,
                steers=True,
                at=each.at,
            )
            for each in steers
        )
        self._change(queue=rest)
        for each in said:
            self._say(each)

        def kept() -> None:
            if reply.wanted:
                reply.set(said)

        self._writing.then(kept)

    def _tell_turn(self) -> None:
        if self._turn is not None and self._turn.actor is not None:
            with suppress(MailboxFull):  # the next one says it all
                self._turn.actor.tell(ContextChanged(self._context))

    # -- the turn ends

    def _cancel(self) -> None:
        turn = self._turn
        if turn is None:
            return
        if self._state is KEEPING:
            self._conclude(turn)
        elif self._state in CANCELLABLE:
            self._move(TurnEvent.CANCEL)
            self._stop(turn)

    def _stop(self, turn: CurrentTurn) -> None:
        turn.preparing.cancel()
        if turn.actor is not None:
            turn.actor.begin_stop(CANCEL_GRACE)

    def _break_off(self, turn: CurrentTurn, why: str) -> None:
        """Ends a turn that cannot go on."""
        turn.failed = NotPrepared("INTERNAL", why)
        self._cancel()

    def _turn_ended(self, turn: CurrentTurn, stop: Stop) -> None:
        if self._state in SPEAKS:
            logger.error("a turn of the session %s ended without its last word (%s)", self.id, stop)
            turn.failed = NotPrepared("INTERNAL", "The turn has failed; the log of the server says why. Try it again.")
        self._conclude(turn)

    def _conclude(self, turn: CurrentTurn) -> None:
        """Nothing of the turn is left. If it has not said its last word, the session does."""
        if self._state is not CLOSING:
            failed = turn.failed
            cancelled = failed is None
            if failed is not None:
                self._say(ServerError(error=ErrorBody(code=failed.code, message=str(failed))))
            interrupted = failed is not None and turn.actor is not None
            self._say(final(turn.mark, turn.so_far, self._wall(), cancelled=cancelled, interrupted=interrupted))
            self._turn_is_over("cancelled" if cancelled else "error")
        self._move(TurnEvent.OVER)
        self._turn = None
        self._go_on()

    def _turn_is_over(self, status: SessionStatus) -> None:
        fact = replace(self._row.fact, running=False, status=status, updated_at=timestamp(self._wall()))
        self._change(turn=None, fact=fact)

    # -- the session is deleted

    async def _erase(self) -> None:
        await self._writing.close()
        while True:
            try:
                await self._log.keep((), replace(self._row, deleted=True), 0)
                await self._log.remove()
                break
            except (StoreError, KernelError) as error:
                logger.error("the session %s cannot be removed yet: %s", self.id, error)
                await trio.sleep(ERASE_AGAIN_SECONDS)
        self._clients.dismiss("This session is deleted.")
        for reply in self._deleting:
            answer(reply)
        with suppress(KernelError):  # it sees that itself when it starts again
            self.stage.registry.get(SESSIONS).tell(SessionGone(self.id))
        self.finish()


def shown(row: SessionRow) -> SessionState:
    """What clients are told of the row."""
    return SessionState(
        current_step=row.current_step,
        total_steps=row.total_steps,
        running=row.turn is not None,
        turn_id=None if row.turn is None else row.turn.turn_id,
        queued=tuple(waiting.shown for waiting in row.queue),
        mode=row.fact.mode,
        model=row.model,
        title=row.fact.title,
        context_used=row.context_used,
        context_window=row.context_window,
    )
