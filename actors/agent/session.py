"""A session: one log, one turn at a time, and the clients that are attached.

Rules
  - It alone writes its log, so it alone gives numbers (record.py). What happens is kept before it is sent, shown or
    answered; tokens alone are sent earlier.
  - A session outlives its clients and the process. A turn that was under way when either end of it failed has ended:
    its MessageFinal says that it was interrupted, with the text that is kept (turn_keeping.py). What waits in the queue
    begins then.
  - While nothing can be kept, nothing new is taken, and clients are told why.
  - A session that nobody needs ends: no client, no turn, nothing that waits. Then it is a row in the store.
  - No handler waits for anything, so every message may be handled where it is brought.
"""

import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec
import trio
from msgspec import UNSET
from msgspec.structs import replace

from actors.agent.attendees import ClientRef, TooManyClients, said_error
from actors.agent.messages import (
    MODELS,
    SESSIONS,
    Attach,
    Attachment,
    ClientSays,
    CurrentModelAsked,
    DeleteNow,
    Detach,
    SessionChanged,
    SessionGone,
    SessionMessage,
    SessionNoted,
    SteersAsked,
    TurnSays,
)
from actors.agent.queueing import MOST_MESSAGE_BYTES, accepted, carried, entitled, refusal, remembered
from actors.agent.record import SessionRecord
from actors.agent.retelling import timestamp
from actors.agent.turn_keeping import TurnEnded, TurnKeeping, TurnMeans
from actors.agent.turning import NotPrepared
from actors.agent.writing import answer
from actors.kernel import Actor, AnyRef, Down, KernelError, Reply, Stop, Timer
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
from codec.agent.events import ServerError, ServerPong
from codec.agent.kept import SessionRow, Waiting
from codec.agent.sessions import SessionFact

REST_SECONDS = 60.0
"""After so long without a client, a turn and anything that waits, a session ends."""
MODEL_SECONDS = 2.0
ERASE_AGAIN_SECONDS = 1.0

logger = logging.getLogger("troupe.agent")


@dataclass(frozen=True, slots=True)
class RestNow:
    """Nobody has needed the session for a while."""


SessionActorMessage = SessionMessage | TurnEnded | RestNow


