"""What holds for any policy, any text, any words, any path."""

import shlex
import string
from collections.abc import Sequence
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from codec.agent.approvals import ExactCommand, Remembered
from codec.agent.policy import (
    ChangeWish,
    Mode,
    change_verdict,
    command_verdict,
    explanation,
    is_prefix,
    may_remember,
    may_remember_exactly,
    normal_path,
    risk,
)
from codec.agent.policy.shell import as_ascii, read_line
from codec.agent.workspaces import Policy

PROGRAMS = ("npm", "git", "rm", "sh", "env", "timeout", "echo", "./x", "/bin/rm", "cd", "find", "sudo", "xargs")
ARGUMENTS = (
    "test",
    "-c",
    "-rf",
    "-r",
    "-f",
    "--force",
    "push",
    "status",
    "a b",
    "5",
    "--",
    "-exec",
    ";",
    "x/y",
    "A=b",
    "*",
)
SIGNS = (
    *(
        "&&",
        "||",
        ";",
        "|",
        "&",
        "\n",
        "(",
        ")",
        "{",
        "}",
        "!",
        ">",
        "<",
        "2>&1",
        "> /dev/null",
        "$(",
        "`",
        '"',
        "'",
        "\\",
    ),
    *("$x", "*", "~", "#", "if", "then", "fi", "x() {", "<<E", "=", "\u00a0", "\r", "\0", "é", "\ud800"),
)
SETTLED = Policy(allowed_commands=("npm test", "git", "echo"), blocked_commands=("rm",))

words = st.lists(st.sampled_from(PROGRAMS + ARGUMENTS), min_size=1, max_size=6)
lines = st.one_of(
    st.lists(st.sampled_from(PROGRAMS + ARGUMENTS + SIGNS), max_size=14).map(" ".join),
    st.lists(st.sampled_from(PROGRAMS + ARGUMENTS + SIGNS), max_size=14).map("".join),
    st.text(max_size=60),
    st.text(string.printable, max_size=60),
)
commands = st.one_of(lines, words.map(tuple))
modes: st.SearchStrategy[Mode] = st.sampled_from(("plan", "ask", "auto"))
entries = st.lists(
    st.one_of(words.map(" ".join), st.text(max_size=8), st.sampled_from(["rm -rf", "git push", "*", "npm *"])),
    max_size=4,
).map(tuple)
approvals: st.SearchStrategy[Literal["always", "prompt", "never"]] = st.sampled_from(("always", "prompt", "never"))
policies = st.builds(
    Policy,
    allowed_commands=entries,
    blocked_commands=entries,
    command_approval=approvals,
    auto_approve_tests=st.booleans(),
    auto_approve_tools=st.sampled_from(((), ("execute_command",))),
    blocked_globs=st.lists(st.text("ab*/.[]", min_size=1, max_size=6), max_size=3).map(tuple),
    auto_approve_simple_changes=st.booleans(),
)
remembered = st.lists(
    st.one_of(
        st.builds(Remembered, id=st.just("r"), kind=st.just("command"), argv=words.map(tuple)),
        st.just(Remembered(id="r", kind="tool", tool_name="execute_command")),
        st.just(Remembered(id="r", kind="tool", tool_name="propose_diff")),
        st.builds(Remembered, id=st.just("r"), kind=st.just("path"), path=st.text("ab/.", max_size=5)),
    ),
    max_size=3,
).map(tuple)
tests = st.lists(words.map(tuple), max_size=2)
wishes = st.builds(
    ChangeWish,
    path=st.one_of(
        st.text("abAB/.~:\\ \u200c", max_size=8), st.text(max_size=20), st.sampled_from([".git", "a/.GIT/b"])
    ),
    action=st.sampled_from(["create", "modify", "delete"]),
    changed_lines=st.integers(-1, 20),
)
MILDNESS = {"deny": 0, "ask": 1, "allow": 2}


@given(lines)
def test_no_text_is_allowed_unless_all_that_it_runs_begins_with_what_is_listed(line: str) -> None:
    verdict = command_verdict(SETTLED, "auto", (), line)
    if verdict.decision == "allow":
        read = read_line(line)
        assert not read.unclear
        assert read.commands
        assert any(begins(each.words) for each in read.commands)
        assert not any("rm" in (word or "") for each in read.commands for word in each.words[:1])
        assert all(begins(each.words) or each.words[0] in ("sh", "env", "timeout") for each in read.commands)


def begins(found: Sequence[str | None]) -> bool:
    return is_prefix(("npm", "test"), found) or is_prefix(("git",), found) or is_prefix(("echo",), found)


@given(policies, modes, remembered, commands, tests)
def test_any_command_gets_a_verdict_and_the_same_one_again(
    policy: Policy,
    mode: Mode,
    kept: tuple[Remembered, ...],
    command: str | tuple[str, ...],
    known: list[tuple[str, ...]],
) -> None:
    verdict = command_verdict(policy, mode, kept, command, tests=known)
    read_line.cache_clear()
    assert command_verdict(policy, mode, kept, command, tests=known) == verdict
    assert verdict.reason.isprintable()
    assert explanation(verdict.rule)
    assert risk(command) in ("low", "medium", "high")
    if mode == "plan":
        assert verdict.decision == "deny"


