"""The endpoints of the agent's port as a table: what is asked, what is answered, what is refused.

The OpenAPI document is made from it (schemas.py), so whoever adds an endpoint to the port adds a line here. Every
endpoint but the first wants the token. The stream of a session is a WebSocket; its messages are listed beside it.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from msgspec import Meta

from codec.agent.events import EventPage
from codec.agent.models import ModelConfig, ModelList, ModelSwitch
from codec.agent.sessions import Deleted, SessionChange, SessionFact, SessionWish, TranscriptMessage
from codec.agent.workspaces import (
    AgentHealth,
    IndexChanges,
    IndexStatus,
    Policy,
    PolicyChange,
    StreamTicket,
    WorkspaceFact,
    WorkspaceWish,
)

Method = Literal["get", "post", "put", "patch", "delete"]


@dataclass(frozen=True, slots=True)
class QueryField:
    name: str
    kind: Any
    says: str
    default: Any = None


@dataclass(frozen=True, slots=True)
class Endpoint:
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


_W, _S, _M = "/v1/workspaces", "/v1/sessions", "/v1/models"
_ONE, _INDEX, _SESSION = f"{_W}/{{workspace_id}}", f"{_W}/{{workspace_id}}/index", f"{_S}/{{session_id}}"

_NO_INDEX = "There is no index yet, so nothing happens: searches read the files."

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
    # -- indexing
    Endpoint("post", f"{_INDEX}/rebuild", IndexStatus, "Make the index anew", _NO_INDEX, 202),
    Endpoint("post", f"{_INDEX}/refresh", IndexStatus, "Bring the index up to date", _NO_INDEX, 202),
    Endpoint(
        "post",
        f"{_INDEX}/incremental",
        IndexStatus,
        "Tell which files have changed",
        _NO_INDEX,
        202,
        body=IndexChanges,
    ),
    Endpoint("get", f"{_INDEX}/status", IndexStatus, "Get the state of the index"),
    Endpoint(
        "get",
        f"{_INDEX}/stream",
        None,
        "Follow the state of the index",
        f"Server-sent events, whose data are the same as the answer of /index/status. {_NO_INDEX}",
        media="text/event-stream",
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
