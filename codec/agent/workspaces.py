"""Workspaces and their policies, as HTTP has them."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from codec.agent.client_messages import FileChange

IndexState = Literal["pending", "indexing", "ready", "failed"]
CommandApproval = Literal["always", "never", "prompt"]
ExecutionMode = Literal["local_terminal", "server_runner"]
PatchApplication = Literal["client", "server"]
Globs = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=1000)], ...], Meta(max_length=1000)]


LONGEST_WAIT = 366 * 24 * 3600
"""Seconds for which a request waits, if not for ever: a year."""


class WorkspaceWish(Struct, frozen=True, kw_only=True):
    """POST /v1/workspaces/register. The same path is the same workspace."""

    path: Annotated[str, Meta(min_length=1, max_length=4096)]
    name: Annotated[str, Meta(max_length=500)] | None = None
    module_id: str = "vscode"
    auto_index: bool = False
    auto_watch: bool = False
    use_polling: bool = False


class WorkspaceFact(Struct, frozen=True, kw_only=True):
    id: str
    path: str
    name: str
    created_at: str
    last_indexed_at: str | None = None
    index_status: IndexState = "pending"
    index_progress: float = 0.0
    total_files: int = 0
    indexed_files: int = 0
    total_chunks: int = 0
    missing: bool = False
    """Whether its folder is not there now."""
    auto_index: bool = False
    """Whether it is indexed without being asked for it."""
    auto_watch: bool = False
    """Whether its folder is watched also while nobody uses it."""
    use_polling: bool = False
    """Whether it is looked at from time to time, in place of being told by the system what changes."""


class Policy(Struct, frozen=True, kw_only=True):
    allowed_read_globs: Globs = ("**/*",)
    allowed_write_globs: Globs = ("**/*",)
    blocked_globs: Globs = (".git/**", "node_modules/**")
    command_approval: CommandApproval = "prompt"
    allowed_commands: Globs = ()
    blocked_commands: Globs = ()
    network_enabled: bool = False
    auto_approve_simple_changes: bool = False
    auto_approve_tests: bool = False
    auto_approve_tools: Globs = ()
    execution_mode: ExecutionMode = "local_terminal"
    patch_application: PatchApplication = "client"
    approval_timeout_s: Annotated[float, Meta(ge=0)] = 0
    """0: never."""


class PolicyChange(Struct, frozen=True, kw_only=True):
    """PUT .../policy: what is set is changed, and the answer is the whole."""

    allowed_read_globs: Globs | UnsetType = UNSET
    allowed_write_globs: Globs | UnsetType = UNSET
    blocked_globs: Globs | UnsetType = UNSET
    command_approval: CommandApproval | UnsetType = UNSET
    allowed_commands: Globs | UnsetType = UNSET
    blocked_commands: Globs | UnsetType = UNSET
    network_enabled: bool | UnsetType = UNSET
    auto_approve_simple_changes: bool | UnsetType = UNSET
    auto_approve_tests: bool | UnsetType = UNSET
    auto_approve_tools: Globs | UnsetType = UNSET
    execution_mode: ExecutionMode | UnsetType = UNSET
    patch_application: PatchApplication | UnsetType = UNSET
    approval_timeout_s: Annotated[float, Meta(ge=0, le=LONGEST_WAIT)] | UnsetType = UNSET


class IndexStatus(Struct, frozen=True, kw_only=True):
    workspace_id: str
    index_status: IndexState = "pending"
    index_progress: float = 0.0
    total_files: int = 0
    indexed_files: int = 0
    total_chunks: int = 0
    last_indexed_at: str | None = None
    generation: int = 0
    errors: tuple[str, ...] = ()
    mode: Literal["full", "text_only"] = "text_only"
    total_symbols: int = 0
    watching: Literal["off", "events", "polling"] = "off"
    """How changes in the folder are noticed: not, as they happen, or by looking every few seconds."""
    message: str = ""
    """What else is so, in a sentence."""


class IndexRun(Struct, frozen=True, kw_only=True):
    """The answer to the original's POST .../index."""

    success: bool
    workspace_id: str
    module_id: str = "vscode"
    stats: dict[str, int] = {}
    message: str = ""
    """What is so, in a sentence."""


class WatchState(Struct, frozen=True, kw_only=True):
    """The answer to the original's POST .../watch/start and .../watch/stop."""

    success: bool
    workspace_id: str
    watching: bool = False
    message: str = ""


class IndexChanges(Struct, frozen=True, kw_only=True):
    """POST .../index/incremental, which is the same as `client.file_changes`."""

    changes: Annotated[tuple[FileChange, ...], Meta(max_length=10_000)] = ()


class AgentHealth(Struct, frozen=True, kw_only=True):
    """GET /v1/health, which says no more than that the server lives."""

    status: Literal["healthy"] = "healthy"
    version: str
    protocol_version: str = "1.0.0"


class StreamTicket(Struct, frozen=True, kw_only=True):
    """POST /v1/tickets: lets one WebSocket in, once."""

    ticket: str
    expires_in: float
    """Seconds."""


class Detail(Struct, frozen=True, kw_only=True):
    """The body of every refusal over HTTP."""

    detail: str
    code: str = ""
    where: Any = None
    """The JSON path of what is wrong with the body."""


def merged(policy: Policy, change: PolicyChange) -> Policy:
    parts = {name: getattr(policy, name) for name in Policy.__struct_fields__}
    parts |= {name: part for name in PolicyChange.__struct_fields__ if (part := getattr(change, name)) is not UNSET}
    return Policy(**parts)
