"""What a program runs that runs others: where it begins, the commands, a line for a shell, and whether that is all."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.policy import command_verdict
from codec.agent.policy.looking_into import DEEPEST, as_line, everything
from codec.agent.policy.shell import LONGEST_LINE
from codec.agent.policy.wrappers import Wrapped, is_altering, is_own, program_of, unwrapped
from codec.agent.workspaces import Policy
from tests.agent.codec.policy.test_policy_law import ARGUMENTS, PROGRAMS

NPM = Policy(allowed_commands=("npm test",))
RM = Policy(command_approval="never", blocked_commands=("rm",))


@pytest.mark.parametrize("line", ["npm test", "find . -name x", "fd -exec a", "nohup", "sudo", "- a"])
def test_what_runs_nothing_else_is_no_wrapper(line: str) -> None:
    assert unwrapped(tuple(line.split())) is None


@pytest.mark.parametrize(
    ("words", "reach", "commands", "understood"),
    [
        ("timeout 5 a b", 2, ["a b"], True),
        ("timeout -k 5 --signal=KILL 2m a", 5, ["a"], True),
        ("timeout -s KILL 5 a", 4, ["a"], True),
        ("timeout --preserve-status -v 5 a", 4, ["a"], True),
        ("timeout --odd 5 a", 3, ["a"], False),
        ("timeout x a", 2, ["a"], False),
        ("timeout -s", 1, [], False),
        ("timeout 5", 1, [], False),
        ("timeout -- 5 a b", 2, [], False),
        ("nohup a", 1, ["a"], True),
        ("nohup - a", 1, ["- a"], True),
        ("nohup -- a b", 2, ["a b"], True),
        ("nohup -- -- a", 2, ["-- a"], True),
        ("nohup -x a", 2, ["a"], False),
        ("nice -n 5 a b", 3, ["a b"], True),
        ("nice -10 a", 2, ["a"], True),
        ("nice --adjustment=5 a", 2, ["a"], True),
        ("nice -n $x a", 3, ["a"], False),
        ("nice -n", 1, [], False),
        ("nice -n 5", 2, [], False),
        ("time -p a", 2, ["a"], True),
        ("stdbuf -oL -e 0 a", 4, ["a"], True),
        ("command -v a", 2, ["a"], False),
        ("env a", 1, ["a"], True),
        ("env A=b c", 2, ["c"], False),
        ("env -i a", 2, ["a"], False),
        ("env -u X a", 3, ["a"], False),
        ("sudo -u bob a b", 3, ["a b"], False),
        ("sudo -n a", 2, ["a"], False),
        ("sudo A=b a", 2, ["a"], False),
        ("sudo -u", 1, [], False),
        ("sudo -u bob", 2, [], False),
        ("xargs -I x a x", 3, ["a x"], False),
        ("flock -w 5 /x a", 4, ["a"], False),
        ("chroot / a", 2, ["a"], False),
        ("watch -n 5 a", 3, ["a"], False),
        ("exec -a x b", 3, ["b"], False),
        ("/usr/bin/timeout 5 a", 2, ["a"], False),
        ("./timeout 5 a", 2, ["a"], False),
        ("TIMEOUT 5 a", 2, ["a"], False),
        ("find . -exec a x ; -ok b +", 3, ["a x", "b"], False),
        ("find . -exec a", 3, ["a"], False),
        ("find . -exec", 3, [], False),
        ("find . -execdir a b ; -okdir", 3, ["a b"], False),
        ("fd x -x a", 3, ["a"], False),
        ("fd x --exec-batch a b", 3, ["a b"], False),
        ("fdfind x -X a ; y", 3, ["a"], False),
    ],
)
def test_a_wrapper_runs_the_rest_of_its_words(words: str, reach: int, commands: list[str], understood: bool) -> None:
    wrapped = unwrapped(tuple(words.split()))
    assert wrapped is not None
    assert [" ".join(each or "" for each in inner) for inner in wrapped.commands] == commands
    assert (wrapped.reach, wrapped.line, wrapped.understood) == (reach, None, understood)


@pytest.mark.parametrize(
    ("words", "reach", "line", "understood"),
    [
        ("sh", 1, None, False),
        ("sh x.sh", 1, None, False),
        ("sh -e", 1, None, False),
        ("sh -c", 1, None, False),
        ("sh -c 'a b'", 2, "a b", True),
        ("dash -c a", 2, "a", True),
        ("sh -ec 'a b' x", 2, "a b", True),
        ("bash -eu -c a", 3, "a", True),
        ("bash -l -c a", 3, "a", False),
        ("bash -lc a", 2, "a", False),
        ("bash +x -c a", 3, "a", False),
        ("bash -c -e -- a b", 4, "a", False),
        ("bash -c -o pipefail a", 4, "a", False),
        ("bash -c +O extglob -e a", 5, "a", False),
        ("bash -c +o pipefail a", 4, "a", False),
        ("bash -c -O extglob a", 4, "a", False),
        ("bash -c + a", 3, "a", False),
        ("sh -c -o x", 3, "x", False),
        ("bash -x x.sh -c a", 1, None, False),
        ("/bin/sh -c a", 2, "a", False),
        ("zsh -c a", 2, "a", False),
        ("powershell -Command a", 2, "a", False),
        ("cmd /q /c a", 3, "a", False),
        ("eval a b", 1, "a b", False),
        ("source x", 1, None, False),
        ("ssh h a", 1, None, False),
        ("ssh h 'a b' c", 1, "a b", False),
        ("env -S 'a b' c", 3, "a b", False),
        ("nice -n 'a b' c", 3, "a b", False),
        ("sudo x ' a ' 'b c'", 1, "b c", False),
    ],
)
def test_a_line_for_a_shell_is_found_behind_its_options(
    words: str, reach: int, line: str | None, understood: bool
) -> None:
    wrapped = unwrapped(tuple(shlex.split(words)))
    assert wrapped is not None
    assert (wrapped.reach, wrapped.line, wrapped.understood) == (reach, line, understood)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("sh", None, "-c", "a"), Wrapped(1)),
        (("sh", "-e", None, "-c", "a"), Wrapped(1)),
        (("sh", "-c", None), Wrapped(2, understood=True)),
        (("timeout", None, "5", "a"), Wrapped(1)),
        (("timeout", "-k", None, "5", "a"), Wrapped(4, (("a",),))),
        (("timeout", "5", None, "a"), Wrapped(2, ((None, "a"),), understood=True)),
        (("sudo", None, "rm"), Wrapped(1, ((None, "rm"),))),
        (("eval", None, "a b"), Wrapped(1, line=" a b")),
        (("find", "-exec", None, ";"), Wrapped(2, ((None,),))),
        (("find", "-exec", "a", "{}", ";"), Wrapped(2, (("a", None),))),
        ((None, "a"), None),
    ],
)
def test_of_words_that_only_a_run_would_tell_nothing_is_taken_for_known(
    words: tuple[str | None, ...], found: Wrapped | None
) -> None:
    assert unwrapped(words) == found


@given(st.lists(st.sampled_from([None, *PROGRAMS, *ARGUMENTS]), min_size=1, max_size=7).map(tuple))
def test_whatever_is_run_is_of_the_words_and_begins_inside_of_them(words: tuple[str | None, ...]) -> None:
    wrapped = unwrapped(words)
    if wrapped is not None:
        assert 1 <= wrapped.reach <= len(words)
        assert all(inner and {*inner} <= {*words, None} for inner in wrapped.commands)


@pytest.mark.parametrize("wrapper", ["nohup {}", "env {}", "timeout 5 {}", "nice -n 5 {}"])
def test_wrappers_are_looked_into_up_to_a_depth_and_what_is_deeper_is_never_allowed(wrapper: str) -> None:
    for depth in range(2 * DEEPEST):
        line = "npm test"
        for _ in range(depth):
            line = wrapper.format(line)
        verdict = command_verdict(NPM, "ask", (), line)
        assert verdict.decision == ("allow" if depth <= DEEPEST else "ask"), line
        assert len(list(everything(as_line(line)))) == min(depth, DEEPEST) + 1
        blocked = line.replace("npm test", "rm x")
        assert command_verdict(RM, "ask", (), blocked).decision == ("deny" if depth <= DEEPEST else "ask"), blocked


def test_shells_in_shells_are_looked_into_up_to_the_same_depth() -> None:
    line, blocked = "npm test", "rm x"
    for depth in range(2 * DEEPEST):
        assert command_verdict(NPM, "ask", (), line).decision == ("allow" if depth <= DEEPEST else "ask"), line
        assert len(list(everything(as_line(line)))) == min(depth, DEEPEST) + 1
        assert command_verdict(RM, "ask", (), blocked).decision == ("deny" if depth <= DEEPEST else "ask"), blocked
        line, blocked = shlex.join(("sh", "-c", line)), shlex.join(("sh", "-c", blocked))
        if len(line) > LONGEST_LINE:
            break


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("rm", "rm"), ("/bin/rm", "rm"), ("./rm", "rm"), ("C:\\bin\\RM.EXE", "rm"), ("rm.", "rm"), ("rm ", "rm"),
        ("a.cmd", "a"), ("a.bat", "a"), ("a.com", "a"), ("a.sh", "a.sh"), ("x/", "x"), ("...", "..."), ("/", ""),
        ("", ""), (None, ""),
    ],
)  # fmt: skip
def test_a_program_has_one_name_in_whatever_folder_and_spelling(word: str | None, name: str) -> None:
    assert program_of(word) == name


@pytest.mark.parametrize(
    ("words", "altering"),
    [
        (("export", "a"), True),
        (("/bin/export", "a"), True),
        (("./export", "a"), False),
        (("printf", "x"), False),
        (("printf", "-v", "x"), True),
        (("printf", "x", None), True),
        (("test", "-vx"), True),
        (("test", "x"), False),
        (("npm", "-v"), False),
        ((None,), False),
    ],
)
def test_words_that_change_what_follows_are_known_unless_they_are_programs_of_the_workspace(
    words: tuple[str | None, ...], altering: bool
) -> None:
    assert is_altering(words) is altering


def test_only_what_stands_in_a_folder_of_the_workspace_is_its_own() -> None:
    assert [is_own((word,)) for word in ("./a", "b/a", "a", "/bin/a", None)] == [True, True, False, False, False]
