"""A client: one socket at a session.

    what it hears       client.hello comes first; the session is woken, and the client attaches
    after that          server.hello, session.state, what it has missed, and then whatever happens

Rules
  - The session never waits for a client, and this actor never waits for its socket: a task beside it sends what is held
    for it (holding.py). A client that does not read falls behind. What it has missed is then read from the store, from
    the last number that it was sent. The same is done if its session has failed and come back.
  - While nothing else waits to be sent, an event is sent by the task that delivers it: each step of the scheduler costs
    as much as everything that others do meanwhile, and a token has no time for that. In a flood events gather, and go
    together.
  - Numbers rise, and none is sent twice. Tokens that wait together are sent as one, with the last one's number.
  - `cumulative_text` is the text of the turn so far. It is left out for clients with the capability `token_delta`.
  - A mistake in what a client says is answered with a server.error that says where, and the client stays.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Protocol

import msgspec
import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.agent.attendees import TooManyClients, said_error
from actors.agent.holding import Holding
from actors.agent.log import SessionLog
from actors.agent.messages import (
    CLIENTS,
    SESSIONS,
    Attach,
    AttachedMessage,
    Attachment,
    ClientHeard,
    ClientSays,
    Deliver,
    Dismissed,
    FellBehind,
    LogEntry,
    SessionMessage,
    ShowState,
    TellOnly,
    WakeSession,
)
from actors.agent.retelling import begins, joined
from actors.agent.writing import answer
from actors.kernel import (
    Actor,
    ActorRef,
    AnySpec,
    ChildSpec,
    Down,
    KernelError,
    MailboxFull,
    Registry,
    Reply,
    crowd_spec,
    in_words,
)
from actors.store import StoreError
from codec.agent.client_messages import ClientHello, ClientMessage, UserSays
from codec.agent.events import (
    ErrorCode,
    MessageFinal,
    ModelNow,
    ServerHello,
    ServerInfo,
    ServerMessage,
    SessionStateNow,
    Token,
)
from codec.agent.models import BUILTIN
from codec.agent.reading import BadClientMessage, read_client_message

PROTOCOL = "1"
"""The versions that begin so are understood."""
MOST_CLIENTS_OF_ALL = 1024
WITHOUT_TEXT = "token_delta"
"""The capability of clients that add tokens up themselves."""
AT_ONCE, SPELL_SECONDS = 4, 0.002
"""So many deliveries are sent at once in so many seconds. What comes beyond that is gathered."""
TOGETHER_BYTES = 64 << 10
"""Of events that are sent in one go."""
PATIENCE = 10.0
HEAR_SECONDS = 15.0
AGAIN_SECONDS = 0.5
GIVE_UP_SECONDS = 60.0
"""So long a session may be away, until its clients are told that it cannot be had."""

encoder = msgspec.json.Encoder()


class ClientOutlet(Protocol):
    """The connection to the client. Sending waits while the client does not read, and raises PeerGone when it has
    gone."""

    async def send(self, text: str) -> None: ...

    async def send_all(self, texts: Sequence[str]) -> None:
        """One after the other, at the cost of one."""

    def send_now(self, texts: Sequence[str]) -> bool:
        """The same, without waiting. False: some of it is not sent; `send_all` sends it first."""


class ServerFacts(Struct, frozen=True):
    """What server.hello says."""

    version: str
    capabilities: tuple[str, ...] = ()


def clients_spec() -> AnySpec:
    """An actor for each connection."""
    return crowd_spec("clients", name=CLIENTS, max_children=MOST_CLIENTS_OF_ALL)


def client_spec(id: str, session: str, outlet: ClientOutlet, facts: ServerFacts) -> ChildSpec[AttachedMessage]:  # noqa: A002
    """For a lease of the crowd CLIENTS. `session`: its id."""
    return ChildSpec(id, partial(Client, session, outlet, facts), grace=1.0)


class ClientSeat:
    """A connection's end of its client."""

    def __init__(self, client: ActorRef[AttachedMessage]) -> None:
        self._client = client

    async def heard(self, text: str | bytes) -> None:
        """The client's next message. Returns when it has been taken, or refused."""
        try:
            await self._client.ask(partial(ClientHeard, text), timeout=HEAR_SECONDS)
        except KernelError as error:
            self._client.urgent(TellOnly(said_error("BUSY", f"This may not have been taken: {in_words(error)}.")))


class SessionAway(Exception):
    """There is no such session, or it cannot be had."""

    def __init__(self, message: str, code: ErrorCode = "SESSION_NOT_FOUND") -> None:
        super().__init__(message)
        self.code = code


