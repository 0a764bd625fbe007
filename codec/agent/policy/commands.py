"""Whether the agent may run a command.

A line is allowed if every simple command in it is, and if it is clear that it runs nothing else (shell.py). Rules, the
first that applies decides:
  1. what is no command at all is denied                            command
  2. in plan mode nothing is run                                    mode plan
  3. a line in which anything is blocked is denied                  blocked_commands ENTRY
  4. so is one whose output goes to a blocked file                  blocked_globs GLOB, path
  5. if the policy wants it, every other command asks               command_approval always
  6. what perhaps runs something blocked asks                       blocked_commands ENTRY
  7. one of the workspace's test commands, exactly, is allowed, in
     its root, if nobody has changed what says what it runs since
     the turn began, and the policy lets that be read;              auto_approve_tests
     so is what was approved for later exactly as it is, here       remembered exactly
  8. where nothing needs an approval, what is clear is allowed;     command_approval never,
     all, if nothing is blocked: then nothing can hide in it        auto_approve_tools execute_command, remembered ...
  9. what is not clear asks                                         shell REASON
 10. what is listed, or approved for later, is allowed              allowed_commands ENTRY, remembered WORDS
 11. all others ask                                                 command_approval prompt

Deny beats ask beats allow; one more blocked entry never makes a verdict milder.
"""

from collections.abc import Collection, Iterable, Sequence

from codec.agent.approvals import Remembered
from codec.agent.files import FileRefused
from codec.agent.globs import matches
from codec.agent.policy.entries import blocked_entries, is_prefix
from codec.agent.policy.leaves import Finding, as_text, findings, listings
from codec.agent.policy.looking_into import as_line, find_blocked
from codec.agent.policy.paths import blocking_glob, normal_path
from codec.agent.policy.scripts import files_behind
from codec.agent.policy.shell import ShellLine
from codec.agent.policy.verdicts import Mode, Verdict, shown
from codec.agent.tree_paths import is_closed
from codec.agent.workspaces import Policy

TOOL = "execute_command"


def command_verdict(
    policy: Policy,
    mode: Mode,
    remembered: Iterable[Remembered],
    command: str | tuple[str, ...],
    *,
    tests: Sequence[tuple[str, ...]] = (),
    folder: str = "",
    changed: Collection[str] | None = (),
) -> Verdict:
    """`tests`: the workspace's detected test commands. `folder`: where it is run, from the workspace's root. `changed`:
    files that anybody has changed since the turn began, or since somebody last approved this command; None: that cannot
    be told."""
    line = as_line(command)
    if "\0" in "".join(command) or not (line.commands or line.unclear):
        return Verdict("deny", "command", "There is no command in it that could be run.")
    if mode == "plan":
        return Verdict("deny", "mode plan", "In plan mode nothing is run.")
    blocked = blocked_entries(policy.blocked_commands)
    entry, doubt = find_blocked(blocked, line)
    if entry is not None:
        rule = f"blocked_commands {entry.text}"
        return Verdict("deny", rule, f"The policy of this workspace blocks {shown(entry.text)} (blocked_commands).")
    if (overwriting := _overwriting(policy, line)) is not None:
        return overwriting
    if policy.command_approval == "always":
        return Verdict("ask", "command_approval always", "The policy of this workspace asks for every command.")
    if doubt is not None:
        reason = f"It may run {shown(doubt.text)}, which the policy of this workspace blocks."
        return Verdict("ask", f"blocked_commands {doubt.text}", reason)
    unseen = ""
    if policy.auto_approve_tests and not folder and _is_test(line, tests):
        unseen = _unseen(policy, command, changed)
        if not unseen:
            return Verdict("allow", "auto_approve_tests", "It is one of the test commands of this workspace.")
    kept = tuple(remembered)
    if any(is_exactly(each, command, folder) for each in kept):
        reason = "You have approved exactly this command, in this folder, for later."
        return Verdict("allow", "remembered exactly", reason)
    free = _free(policy, kept)
    if free is not None and not blocked:
        return free
    found = tuple(findings(line, listings(policy.allowed_commands, kept)))
    if (unclear := next((each for each in found if each.unclear), None)) is not None:
        return Verdict("ask", f"shell {unclear.kind}", unclear.unclear)
    verdict = free or _by_lists(found)
    return Verdict("ask", "auto_approve_tests", unseen) if unseen and verdict.decision == "ask" else verdict


def _by_lists(found: Sequence[Finding]) -> Verdict:
    for each in found:
        if not each.rule:
            reason = f"{as_text(each.words)} is not among the allowed commands of this workspace."
            return Verdict("ask", "command_approval prompt", reason)
    rule = found[0].rule
    return Verdict(
        "allow",
        rule,
        "You have approved this for later."
        if rule.startswith("remembered")
        else "The policy of this workspace allows it.",
    )


def _free(policy: Policy, remembered: tuple[Remembered, ...]) -> Verdict | None:
    """If commands need no approval at all."""
    if policy.command_approval == "never":
        return Verdict("allow", "command_approval never", "The policy of this workspace asks for no command.")
    if TOOL in policy.auto_approve_tools:
        return Verdict(
            "allow", f"auto_approve_tools {TOOL}", "The policy of this workspace lets commands run without asking."
        )
    if any(each.kind == "tool" and each.tool_name == TOOL for each in remembered):
        return Verdict("allow", f"remembered {TOOL}", "You have approved all commands for later.")
    return None


def _is_test(line: ShellLine, tests: Sequence[tuple[str, ...]]) -> bool:
    return not line.unclear and len(line.commands) == 1 and line.commands[0].plain and line.commands[0].words in tests


def _unseen(policy: Policy, command: str | tuple[str, ...], changed: Collection[str] | None) -> str:
    """Why somebody has to look at what a test command runs; empty: nobody has to."""
    files = files_behind(command)
    for path in sorted(changed or ()):
        if path.rpartition("/")[2] in files:
            return f"{shown(path)} has changed since this turn began, and it says what the tests run."
    for name in files:
        if blocking_glob(policy.blocked_globs, name) is not None or not matches(policy.allowed_read_globs, name):
            return f"The policy of this workspace does not let {shown(name)} be read, which says what the tests run."
    if files and changed is None:
        return "It cannot be told whether the files that say what the tests run have changed since this turn began."
    return ""


def _overwriting(policy: Policy, line: ShellLine) -> Verdict | None:
    for name in line.writes:
        if any(map(is_closed, name.split("/"))):
            return Verdict("deny", "path", f"Its output would go to {shown(name)}, which is closed.")
        try:
            glob = blocking_glob(policy.blocked_globs, normal_path(name))
        except FileRefused:
            continue  # it is not in the workspace; the redirection asks
        if glob is not None:
            reason = f"Its output would go to {shown(name)}, which the policy blocks (blocked_globs: {shown(glob)})."
            return Verdict("deny", f"blocked_globs {glob}", reason)
    return None


def is_exactly(one: Remembered, command: str | tuple[str, ...], folder: str) -> bool:
    """Whether this approval is of this very command: not a word, a blank or a folder may differ, and what a shell reads
    is another command than the words that it would read."""
    exact = one.exactly
    if one.kind != "command" or exact is None or exact.folder != folder:
        return False
    if isinstance(command, str):
        return not exact.argv and bool(command) and exact.line == command
    return not exact.line and bool(command) and exact.argv == command


def matches_command(one: Remembered, words: Sequence[str]) -> bool:
    """Whether this approval covers this simple command. A denial wins all the same: ask command_verdict."""
    if one.kind == "tool":
        return one.tool_name == TOOL
    return one.kind == "command" and is_prefix(one.argv, words)
