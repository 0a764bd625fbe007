"""The table of cases for commands. It is also what they mean: a policy, a command, the verdict and the rule."""

from typing import get_args

import pytest

from codec.agent.approvals import Remembered
from codec.agent.policy import Mode, Verdict, command_verdict, explanation, may_remember
from codec.agent.workspaces import CommandApproval, Policy

LISTS = Policy(
    allowed_commands=("npm test", "git log", "git status", "pytest", "cd", "./gradlew test", "find", "sed", "echo"),
    blocked_commands=("rm -rf", "git push --force", "curl", "npm publish *"),
)
WRAPPING = Policy(allowed_commands=("sudo apt", "bash test.sh", "sh", "env", "sudo", "xargs", "npm test"))
ALWAYS = Policy(command_approval="always", allowed_commands=("npm test",))
NEVER = Policy(command_approval="never", blocked_commands=("rm",))
SCRIPTS = Policy(allowed_commands=("git", "sort", "tar", "make", "npm", "awk", "rg"))

ALLOWED = [
    ("npm test", "allowed_commands npm test"),
    ("npm test -- --watch=false", "allowed_commands npm test"),
    ("npm test && git log -5", "allowed_commands npm test"),
    ("git status | git log || npm test; echo", "allowed_commands git status"),
    ("git status\nnpm test\n", "allowed_commands git status"),
    ("(git status); { npm test; }; ! git log", "allowed_commands git status"),
    ("npm test 2>&1 >/dev/null </dev/null", "allowed_commands npm test"),
    ("npm 'test' \"a b\" 'c;d' e\\ f", "allowed_commands npm test"),
    ("git log HEAD~2 HEAD^ --format=%h,%s", "allowed_commands git log"),
    ("pytest tests -x -q -k 'not slow' -m \"a or b\"", "allowed_commands pytest"),
    ("./gradlew test", "allowed_commands ./gradlew test"),
    ("cd packages/app && npm test", "allowed_commands cd"),
    ("timeout 60 npm test", "allowed_commands npm test"),
    ("timeout -k 5 --signal=KILL 2m nice -n 5 nohup npm test", "allowed_commands npm test"),
    ("time -p env stdbuf -oL command npm test", "allowed_commands npm test"),
    ("sh -c 'npm test && git status'", "allowed_commands npm test"),
    ("bash -eux -c 'npm test'", "allowed_commands npm test"),
    ("find . -name '*.py' -type f", "allowed_commands find"),
    ("sed -n 1,20p src/app.py", "allowed_commands sed"),
    ("timeout 5 npm test 'a b'", "allowed_commands npm test"),
    ("cd . && cd a/b/", "allowed_commands cd"),
    (("npm", "test", "$(rm -rf x); > y"), "allowed_commands npm test"),
]

