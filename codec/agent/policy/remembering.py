"""Which approvals can be remembered, and what they then cover.

A remembered approval is the beginning of one simple command, word by word, and every command that goes on from it is
allowed. So it is the whole command, or less where that is surely what the user means: a program's subcommand (`git
status`), a test runner. A command that would do harm with more words (rm, git push, a shell, curl) cannot be remembered
so.

Or it is exactly one command, with the folder in which it runs. Then nothing goes on from it, so it may be a command
that does harm, or a line of several, as long as none of these does harm and the text alone tells what they are.
"""

from codec.agent.approvals import Remembered
from codec.agent.policy.changes import change_is_remembered
from codec.agent.policy.commands import matches_command
from codec.agent.policy.leaves import NONE, findings
from codec.agent.policy.looking_into import as_line, everything
from codec.agent.policy.names import names
from codec.agent.policy.risks import risk
from codec.agent.policy.verdicts import ChangeWish

_BY_PROGRAM = names(
    """
    pytest jest vitest mocha tox nox mypy ruff flake8 pylint black isort eslint prettier tsc phpunit rspec ctest cat
    echo grep head ls pwd rg tail wc
    """
)
_BY_SUBCOMMAND = names("cargo dotnet git go gradle just mvn npm pnpm poetry yarn make")
_RUNS_SCRIPTS = frozenset(("run", "run-script"))
_NEVER = names(
    """
    cp find install ln mkdir tee touch xargs npx pipx uvx bunx docker podman kubectl sqlite3 psql mysql gcc g++ cc clang
    perl ruby php lua Rscript
    """
)
"""Beside what is of high risk: with more words these write or run anything (`perl -e 1 -e ...`)."""
_RUNS_OTHERS = names("exec x dlx create explore init config set tool node python apply am clone worktree")
"""Subcommands of _BY_SUBCOMMAND that run, fetch or settle whatever is behind them."""


def may_remember(command: str | tuple[str, ...]) -> tuple[str, ...]:
    """The beginning that is remembered; none, if this command cannot be remembered."""
    line = as_line(command)
    found = tuple(findings(line, NONE))
    if len(found) != 1 or len(line.commands) != 1 or not line.commands[0].plain or risk(command) == "high":
        return ()
    words = tuple(each for each in found[0].words if each is not None)
    if not words or words[0] in _NEVER:
        return ()
    if words[0] in _BY_PROGRAM:
        return words[:1]
    program, second, third = (*words, "", "")[:3]
    if program.startswith("python") and second == "-m":
        return words[:3] if third in _BY_PROGRAM else words
    if program not in _BY_SUBCOMMAND or second.startswith("-"):
        return words
    if second in _RUNS_OTHERS:
        return ()
    return words[:3] if second in _RUNS_SCRIPTS else words[:2]


def may_remember_exactly(command: str | tuple[str, ...]) -> bool:
    line = as_line(command)
    runs = tuple(everything(line))
    if line.unclear or not runs or any(None in words for words in runs):
        return False
    return len(runs) == 1 or risk(command) != "high"


def matches_remembered(one: Remembered, wish: tuple[str, ...] | ChangeWish) -> bool:
    """Whether this approval covers a change or a simple command. A denial of the policy wins all the same."""
    return change_is_remembered(one, wish) if isinstance(wish, ChangeWish) else matches_command(one, wish)
