"""Sessions, as HTTP has them. A session's facts outlive everything but its DELETE."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from codec.agent.models import Window

SessionStatus = Literal["active", "cancelled", "completed", "error"]
SessionMode = Literal["plan", "ask", "auto"]
Title = Annotated[str, Meta(max_length=500)]


class SessionWish(Struct, frozen=True, kw_only=True):
    """POST /v1/sessions."""

    workspace_id: str
    folder_id: str | None = None
    agent_id: str | None = None
    title: Title | None = None
    model_provider: str | None = None
    model_name: str | None = None
    model_url: str | None = None
    context_window: Window | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    mode: SessionMode = "ask"


class SessionFact(Struct, frozen=True, kw_only=True):
    id: str
    workspace_id: str
    created_at: str
    """ISO 8601 in UTC, as all times over HTTP."""
    updated_at: str
    status: SessionStatus = "active"
    folder_id: str | None = None
    agent_id: str | None = None
    title: str | None = None
    model_provider: str | None = None
    model_name: str | None = None
    model_url: str | None = None
    context_window: int | None = None
    temperature: float | None = None
    mode: SessionMode = "ask"
    running: bool = False
    pending_approvals: int = 0


class SessionChange(Struct, frozen=True, kw_only=True):
    """PATCH /v1/sessions/{id}."""

    title: Title | UnsetType = UNSET
    mode: SessionMode | UnsetType = UNSET
    model_provider: str | UnsetType | None = UNSET
    model_name: str | UnsetType | None = UNSET
    model_url: str | UnsetType | None = UNSET
    context_window: Window | UnsetType | None = UNSET


def changed_parts(change: SessionChange) -> dict[str, Any]:
    """What it says, by name."""
    parts = {name: getattr(change, name) for name in change.__struct_fields__}
    told = {name: part for name, part in parts.items() if part is not UNSET}
    return told | {"title": plain_title(change.title)} if isinstance(change.title, str) else told


def plain_title(title: str) -> str:
    """On one line, and without what a terminal or a page would obey."""
    return " ".join("".join(char if char.isprintable() else " " for char in title).split())


class TranscriptMessage(Struct, frozen=True, kw_only=True):
    """GET /v1/sessions/{id}/messages."""

    id: str
    role: Literal["user", "assistant", "tool"]
    content: str
    seq: int
    created_at: str | None = None
    cancelled: bool = False
    interrupted: bool = False


class Deleted(Struct, frozen=True, kw_only=True):
    success: bool = True