DENIED = [
    "rm -rf x",
    "rm -fr x",
    "rm -r -f x",
    "rm -Rf x",
    "rm -rvf x",
    "rm x -f -r",
    "rm --recursive --force x",
    "rm --rec --fo x",
    "/bin/rm -rf x",
    "./rm -rf x",
    "~/bin/rm -rf x",
    "RM.EXE -rf x",
    '"rm" -rf x',
    "\\rm -rf x",
    "r'm' -rf x",
    "npm test; rm -rf x",
    "npm test && rm -rf x",
    "npm test | rm -rf x",
    "npm test\nrm -rf x",
    "npm test & rm -rf x",
    "(rm -rf x)",
    "{ rm -rf x; }",
    "! rm -rf x",
    "a=1 rm -rf x",
    "rm -rf $HOME",
    "rm -rf *",
    "echo $(rm -rf x)",
    'echo "`rm -rf x`"',
    "cat <(rm -rf x)",
    "if true; then rm -rf x; fi",
    "for a in b; do rm -rf $a; done",
    "f() { rm -rf x; }; f",
    "rm -rf x > log",
    "rm > log -rf x",
    "rm -r > log 2>&1 -f x",
    "npm test | rm 2>/dev/null -rf x",
    "rm <<E -rf x\nE",
    "sudo < x rm -rf y",
    "rm -rf x <<E\ny\nE",
    "sudo rm -rf x",
    "sudo -u bob rm -rf x",
    "env A=b rm -rf x",
    "env -i rm -rf x",
    "timeout 5 rm -rf x",
    "nice -n 5 nohup rm -rf x",
    "xargs -n 1 rm -rf",
    "find . -exec rm -rf {} \\;",
    "find . -type d -execdir rm -rf {} +",
    "sh -c 'rm -rf x'",
    "bash -lc 'cd /; rm -rf x'",
    "sudo sh -c 'nohup rm -rf x'",
    'eval "rm -rf x"',
    "eval rm -rf x",
    "exec rm -rf x",
    "command rm -rf x",
    "builtin rm -rf x",
    "busybox rm -rf x",
    "watch 'rm -rf x'",
    "su -c 'rm -rf x'",
    "curl http://a.b",
    "git push --force",
    "git push origin main --force",
    "git push -f",
    "git push --force=yes",
    "git push --fo",
    "git push --f",
    "npm publish",
    "npm publish --tag a",
    ("rm", "-rf", "x"),
    ("/usr/bin/env", "rm", "-rf", "x"),
]

ASKED = [
    ("npm install", "command_approval prompt"),
    ("npm tests", "command_approval prompt"),
    ("npm --silent test", "command_approval prompt"),
    ("rm -r x", "command_approval prompt"),
    ("git push", "command_approval prompt"),
    ("npm test && npm install", "command_approval prompt"),
    ("./npm test", "command_approval prompt"),
    ("/usr/bin/npm test", "command_approval prompt"),
    ("NPM test", "command_approval prompt"),
    ("'npm' test", "command_approval prompt"),
    ("n\\pm test", "shell escape"),
    ("gradlew test", "command_approval prompt"),
    ("sub/gradlew test", "command_approval prompt"),
    (("npm test",), "command_approval prompt"),
    ("npm test $HOME", "shell expansion"),
    ("npm test \"$HOME\"", "shell expansion"),
    ("npm test $'a'", "shell expansion"),
    ("npm test $(id)", "shell substitution"),
    ("npm test `id`", "shell substitution"),
    ("npm test <(id)", "shell substitution"),
    ("npm test *.js", "shell glob"),
    ("npm test [ab]", "shell glob"),
    ("npm test {a,b}", "shell braces"),
    ("npm test ~", "shell home"),
    ("npm test > x", "shell redirection"),
    ("npm test 2>x", "shell redirection"),
    ("npm test < x", "shell redirection"),
    ("npm test &> /dev/null", "shell background"),
    ("npm test <<E\nx\nE", "shell heredoc"),
    ("npm test <<< x", "shell heredoc"),
    ("CI=1 npm test", "shell assignment"),
    ("PATH=. npm test", "shell assignment"),
    ("export PATH=.; npm test", "shell assignment"),
    ("npm() { id; }; npm test", "shell function"),
    ("if npm test; then git log; fi", "shell control"),
    ("while npm test; do git log; done", "shell control"),
    ("[[ -v a ]]", "shell control"),
    ("npm test &", "shell background"),
    ("npm test & git log", "shell background"),
    ("npm test \\\n&& git log", "shell escape"),
    ("npm test \"a\\\"b\"", "shell escape"),
    ("npm test !!", "shell history"),
    ("npm test # x", "shell comment"),
    ("npm test\rgit log", "shell unseen"),
    ("npm\u00a0test", "shell unseen"),
    ("npm test \u202egol tig", "shell unseen"),
    ("npm test \"", "shell error"),
    ("npm test; (git log", "shell error"),
    ("npm test |& git log", "shell odd"),
    ("npm test =git", "shell expansion"),
    ("npm test " + "x" * 5000, "shell long"),
    ("alias npm=id; npm test", "shell altering"),
    ("set -k; npm test", "shell altering"),
    ("source x; npm test", "shell wrapper"),
    (". ./x", "shell wrapper"),
    ("cd ..; npm test", "shell folder"),
    ("cd /tmp && npm test", "shell folder"),
    ("cd - && npm test", "shell folder"),
    ("cd && npm test", "shell folder"),
    ("cd x && ./gradlew test", "shell folder"),
    ("env A=b npm test", "shell wrapper"),
    ("env -S 'npm test'", "shell wrapper"),
    ("sudo npm test", "shell wrapper"),
    ("xargs npm test", "shell wrapper"),
    ("/usr/bin/env npm test", "shell wrapper"),
    ("/bin/sh -c 'npm test'", "shell wrapper"),
    ("bash -lc 'npm test'", "shell wrapper"),
    ("bash x.sh", "shell wrapper"),
    ("eval npm test", "shell wrapper"),
    ("sh -c 'npm test $1' x y", "shell expansion"),
    ("find . -exec npm test {} \\;", "shell braces"),
    ("find . -delete", "shell option"),
    ("find . -fprint x", "shell option"),
    ("sed -i s/a/b/ x.py", "shell option"),
    ("sed '1e id' x.py", "shell option"),
    ("git log --output=x", "shell option"),
    ("git log --ext-diff", "shell option"),
    ("pytest -p evil", "shell option"),
    ("pytest --rootdir=/x", "shell option"),
    ("echo rm -rf x", "blocked_commands rm -rf"),
    ("git -C x push -f", "blocked_commands git push --force"),
    ("git stash push --force", "blocked_commands git push --force"),
    ("uv run curl x", "blocked_commands curl"),
]  # fmt: skip


