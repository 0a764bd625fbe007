"""Messages between the actors of the agent, and their names in the registry.

workspaces   RegisterWorkspace, WorkspaceAsked,
             WorkspacesAsked, PolicyAsked, ChangePolicy    from the port
models       ModelsAsked, CurrentModelAsked, ChangeModel   from the port, and from sessions
sessions     CreateSession, SessionsAsked, SessionAsked,
             ChangeSession, DeleteSession, WakeSession     from the port
             SessionNoted                                  from a session
             SessionGone                                   from a session
session      Attach, Detach, ClientSays                    from a client's actor
             TurnSays, SteersAsked                         from its turn
             SessionChanged, DeleteNow                     from sessions
turn         ContextChanged                                from its session, which stops it to cancel it
client       Deliver, ShowState, TellOnly, FellBehind,
             Dismissed                                     from its session
             ClientHeard                                   from the port

One session is one log. Only its actor writes it, so only that gives numbers. A turn ends with a MessageFinal, which it
says itself; if it is cancelled or fails, the session says it, when the turn's actor has ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from actors.kernel import ActorRef, Children, Key, Reply
from codec.agent.client_messages import ClientHello, ClientMessage
from codec.agent.context import EditorContext
from codec.agent.events import LogEvent, ServerMessage, SessionState, UserMessage
from codec.agent.models import ModelConfig, ModelList
from codec.agent.sessions import SessionChange, SessionFact, SessionWish
from codec.agent.workspaces import Policy, PolicyChange, WorkspaceFact, WorkspaceWish

# -- to the workspaces. None: there is none with this id.


@dataclass(frozen=True, slots=True)
class RegisterWorkspace:
    """A FileRefused is its answer if the folder cannot be used."""

    wish: WorkspaceWish
    reply: Reply[WorkspaceFact]


@dataclass(frozen=True, slots=True)
class WorkspaceAsked:
    id: str
    reply: Reply[WorkspaceFact | None]


@dataclass(frozen=True, slots=True)
class WorkspacesAsked:
    reply: Reply[Sequence[WorkspaceFact]]


@dataclass(frozen=True, slots=True)
class PolicyAsked:
    id: str
    reply: Reply[Policy | None]


@dataclass(frozen=True, slots=True)
class ChangePolicy:
    id: str
    change: PolicyChange
    by: str
    reply: Reply[Policy | None]


WorkspacesMessage = RegisterWorkspace | WorkspaceAsked | WorkspacesAsked | PolicyAsked | ChangePolicy
WORKSPACES = Key[WorkspacesMessage]("agent/workspaces")


# -- to the models


@dataclass(frozen=True, slots=True)
class ModelsAsked:
    """What the servers have now."""

    reply: Reply[ModelList]


@dataclass(frozen=True, slots=True)
class CurrentModelAsked:
    reply: Reply[ModelConfig]


@dataclass(frozen=True, slots=True)
class ChangeModel:
    """Answered with what it was before, when the new one is stored. A ModelTrouble is its answer if it is not there."""

    config: ModelConfig
    reply: Reply[ModelConfig]


ModelsMessage = ModelsAsked | CurrentModelAsked | ChangeModel
MODELS = Key[ModelsMessage]("agent/models")


# -- to the sessions, which know the facts of each, and wake its actor


@dataclass(frozen=True, slots=True)
class CreateSession:
    """None: there is no such workspace."""

    wish: SessionWish
    reply: Reply[SessionFact | None]


@dataclass(frozen=True, slots=True)
class SessionsAsked:
    """Those changed last come first."""

    workspace_id: str | None
    reply: Reply[Sequence[SessionFact]]


@dataclass(frozen=True, slots=True)
class SessionAsked:
    id: str
    reply: Reply[SessionFact | None]


@dataclass(frozen=True, slots=True)
class ChangeSession:
    id: str
    change: SessionChange
    reply: Reply[SessionFact | None]


@dataclass(frozen=True, slots=True)
class DeleteSession:
    """Its turn is cancelled first. False: there was none."""

    id: str
    reply: Reply[bool]


@dataclass(frozen=True, slots=True)
class WakeSession:
    """The session's actor, which is started if it has none. None: there is no such session."""

    id: str
    reply: Reply["ActorRef[SessionMessage] | None"]


