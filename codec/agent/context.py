"""What an editor tells about itself, with a message or between two: the contract's `context`.

Every part may be missing, and unknown parts are ignored: an editor tells what it has. All of it comes from outside. It
is material for the model, and never decides what is allowed.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

Severity = Literal["error", "warning", "info", "information", "hint", "unknown"]
Line = Annotated[int, Meta(ge=0)]


class TextPosition(Struct, frozen=True):
    line: Line
    character: Line = 0


class TextSelection(Struct, frozen=True):
    start: TextPosition
    end: TextPosition
    text: str | None = None


class VisibleRange(Struct, frozen=True):
    start: Line
    end: Line


class ActiveEditor(Struct, frozen=True, kw_only=True):
    file_path: str
    language: str | None = None
    selection: TextSelection | None = None
    visible_range: VisibleRange | None = None
    content_hash: str | None = None


class OpenEditor(Struct, frozen=True, kw_only=True):
    file_path: str
    is_dirty: bool = False
    visible: bool = False


class Diagnostic(Struct, frozen=True, kw_only=True):
    file_path: str
    message: str
    severity: Severity = "error"
    line: Line = 0
    character: Line = 0
    source: str | None = None
    code: Any = None


class TerminalOutput(Struct, frozen=True, kw_only=True):
    command: str = ""
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    timestamp: str | None = None


class RecentCommit(Struct, frozen=True, kw_only=True):
    sha: str
    message: str = ""
    author: str = ""
    timestamp: str | None = None


class GitContext(Struct, frozen=True, kw_only=True):
    branch: str | None = None
    staged_files: tuple[str, ...] = ()
    modified_files: tuple[str, ...] = ()
    recent_commits: tuple[RecentCommit, ...] = ()
    diff: str | None = None


class Mention(Struct, frozen=True, kw_only=True):
    """What the user named with @."""

    type: Annotated[str, Meta(max_length=100)]
    """file, symbol or folder; `unknown`: what it names was not found (released clients send it). Others are told to the
    model by their names."""
    path: str | None = None
    name: str | None = None
    file_path: str | None = None
    line: Line | None = None


class EditorContext(Struct, frozen=True, kw_only=True):
    active_editor: ActiveEditor | None = None
    open_editors: tuple[OpenEditor, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    terminal_output: TerminalOutput | None = None
    git_context: GitContext | None = None
    mentions: tuple[Mention, ...] = ()
    command: str | None = None
    """A slash command: /fix, /test, /explain, /refactor."""


class ContextChange(Struct, frozen=True, kw_only=True):
    """The parts that have changed. A part that is missing stays as it was; one that is null or empty is gone."""

    active_editor: ActiveEditor | UnsetType | None = UNSET
    open_editors: tuple[OpenEditor, ...] | UnsetType | None = UNSET
    diagnostics: tuple[Diagnostic, ...] | UnsetType | None = UNSET
    terminal_output: TerminalOutput | UnsetType | None = UNSET
    git_context: GitContext | UnsetType | None = UNSET
    mentions: tuple[Mention, ...] | UnsetType | None = UNSET


class SaidContext(ContextChange, frozen=True, kw_only=True):
    """The same with a message."""

    command: str | UnsetType | None = UNSET


def said_parts(said: ContextChange) -> dict[str, Any]:
    """The parts that it says, by name, as a context has them."""
    parts = {name: getattr(said, name) for name in said.__struct_fields__}
    return {name: getattr(_EMPTY, name) if part is None else part for name, part in parts.items() if part is not UNSET}


def changed(context: EditorContext, change: ContextChange) -> EditorContext:
    """The context after this change."""
    return replace(context, **said_parts(change))


_EMPTY = EditorContext()