def judged(command: str | tuple[str, ...], policy: Policy = LISTS, mode: Mode = "ask") -> Verdict:
    verdict = command_verdict(policy, mode, (), command)
    assert verdict.reason.endswith((".", "…"))
    assert "You have approved" not in verdict.reason
    assert explanation(verdict.rule)
    return verdict


@pytest.mark.parametrize(("command", "rule"), ALLOWED)
@pytest.mark.parametrize("mode", ["ask", "auto"])
def test_what_is_listed_is_allowed_with_all_that_the_line_does(
    command: str | tuple[str, ...], rule: str, mode: Mode
) -> None:
    verdict = judged(command, mode=mode)
    assert (verdict.decision, verdict.rule) == ("allow", rule)


@pytest.mark.parametrize("command", DENIED)
def test_what_is_blocked_is_denied_wherever_it_stands(command: str | tuple[str, ...]) -> None:
    for approval in get_args(CommandApproval):
        policy = Policy(
            allowed_commands=(*LISTS.allowed_commands, "rm", "sudo rm"),
            blocked_commands=LISTS.blocked_commands,
            command_approval=approval,
            auto_approve_tools=("execute_command",),
        )
        verdict = judged(command, policy)
        assert verdict.decision == "deny", approval
        assert verdict.rule.startswith("blocked_commands ")


@pytest.mark.parametrize(("command", "rule"), ASKED)
def test_what_is_not_listed_or_not_clear_asks(command: str | tuple[str, ...], rule: str) -> None:
    verdict = judged(command)
    assert (verdict.decision, verdict.rule) == ("ask", rule)