class Client(Actor[AttachedMessage]):
    def __init__(self, session: str, outlet: ClientOutlet, facts: ServerFacts) -> None:
        self._id = session
        self._outlet = outlet
        self._facts = facts
        self._holding = Holding()
        self._hello: ClientHello | None = None
        self._greeted = False
        self._session: ActorRef[SessionMessage] | None = None
        self._unmonitor: Callable[[], None] | None = None
        self._said: Reply[None] | None = None
        """Who waits for the session to take the last message."""
        self._seen = 0
        """The last number that was sent."""
        self._text = ""
        """Of the turn that is under way, up to there; not for clients that do without."""
        self._dismissed: str | None = None
        self._stir = trio.Event()
        self._idle = False
        """The task that sends has nothing to do, and waits for `_stir`."""
        self._torn = False
        """What was to be sent at once is not all sent."""
        self._spell_ends, self._left = 0.0, 0
        """Until then so many deliveries may still be sent at once."""

    @property
    def called(self) -> str:
        return "client" if self._hello is None else self._hello.client_info.name

    async def started(self, kept: object | None) -> None:
        self._log = SessionLog(self.stage.registry, self._id)
        self.run_beside(self._send_all)

    def at_once(self, message: AttachedMessage) -> bool:
        self._hear(message)
        return True

    async def handle(self, message: AttachedMessage) -> None:
        self._hear(message)

    def _hear(self, message: AttachedMessage) -> None:
        match message:
            case Deliver(entries):
                if self._may_send_now(entries):
                    self._send_now(entries)
                    return
                for entry in entries:
                    self._holding.event(entry)
            case ShowState():
                self._holding.state(message)
            case TellOnly(told):
                self._holding.answer(told)
            case FellBehind():
                self._holding.fall_behind()
            case Dismissed(why):
                self._dismissed = why
            case ClientHeard(text, reply):
                self._heard(text, reply)
            case _:
                self.unknown(message)
        self._stir.set()

    async def down(self, down: Down) -> None:
        """The session has failed: whatever it was just told may be lost, and so may be what it has not stored."""
        if self._greeted and self._said is not None and self._said.wanted:
            self._refuse(self._said, "INTERNAL", "The session has failed, and may not have taken this. Say it again.")
        if down.final:
            self._session = None
        self._holding.fall_behind()
        self._stir.set()

    # -- what it says

    def _heard(self, text: str | bytes, reply: Reply[None]) -> None:
        try:
            message = read_client_message(text)
        except BadClientMessage as bad:
            self._refuse(reply, "INVALID_MESSAGE", f"The message cannot be understood: {bad}.", bad.where)
            return
        match message:
            case ClientHello() if self._hello is None:
                version = message.protocol_version
                if version is not None and version.partition(".")[0] != PROTOCOL:
                    why = f"This server speaks version {PROTOCOL} of the protocol, and not {version}."
                    self._refuse(reply, "VERSION_MISMATCH", why, "$.protocol_version")
                    return
                self._hello = message
                self._said = reply  # until it is attached
            case ClientHello():
                self._refuse(reply, "INVALID_MESSAGE", "client.hello has been said already.", "$.type")
            case _ if self._hello is None:
                self._refuse(reply, "INVALID_MESSAGE", "The first message must be client.hello.", "$.type")
            case _:
                self._pass_on(message, reply)

    def _refuse(
        self, reply: Reply[None], code: ErrorCode, why: str, where: str | None = None, message_id: str | None = None
    ) -> None:
        self._holding.answer(said_error(code, why, where=where, message_id=message_id))
        answer(reply, None)

    def _pass_on(self, message: ClientMessage, reply: Reply[None]) -> None:
        session = self._session
        if session is None or not self._greeted:
            why = "The session is still being opened. Say it again in a moment."
            self._refuse(reply, "BUSY", why, message_id=message.message_id if isinstance(message, UserSays) else None)
            return
        self._said = reply
        said = ClientSays(self.ref, message, reply)
        try:
            session.hand(said)
        except MailboxFull:  # the connection says nothing else before this is answered, so the order is kept
            self.run_beside(session.send, said)

    # -- what it is sent

    async def _send_all(self) -> None:
        while True:
            if self._torn:
                self._torn = False
                await self._outlet.send_all(())
            if self._hello is not None and self._holding.behind:
                try:
                    await self._catch_up(self._hello)
                except (KernelError, StoreError):  # the store is away, or in trouble
                    self._holding.fall_behind()
                    await trio.sleep(AGAIN_SECONDS)
                except SessionAway as away:
                    await self._leave(str(away), away.code)
                    return
            if len(self._holding):
                await self._send_held()
            elif self._dismissed is not None:
                await self._leave(self._dismissed)
                return
            elif self._hello is None or not self._holding.behind:
                self._stir = trio.Event()
                self._idle = True
                await self._stir.wait()
                self._idle = False

    def _may_send_now(self, entries: Sequence[LogEntry]) -> bool:
        if not self._idle or self._stir.is_set() or self._holding.behind or entries[0].seq <= self._seen:
            return False
        now = trio.current_time()
        if now >= self._spell_ends:
            self._spell_ends, self._left = now + SPELL_SECONDS, AT_ONCE
        return self._left > 0 and sum(len(entry.text) for entry in entries) < TOGETHER_BYTES

    def _send_now(self, entries: Sequence[LogEntry]) -> None:
        texts = [text for text, _ in self._told(entries)]
        self._torn = not self._outlet.send_now(texts)
        if self._torn:
            self._stir.set()
        self._left -= 1

    async def _leave(self, why: str, code: ErrorCode = "SESSION_NOT_FOUND") -> None:
        if self._said is not None:
            answer(self._said, None)
        await self._send(said_error(code, why, recoverable=code == "BUSY"))
        self.finish()

    async def _send_held(self) -> None:
        entries: list[LogEntry] = []
        for item in self._holding.take():
            if isinstance(item, LogEntry):
                if item.seq > self._seen:
                    entries.append(item)
                continue
            await self._send_entries(entries)
            entries = []
            if isinstance(item, ShowState):
                await self._send(SessionStateNow(state=item.state, last_seq=item.last_seq))
            else:
                await self._send(item)
        await self._send_entries(entries)

    async def _send_entries(self, entries: Iterable[LogEntry]) -> None:
        texts: list[str] = []
        size = 0
        for text, length in self._told(entries):
            texts.append(text)
            size += length
            if size >= TOGETHER_BYTES:
                await self._outlet.send_all(texts)
                texts, size = [], 0
        if texts:
            await self._outlet.send_all(texts)

    def _told(self, entries: Iterable[LogEntry]) -> Iterator[tuple[str, int]]:
        """Each as it is sent, with its size; then it counts as sent."""
        delta = self._hello is not None and WITHOUT_TEXT in self._hello.client_info.capabilities
        for entry in joined(entries):
            event = entry.event
            text = entry.text
            if type(event) is Token:
                if not delta:
                    self._text += event.token
                    text = encoder.encode(replace(event, seq=entry.seq, cumulative_text=self._text))
            elif type(event) is MessageFinal or begins(entry):
                self._text = ""
            if not text:
                text = encoder.encode(replace(event, seq=entry.seq))
            self._seen = entry.seq
            yield text.decode(), len(text)

    async def _send(self, message: ServerMessage) -> None:
        await self._outlet.send(encoder.encode(message).decode())

    # -- what it has missed

    async def _catch_up(self, hello: ClientHello) -> None:
        """Attaches, and sends what is newer than the last number that the client has."""
        attachment = await self._attached(hello)
        if not self._greeted:
            await self._greet(hello, attachment)
        else:
            await self._send(SessionStateNow(state=attachment.state, last_seq=attachment.last_seq))
        first = attachment.tail[0].seq if attachment.tail else attachment.last_seq + 1
        if self._seen < first - 1:
            async with aclosing(self._log.pages(self._seen, first - 1)) as pages:
                async for page in pages:
                    await self._send_entries(page)
        await self._send_entries(entry for entry in attachment.tail if entry.seq > self._seen)

    async def _greet(self, hello: ClientHello, attachment: Attachment) -> None:
        model = attachment.state.model or ModelNow(provider=BUILTIN, model_name=BUILTIN)
        info = ServerInfo(version=self._facts.version, model=model, capabilities=self._facts.capabilities)
        last = attachment.last_seq
        self._seen = last if hello.resume_from is None else min(hello.resume_from, last)
        if WITHOUT_TEXT not in hello.client_info.capabilities:
            self._text = await self._text_at(self._seen, attachment.tail)
        await self._send(ServerHello(server_info=info, session_id=self._id, last_seq=last))
        await self._send(SessionStateNow(state=attachment.state, last_seq=last))
        self._greeted = True
        if self._said is not None:
            answer(self._said, None)

    async def _text_at(self, seq: int, tail: Sequence[LogEntry]) -> str:
        """What the turn that is under way at this number has said up to there."""
        later = [entry for entry in tail if entry.seq <= seq]
        text = await self._log.text_before(later[0].seq if later else seq + 1)
        for entry in later:
            text = text + entry.event.token if type(entry.event) is Token else ""
        return text

    async def _attached(self, hello: ClientHello) -> Attachment:
        give_up = trio.current_time() + GIVE_UP_SECONDS
        while True:
            try:
                session = self._session = self._session or await self._woken()
                if self._unmonitor is not None:
                    self._unmonitor()
                self._unmonitor = self.monitor(session, every=True)
                self._holding.begin_again()
                return await session.ask(partial(Attach, self.ref, hello), timeout=PATIENCE)
            except TooManyClients as error:
                raise SessionAway(in_words(error), "BUSY") from error
            except (KernelError, StoreError) as error:
                self._session = None
                self._holding.fall_behind()
                if trio.current_time() >= give_up:
                    raise SessionAway(f"The session cannot be opened: {in_words(error)}.", "BUSY") from error
            await self._send_held()  # what it said meanwhile is answered
            await trio.sleep(AGAIN_SECONDS)

    async def _woken(self) -> ActorRef[SessionMessage]:
        registry: Registry = self.stage.registry
        session: ActorRef[SessionMessage] | None
        session = await registry.get(SESSIONS).ask(partial(WakeSession, self._id), timeout=PATIENCE)
        if session is None:
            raise SessionAway("There is no such session.")
        return session
