"""What a client says on the stream of a session. The names are those of the contract. Besides there are
`client.ping`, which the original has as well, and our own `client.withdraw`, `client.approve_plan` and
`client.take_back_command`.

The first message must be `client.hello`. Fields beside the contract are optional: `resume_from` (the last `seq` seen),
`delivery`, `message_id`, `hunks`, `remember`, `reason`.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from codec.agent.context import ContextChange, SaidContext

LONGEST_MESSAGE = 1_000_000
"""Characters of what a user says at once."""
Identity = Annotated[str, Meta(min_length=1, max_length=200)]


class ClientInfo(Struct, frozen=True, kw_only=True):
    name: Annotated[str, Meta(max_length=200)] = "unnamed"
    version: Annotated[str, Meta(max_length=200)] = ""
    capabilities: Annotated[tuple[Annotated[str, Meta(max_length=100)], ...], Meta(max_length=100)] = ()


class ClientHello(Struct, frozen=True, kw_only=True, tag="client.hello"):
    client_info: ClientInfo = ClientInfo()
    resume_from: Annotated[int, Meta(ge=0)] | None = None
    cancel_on_disconnect: bool = False
    """Whether the turn of this session ends when this client vanishes."""
    protocol_version: str | None = None


class UserSays(Struct, frozen=True, kw_only=True, tag="client.user_message"):
    message: Annotated[str, Meta(min_length=1, max_length=LONGEST_MESSAGE)]
    context: SaidContext = SaidContext()
    delivery: Literal["queue", "steer"] = "queue"
    """While a turn runs: after it, or at its next tool."""
    message_id: Identity | None = None
    """The same id again is the same message, which is taken once: for a client that reconnects."""


class ContextUpdate(Struct, frozen=True, kw_only=True, tag="client.context_update"):
    updates: ContextChange = ContextChange()


class ApprovalResponse(Struct, frozen=True, kw_only=True, tag="client.approval_response"):
    request_id: Identity
    approved: bool
    scope: Literal["all", "file", "hunk"] = "all"
    file_path: str | None = None
    hunks: tuple[int, ...] | None = None
    remember: Literal["once", "session", "workspace"] = "once"
    exactly: bool = False
    """Of a command: remember this very one, in this folder, and not what begins like it."""
    reason: Annotated[str, Meta(max_length=10_000)] | None = None


class PatchError(Struct, frozen=True, kw_only=True):
    message: str = ""
    type: str | None = None


class PatchApplyResult(Struct, frozen=True, kw_only=True, tag="client.patch_apply_result"):
    patch_id: Identity
    success: bool
    file_path: str = ""
    error: PatchError | str | None = None
    applied_hash: str | None = None


class CommandResult(Struct, frozen=True, kw_only=True, tag="client.command_result"):
    command_id: Identity
    command: str = ""
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    duration_ms: float = 0


class TakeBackCommand(Struct, frozen=True, kw_only=True, tag="client.take_back_command"):
    """The user waits no longer for the client that has this command for its terminal, and has told nothing of it."""

    command_id: Identity
    run_here: bool = False
    """The server runs it, whether or not the client has; otherwise the turn goes on without its end."""


class ApprovedStep(Struct, frozen=True, kw_only=True):
    description: Annotated[str, Meta(min_length=1, max_length=1000)]
    files_involved: Annotated[tuple[Annotated[str, Meta(max_length=2000)], ...], Meta(max_length=50)] = ()


class ApprovePlan(Struct, frozen=True, kw_only=True, tag="client.approve_plan"):
    """The plan of this number is to be carried out, with these steps: once."""

    plan_seq: Annotated[int, Meta(ge=1)]
    steps: Annotated[tuple[ApprovedStep, ...], Meta(min_length=1, max_length=50)] | None = None
    """None: as they are."""
    mode: Literal["ask", "auto"] = "ask"
    message_id: Identity | None = None


class CancelTurn(Struct, frozen=True, kw_only=True, tag="client.cancel"):
    reason: Annotated[str, Meta(max_length=10_000)] = "user_cancelled"


class Withdraw(Struct, frozen=True, kw_only=True, tag="client.withdraw"):
    """Takes back a message that is queued."""

    message_id: Identity


class FileChange(Struct, frozen=True, kw_only=True):
    type: Literal["created", "modified", "deleted"]
    file_path: str
    content_hash: str | None = None
    timestamp: str | None = None


class FileChanges(Struct, frozen=True, kw_only=True, tag="client.file_changes"):
    changes: Annotated[tuple[FileChange, ...], Meta(max_length=10_000)] = ()


class ClientPing(Struct, frozen=True, kw_only=True, tag="client.ping"):
    timestamp: Any = None


ClientMessage = (
    ClientHello
    | UserSays
    | ContextUpdate
    | ApprovalResponse
    | PatchApplyResult
    | CommandResult
    | TakeBackCommand
    | ApprovePlan
    | CancelTurn
    | Withdraw
    | FileChanges
    | ClientPing
)