@pytest.mark.parametrize(
    ("policy", "command", "decision", "rule"),
    [
        (WRAPPING, "sudo apt install x", "allow", "allowed_commands sudo apt"),
        (WRAPPING, "sudo -n apt install x", "ask", "shell wrapper"),
        (WRAPPING, "sudo npm test", "ask", "shell wrapper"),
        (WRAPPING, "bash test.sh -v", "allow", "allowed_commands bash test.sh"),
        (WRAPPING, "bash other.sh", "ask", "shell wrapper"),
        (WRAPPING, "echo x | sh", "ask", "shell wrapper"),
        (WRAPPING, "sh x.sh", "ask", "shell wrapper"),
        (WRAPPING, "sh -c 'npm install'", "ask", "command_approval prompt"),
        (WRAPPING, "env npm test", "allow", "allowed_commands npm test"),
        (WRAPPING, "env npm install", "ask", "command_approval prompt"),
        (WRAPPING, "xargs npm test", "ask", "shell wrapper"),
        (SCRIPTS, "git -c core.fsmonitor=./x status", "ask", "shell option"),
        (SCRIPTS, "git -ccore.hooksPath=x commit", "ask", "shell option"),
        (SCRIPTS, "git --exec-path=. status", "ask", "shell option"),
        (SCRIPTS, "git --config-env=core.pager=A log", "ask", "shell option"),
        (SCRIPTS, "git -C ../other status", "ask", "shell option"),
        (SCRIPTS, "git config core.hooksPath x", "ask", "shell option"),
        (SCRIPTS, "git fetch ext::sh", "ask", "shell option"),
        (SCRIPTS, "git fetch --upload-pack=x origin", "ask", "shell option"),
        (SCRIPTS, "git clone -c core.fsmonitor=x y", "ask", "shell option"),
        (SCRIPTS, "git grep -Oid x", "ask", "shell option"),
        (SCRIPTS, "git rebase -x id main", "ask", "shell option"),
        (SCRIPTS, "git bisect run id", "ask", "shell option"),
        (SCRIPTS, "git difftool -x id", "ask", "shell option"),
        (SCRIPTS, "git commit -m 'core: fix A::b'", "allow", "allowed_commands git"),
        (SCRIPTS, "git diff --stat HEAD~1 -- src/a.py", "allow", "allowed_commands git"),
        (SCRIPTS, "sort --compress-program=x a", "ask", "shell option"),
        (SCRIPTS, "tar xf a.tar --checkpoint-action=exec=id", "ask", "shell option"),
        (SCRIPTS, "make SHELL=./x all", "ask", "shell option"),
        (SCRIPTS, "make -f other", "ask", "shell option"),
        (SCRIPTS, "make all -j4", "allow", "allowed_commands make"),
        (SCRIPTS, "npm test --script-shell=./x", "ask", "shell option"),
        (SCRIPTS, "awk 'BEGIN{system(\"id\")}'", "ask", "shell option"),
        (SCRIPTS, "awk '/x/' a", "allow", "allowed_commands awk"),
        (SCRIPTS, "rg --pre ./x y", "ask", "shell option"),
        (SCRIPTS, "npm test > .git/hooks/pre-commit", "deny", "path"),
        (SCRIPTS, "npm test > .GIT/config", "deny", "path"),
        (SCRIPTS, "npm test >> node_modules/a/b.js", "deny", "blocked_globs node_modules/**"),
        (SCRIPTS, "npm test >& .git/config", "deny", "path"),
        (SCRIPTS, "npm test <> node_modules/a/b.js", "deny", "blocked_globs node_modules/**"),
        (Policy(command_approval="never"), "npm test >& .git/config", "deny", "path"),
        (Policy(command_approval="never"), "npm test 1<> .git/config", "deny", "path"),
        (Policy(command_approval="never"), "npm test > ../x 2> .git/config", "deny", "path"),
        (Policy(command_approval="never"), "echo x > .git/config y", "deny", "path"),
        (Policy(command_approval="never"), "echo x > y .git/config", "allow", "command_approval never"),
        (Policy(allowed_commands=("npm test",)), "npm 2>/dev/null test -x", "allow", "allowed_commands npm test"),
        (Policy(command_approval="never"), "npm test < .git/config", "allow", "command_approval never"),
        (Policy(blocked_commands=("npm *",)), "npm", "deny", "blocked_commands npm *"),
        (Policy(blocked_commands=("npm *",)), "npm test", "deny", "blocked_commands npm *"),
        (Policy(blocked_commands=("npm * *",)), "npm test", "deny", "blocked_commands npm * *"),
        (Policy(blocked_commands=("* test",)), "npm test", "deny", "blocked_commands * test"),
        (Policy(blocked_commands=("cat -",)), "cat - x", "deny", "blocked_commands cat -"),
        (Policy(blocked_commands=("cat -",)), "cat x -", "ask", "blocked_commands cat -"),
        (Policy(blocked_commands=("docker --context prod",)), "docker ps --context=prod", "ask",
         "blocked_commands docker --context prod"),
        (Policy(blocked_commands=("docker --context prod",)), "docker --context=prod ps", "deny",
         "blocked_commands docker --context prod"),
        (Policy(blocked_commands=("find -delete",)), "find . -delete", "deny", "blocked_commands find -delete"),
        (Policy(blocked_commands=("find -delete",), command_approval="never"), "find . -type d", "allow",
         "command_approval never"),
        (Policy(blocked_commands=("git push --force",), command_approval="never"), "git push --=x", "allow",
         "command_approval never"),
        (Policy(blocked_commands=("rm -f",), command_approval="never"), "rm --=x", "allow", "command_approval never"),
        (NEVER, "echo " + "a " * 40, "allow", "command_approval never"),
        (Policy(blocked_commands=("rm -rf", "rm -x"), command_approval="never"), "echo " + "rm " * 22, "ask",
         "blocked_commands rm -rf"),
        (Policy(blocked_commands=("rm -rf",), command_approval="never"), "echo " + "rm " * 20, "allow",
         "command_approval never"),
        (NEVER, "python3 $x -c 1", "ask", "shell expansion"),
        (SCRIPTS, "git -C../x --version", "ask", "shell option"),
        (SCRIPTS, "git --exec-path=x", "ask", "shell option"),
        (SCRIPTS, "git -C../x", "ask", "shell option"),
        (SCRIPTS, "git --version", "allow", "allowed_commands git"),
        (SCRIPTS, "git", "allow", "allowed_commands git"),
        (SCRIPTS, "git log -c", "allow", "allowed_commands git"),
        (SCRIPTS, "git clone -c x y", "ask", "shell option"),
        (SCRIPTS, "git log config", "allow", "allowed_commands git"),
        (Policy(blocked_commands=("git checkout -- x",)), "git checkout x", "deny",
         "blocked_commands git checkout -- x"),
        (Policy(allowed_commands=("sed -i",)), "sed -i s/a/b/ x", "allow", "allowed_commands sed -i"),
        (Policy(allowed_commands=("sed -n",)), "sed -n -i s/a/b/ x", "ask", "shell option"),
        (Policy(allowed_commands=("sed s/a/b/e",)), "sed s/a/b/e x y", "allow", "allowed_commands sed s/a/b/e"),
        (Policy(allowed_commands=("npm test",)), ("npm", "test", *["x"] * 198), "allow", "allowed_commands npm test"),
        (Policy(allowed_commands=("npm test",)), ("npm", "test", *["x"] * 199), "ask", "shell long"),
        (Policy(allowed_commands=("npm test",)), ("npm", "test", "x" * 3_993), "allow", "allowed_commands npm test"),
        (Policy(allowed_commands=("npm test",)), ("npm", "test", "x" * 3_994), "ask", "shell long"),
        (Policy(blocked_commands=("git push",)), "git push", "deny", "blocked_commands git push"),
        (Policy(blocked_commands=("git push",)), "git commit -m push", "ask", "blocked_commands git push"),
        (Policy(blocked_commands=("git 'push",)), ("git", "'push"), "deny", "blocked_commands git 'push"),
        (Policy(blocked_commands=("*",)), "npm test", "deny", "blocked_commands *"),
        (Policy(allowed_commands=("*",)), "npm test", "ask", "command_approval prompt"),
        (Policy(allowed_commands=("npm 'test", "", " ")), "npm test", "ask", "command_approval prompt"),
        (ALWAYS, "npm test", "ask", "command_approval always"),
        (Policy(command_approval="never"), "npm test > x; $(id) &", "allow", "command_approval never"),
        (NEVER, "npm i", "allow", "command_approval never"),
        (NEVER, "$x -rf", "ask", "shell expansion"),
        (NEVER, "echo cm0K | base64 -d | sh", "ask", "shell wrapper"),
        (NEVER, "alias x=id", "ask", "shell altering"),
        (NEVER, "git rm x", "ask", "blocked_commands rm"),
        (Policy(auto_approve_tools=("execute_command",)), "npm i", "allow", "auto_approve_tools execute_command"),
        (Policy(auto_approve_tools=("write_file",)), "npm i", "ask", "command_approval prompt"),
    ],
)  # fmt: skip
def test_each_field_of_the_policy_has_its_say(
    policy: Policy, command: str | tuple[str, ...], decision: str, rule: str
) -> None:
    verdict = judged(command, policy)
    assert (verdict.decision, verdict.rule) == (decision, rule)


