"""A call that changes files, in its other forms: its wishes for each file, the question to the policy, the proposal,
and how the call is found again in the requests that were made for it."""

from msgspec.structs import replace

from actors.agent.hand_tools import DeleteFile, ProposeDiff, WriteFile
from actors.agent.replacing import PlannedChange
from actors.agent.tools import BadCall
from codec.agent.action_events import DELETES, PatchProposed, RequestApproval
from codec.agent.approvals import Pending
from codec.agent.asked_words import deletion_question
from codec.agent.drafts import (
    Draft,
    DraftRefused,
    FileAction,
    FileWish,
    by_content,
    by_deletion,
    by_diff,
    by_edits,
)
from codec.agent.files import FileRefused, hex_digest
from codec.agent.patches import PatchUnreadable
from codec.agent.policy import ChangeWish, Verdict, risk
from codec.agent.tree_paths import tree_names
from codec.words import counted

FileCall = ProposeDiff | WriteFile | DeleteFile
MOST_FILES = 200
"""That one call changes."""


class PathDenied(Exception):
    """The policy's rules of paths have no form for this one."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def wish_for(path: str, action: FileAction, tool_name: str, lines: int = 0) -> ChangeWish:
    return ChangeWish(path=path, action=action, changed_lines=lines, tool_name=tool_name)


def wish_of(each: Draft, tool_name: str) -> ChangeWish:
    return wish_for(each.path, each.action, tool_name, each.changed_lines)


def event_of(
    id: str,  # noqa: A002
    call_id: str,
    each: Draft,
    wanted: FileCall,
    verdict: Verdict,
) -> PatchProposed | RequestApproval:
    if isinstance(wanted, DeleteFile):
        level = risk(wish_of(each, DELETES))
        return RequestApproval(
            request_id=id,
            tool_name=DELETES,
            args={"file_path": each.path, "reason": wanted.reason},
            risk_level=level,
            call_id=call_id,
            reason=verdict.reason,
            message=deletion_question(each.path, risk=level, reason=wanted.reason, why=verdict.reason),
        )
    return PatchProposed(
        patch_id=id,
        request_id=id,
        call_id=call_id,
        file_path=each.path,
        diff=each.made.diff,
        hunks=each.made.hunks,
        rationale=wanted.rationale,
        acceptance_criteria=wanted.acceptance_criteria if isinstance(wanted, ProposeDiff) else (),
        requires_approval=verdict.decision == "ask",
        base_hash=None if each.base is None else hex_digest(each.base),
        action=each.action,
        reason=verdict.reason,
    )


def path_of(request: Pending) -> str:
    asked = request.asked
    if isinstance(asked, PatchProposed):
        return asked.file_path
    assert isinstance(asked, RequestApproval)
    return str(asked.args["file_path"])


def remade(request: Pending, base: bytes | None, after: bytes | None) -> PlannedChange:
    asked = request.asked
    patched = isinstance(asked, PatchProposed)
    return PlannedChange(
        id=request.request_id,
        path=path_of(request),
        base=base,
        after=after,
        base_blob=request.base,
        after_blob=request.content,
        hunks=asked.hunks if isinstance(asked, PatchProposed) else (),
        patched=patched,
    )


# -- what a call wants


def wishes_of(wanted: FileCall) -> list[FileWish]:
    """Raises BadCall or PathDenied."""
    try:
        match wanted:
            case ProposeDiff(diff=diff, edits=edits):
                if bool(diff.strip()) == bool(edits):
                    raise BadCall("give either a diff or edits")
                texts = [(_path(edit.file_path), edit.old, edit.new) for edit in edits]
                wishes = by_edits(texts) if texts else by_diff(diff)
            case WriteFile(file_path=path, content=content):
                wishes = by_content(_path(path), content)
            case DeleteFile(file_path=path):
                wishes = by_deletion(_path(path))
    except (PatchUnreadable, DraftRefused) as error:
        raise BadCall(str(error)) from None
    if len(wishes) > MOST_FILES:
        raise BadCall(f"it changes {counted(len(wishes), 'file')}, and {MOST_FILES} is the most at once")
    return [replace(wish, path=_path(wish.path)) for wish in wishes]


def _path(path: str) -> str:
    """From the workspace's root, as it is said everywhere."""
    try:
        names = tree_names(path)
    except FileRefused:
        raise PathDenied(path) from None
    if not names:
        raise BadCall("file_path names the workspace's folder. Name a file in it.")
    return "/".join(names)


def size_of(wanted: FileCall) -> int:
    """Characters."""
    match wanted:
        case ProposeDiff(diff=diff, edits=edits):
            return len(diff) + sum(len(edit.old) + len(edit.new) for edit in edits)
        case WriteFile(content=content):
            return len(content)
    return 0
