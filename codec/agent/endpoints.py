"""The endpoints of the agent's port as a table: questions, answers, refusals.

The OpenAPI document is made from it (schemas.py), so a new endpoint of the port needs a line here. Every endpoint but
the first wants the token. The stream of a session is a WebSocket; its messages are listed beside it.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from codec.agent.approvals import RememberedList, UndoReport, UndoWish
from codec.agent.events import EventPage
from codec.agent.index.asking import LONGEST_QUERY, SearchKind, SearchResults
from codec.agent.models import ModelConfig, ModelList, ModelSwitch
from codec.agent.sessions import Deleted, SessionChange, SessionFact, SessionWish, TranscriptMessage
from codec.agent.workspaces import (
    AgentHealth,
    IndexChanges,
    IndexRun,
    IndexStatus,
    Policy,
    PolicyChange,
    StreamTicket,
    WatchState,
    WorkspaceFact,
    WorkspaceWish,
)

Method = Literal["get", "post", "put", "patch", "delete"]


class QueryField(Struct, frozen=True):
    name: str
    kind: Any
    says: str
    default: Any = None


class Endpoint(Struct, frozen=True):
    method: Method
    path: str
    answer: Any
    """None: an object of no certain kind."""
    summary: str
    says: str = ""
    status: int = 200
    body: Any = None
    query: tuple[QueryField, ...] = ()
    media: str = "application/json"
    """Of the answer."""
    token: bool = True
    finds: bool = True
    """Whether it answers 404 if there is nothing with the id in its path."""
    waits: bool = False
    """Whether it is refused while a turn is under way (409)."""


_W, _S, _M = "/v1/workspaces", "/v1/sessions", "/v1/models"
_ONE, _INDEX, _SESSION = f"{_W}/{{workspace_id}}", f"{_W}/{{workspace_id}}/index", f"{_S}/{{session_id}}"

_WAS_THERE = "The answer says whether it was remembered. It does not hold for turns that begin later."
_BESIDE = "The answer tells how far the index is now. The work goes on beside it."
_KEPT = "The wish is kept: the folder is watched also after a restart, while nobody uses the workspace."

ENDPOINTS = (
    Endpoint("get", "/v1/health", AgentHealth, "Tell that the server lives", "Needs no token.", token=False),
    # -- workspaces
    Endpoint("get", _W, list[WorkspaceFact], "List the workspaces", "The newest comes first."),
    Endpoint(
        "post",
        f"{_W}/register",
        WorkspaceFact,
        "Register a folder as a workspace",
        "The same folder is always the same workspace, also if it is reached through a link.",
        body=WorkspaceWish,
    ),
    Endpoint("get", _ONE, WorkspaceFact, "Get a workspace"),
    Endpoint("get", f"{_ONE}/policy", Policy, "Get the policy of a workspace"),
    Endpoint(
        "put",
        f"{_ONE}/policy",
        Policy,
        "Change the policy of a workspace",
        "The fields that are set are changed, and the others stay. The answer is the whole policy.",
        body=PolicyChange,
    ),
    Endpoint(
        "get",
        f"{_ONE}/approvals",
        RememberedList,
        "List the approvals that are remembered in a workspace",
        "Each allows exactly what it says, as long as the policy does not forbid it.",
    ),
    Endpoint("delete", f"{_ONE}/approvals/{{approval_id}}", Deleted, "Revoke a remembered approval", _WAS_THERE),
    # -- indexing
    Endpoint("post", f"{_INDEX}/rebuild", IndexStatus, "Make the index anew", f"All files are read. {_BESIDE}", 202),
    Endpoint("post", f"{_INDEX}/refresh", IndexStatus, "Bring the index up to date", _BESIDE, 202),
    Endpoint(
        "post",
        f"{_INDEX}/incremental",
        IndexStatus,
        "Tell which files have changed",
        f"What the files are now is read from the disk, whatever is told of them. {_BESIDE}",
        202,
        body=IndexChanges,
    ),
    Endpoint(
        "post",
        _INDEX,
        IndexRun,
        "Make the index",
        "The original's way: it brings the index up to date, and answers when that is done, or after a minute.",
    ),
    Endpoint("post", f"{_ONE}/watch/start", WatchState, "Watch the folder", _KEPT),
    Endpoint(
        "post",
        f"{_ONE}/watch/stop",
        WatchState,
        "Watch the folder no more",
        "Changes are found by the next refresh, or when they are told.",
    ),
    Endpoint("get", f"{_INDEX}/status", IndexStatus, "Get the state of the index"),
    Endpoint(
        "get",
        f"{_INDEX}/stream",
        None,
        "Follow the state of the index",
        "Server-sent events, whose data are the same as the answer of /index/status, at most ten a second. They end "
        "when the index is ready or has failed.",
        query=(QueryField("follow", Annotated[int, Meta(ge=0, le=1)], "1: they go on after that.", 0),),
        media="text/event-stream",
    ),
    Endpoint(
        "get",
        f"{_ONE}/search",
        SearchResults,
        "Search a workspace",
        "The best results come first, each with its reasons, and with lines as they are on the disk now. What the "
        "policy does not let the agent read is in no result.",
        query=(
            QueryField("q", Annotated[str, Meta(max_length=LONGEST_QUERY)], "Words, names, or a sentence.", ""),
            QueryField("kind", SearchKind, "Where to look.", "all"),
            QueryField("most", Annotated[int, Meta(ge=1, le=100)], "At most so many results.", 20),
        ),
    ),
    # -- sessions
    Endpoint("post", _S, SessionFact, "Create a session", body=SessionWish),
    Endpoint(
        "get",
        _S,
        list[SessionFact],
        "List the sessions",
        "The one that changed last comes first.",
        query=(QueryField("workspace_id", str, "Only the sessions of this workspace."),),
    ),
    Endpoint("get", _SESSION, SessionFact, "Get a session"),
    Endpoint(
        "patch",
        _SESSION,
        SessionFact,
        "Change a session",
        "The fields that are set are changed.",
        body=SessionChange,
    ),
    Endpoint(
        "delete",
        _SESSION,
        Deleted,
        "Delete a session",
        "Its turn is cancelled first. The answer is the same if there is no such session.",
        finds=False,
    ),
    Endpoint(
        "get",
        f"{_SESSION}/approvals",
        RememberedList,
        "List the approvals that are remembered in a session",
        "Those of its workspace are listed there.",
    ),
    Endpoint("delete", f"{_SESSION}/approvals/{{approval_id}}", Deleted, "Revoke a remembered approval", _WAS_THERE),
    Endpoint(
        "post",
        f"{_SESSION}/undo",
        UndoReport,
        "Undo what a turn has changed",
        "Files that have changed since are left as they are, and the report says so. What commands have changed is not"
        " undone: if no turn is named and the last one has only run commands, nothing is.",
        body=UndoWish,
        waits=True,
    ),
    Endpoint(
        "post",
        f"{_SESSION}/redo",
        UndoReport,
        "Do again what was undone",
        "Files that have changed since are left as they are, and the report says so.",
        body=UndoWish,
        waits=True,
    ),
    Endpoint("get", f"{_SESSION}/messages", list[TranscriptMessage], "Get the messages of a session"),
    Endpoint(
        "get",
        f"{_SESSION}/events",
        EventPage,
        "Get events of a session's log",
        query=(
            QueryField("after", Annotated[int, Meta(ge=0, le=1 << 53)], "Only events with larger numbers.", 0),
            QueryField("limit", Annotated[int, Meta(ge=0, le=10_000)], "At most so many events.", 1000),
        ),
    ),
    Endpoint(
        "get",
        f"{_SESSION}/export",
        None,
        "Get all that is kept of a session, as a file",
        "Lines of JSON: the first is the session, and each further line is an event of its log.",
        media="application/x-ndjson",
    ),
    # -- models
    Endpoint(
        "get",
        _M,
        ModelList,
        "List the models",
        "Asks the configured servers what they have now, and waits a few seconds at most.",
    ),
    Endpoint("get", f"{_M}/current", ModelConfig, "Get the model that new turns use"),
    Endpoint(
        "put",
        f"{_M}/current",
        ModelConfig,
        "Choose the model that new turns use",
        "It is refused if its server cannot be reached or does not have it.",
        body=ModelConfig,
    ),
    Endpoint("post", f"{_M}/switch", ModelSwitch, "Choose the model that new turns use", body=ModelConfig),
    # -- the port itself
    Endpoint(
        "post",
        "/v1/tickets",
        StreamTicket,
        "Get a ticket for a page's WebSocket",
        "A page cannot send the token with a WebSocket, so it connects with `?ticket=TICKET`. A ticket is good once.",
        201,
    ),
    Endpoint("get", "/v1/openapi.json", None, "Get this document"),
)

STREAM = f"{_SESSION}/stream"