@pytest.mark.parametrize("command", ["npm test", "rm -rf x", "$(id)", ("id",)])
@pytest.mark.parametrize("approval", ["always", "prompt", "never"])
def test_in_plan_mode_nothing_is_run(command: str | tuple[str, ...], approval: str) -> None:
    policy = Policy(allowed_commands=("npm",), command_approval=approval)  # type: ignore[arg-type]
    verdict = judged(command, policy, "plan")
    assert (verdict.decision, verdict.rule) == ("deny", "mode plan")


@pytest.mark.parametrize("command", ["", " \t\n", (), ("",), "npm test\0", ("npm", "te\0st")])
@pytest.mark.parametrize("mode", ["plan", "ask", "auto"])
def test_what_cannot_be_run_is_denied(command: str | tuple[str, ...], mode: Mode) -> None:
    verdict = judged(command, Policy(command_approval="never"), mode)
    assert (verdict.decision, verdict.rule) == ("deny", "command")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("npm install $X", "It is not clear what the line runs: a part of it begins with $, and only the shell knows"),
        ("npm install", '"npm install" is not among the allowed commands of this workspace.'),
        ("cd $X", "It is not clear what the line runs"),
        ("sudo npm test", 'It is not clear what "sudo npm test" does: it runs other commands in a way that cannot be'),
        ("git log --output=x", 'It is not clear what "git log --output=x" does: "--output=x" makes it run or write'),
        ("cd /; npm test", 'It is not clear what "cd /" does: it leads to a folder that only the shell knows, or out'),
        ("npm test > .git/x", 'Its output would go to ".git/x", which is closed.'),
        ("rm -rf x", 'The policy of this workspace blocks "rm -rf" (blocked_commands).'),
        ("echo rm -rf", 'It may run "rm -rf", which the policy of this workspace blocks.'),
    ],
)
def test_a_verdict_says_of_which_command_it_speaks(command: str, reason: str) -> None:
    assert judged(command).reason.startswith(reason)


