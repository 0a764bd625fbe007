"""What an editor tells of itself, with a message or between two: the contract's `context`.

Every part may be missing, and unknown parts are ignored: an editor tells what it has. All of it comes from outside; it
is material for the model, and never decides what is allowed.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

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

    type: Literal["file", "symbol", "folder", "unknown"]
    """`unknown`: what it names was not found (released clients send it)."""
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
    """The parts that have changed; the others stay as they were."""

    active_editor: ActiveEditor | None = None
    open_editors: tuple[OpenEditor, ...] | None = None
    diagnostics: tuple[Diagnostic, ...] | None = None
    terminal_output: TerminalOutput | None = None
    git_context: GitContext | None = None
    mentions: tuple[Mention, ...] | None = None


def changed(context: EditorContext, change: ContextChange) -> EditorContext:
    """The context after this change."""
    parts = {name: getattr(context, name) for name in EditorContext.__struct_fields__}
    parts |= {name: part for name in ContextChange.__struct_fields__ if (part := getattr(change, name)) is not None}
    return EditorContext(**parts)
