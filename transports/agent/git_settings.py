"""What git is kept from in the agent's commands.

Git runs programs that a repository names, so the author of a repository decides which. A plain `git status` or `git
diff` must not run them:

    hooks, fsmonitor       off
    bare repositories      a folder of the workspace that looks like one is none: such a folder comes with any clone
    textconv               of the repository's own configuration: files are shown as they are
    external diff          of the repository's own configuration: git refuses, and says how to do without
    editors, questions     answered with nothing: git fails instead of waiting
    ssh                    is ssh, and asks nothing

The first two and the last two are the same for every command. Diff drivers have names of their own, so those of the
repository around a command's folder are looked up first; git itself reads them, and runs nothing for that. Not off:
filters (git-crypt and git-lfs are some), merge drivers, aliases and credential helpers; and the diff drivers of another
repository that a command enters. They stand in `.git/config`, which no clone brings along, and which the agent's hands
never write.
"""

import os
import re
from collections.abc import Mapping

VARIABLES = {
    "GIT_ASKPASS": "",
    "GIT_EDITOR": ":",
    "GIT_PAGER": "cat",
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
    "GIT_TERMINAL_PROMPT": "0",
}
SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "gc.autoDetach": "false",
    "maintenance.autoDetach": "false",
    "safe.bareRepository": "explicit",
}
LOOK_UP = ("git", "config", "--list", "--null", "--show-scope", "--name-only")
"""Tells the names of all settings, and where each comes from."""
NO_EXTERNAL_DIFF = "external-diff-is-off--use--no-ext-diff"
"""The name of a program that is nowhere. Git's complaint shows it."""
_OF_THE_REPOSITORY = ("local", "worktree")
_DIFF = re.compile(r"diff\.(?:.*\.)?(external|command|textconv)", re.DOTALL)


def git_variables(more: Mapping[str, str]) -> dict[str, str]:
    """For a command's environment. `more`: settings beside those of every command."""
    made = {**VARIABLES, "GIT_CONFIG_COUNT": str(len(SETTINGS) + len(more))}
    for index, (name, value) in enumerate([*SETTINGS.items(), *more.items()]):
        made[f"GIT_CONFIG_KEY_{index}"] = name
        made[f"GIT_CONFIG_VALUE_{index}"] = value
    return made


def without_diff_drivers(told: bytes) -> dict[str, str]:
    """`told`: the answer to LOOK_UP. Settings in place of those with which the repository names programs."""
    parts = told.decode("utf-8", "surrogateescape").split("\0")
    settings = {}
    for scope, name in zip(parts[::2], parts[1::2], strict=False):
        found = _DIFF.fullmatch(name) if scope in _OF_THE_REPOSITORY else None
        if found is not None:
            settings[name] = "cat" if found[1] == "textconv" else NO_EXTERNAL_DIFF
    return settings


def is_in_repository(folder: int) -> bool:
    """Whether there is a `.git` in this open folder, or in one above it. Blocks."""
    here = os.dup(folder)
    try:
        while True:
            try:
                os.stat(".git", dir_fd=here, follow_symlinks=False)
                return True
            except FileNotFoundError:
                pass
            above = os.open("..", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=here)
            is_top = os.path.samestat(os.fstat(above), os.fstat(here))
            os.close(here)
            here = above
            if is_top:
                return False
    except OSError:  # a folder above may not be read: git would not get any further either
        return False
    finally:
        os.close(here)
