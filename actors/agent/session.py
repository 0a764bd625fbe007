"""A session: one log, one turn at a time, and the clients that are attached.

Rules
  - The session alone writes its log, so it alone gives numbers (record.py). Every event is kept before it is sent,
    shown or answered; only tokens are sent earlier.
  - A session outlives its clients and the process. A turn that was under way when the session or the process ended has
    ended, too: its MessageFinal says that it was interrupted, with the text that is kept (turn_keeping.py), and the
    queue goes on. But a turn that waited for answers is suspended, and goes on with them.
  - While nothing can be kept, nothing new is taken, and clients are told why.
  - A session that nobody needs ends: it has no client, no turn (or a suspended one), and nothing that waits. Then it is
    a row in the store. It ends after a while, or sooner, if many others are left after it (sessions.py).
  - No handler waits for anything, so every message may be handled where it is brought.
"""

import logging
from contextlib import suppress

import trio
from msgspec.structs import replace

from actors.agent.approving import ExpireNow
from actors.agent.attendees import ClientRef, TooManyClients, said_error
from actors.agent.audited import Audited
from actors.agent.index.indexers import awake_indexer
from actors.agent.index.messages import ChangesTold
from actors.agent.index.told_paths import told_paths
from actors.agent.means import TurnMeans
from actors.agent.messages import (
    MODELS,
    SESSIONS,
    Attach,
    Attachment,
    AuditNews,
    CapabilitiesAsked,
    ClientSays,
    CurrentModelAsked,
    DeleteNow,
    Detach,
    ForgetApproval,
    RememberedAsked,
    RestNow,
    SessionChanged,
    SessionGone,
    SessionMessage,
    SessionNoted,
    SessionRests,
    SteersAsked,
    TurnAsks,
    TurnKeeps,
    TurnSays,
    UndoTurn,
)
from actors.agent.record import SessionRecord
from actors.agent.retelling import timestamp
from actors.agent.taking import Taking
from actors.agent.taking_back import TakingBack
from actors.agent.turn_keeping import TurnEnded, TurnKeeping
from actors.agent.turning import NotPrepared
from actors.agent.writing import answer
from actors.kernel import Actor, AnyRef, Down, KernelError, Reply, Stop, Timer
from actors.store import StoreError
from codec.agent.client_messages import (
    ApprovalResponse,
    ApprovePlan,
    CancelTurn,
    ClientHello,
    ClientMessage,
    ClientPing,
    CommandResult,
    ContextUpdate,
    FileChanges,
    PatchApplyResult,
    TakeBackCommand,
    UserSays,
    Withdraw,
)
from codec.agent.events import ModeChanged, ServerPong
from codec.agent.kept import SessionRow
from codec.agent.sessions import SessionFact, changed_parts

REST_SECONDS = 60.0
"""After so long without a client, a turn and anything that waits, a session ends."""
MODEL_SECONDS = 2.0
ERASE_AGAIN_SECONDS = 1.0

logger = logging.getLogger("troupe.agent")


SessionActorMessage = SessionMessage | TurnEnded | ExpireNow


