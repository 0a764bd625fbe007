"""What the agent does with a workspace, as events of a session's log: its requests, the answers, its deeds.

They are the audit log, too: every request, answer, change of a file and command is among them, in the order in which
they happened. The first four have the contract's names, and so has `file_path`: from the workspace's root, with /.
"""

from typing import Any, Literal

from msgspec import Struct, field

from codec.agent.numbered import Numbered

Risk = Literal["low", "medium", "high"]
Scope = Literal["all", "file", "hunk"]
StreamName = Literal["stdout", "stderr"]

# -- what is asked


class DiffHunk(Struct, frozen=True, kw_only=True):
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    content: str


class PatchProposed(Numbered, frozen=True, kw_only=True, tag="patch.proposed"):
    """A change of one file. It asks if `requires_approval`; else it says what is about to be done."""

    patch_id: str
    file_path: str
    diff: str
    rationale: str = ""
    acceptance_criteria: tuple[str, ...] = ()
    requires_approval: bool = True
    hunks: tuple[DiffHunk, ...] = ()
    request_id: str = ""
    base_hash: str | None = None
    """The sha256 of the file that the diff was made for, in hexadecimal and nothing before it: the original's client
    compares it so. None: there was no file."""
    call_id: str = ""
    action: Literal["create", "modify", "delete"] = "modify"
    reason: str = ""
    """Why it is asked, or why not: which rule of the policy says so."""


DELETES = "delete_file"
"""The tool that deletes a file; it has no diff to show."""


class RequestApproval(Numbered, frozen=True, kw_only=True, tag="tool.request_approval"):
    request_id: str
    tool_name: str
    args: Any
    risk_level: Risk = "medium"
    call_id: str = ""
    reason: str = ""
    message: str = ""
    """All that is asked, as a text: for clients that show nothing else."""

    @property
    def deleted(self) -> str | None:
        """The file that is to be deleted; None: the tool does something else."""
        path = self.args.get("file_path") if self.tool_name == DELETES and isinstance(self.args, dict) else None
        return path if isinstance(path, str) else None


class ScriptLine(Struct, frozen=True, kw_only=True):
    """What a file says that a command runs: a script of package.json, a line of a recipe, a test runner's settings."""

    file: str
    name: str
    """Of the script, the target or the setting."""
    text: str


class RequestCommandApproval(Numbered, frozen=True, kw_only=True, tag="command.request_approval"):
    """With `requires_approval` false it only asks a client to run the command."""

    command_id: str
    command: str
    working_directory: str
    environment: dict[str, str] = field(default_factory=dict)
    requires_approval: bool = True
    reason: str = ""
    request_id: str = ""
    call_id: str = ""
    risk_level: Risk = "medium"
    execution_mode: Literal["local_terminal", "server_runner"] = "server_runner"
    network: bool = False
    may_remember: tuple[str, ...] = ()
    """The prefix that `remember` would allow, word by word; empty: this command cannot be remembered so."""
    may_remember_exactly: bool = False
    """Whether this very command, in this folder, can be remembered: `remember` with `exactly`."""
    runs: tuple[ScriptLine, ...] = ()
    """What it runs that its own words do not say, as far as the files of its folder tell."""
    message: str = ""
    """All that is asked, as a text: for clients that show nothing else."""


class ApprovalResolved(Numbered, frozen=True, kw_only=True, tag="approval.resolved"):
    request_id: str
    approved: bool
    scope: Scope = "all"
    by: str = ""
    """The client's name; empty: nobody (it timed out, or the turn was cancelled)."""
    reason: str | None = None
    hunks: tuple[int, ...] | None = None
    """The hunks that are approved, counted from 0; None: all."""
    remember: Literal["once", "session", "workspace"] = "once"
    exactly: bool = False
    """Whether only this very command is remembered, and not what begins like it."""
    ended: Literal["answered", "timed_out", "cancelled"] = "answered"


# -- what is done


class HunkOutcome(Struct, frozen=True, kw_only=True):
    index: int
    outcome: Literal["applied", "moved", "loose", "merged", "already", "rejected", "refused"]
    """applied: exactly where it says; moved: elsewhere, where alone it fits; loose: but for white space; merged: onto a
    changed file; already: it was there; rejected: by the user; refused: it does not fit."""
    line: int | None = None
    """Where, in the new file."""
    reason: str = ""


class PatchApplied(Numbered, frozen=True, kw_only=True, tag="patch.applied"):
    patch_id: str
    file_path: str
    success: bool
    by: Literal["client", "server"] = "server"
    hunks: tuple[HunkOutcome, ...] = ()
    applied_hash: str | None = None
    error: str | None = None


class FileChanged(Numbered, frozen=True, kw_only=True, tag="file.changed"):
    """A file is about to be changed (begun), and then was (done) or was not (failed). After a kill a change that has
    only begun was done if the file is as `after_hash` says. `unknown`: the disk has not answered. When it does, the
    file tells, and done or failed follows, perhaps after the turn's last word."""

    change_id: str
    turn_id: str
    file_path: str
    action: Literal["create", "modify", "delete"]
    status: Literal["begun", "done", "failed", "unknown"]
    before: str | None = None
    """The blob that holds the file as it was. None: there was none."""
    after: str | None = None
    """The blob that holds it as it is then. None: it is deleted."""
    before_hash: str | None = None
    after_hash: str | None = None
    mode: int | None = None
    """The permission bits of the file before it, or of the new one."""
    folders: tuple[str, ...] = ()
    """Those that were made for it, when it is done."""
    patch_id: str | None = None
    error: str | None = None


class CommandStarted(Numbered, frozen=True, kw_only=True, tag="command.started"):
    command_id: str
    command: str
    working_directory: str
    environment: dict[str, str] = field(default_factory=dict)
    network: bool = False
    turn_id: str = ""
    call_id: str = ""


class CommandTakenBack(Numbered, frozen=True, kw_only=True, tag="command.taken_back"):
    """A user waits no longer for a client's terminal. A client that has not begun the command does not begin it any
    more."""

    command_id: str
    run_here: bool
    """Whether the server runs it now. If not, the turn goes on without its end."""
    by: str = ""
    """The name of the client that has said so."""


class CommandOutput(Numbered, frozen=True, kw_only=True, tag="command.output"):
    command_id: str
    stream: StreamName
    text: str


class CommandFinished(Numbered, frozen=True, kw_only=True, tag="command.finished"):
    """Nothing of the command is left."""

    command_id: str
    exit_code: int | None = None
    ended: Literal["exited", "signalled", "stopped", "cancelled", "not_started", "interrupted"] = "exited"
    why: str = ""
    """A sentence, unless it exited."""
    duration_ms: float = 0
    by: Literal["client", "server"] = "server"


class UndoneFile(Struct, frozen=True, kw_only=True):
    file_path: str
    action: Literal["restore", "delete", "create"]
    """What undoing (or doing again) does with the file."""
    outcome: Literal["would", "done", "refused", "unchanged"]
    reason: str = ""
    diff: str = ""
    """What it would change; in a preview only."""


class TurnUndone(Numbered, frozen=True, kw_only=True, tag="turn.undone"):
    """Said twice: when it is about to be done (begun), with what it would do, and when it was."""

    turn_id: str
    redo: bool = False
    """Whether it was done again."""
    files: tuple[UndoneFile, ...] = ()
    by: str = ""
    begun: bool = False


Asked = PatchProposed | RequestApproval | RequestCommandApproval
