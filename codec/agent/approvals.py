"""Approvals, undo and remembered approvals, as HTTP has them and as they are kept."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from codec.agent.action_events import Asked, Scope, UndoneFile


class Resolution(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a request has ended."""

    approved: bool
    scope: Scope = "all"
    hunks: tuple[int, ...] | None = None
    """The hunks that are approved, counted from 0; None: all."""
    by: str = ""
    reason: str | None = None
    remember: Literal["once", "session", "workspace"] = "once"
    exactly: bool = False
    """Whether only this very command is remembered, and not what begins like it."""
    ended: Literal["answered", "timed_out", "cancelled"] = "answered"


class ExactCommand(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A command as it is run, and where: a line for the shell, or the words of one program, and never both."""

    line: str = ""
    argv: tuple[str, ...] = ()
    folder: str = ""
    """From the workspace's root, with /; empty: there."""


class Pending(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request of the turn that is under way. It stays in the session's row until the turn has told the result of its
    call, so a turn that was waiting when the server ended can go on."""

    request_id: str
    call_id: str
    tool_name: str
    asked: Asked
    seq: int = 0
    """Of the event that asks; the session fills it in."""
    expires_at: float = 0
    """Seconds since 1970. 0: never."""
    base: str | None = None
    """The blob that holds the file for which a patch was made."""
    content: str | None = None
    """The blob that holds the whole new file, if that was given in place of a diff."""
    arguments: Any = None
    """Those of the call, if it runs a command."""
    exactly: ExactCommand | None = None
    """The command, if exactly it can be remembered."""
    begun: bool = False
    """Whether the turn has begun to act upon the answer in a way that cannot be repeated."""
    terminal: Literal["", "has_it", "run_here", "left"] = ""
    """Of a command for a client's terminal: such a client has it, and nobody else runs it; or a user waits no longer
    for that, and it is run here, or left to itself."""
    resolution: Resolution | None = None
    result: "ClientResult | None" = None
    """What the client did itself: it has applied the patch, or run the command."""


class ClientResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    success: bool
    error: str | None = None
    applied_hash: str | None = None
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    duration_ms: float = 0


class Remembered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An approval that holds for what comes later, in its session or its workspace. A denial of the policy wins."""

    id: str
    kind: Literal["command", "path", "tool"]
    argv: tuple[str, ...] = ()
    """Of a command: exactly these words begin it."""
    exactly: ExactCommand | None = None
    """Of a command: only this very one is meant. Then `argv` is empty."""
    path: str | None = None
    tool_name: str | None = None
    by: str = ""
    at: float = 0.0
    scope: Literal["session", "workspace"] = "session"


class RememberedList(Struct, frozen=True, kw_only=True):
    """GET .../approvals."""

    approvals: tuple[Remembered, ...] = ()


class UndoWish(Struct, frozen=True, kw_only=True):
    """POST /v1/sessions/{id}/undo and /redo."""

    turn_id: Annotated[str, Meta(max_length=200)] | None = None
    """None: to undo, the last turn that has changed a file or run a command; to do again, the last one undone."""
    preview: bool = False
    """Only say what it would do."""


class UndoReport(Struct, frozen=True, kw_only=True):
    turn_id: str | None
    """None: there is none to be undone."""
    redo: bool = False
    preview: bool = False
    files: tuple[UndoneFile, ...] = ()
    message: str = ""
    """A sentence for the user."""
