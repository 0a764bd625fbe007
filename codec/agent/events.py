"""What the server says on the stream of a session. The names are those of the contract, or the notes' decisions.

An event of the session's log has a `seq`, and is in the store before it is sent (tokens: soon after). The others answer
one client, or tell how things are now: `server.hello`, `server.pong`, `session.state`, and a `server.error` about a
message that could not be taken.
"""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from codec.agent.action_events import (
    ApprovalResolved,
    CommandFinished,
    CommandOutput,
    CommandStarted,
    CommandTakenBack,
    FileChanged,
    PatchApplied,
    PatchProposed,
    RequestApproval,
    RequestCommandApproval,
    TurnUndone,
)
from codec.agent.audit import ApprovalForgotten, ApprovalRemembered, PolicyAudited
from codec.agent.context import EditorContext
from codec.agent.numbered import Numbered
from codec.agent.sessions import SessionMode

Phase = Literal["analyzing", "planning", "retrieving", "executing"]
RetrieveStage = Literal["symbol_search", "text_search", "vector_search", "reranking"]
ToolStatus = Literal["started", "completed", "failed"]
ErrorCode = Literal[
    "RETRIEVAL_FAILED",
    "MODEL_ERROR",
    "POLICY_VIOLATION",
    "SESSION_NOT_FOUND",
    "WORKSPACE_NOT_FOUND",
    "INVALID_MESSAGE",
    "BUSY",
    "CANCELLED",
    "FILE_MODIFIED",
    "VERSION_MISMATCH",
    "UNAUTHORIZED",
    "INTERNAL",
]


# -- what answers a client, or tells how things are


class ModelNow(Struct, frozen=True, kw_only=True):
    provider: str
    model_name: str
    capabilities: tuple[str, ...] = ()


class ServerInfo(Struct, frozen=True, kw_only=True):
    version: str
    model: ModelNow
    capabilities: tuple[str, ...] = ()
    protocol_version: str = "1.0.0"


class ServerHello(Struct, frozen=True, kw_only=True, tag="server.hello"):
    server_info: ServerInfo
    session_id: str
    last_seq: int
    """The last number of the log so far; what is newer follows."""


class ServerPong(Struct, frozen=True, kw_only=True, tag="server.pong"):
    timestamp: Any = None


class QueuedMessage(Struct, frozen=True, kw_only=True):
    message_id: str
    message: str
    delivery: Literal["queue", "steer"] = "queue"


class PlanStep(Struct, frozen=True, kw_only=True):
    step_number: int
    description: str
    files_involved: tuple[str, ...] = ()


class RequestShown(Struct, frozen=True, kw_only=True):
    """A request that waits for an answer. The event of this number says what is asked."""

    request_id: str
    kind: Literal["patch", "command", "tool"]
    seq: int
    file_path: str | None = None
    expires_at: float = 0
    """Seconds since 1970. 0: never."""


class SessionState(Struct, frozen=True, kw_only=True):
    pending_patches: tuple[str, ...] = ()
    applied_patches: tuple[str, ...] = ()
    pending_approvals: tuple[str, ...] = ()
    requests: tuple[RequestShown, ...] = ()
    suspended: bool = False
    """Whether the turn waits for an answer across the end of a server: it goes on when it has one."""
    current_step: int = 0
    total_steps: int = 0
    running: bool = False
    """Whether a turn is under way."""
    turn_id: str | None = None
    queued: tuple[QueuedMessage, ...] = ()
    mode: SessionMode = "ask"
    model: ModelNow | None = None
    title: str | None = None
    context_used: int = 0
    context_window: int = 0
    clients: int = 0
    """How many are attached."""
    trouble: str | None = None
    """Why nothing can be kept at the moment, in a sentence. Until that has passed, nothing new is taken."""


class SessionStateNow(Struct, frozen=True, kw_only=True, tag="session.state"):
    state: SessionState
    last_seq: int = 0


class ErrorBody(Struct, frozen=True, kw_only=True):
    code: ErrorCode
    message: str
    details: dict[str, Any] = {}
    recoverable: bool = True


# -- events of the log


