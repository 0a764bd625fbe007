"""How much a user should look before approving. Nothing is allowed or denied by it."""

import re

from codec.agent.action_events import Risk
from codec.agent.files import FileRefused
from codec.agent.policy.changes import SIMPLE_LINES
from codec.agent.policy.leaves import NONE, findings
from codec.agent.policy.looking_into import as_line, everything
from codec.agent.policy.names import names
from codec.agent.policy.paths import normal_path
from codec.agent.policy.shell import Words
from codec.agent.policy.verdicts import ChangeWish
from codec.agent.policy.wrappers import program_of

_ORDER: tuple[Risk, ...] = ("low", "medium", "high")
_READS = names(
    """
    cat cd cut date diff du echo false file grep egrep fgrep head id jq ls nl pwd rg sort stat tail tr tree true
    uname uniq wc which whoami
    """
)
_DESTROYS = names(
    """
    chgrp chmod chown dd doas fdisk format halt ifconfig ip iptables kill killall launchctl mkfs mkswap mount mv
    parted pkill poweroff reboot rm rmdir route scp service shred shutdown ssh sudo su systemctl sysctl truncate
    umount unlink useradd userdel usermod wipefs curl wget nc ncat netcat telnet ftp sftp rsync crontab at
    """
)
_GIT_READS = names("blame branch describe diff grep log ls-files rev-parse shortlog show status")
_GIT_DESTROYS = names("push reset clean filter-branch reflog gc rebase checkout restore rm config update-ref")
_RUN_BY_OTHERS = re.compile(
    r"(?i)(?:.*/)?(?:\.github/(?:workflows|actions)/.*|\.gitlab-ci\.yml|\.circleci/.*|jenkinsfile|\.husky/.*|\.githooks/.*"
    r"|\.pre-commit-config\.yaml|\.vscode/(?:tasks|launch|settings)\.json|\.idea/.*|\.envrc|\.npmrc|\.yarnrc.*|\.pypirc"
    r"|\.gitattributes|\.gitmodules|\.devcontainer/.*|package\.json|makefile|gnumakefile|conftest\.py|sitecustomize\.py"
    r"|.*\.pth|setup\.py|dockerfile|build\.rs|\.cargo/config(?:\.toml)?|\.bashrc|\.profile|\.zshrc)"
)
"""Files that are run or obeyed without anybody asking for it: by a build, a hook, an editor, a test."""


def risk(wish: str | tuple[str, ...] | ChangeWish) -> Risk:
    return _of_change(wish) if isinstance(wish, ChangeWish) else _of_command(wish)


def _of_change(change: ChangeWish) -> Risk:
    try:
        path = normal_path(change.path)
    except FileRefused:
        return "high"
    if change.action == "delete" or _RUN_BY_OTHERS.fullmatch(path):
        return "high"
    return "low" if change.action == "modify" and change.changed_lines < SIMPLE_LINES else "medium"


def _of_command(command: str | tuple[str, ...]) -> Risk:
    line = as_line(command)
    if any(each.unclear for each in findings(line, NONE)):
        return "high"
    return max(map(_of_words, everything(line)), key=_ORDER.index, default="medium")


def _of_words(words: Words) -> Risk:
    program = program_of(words[0])
    if program in _DESTROYS:
        return "high"
    if program == "git":
        command = next((each for each in words[1:] if each and not each.startswith("-")), "")
        return "high" if command in _GIT_DESTROYS else "low" if command in _GIT_READS else "medium"
    return "low" if program in _READS else "medium"