SPELLED = ["rm -rf", "rm -fr", "rm -Rf", "rm -r -f", "rm -R -f", "rm --recursive --force", "rm --force -r"]


@pytest.mark.parametrize("entry", SPELLED)
def test_a_blocked_entry_and_a_command_mean_the_same_flags_however_each_spells_them(entry: str) -> None:
    policy = Policy(blocked_commands=(entry,), command_approval="never")
    for command in [*SPELLED, "rm --r --f", "rm -rvf", "rm --rec --fo", "rm x -R --for=1", "rm -r -- -f"]:
        assert judged(f"{command} x", policy).rule == f"blocked_commands {entry}"
    for other in ["rm", "rm -r", "rm -f", "rm --recursive", "rm --f", "rm -- x", "rm - rf", "rm x rf"]:
        assert judged(f"{other} x", policy).decision == "allow"


TESTS = (("python", "-m", "pytest"), ("./gradlew", "check"), ("npm", "test"))


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("python -m pytest", "allow"),
        ("  python  -m pytest ", "allow"),
        (("python", "-m", "pytest"), "allow"),
        ("./gradlew check", "allow"),
        ("python -m pytest -x", "ask"),
        ("python -m pytest; id", "ask"),
        ("python -m pytest | npm test", "ask"),
        ("python -m pytest &", "ask"),
        ("python -m pytest # x", "ask"),
        ("'python' -m pytest", "ask"),
        ("python -m", "ask"),
        ("env python -m pytest", "ask"),
    ],
)
def test_a_test_command_is_allowed_exactly_as_it_was_found(command: str | tuple[str, ...], decision: str) -> None:
    approving = Policy(auto_approve_tests=True)
    verdict = command_verdict(approving, "ask", (), command, tests=TESTS)
    assert verdict.decision == decision
    assert (verdict.rule == "auto_approve_tests") == (decision == "allow")
    assert command_verdict(Policy(), "ask", (), command, tests=TESTS).decision == "ask"
    always = Policy(auto_approve_tests=True, command_approval="always")
    assert command_verdict(always, "ask", (), command, tests=TESTS).rule == "command_approval always"
    blocked = Policy(auto_approve_tests=True, blocked_commands=("python", "npm", "gradlew"))
    assert command_verdict(blocked, "ask", (), command, tests=TESTS).decision == "deny"