@dataclass(frozen=True, slots=True)
class SessionNoted:
    """A session's fact has changed; it is in the store."""

    fact: SessionFact


@dataclass(frozen=True, slots=True)
class SessionGone:
    """A session is deleted, and nothing of it is left."""

    id: str


SessionsMessage = (
    CreateSession
    | SessionsAsked
    | SessionAsked
    | ChangeSession
    | DeleteSession
    | WakeSession
    | SessionNoted
    | SessionGone
)
SESSIONS = Key[SessionsMessage]("agent/sessions")


# -- to a client's actor


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An event with its number, as it goes to clients."""

    seq: int
    event: LogEvent
    text: bytes = field(default=b"", compare=False, repr=False)
    """The event as it is sent, with its number, if somebody has encoded it already."""


@dataclass(frozen=True, slots=True)
class Deliver:
    entries: Sequence[LogEntry]


@dataclass(frozen=True, slots=True)
class ShowState:
    state: SessionState
    last_seq: int


@dataclass(frozen=True, slots=True)
class TellOnly:
    """An answer for this client alone: a pong, or an error about its message."""

    message: ServerMessage


@dataclass(frozen=True, slots=True)
class FellBehind:
    """Something could not be delivered, and nothing more is before the client attaches again."""


@dataclass(frozen=True, slots=True)
class ClientHeard:
    """The client's next message, as it came. Answered when it has been taken."""

    text: str | bytes
    reply: Reply[None]


@dataclass(frozen=True, slots=True)
class Dismissed:
    """The session is deleted."""

    why: str


AttachedMessage = Deliver | ShowState | TellOnly | FellBehind | ClientHeard | Dismissed


# -- to a session


@dataclass(frozen=True, slots=True)
class Attachment:
    last_seq: int
    """The client is delivered what comes after it..."""
    tail: Sequence[LogEntry]
    """...and these come before, but are not in the store yet."""
    state: SessionState


@dataclass(frozen=True, slots=True)
class Attach:
    client: ActorRef[AttachedMessage]
    hello: ClientHello
    reply: Reply[Attachment]


@dataclass(frozen=True, slots=True)
class Detach:
    client: ActorRef[AttachedMessage]


@dataclass(frozen=True, slots=True)
class ClientSays:
    """Answered when it is in the store, or refused."""

    client: ActorRef[AttachedMessage]
    message: ClientMessage
    reply: Reply[None]


@dataclass(frozen=True, slots=True)
class TurnSays:
    """The session gives the event its number. After the turn's cancel, or its MessageFinal, nothing is taken."""

    turn_id: str
    event: LogEvent


@dataclass(frozen=True, slots=True)
class SteersAsked:
    """What the user has said meanwhile to steer this turn; it is in the log now."""

    turn_id: str
    reply: Reply[Sequence[UserMessage]]


@dataclass(frozen=True, slots=True)
class SessionChanged:
    change: SessionChange
    reply: Reply[SessionFact]


@dataclass(frozen=True, slots=True)
class DeleteNow:
    """Answered when the turn has ended, the log is gone and all clients are told."""

    reply: Reply[None]


SessionMessage = Attach | Detach | ClientSays | TurnSays | SteersAsked | SessionChanged | DeleteNow
SESSION_ACTORS = Key[Children[SessionMessage]]("agent/awake")
CLIENTS = Key[Children[AttachedMessage]]("agent/clients")


# -- to a turn


@dataclass(frozen=True, slots=True)
class ContextChanged:
    context: EditorContext


TurnMessage = ContextChanged
TURNS = Key[Children[TurnMessage]]("agent/turns")


@dataclass(frozen=True, slots=True)
class TurnOrder:
    """All that a turn is made from."""

    turn_id: str
    session: ActorRef[SessionMessage]
    fact: SessionFact
    workspace: WorkspaceFact
    policy: Policy
    model: ModelConfig
    message: UserMessage
    transcript: Sequence[LogEntry]
    """The log before this message, from the last compaction on; tokens joined."""