class Session(Actor[SessionActorMessage]):
    def __init__(self, id: str, means: TurnMeans) -> None:  # noqa: A002 - as in the contract
        self._id = id
        self._means = means
        self._noted: SessionFact | None = None
        """As all sessions' actor knows it."""
        self._deleting: list[Reply[None]] = []
        self._rest: Timer | None = None
        self._used = False
        """Whether anybody has said anything to it. Before that, whoever has woken it is about to."""
        self._ends = False
        self._open = False
        """Whether it has read its row. Then it has the following."""
        self._record: SessionRecord
        self._turn: TurnKeeping
        self._taking: Taking
        self._undoing: TakingBack
        self._audited: Audited

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
        self._turn = turn = TurnKeeping(self, record, self._means, self._go_on)
        self._taking = Taking(record, self._means, turn, self._go_on, lambda: bool(self._deleting))
        self._undoing = TakingBack(self, record, self._means, turn, self._go_on)
        self._audited = Audited(self, record)
        self._noted = record.row.fact
        self._open = True
        await self._look_at_model()
        if record.row.turn is not None:
            await turn.mend(record.row.turn)
        self.run_beside(record.writing.serve)
        if record.row.deleted:
            self.run_beside(self._erase)
        else:
            self.run_beside(turn.look_at_images)
            self._audited.look()
            turn.go_on()
            self._go_on()

    async def _look_at_model(self) -> None:
        with suppress(KernelError, NotPrepared):
            self._turn.use(await self.stage.registry.get(MODELS).ask(CurrentModelAsked, timeout=MODEL_SECONDS))

    async def stopping(self, stop: Stop) -> None:
        self._ends = True
        if stop.why.normal and self._open and not self._record.row.deleted:
            await self._record.writing.settle()

    def let_go(self) -> None:
        if self._open:
            self._open = False
            for part in (self._record.writing, self._turn.approvals, self._turn, self._undoing, self._audited):
                vars(part).clear()
            del self._record, self._turn, self._taking, self._undoing, self._audited

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
            case TurnAsks():
                self._turn.asks(message)
            case TurnKeeps():
                self._turn.keeps(message)
            case CapabilitiesAsked(reply):
                reply.set(self._record.clients.capabilities)
            case RememberedAsked():
                self._turn.approvals.tell_remembered(message)
            case ForgetApproval():
                self._turn.approvals.forget(message)
            case UndoTurn():
                self._undoing.take_back(message)
            case SessionChanged():
                self._change_fact(message)
            case AuditNews(reply):
                self._audited.look(reply)
            case DeleteNow(reply):
                self._deleting.append(reply)
                self._record.change(queue=())
                self._turn.cancel()
                self._go_on()
            case TurnEnded():
                self._turn.ended(message)
            case ExpireNow():
                self._turn.approvals.expire()
            case RestNow():
                if self._unneeded and self._record.writing.settled:
                    self.finish()
                else:
                    self._look_around(tells=False)  # it was told to rest, and will tell again when all is kept
            case _:
                self.unknown(message)
        self._used = True

    async def down(self, down: Down) -> None:
        if self._turn.is_of(down.ref):
            self._turn.down(down)
        else:
            self._detach(down.ref)

    def _go_on(self) -> None:
        """Begins what waits, if no turn is under way; removes the session, if that is wanted."""
        row = self._record.row
        if self._turn.idle and not self._undoing.under_way:
            if self._deleting:
                if not row.deleted:
                    self._record.row = replace(row, deleted=True)
                    self.run_beside(self._erase)
            elif row.queue:
                self._turn.begin(row.queue[0])
        self._look_around()

    @property
    def _unneeded(self) -> bool:
        record, turn = self._record, self._turn
        waits = record.clients or self._deleting or self._undoing.under_way or (record.row.queue and turn.idle)
        return turn.rests and not waits

    def _look_around(self, *, tells: bool = True) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
        if self._unneeded and not self._ends:
            self._rest = self.tell_later(REST_SECONDS, RestNow())
            if self._used and tells:
                with suppress(KernelError):  # it is starting again, or has no room: then the timer does it
                    self.stage.registry.get(SESSIONS).tell(SessionRests(self._id))

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
        self._turn.approvals.watch()
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
                self._taking.say(client, said, reply)
                return
            case Withdraw(message_id=id):
                self._taking.withdraw(client, id, reply)
                return
            case ApprovalResponse() | PatchApplyResult() | CommandResult() | TakeBackCommand():
                self._turn.approvals.answer(client, said, reply)
                return
            case ApprovePlan():
                self.run_beside(self._taking.approve, client, said, reply)
                return
            case CancelTurn():
                self._turn.cancel()
            case ContextUpdate(updates=updates):
                self._taking.update(updates)
            case FileChanges():
                self._tell_index(client, said)
            case ClientPing(timestamp=timestamp):
                self._record.clients.tell(client, ServerPong(timestamp=timestamp))
            case ClientHello():
                self._refuse(client, "client.hello has been said already.")
        answer(reply, None)

    def _tell_index(self, client: ClientRef, said: FileChanges) -> None:
        """An index that sleeps needs no word: it looks at all files when it is used again."""
        indexer = awake_indexer(self.stage.registry, self._record.row.fact.workspace_id)
        if indexer is not None and said.changes:
            with suppress(KernelError):
                indexer.tell(ChangesTold(said.changes))
        for number, why in told_paths(said.changes).refused[:1]:
            self._refuse(client, f"{why} (`$.changes[{number}].file_path`) The other changes were taken.")

    def _refuse(self, client: ClientRef, why: str) -> None:
        self._record.clients.tell(client, said_error("INVALID_MESSAGE", why))

    # -- over HTTP

    def _change_fact(self, message: SessionChanged) -> None:
        record = self._record
        parts = changed_parts(message.change)
        fact = replace(record.row.fact, **parts, updated_at=timestamp(self._means.wall()))
        before = record.row.fact.mode
        record.change(fact=fact)
        if fact.mode != before:
            record.say(ModeChanged(mode=fact.mode, before=before))
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