def command_of(*words: str) -> Remembered:
    return Remembered(id="r", kind="command", argv=words)


@pytest.mark.parametrize(
    ("one", "command", "decision", "rule"),
    [
        (command_of("npm", "run", "build"), "npm run build -- x", "allow", "remembered npm run build"),
        (command_of("npm", "run", "build"), "npm run", "ask", "command_approval prompt"),
        (command_of("npm", "run", "build"), "npm run build; id", "ask", "command_approval prompt"),
        (command_of("npm", "run", "build"), "npm run build > x", "ask", "shell redirection"),
        (command_of("npm", "run", "build"), "./npm run build", "ask", "command_approval prompt"),
        (command_of(), "id", "ask", "command_approval prompt"),
        (command_of("rm"), "rm -rf x", "deny", "blocked_commands rm -rf"),
        (command_of("rm"), "rm x", "allow", "remembered rm"),
        (Remembered(id="r", kind="tool", tool_name="execute_command"), "id", "allow", "remembered execute_command"),
        (Remembered(id="r", kind="tool", tool_name="execute_command"), "rm -fr x", "deny", "blocked_commands rm -rf"),
        (Remembered(id="r", kind="tool", tool_name="execute_command"), "$x", "ask", "shell expansion"),
        (Remembered(id="r", kind="tool", tool_name="write_file"), "id", "ask", "command_approval prompt"),
        (Remembered(id="r", kind="path", path="id"), "id", "ask", "command_approval prompt"),
    ],
)
def test_what_is_remembered_allows_its_beginning_and_no_more(
    one: Remembered, command: str, decision: str, rule: str
) -> None:
    policy = Policy(blocked_commands=("rm -rf",))
    verdict = command_verdict(policy, "ask", (one,), command)
    assert (verdict.decision, verdict.rule) == (decision, rule)
    assert verdict.reason.startswith("You have approved") == rule.startswith("remembered")
    always = Policy(blocked_commands=("rm -rf",), command_approval="always")
    assert command_verdict(always, "ask", (one,), command).decision in ("deny", "ask")


