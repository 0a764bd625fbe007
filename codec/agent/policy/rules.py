"""What each rule means, for a page: the first word of `Verdict.rule`, and a short text in plain English."""

RULES = {
    "path": "The path is none that may be changed: it leads out of the workspace or into .git, or it would be another"
    " file on another system.",
    "mode": "The session's mode decides. In plan mode nothing is changed and nothing is run. In ask mode changes need"
    " an approval. In auto mode changes of files that may be written are made at once.",
    "blocked_globs": "Files that match are never read, changed or deleted, however their names are written. Nothing"
    " else can allow it.",
    "allowed_write_globs": "Only files that match may be changed. All others are refused.",
    "auto_approve_tools": "Tools that are listed need no approval. Refusals stand, and so do doubts about what is"
    " blocked.",
    "auto_approve_simple_changes": "A change of fewer than 10 lines in a file that is there needs no approval.",
    "auto_approve_tests": "The test commands that were found in the workspace need no approval, if they are run"
    " exactly as they were found, in its own folder. They ask if the file that says what they run has changed since the"
    " turn began, whoever has changed it, until you approve them as they are; and if that file may not be read.",
    "remembered": "You have approved it for later. You can take that back. What the policy refuses stays refused.",
    "command": "There is nothing in it that could be run.",
    "blocked_commands": "A command that begins with a listed one is refused, in whatever folder its program is, and"
    " with its flags in any order. So is a line that has such a command anywhere in it. Where it can only be"
    " suspected, the command asks.",
    "allowed_commands": "A command that begins with exactly the listed words is allowed. Of a line every command must"
    " be listed, and the line must do nothing else.",
    "command_approval": "always: every command asks. prompt: commands ask that are not listed. never: no command asks."
    " What is blocked is refused in all three.",
    "shell": "It cannot be told from the line alone what it runs: it holds substitutions, variables, patterns, files"
    " for input or output, or a program that runs others. So it asks, whatever is listed.",
}


def explanation(rule: str) -> str:
    """Of a verdict's rule. Raises KeyError if there is no such rule."""
    return RULES[rule.partition(" ")[0]]
