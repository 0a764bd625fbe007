"""Messages between the actors of the agent, and their names in the registry.

workspaces   RegisterWorkspace, WorkspaceAsked,
             WorkspacesAsked, PolicyAsked, ChangePolicy    from the port
             RememberedAsked, ForgetApproval               from the port
             RememberApproval                              from a session
             WorkspaceKnown, IndexNoted                    from its indexer, and from indexers
             ChangeWatch                                   from the port
models       ModelsAsked, CurrentModelAsked, ExpectModel, ChangeModel   from the port, and from sessions
sessions     CreateSession, SessionsAsked, SessionAsked,
             ChangeSession, DeleteSession, WakeSession     from the port
             SessionNoted                                  from a session
             SessionGone, SessionRests                     from a session
session      Attach, Detach, ClientSays                    from a client's actor
             TurnSays, SteersAsked, TurnAsks, TurnKeeps,
             CapabilitiesAsked                             from its turn
             RememberedAsked, ForgetApproval, UndoTurn     from the port
             SessionChanged, DeleteNow, RestNow            from sessions
turn         ContextChanged, RequestSettled                from its session, which stops it to cancel it
command      none                                          its turn starts it, and it ends with its turn
client       Deliver, ShowState, TellOnly, FellBehind,
             Dismissed                                     from its session
             ClientHeard                                   from the port

One session is one log. Only its actor writes it, so only that actor gives numbers. A turn ends with a MessageFinal,
which it says itself. If the turn is cancelled or fails, the session says it, when the turn's actor has ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from actors.kernel import ActorRef, Children, Key, Reply
from codec.agent.approvals import Pending, Remembered, RememberedList, UndoReport, UndoWish
from codec.agent.client_messages import ClientHello, ClientMessage
from codec.agent.context import EditorContext
from codec.agent.events import LogEvent, ServerMessage, SessionState, UserMessage
from codec.agent.models import ModelConfig, ModelList
from codec.agent.sessions import SessionChange, SessionFact, SessionWish
from codec.agent.workspaces import IndexStatus, Policy, PolicyChange, WorkspaceFact, WorkspaceWish

# -- to the workspaces. None: there is none with this id.


class RegisterWorkspace(Struct, frozen=True):
    """A FileRefused is its answer if the folder cannot be used."""

    wish: WorkspaceWish
    reply: Reply[WorkspaceFact]


class WorkspaceAsked(Struct, frozen=True):
    id: str
    reply: Reply[WorkspaceFact | None]


class WorkspaceKnown(Struct, frozen=True):
    """The same, without a look at its folder."""

    id: str
    reply: Reply[WorkspaceFact | None]


class IndexNoted(Struct, frozen=True):
    """How far a workspace's index is."""

    status: IndexStatus


class ChangeWatch(Struct, frozen=True):
    """Whether the folder is to be watched also while nobody uses the workspace. It is kept."""

    id: str
    wanted: bool
    reply: Reply[WorkspaceFact | None]


class WorkspacesAsked(Struct, frozen=True):
    reply: Reply[Sequence[WorkspaceFact]]


class PolicyAsked(Struct, frozen=True):
    id: str
    reply: Reply[Policy | None]


class ChangePolicy(Struct, frozen=True):
    id: str
    change: PolicyChange
    by: str
    reply: Reply[Policy | None]


class RememberedAsked(Struct, frozen=True):
    """The approvals that are remembered in this workspace, or session."""

    id: str
    reply: Reply[RememberedList | None]


class RememberApproval(Struct, frozen=True):
    """Answered when it is in the store."""

    id: str
    approval: Remembered
    reply: Reply[None]


class ForgetApproval(Struct, frozen=True):
    """False: it was not remembered. None: there is no such workspace, or session."""

    id: str
    approval_id: str
    by: str
    reply: Reply[bool | None]


WorkspacesMessage = (
    RegisterWorkspace
    | WorkspaceAsked
    | WorkspaceKnown
    | WorkspacesAsked
    | IndexNoted
    | ChangeWatch
    | PolicyAsked
    | ChangePolicy
    | RememberedAsked
    | RememberApproval
    | ForgetApproval
)
WORKSPACES = Key[WorkspacesMessage]("agent/workspaces")


# -- to the models


class ModelsAsked(Struct, frozen=True):
    """What the servers have now."""

    reply: Reply[ModelList]


class CurrentModelAsked(Struct, frozen=True):
    reply: Reply[ModelConfig]


class ChangeModel(Struct, frozen=True):
    """Answered with what it was before, when the new one is stored. A ModelTrouble is its answer if it is not there."""

    config: ModelConfig
    reply: Reply[ModelConfig]


class ExpectModel(Struct, frozen=True):
    """Fails with ModelTrouble if the settings do not allow that this model is asked."""

    config: ModelConfig
    reply: Reply[None]


ModelsMessage = ModelsAsked | CurrentModelAsked | ExpectModel | ChangeModel
MODELS = Key[ModelsMessage]("agent/models")


# -- to the sessions, which know the facts of each, and wake its actor


class CreateSession(Struct, frozen=True):
    """None: there is no such workspace."""

    wish: SessionWish
    reply: Reply[SessionFact | None]


class SessionsAsked(Struct, frozen=True):
    """Those changed last come first."""

    workspace_id: str | None
    reply: Reply[Sequence[SessionFact]]


class SessionAsked(Struct, frozen=True):
    id: str
    reply: Reply[SessionFact | None]


class ChangeSession(Struct, frozen=True):
    id: str
    change: SessionChange
    reply: Reply[SessionFact | None]


class DeleteSession(Struct, frozen=True):
    """Its turn is cancelled first. False: there was none."""

    id: str
    reply: Reply[bool]