RUNNERS = Policy(
    allowed_commands=(
        "python -m pytest", "uv run pytest", "pytest", "git grep", "git clone", "git init", "git push", "git rebase",
        "git archive", "git log", "git format-patch", "sed", "tar", "sort", "make", "npm test", "mypy", "pylint", "tox",
        "mocha", "gradle", "just", "zip", "pnpm run", "mvn test", "gradle test", "./gradlew test",
        "npx mocha",
    )
)  # fmt: skip
HIDDEN = [
    "python -m pytest -p evil",
    "python -m pytest -pevil",
    "uv run pytest -c evil.ini",
    "git grep -O./evil x",
    "git grep -nO./evil x",
    "git grep --op=./evil x",
    "git clone -u./evil x",
    "git clone --u=./evil x",
    "git clone -lccore.sshCommand=./evil x",
    "git init --te=./evil",
    "git push --rece=./evil",
    "git push --e=./evil",
    "git rebase -x./evil HEAD",
    "git rebase -ix ./evil",
    "git rebase --ex ./evil",
    "git archive --e=./evil --remote=.",
    "git archive -o x HEAD",
    "git format-patch -o x",
    "sed 1e./evil.sh x.py",
    "sed w/tmp/x.y x.py",
    "sed -e'1e id' x.py",
    "sed -e '1w x' x.py",
    "sed -n -e 1p --expr=1e/bin/x.y x.py",
    "sed -e",
    "tar --us=./evil -xf x",
    "tar --inf=./evil -xf x",
    "tar --rs=./evil -xf x",
    "sort --co=./evil x",
    "sort --o=x y",
    "make --di=evil",
    "make --f=evil",
    "npm test --scr=./evil",
    "npm test --pre=evil",
    "mypy --con=evil",
    "pylint --init-hook=1 x",
    "pylint --init-h 1 x",
    "tox -x testenv.commands=id",
    "mocha -r ./evil",
    "npx mocha -r ./evil",
    "gradle test -I evil.gradle",
    "just --shell ./evil test",
    "mvn test deploy",
    "gradle test --info publish",
    "./gradlew test publish",
    "zip x.zip y -T -TT './evil #'",
    "pnpm run x --config.script-shell=./evil",
]


@pytest.mark.parametrize("command", HIDDEN)
def test_an_option_that_runs_or_writes_other_things_asks_however_it_is_written(command: str) -> None:
    verdict = judged(command, RUNNERS)
    assert (verdict.decision, verdict.rule) == ("ask", "shell option")


@pytest.mark.parametrize(
    "command",
    [
        "python -m pytest -q -k 'a or b' tests",
        "git log --text --all --oneline",
        "git grep -n word",
        "sed -n 1,20p a.py b/c",
        "sed -nE -e 's/a/b/g' -e 2d src/x",
        "sed -n 1p - x",
        "tar -tf x.tar",
        "sort -u x",
        "make -j4 all",
        "mvn test -q -Dtest=One",
        "./gradlew test --tests One.two",
        "npm test -- --watch=false",
    ],
)
def test_plain_options_of_what_is_allowed_do_not_ask(command: str) -> None:
    assert judged(command, RUNNERS).decision == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "npm exec x", "npm x y", "pnpm dlx x", "yarn dlx x", "yarn node x.js", "npm init x", "npm config set a b",
        "go tool x", "git apply x.patch", "git clone x", "perl -e 1", "ruby x.rb", "docker run x", "npx jest",
        "sqlite3 x.db",
    ],
)  # fmt: skip
def test_what_runs_anything_with_more_words_cannot_be_remembered(command: str) -> None:
    assert may_remember(command) == ()


@pytest.mark.parametrize(
    "command", ["sh -c -- 'rm x'", "bash -c -e 'rm x'", "bash -c -o pipefail -e -- 'rm x'", "sh -ec +x 'true; rm x'"]
)
def test_the_line_of_a_shell_is_found_behind_its_options(command: str) -> None:
    assert judged(command, NEVER).decision == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c \"import os; os.system('rm x')\"",
        'python3.12 -c \'s.run(["rm", "x"])\'',
        "perl -e 'system(\"/bin/rm x\")'",
        'node -e \'require("child_process").execSync("rm x")\'',
        "vim -c '!rm x'",
        "python3 '-cimport os; os.system(\"rm x\")'",
    ],
)
def test_code_that_names_what_is_blocked_asks(command: str) -> None:
    assert judged(command, NEVER).rule == "blocked_commands rm"
    assert judged(command, NEVER).decision == "ask"
