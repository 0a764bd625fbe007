"""The clients that are attached to a session, and what they are told.

No client keeps the session waiting. A client whose mailbox is full has fallen behind. It is told so once, by the lane
that is never full, and nothing more is delivered to it until it attaches again. Then it reads from the store what it
has missed.
"""

from collections.abc import Collection, Sequence

from msgspec import Struct

from actors.agent.messages import (
    AttachedMessage,
    Deliver,
    Dismissed,
    FellBehind,
    LogEntry,
    ShowState,
    TellOnly,
)
from actors.kernel import ActorRef, AnyRef, KernelError, MailboxFull
from codec.agent.client_messages import ClientHello
from codec.agent.events import ErrorBody, ErrorCode, ServerError, ServerMessage

MOST_CLIENTS = 64


class TooManyClients(KernelError):
    told = f"This session has {MOST_CLIENTS} clients already. Close one."


ClientRef = ActorRef[AttachedMessage]


class Attendant(Struct):
    hello: ClientHello
    behind: bool = False


def said_error(
    code: ErrorCode, message: str, *, recoverable: bool = True, where: str | None = None, message_id: str | None = None
) -> ServerError:
    """A refusal for one client: no event of the log. `message_id`: of the user's message that is refused."""
    said = {"path": where, "message_id": message_id}
    details = {name: each for name, each in said.items() if each is not None}
    return ServerError(error=ErrorBody(code=code, message=message, details=details, recoverable=recoverable))


class Attendees:
    def __init__(self) -> None:
        self._clients: dict[AnyRef, tuple[ClientRef, Attendant]] = {}

    def __len__(self) -> int:
        return len(self._clients)

    def __contains__(self, client: AnyRef) -> bool:
        return client in self._clients

    @property
    def full(self) -> bool:
        return len(self._clients) >= MOST_CLIENTS

    def attach(self, client: ClientRef, hello: ClientHello) -> None:
        self._clients[client] = client, Attendant(hello)

    def detach(self, client: AnyRef) -> Attendant | None:
        found = self._clients.pop(client, None)
        return None if found is None else found[1]

    def name(self, client: AnyRef) -> str:
        found = self._clients.get(client)
        return "" if found is None else found[1].hello.client_info.name

    @property
    def capabilities(self) -> frozenset[str]:
        """Of all together."""
        return frozenset(
            each for _, attendant in self._clients.values() for each in attendant.hello.client_info.capabilities
        )

    def name_of_one_with(self, capabilities: Collection[str]) -> str:
        """The name of the client with one of these; empty: of several nobody knows which one is meant."""
        infos = [attendant.hello.client_info for _, attendant in self._clients.values()]
        names = {info.name for info in infos if not set(info.capabilities).isdisjoint(capabilities)}
        return names.pop() if len(names) == 1 else ""

    # -- telling

    def deliver(self, entries: Sequence[LogEntry]) -> None:
        message = Deliver(entries)
        for client, attendant in self._clients.values():
            _tell(client, attendant, message)

    def show(self, state: ShowState, *, but: AnyRef | None = None) -> None:
        for client, attendant in self._clients.values():
            if client is not but:
                _tell(client, attendant, state)

    def tell_all(self, message: ServerMessage) -> None:
        for client, attendant in self._clients.values():
            _tell(client, attendant, TellOnly(message))

    def tell(self, client: ClientRef, message: ServerMessage) -> None:
        _, attendant = self._clients.get(client, (client, Attendant(ClientHello())))
        _tell(client, attendant, TellOnly(message))

    def dismiss(self, why: str) -> None:
        for client, _ in self._clients.values():
            client.urgent(Dismissed(why))
        self._clients.clear()


def _tell(client: ClientRef, attendant: Attendant, message: Deliver | ShowState | TellOnly) -> None:
    if attendant.behind:
        return
    try:
        client.hand(message)
    except MailboxFull:
        attendant.behind = True
        client.urgent(FellBehind())