@given(policies, modes, remembered, commands, tests, entries)
def test_one_more_blocked_entry_never_makes_a_verdict_milder(
    policy: Policy,
    mode: Mode,
    kept: tuple[Remembered, ...],
    command: str | tuple[str, ...],
    known: list[tuple[str, ...]],
    more: tuple[str, ...],
) -> None:
    before = command_verdict(policy, mode, kept, command, tests=known)
    stricter = replace(policy, blocked_commands=policy.blocked_commands + more)
    after = command_verdict(stricter, mode, kept, command, tests=known)
    assert MILDNESS[after.decision] <= MILDNESS[before.decision]


@given(policies, modes, remembered, remembered, commands)
def test_an_approval_that_is_remembered_never_beats_a_denial(
    policy: Policy,
    mode: Mode,
    kept: tuple[Remembered, ...],
    more: tuple[Remembered, ...],
    command: str | tuple[str, ...],
) -> None:
    before = command_verdict(policy, mode, kept, command)
    after = command_verdict(policy, mode, kept + more, command)
    assert (before.decision == "deny") == (after.decision == "deny")
    assert MILDNESS[after.decision] >= MILDNESS[before.decision]


@given(st.sampled_from(("ask", "auto")), commands)
def test_what_may_be_remembered_allows_the_same_command_afterwards(mode: Mode, command: str | tuple[str, ...]) -> None:
    prefix = may_remember(command)
    if prefix:
        kept = Remembered(id="r", kind="command", argv=prefix)
        assert command_verdict(Policy(), mode, (kept,), command).decision == "allow"
        assert (
            command_verdict(Policy(blocked_commands=(shlex.quote(prefix[0]),)), mode, (kept,), command).decision
            == "deny"
        )


@given(policies, modes, remembered, wishes, st.text("abAB*/.", min_size=1, max_size=5))
def test_a_change_gets_a_verdict_that_no_blocked_glob_makes_milder(
    policy: Policy, mode: Mode, kept: tuple[Remembered, ...], wish: ChangeWish, more: str
) -> None:
    verdict = change_verdict(policy, mode, kept, wish)
    assert verdict == change_verdict(policy, mode, kept, wish)
    assert verdict.reason.isprintable()
    assert explanation(verdict.rule)
    stricter = replace(policy, blocked_globs=(*policy.blocked_globs, more))
    assert MILDNESS[change_verdict(stricter, mode, kept, wish).decision] <= MILDNESS[verdict.decision]
    assert (verdict.decision == "deny") == (change_verdict(policy, mode, (), wish).decision == "deny")
    if verdict.decision != "deny":
        names = normal_path(wish.path).split("/")
        assert mode != "plan"
        assert not {"", ".", "..", ".git"} & {name.casefold() for name in names}


@given(st.text(st.characters(min_codepoint=0x80), max_size=60), st.text(string.printable, max_size=20))
def test_the_parser_is_given_nothing_but_ascii(strange: str, plain: str) -> None:
    line = plain + strange + plain
    given_to_it = as_ascii(line)
    assert len(given_to_it) == len(line)
    assert given_to_it.isascii()
    assert as_ascii(plain) == plain.encode()


folders = st.sampled_from(("", "web", "web/x", "Web"))
exact_commands = st.one_of(
    commands,
    words.map(" ".join),
    st.sampled_from(("npm test", "npm  test", "A=b npm test", "env A=b npm test", "sh -c 'npm test'", "npm test -- x")),
    st.sampled_from((("npm", "test"), ("npm test",), ("npm", "test", ""), ("sh", "-c", "npm test"))),
)


def exactly(command: str | tuple[str, ...], folder: str) -> Remembered:
    line, argv = (command, ()) if isinstance(command, str) else ("", command)
    return Remembered(id="r", kind="command", exactly=ExactCommand(line=line, argv=argv, folder=folder))


@given(exact_commands, folders, exact_commands, folders, modes, policies)
def test_an_exact_command_approves_no_other_words_folder_environment_or_shell(
    one: str | tuple[str, ...],
    here: str,
    other: str | tuple[str, ...],
    there: str,
    mode: Mode,
    policy: Policy,
) -> None:
    kept = exactly(one, here)
    without = command_verdict(policy, mode, (), other, folder=there)
    verdict = command_verdict(policy, mode, (kept,), other, folder=there)
    if (one, here) != (other, there):
        assert verdict == without
    elif without.decision != "allow":
        assert verdict.decision == without.decision or verdict.rule == "remembered exactly"
    assert MILDNESS[verdict.decision] >= MILDNESS[without.decision]


@given(commands, folders, modes)
def test_what_can_be_remembered_exactly_is_then_allowed_unless_it_is_denied(
    command: str | tuple[str, ...], folder: str, mode: Mode
) -> None:
    if may_remember_exactly(command) and mode != "plan":
        kept = exactly(command, folder)
        nothing = Policy(blocked_commands=())
        if command_verdict(nothing, mode, (), command).decision != "deny":
            assert command_verdict(nothing, mode, (kept,), command, folder=folder).decision == "allow"
        always = Policy(command_approval="always")
        assert command_verdict(always, mode, (kept,), command, folder=folder).decision != "allow"
        if isinstance(command, str):
            assert not read_line(command).unclear
