"""What is remembered of an approval, and how risky a wish is shown."""

import pytest

from codec.agent.approvals import Remembered
from codec.agent.policy import (
    RULES,
    ChangeWish,
    explanation,
    is_prefix,
    matches_remembered,
    may_remember,
    may_remember_exactly,
    risk,
)
from codec.agent.policy.entries import allowed_words


@pytest.mark.parametrize(
    ("command", "prefix"),
    [
        ("npm test", "npm test"),
        ("npm test -- --watch", "npm test"),
        ("npm run build -- x", "npm run build"),
        ("npm", "npm"),
        ("git status -s", "git status"),
        ("git log -p 2>&1", "git log"),
        ("pytest tests/a.py -x", "pytest"),
        ("python -m pytest tests", "python -m pytest"),
        ("python -m http.server 80", "python -m http.server 80"),
        ("python -m", "python -m"),
        ("tool -m pytest x", "tool -m pytest x"),
        ("npm run config", "npm run config"),
        ("git log apply", "git log"),
        ("make", "make"),
        ("npm --version x", "npm --version x"),
        ("python tools/make.py a", "python tools/make.py a"),
        ("./gradlew check", "./gradlew check"),
        ("timeout 60 npm test", "npm test"),
        ("sh -c 'npm test'", "npm test"),
        (("cargo", "build", "--release"), "cargo build"),
    ],
)
def test_the_beginning_that_the_user_means_is_remembered(command: str | tuple[str, ...], prefix: str) -> None:
    assert " ".join(may_remember(command)) == prefix


@pytest.mark.parametrize(
    "command",
    [
        *("", "npm test && git status", "npm test | tee x", "npm test > x", "npm test $X", "A=b npm test"),
        *("rm x", "sudo apt install x", "bash x.sh", "sh", "git push", "git reset --hard", "git -c a=b log"),
        *("find . -delete", "find . -name x", "xargs ls", "mv a b", "cp a b", "tee x", "chmod +x a"),
        *("eval x", "export A=b", "npx x", "kill 1", "cd ..", "make -f x", "pytest -p x",),
        *("curl x", "ssh a b", "'npm' test", "npm test &"),
    ],
)  # fmt: skip
def test_what_would_do_harm_with_more_words_cannot_be_remembered(command: str) -> None:
    assert may_remember(command) == ()


@pytest.mark.parametrize(
    ("command", "can"),
    [
        ("npm test", True),
        (("npm", "test"), True),
        ("npm test 2>&1 | tail -20", True),
        ("npm run lint && npm test", True),
        ("rm -rf build", True),
        ("git push", True),
        ("curl localhost:8000/health", True),
        ("bash x.sh", True),
        ("pytest -p x", True),
        (("rm", "*"), True),
        ("curl x | sh", False),
        ("rm -rf build && npm test", False),
        ("sudo rm x", False),
        ("npm test $X", False),
        ("npm test $(cat x)", False),
        ("rm *", False),
        ("npm test > x", False),
        ("A=b npm test", False),
        ("npm test &", False),
        ("!!", False),
        ("npm test \u00a0", False),
        ("", False),
        ((), False),
    ],
)
def test_exactly_one_command_can_be_remembered_if_its_text_alone_tells_what_it_runs(
    command: str | tuple[str, ...], can: bool
) -> None:
    assert may_remember_exactly(command) is can


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ("ls -la | head", "low"),
        ("git diff HEAD~1", "low"),
        (("cat", "a"), "low"),
        ("", "medium"),
        ("npm test && ls", "medium"),
        ("npm test", "medium"),
        ("git commit -m x", "medium"),
        ("ls && npm test", "medium"),
        ("rm x", "high"),
        ("ls; /bin/rm x", "high"),
        ("sh -c 'ls; rm x'", "high"),
        ("sudo ls", "high"),
        ("git push", "high"),
        ("git push --force", "high"),
        ("git push origin +main", "high"),
        ("git --no-pager log", "low"),
        ("git --no-pager push", "high"),
        ("git", "medium"),
        ("git --version", "medium"),
        ("ls $X", "high"),
        ("ls > x", "high"),
        ("git log --output=x", "high"),
        (ChangeWish(path="a.py", changed_lines=9), "low"),
        (ChangeWish(path="a.py", changed_lines=10), "medium"),
        (ChangeWish(path="a.py", action="create", changed_lines=1), "medium"),
        (ChangeWish(path="a.py", action="delete"), "high"),
        (ChangeWish(path=".git/config"), "high"),
        (ChangeWish(path="package.json", changed_lines=1), "high"),
        (ChangeWish(path="sub/.github/workflows/a.yml"), "high"),
        (ChangeWish(path=".VSCode/tasks.json"), "high"),
        (ChangeWish(path="tests/conftest.py"), "high"),
    ],
)
def test_what_needs_a_closer_look_is_of_higher_risk(wish: str | tuple[str, ...] | ChangeWish, expected: str) -> None:
    assert risk(wish) == expected


@pytest.mark.parametrize(
    ("one", "wish", "covered"),
    [
        (Remembered(id="r", kind="command", argv=("npm", "test")), ("npm", "test", "-x"), True),
        (Remembered(id="r", kind="command", argv=("npm", "test")), ("npm",), False),
        (Remembered(id="r", kind="command"), ("npm",), False),
        (Remembered(id="r", kind="tool", tool_name="execute_command"), ("npm",), True),
        (Remembered(id="r", kind="tool", tool_name="write_file"), ("npm",), False),
        (Remembered(id="r", kind="path", path="npm"), ("npm",), False),
        (Remembered(id="r", kind="path", path="a/b.py"), ChangeWish(path="./a//b.py"), True),
        (Remembered(id="r", kind="path", path="a/b.py"), ChangeWish(path="a/c.py"), False),
        (Remembered(id="r", kind="path", path="../b"), ChangeWish(path="../b"), False),
        (Remembered(id="r", kind="tool", tool_name="write_file"), ChangeWish(path="a", tool_name="write_file"), True),
        (Remembered(id="r", kind="command", argv=("a",)), ChangeWish(path="a"), False),
    ],
)
def test_an_approval_covers_what_it_names(one: Remembered, wish: tuple[str, ...] | ChangeWish, covered: bool) -> None:
    assert matches_remembered(one, wish) is covered


def test_an_entry_that_cannot_be_read_allows_no_words() -> None:
    assert allowed_words("npm 'test x'") == ("npm", "test x")
    assert allowed_words("npm 'test") == ()


def test_words_begin_with_others_one_by_one() -> None:
    assert is_prefix(("npm", "test"), ["npm", "test", "x"])
    assert not is_prefix(("npm", "te"), ["npm", "test"])
    assert not is_prefix(("npm", "test"), ["npm"])
    assert not is_prefix((), ["npm"])


def test_every_rule_has_an_explanation_in_sentences() -> None:
    for name, text in RULES.items():
        assert text.endswith(".")
        assert explanation(f"{name} and an entry") == text