class UserMessage(Numbered, frozen=True, kw_only=True, tag="user.message"):
    message: str
    message_id: str
    turn_id: str
    context: EditorContext = EditorContext()
    by: str = ""
    """The name of the client."""
    steers: bool = False
    at: float = 0.0
    """Seconds since 1970, for display."""


class Thinking(Numbered, frozen=True, kw_only=True, tag="assistant.thinking"):
    phase: Phase
    message: str
    until: float = 0
    """The turn waits for this no longer. Seconds since 1970; 0: it does not wait, or nobody knows how long."""


class PlanPresented(Numbered, frozen=True, kw_only=True, tag="agent.plan"):
    steps: tuple[PlanStep, ...]
    rationale: str = ""
    current_step: int = 0
    """The step that is being done, counted from 1. 0: none yet."""


class RetrieveStatus(Numbered, frozen=True, kw_only=True, tag="agent.retrieve.status"):
    stage: RetrieveStage
    results_count: int
    message: str
    items: tuple["ContextItem", ...] = ()


class ContextItem(Struct, frozen=True, kw_only=True):
    """A piece of context, and why it was chosen."""

    source: str
    """Such as src/app.py:12-40."""
    score: float
    reason: str
    tokens: int = 0


class ToolExecute(Numbered, frozen=True, kw_only=True, tag="tool.execute"):
    tool_name: str
    args: Any
    status: ToolStatus
    call_id: str
    result: Any = None
    """`{"text": what the model is told, ...}` when it is over."""


class Token(Numbered, frozen=True, kw_only=True, tag="assistant.token"):
    token: str
    cumulative_text: str | UnsetType = UNSET
    """The whole text of this answer so far; not for clients with the capability `token_delta`."""


class FinalMetadata(Struct, frozen=True, kw_only=True):
    success: bool
    tokens_used: int = 0
    files_modified: int = 0
    tools_used: tuple[str, ...] = ()
    cancelled: bool = False
    interrupted: bool = False
    """The server was killed or its turn failed in the middle of it."""
    turn_id: str = ""
    seconds: float = 0.0


class MessageFinal(Numbered, frozen=True, kw_only=True, tag="assistant.message_final"):
    """Ends the turn. `message` is the whole text that is kept; a client that has shown more or less shows this."""

    message: str
    metadata: FinalMetadata


class ServerError(Numbered, frozen=True, kw_only=True, tag="server.error"):
    error: ErrorBody


class ContextUsage(Numbered, frozen=True, kw_only=True, tag="context.usage"):
    used: int
    window: int


class ContextCompacted(Numbered, frozen=True, kw_only=True, tag="context.compacted"):
    """From now on the model is told this in place of what came before `upto`."""

    summary: str
    upto: int
    """The last number that the summary stands for."""


class ModelChanged(Numbered, frozen=True, kw_only=True, tag="model.changed"):
    model: ModelNow


class ModeChanged(Numbered, frozen=True, kw_only=True, tag="mode.changed"):
    mode: SessionMode
    before: SessionMode
    by: str = ""
    """The name of the client that has approved a plan; empty: it was changed over HTTP."""


LogEvent = (
    UserMessage
    | Thinking
    | PlanPresented
    | RetrieveStatus
    | ToolExecute
    | Token
    | MessageFinal
    | ServerError
    | ContextUsage
    | ContextCompacted
    | ModelChanged
    | PatchProposed
    | RequestApproval
    | RequestCommandApproval
    | ApprovalResolved
    | PatchApplied
    | FileChanged
    | CommandStarted
    | CommandTakenBack
    | CommandOutput
    | CommandFinished
    | TurnUndone
    | ModeChanged
    | PolicyAudited
    | ApprovalRemembered
    | ApprovalForgotten
)
ServerMessage = LogEvent | ServerHello | ServerPong | SessionStateNow


class EventPage(Struct, frozen=True, kw_only=True):
    """GET /v1/sessions/{id}/events. What is newer is asked for with this `after`."""

    events: tuple[LogEvent, ...]
    after: int
    more: bool = False
    """Whether there is more now."""