class WakeSession(Struct, frozen=True):
    """The session's actor, which is started if it has none. None: there is no such session."""

    id: str
    reply: Reply["ActorRef[SessionMessage] | None"]


class SessionNoted(Struct, frozen=True):
    """A session's fact has changed; it is in the store."""

    fact: SessionFact


class WorkspaceAudited(Struct, frozen=True):
    """What this workspace allows has changed."""

    id: str


class SessionGone(Struct, frozen=True):
    """A session is deleted, and nothing of it is left."""

    id: str


class SessionRests(Struct, frozen=True):
    """Nobody needs the session any more."""

    id: str


SessionsMessage = (
    CreateSession
    | SessionsAsked
    | SessionAsked
    | ChangeSession
    | DeleteSession
    | WakeSession
    | SessionNoted
    | WorkspaceAudited
    | SessionGone
    | SessionRests
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


class Deliver(Struct, frozen=True):
    entries: Sequence[LogEntry]


class ShowState(Struct, frozen=True):
    state: SessionState
    last_seq: int


class TellOnly(Struct, frozen=True):
    """An answer for this client alone: a pong, or an error about its message."""

    message: ServerMessage


class FellBehind(Struct, frozen=True):
    """Something could not be delivered, and nothing more is before the client attaches again."""


class ClientHeard(Struct, frozen=True):
    """The client's next message, as it came. Answered when it has been taken."""

    text: str | bytes
    reply: Reply[None]


class Dismissed(Struct, frozen=True):
    """The session is deleted."""

    why: str


AttachedMessage = Deliver | ShowState | TellOnly | FellBehind | ClientHeard | Dismissed


# -- to a session


class Attachment(Struct, frozen=True):
    last_seq: int
    """The client is delivered what comes after it..."""
    tail: Sequence[LogEntry]
    """...and these come before, but are not in the store yet."""
    state: SessionState


class Attach(Struct, frozen=True):
    client: ActorRef[AttachedMessage]
    hello: ClientHello
    reply: Reply[Attachment]


class Detach(Struct, frozen=True):
    client: ActorRef[AttachedMessage]


class ClientSays(Struct, frozen=True):
    """Answered when it is in the store, or refused."""

    client: ActorRef[AttachedMessage]
    message: ClientMessage
    reply: Reply[None]


class TurnSays(Struct, frozen=True):
    """The session gives the event its number. After the turn's cancel, or its MessageFinal, nothing is taken."""

    turn_id: str
    event: LogEvent


class SteersAsked(Struct, frozen=True):
    """What the user has said meanwhile to steer this turn; it is in the log now."""

    turn_id: str
    reply: Reply[Sequence[UserMessage]]


class SessionChanged(Struct, frozen=True):
    change: SessionChange
    reply: Reply[SessionFact]


class AuditNews(Struct, frozen=True):
    """What its workspace allows may have changed: the log is to say so."""

    reply: Reply[None] | None = None


class DeleteNow(Struct, frozen=True):
    """Answered when the turn has ended, the log is gone and all clients are told."""

    reply: Reply[None]


class RestNow(Struct, frozen=True):
    """Nobody has needed the session for a while, or many others have been left later. It ends, if nobody needs it."""


class TurnAsks(Struct, frozen=True):
    """The turn waits for the answers to these. They are kept and told; each answer comes as RequestSettled."""

    turn_id: str
    requests: Sequence[Pending]


@dataclass(frozen=True, slots=True)
class TurnKeeps:
    """Events that are to be kept before the turn goes on, in one commit with what becomes of its requests. Answered
    when that is done. False: the turn is not heard any more, and must not act. (If it was cancelled in between, the
    events are kept all the same.)"""

    turn_id: str
    events: Sequence[LogEvent]
    begun: Sequence[str] = ()
    """The requests upon which the turn begins to act now."""
    over: Sequence[str] = ()
    """The requests with which it is done. They leave the row with these events. One that nobody has answered counts as
    timed out."""
    applied: Sequence[str] = ()
    """The patches that are applied."""
    reply: Reply[bool] = field(kw_only=True)


class CapabilitiesAsked(Struct, frozen=True):
    """What the attached clients can do, all together."""

    reply: Reply[frozenset[str]]


class UndoTurn(Struct, frozen=True):
    """Answered when it is done, or refused: the answer is then a report that says why."""

    wish: UndoWish
    redo: bool
    by: str
    reply: Reply[UndoReport]


SessionMessage = (
    Attach
    | Detach
    | ClientSays
    | TurnSays
    | SteersAsked
    | TurnAsks
    | TurnKeeps
    | CapabilitiesAsked
    | RememberedAsked
    | ForgetApproval
    | UndoTurn
    | SessionChanged
    | AuditNews
    | DeleteNow
    | RestNow
)
SESSION_ACTORS = Key[Children[SessionMessage]]("agent/awake")
CLIENTS = Key[Children[AttachedMessage]]("agent/clients")


# -- to a turn


class ContextChanged(Struct, frozen=True):
    context: EditorContext


class RequestSettled(Struct, frozen=True):
    """A request as it is kept now, with its resolution, and with what the client did itself."""

    request: Pending


TurnMessage = ContextChanged | RequestSettled
TURNS = Key[Children[TurnMessage]]("agent/turns")


class TurnOrder(Struct, frozen=True):
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
    remembered: Sequence[Remembered] = ()
    """The approvals that hold in the session and in the workspace."""
    resumed: Sequence[Pending] = ()
    """Not empty: the turn was suspended, and these requests have their answers now."""
    said: Sequence[LogEntry] = ()
    """If it was suspended: what it has said, after its message."""
