"""Whether the agent may change a file.

Rules, the first that applies decides:
  1. a path that has no normal form is denied                       path
  2. in plan mode nothing is changed                                mode plan
  3. a blocked path is denied                                       blocked_globs GLOB
  4. so is one that may not be written                              allowed_write_globs
  5. in auto mode all others are allowed                            mode auto
  6. allowed are those of a tool that needs no approval             auto_approve_tools TOOL
  7. and those that the user has approved for later                 remembered PATH or TOOL
     (a path, for every change of it but its deletion)
  8. and simple changes, if the policy says so                      auto_approve_simple_changes
  9. all others ask                                                 mode ask
"""

from collections.abc import Iterable

from codec.agent.approvals import Remembered
from codec.agent.files import FileRefused
from codec.agent.globs import matches
from codec.agent.policy.paths import blocking_glob, normal_path
from codec.agent.policy.verdicts import ChangeWish, Mode, Verdict, shown
from codec.agent.workspaces import Policy

SIMPLE_LINES = 10
"""A change of fewer lines is simple, if the file was there before and is there afterwards."""

_DOES = {"create": "makes", "modify": "changes", "delete": "deletes"}


def change_verdict(policy: Policy, mode: Mode, remembered: Iterable[Remembered], change: ChangeWish) -> Verdict:
    try:
        path = normal_path(change.path)
    except FileRefused as refused:
        return Verdict("deny", "path", str(refused))
    name = shown(path)
    if mode == "plan":
        return Verdict("deny", "mode plan", f"In plan mode nothing is changed, so {name} stays as it is.")
    if (blocking := blocking_glob(policy.blocked_globs, path)) is not None:
        return Verdict(
            "deny",
            f"blocked_globs {blocking}",
            f"The policy of this workspace blocks {name} (blocked_globs: {shown(blocking)}).",
        )
    if not matches(policy.allowed_write_globs, path):
        return Verdict(
            "deny", "allowed_write_globs", f"The policy of this workspace does not let the agent write {name}."
        )
    if mode == "auto":
        return Verdict("allow", "mode auto", f"In auto mode {name} is changed without asking.")
    if change.tool_name in policy.auto_approve_tools:
        return Verdict(
            "allow",
            f"auto_approve_tools {change.tool_name}",
            f"The policy of this workspace lets {shown(change.tool_name)} change files without asking.",
        )
    for one in remembered:
        if _is_remembered(one, path, change):
            return Verdict(
                "allow", f"remembered {one.path or one.tool_name}", f"You have approved this before{_by(one)}."
            )
    if policy.auto_approve_simple_changes and change.action == "modify" and 0 <= change.changed_lines < SIMPLE_LINES:
        return Verdict(
            "allow",
            "auto_approve_simple_changes",
            f"The policy of this workspace allows changes of fewer than {SIMPLE_LINES} lines without asking.",
        )
    return Verdict("ask", "mode ask", f"It {_DOES[change.action]} {name}, and in ask mode changes need an approval.")


def _is_remembered(one: Remembered, path: str, change: ChangeWish) -> bool:
    match one.kind:
        case "path":
            return one.path == path and change.action != "delete"
        case "tool":
            return one.tool_name == change.tool_name
    return False


def _by(one: Remembered) -> str:
    return f" for this {one.scope}"


def change_is_remembered(one: Remembered, change: ChangeWish) -> bool:
    """Whether this approval covers it. A denial wins all the same: ask change_verdict."""
    try:
        return _is_remembered(one, normal_path(change.path), change)
    except FileRefused:
        return False