class Session(Actor[SessionActorMessage]):
    def __init__(self, id: str, means: TurnMeans) -> None:  # noqa: A002 - as in the contract
        self._id = id
        self._means = means
        self._context = EditorContext()
        """What the editor showed last."""
        self._noted: SessionFact | None = None
        """As all sessions' actor knows it."""
        self._deleting: list[Reply[None]] = []
        self._rest: Timer | None = None
        self._open = False
        """Whether it has read its row. Then it has the following two."""
        self._record: SessionRecord
        self._turn: TurnKeeping

    @property
    def called(self) -> str:
        return "session"

    @property
    def trouble(self) -> str | None:
        return self._record.writing.trouble if self._open else None

    # -- its life

    async def started(self, kept: object | None) -> None:
        record = await SessionRecord.opened(self.stage.registry, self._id, self._was_kept)
        if record is None:  # it is deleted
            self.finish()
            return
        self._record = record
        self._turn = TurnKeeping(self, record, self._means, self._go_on)
        self._noted = record.row.fact
        self._open = True
        await self._look_at_model()
        if record.row.turn is not None:
            await self._turn.mend(record.row.turn)
        self.run_beside(record.writing.serve)
        if record.row.deleted:
            self.run_beside(self._erase)
        else:
            self._go_on()

    async def _look_at_model(self) -> None:
        with suppress(KernelError, NotPrepared):
            self._turn.use(await self.stage.registry.get(MODELS).ask(CurrentModelAsked, timeout=MODEL_SECONDS))

    async def stopping(self, stop: Stop) -> None:
        if stop.why.normal and self._open and not self._record.row.deleted:
            await self._record.writing.settle()

    def at_once(self, message: SessionActorMessage) -> bool:
        self._hear(message)
        return True

    async def handle(self, message: SessionActorMessage) -> None:
        self._hear(message)

    def _hear(self, message: SessionActorMessage) -> None:
        match message:
            case TurnSays(turn_id, event):
                self._turn.says(turn_id, event)
            case Attach(client, hello, reply):
                self._attach(client, hello, reply)
            case Detach(client):
                self._detach(client)
            case ClientSays(client, said, reply):
                self._client_says(client, said, reply)
            case SteersAsked(turn_id, reply):
                self._turn.steer(turn_id, reply)
            case SessionChanged():
                self._change_fact(message)
            case DeleteNow(reply):
                self._deleting.append(reply)
                self._record.change(queue=())
                self._turn.cancel()
                self._go_on()
            case TurnEnded():
                self._turn.ended(message)
            case RestNow():
                self._rest = None
                if self._unneeded and self._record.writing.settled:
                    self.finish()
                else:
                    self._look_around()
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        if self._turn.is_of(down.ref):
            self._turn.down(down)
        else:
            self._detach(down.ref)

    def _go_on(self) -> None:
        """Begins what waits, if no turn is under way; removes the session, if that is wanted."""
        row = self._record.row
        if self._turn.idle:
            if self._deleting:
                if not row.deleted:
                    self._record.row = replace(row, deleted=True)
                    self.run_beside(self._erase)
            elif row.queue:
                self._turn.begin(row.queue[0])
        self._look_around()

    @property
    def _unneeded(self) -> bool:
        record = self._record
        return not (record.clients or record.row.queue or self._deleting) and self._turn.idle

    def _look_around(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
        if self._unneeded:
            self._rest = self.tell_later(REST_SECONDS, RestNow())

    def _was_kept(self, row: SessionRow) -> None:
        if row.fact != self._noted:
            with suppress(KernelError):  # it reads the rows when it starts again, and the next change tells it all
                self.stage.registry.get(SESSIONS).tell(SessionNoted(row.fact))
                self._noted = row.fact
        self._look_around()

    # -- clients

    def _attach(self, client: ClientRef, hello: ClientHello, reply: Reply[Attachment]) -> None:
        clients = self._record.clients
        if client not in clients:
            if clients.full:
                reply.fail(TooManyClients())
                return
            self.monitor(client)
        clients.attach(client, hello)
        reply.set(self._record.attached(client))
        self._look_around()

    def _detach(self, client: AnyRef) -> None:
        left = self._record.clients.detach(client)
        if left is not None:
            if left.hello.cancel_on_disconnect:
                self._turn.cancel()
            self._record.show()
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
                self._turn.cancel()
            case ContextUpdate(updates=updates):
                self._context = changed(self._context, updates)
                self._turn.tell(self._context)
            case ApprovalResponse(request_id=id) | PatchApplyResult(patch_id=id) | CommandResult(command_id=id):
                self._refuse(client, f"Nothing of the id {id!r} waits for an answer.")
            case FileChanges():
                pass  # there is no index yet
            case ClientPing(timestamp=timestamp):
                self._record.clients.tell(client, ServerPong(timestamp=timestamp))
            case ClientHello():
                self._refuse(client, "client.hello has been said already.")
        answer(reply, None)

    def _refuse(self, client: ClientRef, why: str) -> None:
        self._record.clients.tell(client, said_error("INVALID_MESSAGE", why))

    def _user_says(self, client: ClientRef, said: UserSays, reply: Reply[None]) -> None:
        record, now = self._record, self._means.wall()
        row = record.row
        id = said.message_id or self._means.new_id()  # noqa: A001
        if id not in row.taken:
            context = carried(self._context, said.context)
            message = accepted(said, id, context, record.clients.name(client), now)
            refused = self._why_not(message)
            if refused is not None:
                record.clients.tell(client, refused)
                answer(reply, None)
                return
            self._context = replace(context, mentions=(), command=None)
            fact = replace(row.fact, title=row.fact.title or entitled(said.message), updated_at=timestamp(now))
            record.change(fact=fact, taken=remembered(row.taken, id), queue=(*row.queue, message))
            self._go_on()
        record.writing.promise(reply, None)

    def _why_not(self, message: Waiting) -> ServerError | None:
        """Why a message is not taken."""
        if self._deleting:
            return said_error("SESSION_NOT_FOUND", "This session is being deleted.", recoverable=False)
        trouble = self._record.writing.trouble
        if trouble is not None:
            why = f"The message was not taken, because it cannot be kept: {trouble}. Say it again later."
            return said_error("INTERNAL", why)
        if len(message.message) + len(msgspec.json.encode(message.context)) > MOST_MESSAGE_BYTES:
            why = f"A message and its context have at most {MOST_MESSAGE_BYTES:,} bytes. Say less, or less context."
            return said_error("INVALID_MESSAGE", why, where="$.context")
        full = None if self._turn.idle else refusal(self._record.row.queue, message)
        return None if full is None else said_error("BUSY", full)

    def _withdraw(self, client: ClientRef, id: str, reply: Reply[None]) -> None:  # noqa: A002
        record = self._record
        queue = tuple(each for each in record.row.queue if each.message_id != id)
        if len(queue) == len(record.row.queue):
            self._refuse(client, f"No message of the id {id!r} waits. It may have begun.")
            answer(reply, None)
            return
        record.change(queue=queue)
        record.writing.promise(reply, None)

    # -- over HTTP

    def _change_fact(self, message: SessionChanged) -> None:
        record = self._record
        parts: dict[str, Any] = {name: getattr(message.change, name) for name in message.change.__struct_fields__}
        parts = {name: part for name, part in parts.items() if part is not UNSET}
        fact = replace(record.row.fact, **parts, updated_at=timestamp(self._means.wall()))
        record.change(fact=fact)
        if any(name.startswith("model_") for name in parts):
            self.run_beside(self._look_at_model)
        record.writing.promise(message.reply, fact)

    async def _erase(self) -> None:
        record = self._record
        await record.writing.close()
        while True:
            try:
                await record.log.keep((), replace(record.row, deleted=True), 0)
                await record.log.remove()
                break
            except (StoreError, KernelError) as error:
                logger.error("the session %s cannot be removed yet: %s", self._id, error)
                await trio.sleep(ERASE_AGAIN_SECONDS)
        record.clients.dismiss("This session is deleted.")
        for reply in self._deleting:
            answer(reply, None)
        with suppress(KernelError):  # it sees that itself when it starts again
            self.stage.registry.get(SESSIONS).tell(SessionGone(self._id))
        self.finish()
