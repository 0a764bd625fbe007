"""What is ignored is what git ignores."""

import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from codec.agent.ignores import (
    DEEPEST,
    LONGEST_LINE,
    LONGEST_NAME,
    MOST_LINES,
    IgnoreRules,
    TooLate,
    read_rules,
)
from tests.plenty import plenty

TABLE = [  # a line, what it ignores, what it does not
    ("*.pyc", ["a.pyc", "src/deep/a.pyc", ".pyc"], ["a.py", "a.pycc"]),
    ("build", ["build", "src/build", "build/"], ["rebuild", "build.py"]),
    ("build/", ["build/", "src/build/"], ["build", "src/build"]),
    ("/build", ["build", "build/"], ["src/build"]),
    ("src/build", ["src/build"], ["build", "a/src/build"]),
    ("src/*.py", ["src/a.py"], ["src/b/a.py", "a.py"]),
    ("**/logs", ["logs", "a/logs", "a/b/logs"], ["logs1"]),
    ("logs/**", ["logs/a", "logs/a/b"], ["logs", "a/logs/b"]),
    ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/b/c"]),
    ("a/**/**/b", ["a/b", "a/x/y/b"], ["a"]),
    ("a**/b", ["ab", "a/b", "ax/b", "ax/y/b", "a/x/y/b"], ["b", "axb", "xab", "x/ab"]),
    ("x/a**", ["x/a", "x/ab", "x/ab/c/d", "x/a/c"], ["ab", "x/b"]),
    ("!x/a**", [], ["x/ab/c"]),
    ("a**b", ["ab", "axxb", "x/axb"], ["a/b"]),
    ("/**", ["a", "a/b"], []),
    ("foo/**/", ["foo/a/", "foo/a/b/"], ["foo/a", "foo/"]),
    ("?", ["a", "x/b"], ["ab"]),
    ("[ab].c", ["a.c", "x/b.c"], ["c.c"]),
    ("[!ab].c", ["c.c"], ["a.c", "b.c"]),
    ("[^ab].c", ["c.c"], ["a.c"]),
    ("[a-c]x", ["bx"], ["dx", "-x"]),
    ("[]-]x", ["]x", "-x"], ["ax"]),
    ("[[:digit:]]x", ["1x"], ["ax"]),
    ("[[:nothing:]]x", [], ["1x", ":x"]),
    ("[\\]]x", ["]x"], ["\\x", "ax"]),
    ("[a\\-z]x", ["-x", "ax", "zx"], ["bx"]),
    ("[a-\\c]x", ["bx", "cx"], ["dx", "-x", "\\x"]),
    ("[a-\\", [], ["a", "[a-\\"]),
    ("[a\\", [], ["a", "[a\\"]),
    ("[[a]x", ["[x", "ax"], [":x"]),
    ("[[:a]x", ["[x", ":x", "ax"], ["bx"]),
    ("[a[:b]x", ["[x", ":x", "ax", "bx"], ["cx"]),
    ("[[:]x", ["[x", ":x"], ["ax"]),
    ("[[::]x", [], [":x", "[x"]),
    ("[[:digit:", [], ["1", "[[:digit:"]),
    ("[a[:digit:]]x", ["ax", "1x"], ["bx"]),
    ("[[:digit:]-z]x", ["1x", "-x", "zx"], ["ax"]),
    ("[a-cx-z]", ["b", "y"], ["d", "-"]),
    ("[z-a]x", ["zx"], ["ax", "-x"]),
    ("[!z-a]x", ["ax"], ["zx"]),
    ("[ab", [], ["a", "[ab"]),
    ("a\\/b", ["a/b"], ["ab"]),
    ("a\\/**/b", ["a/b", "a/x/b"], ["ab"]),
    ("a**/**/b", ["ab", "a/b", "ax/y/b"], ["b"]),
    ("a**//b", ["a/b"], ["ab", "ab/b", "ab/x/b", "a/x/b"]),
    ("a**/**//b", ["a/b"], ["b", "ab", "a/x/b", "x/ab"]),
    ("a**//", ["a/"], ["a", "ab/", "ab/x/", "a/b/"]),
    ("a**/**//", ["a/"], ["a", "ab/", "ab/x/"]),
    ("a**///", [], ["a/", "ab/", "ab/x/"]),
    ("a**///b", [], ["a/b", "ab"]),
    ("a**/", ["a/", "ab/", "x/ab/"], ["a", "b/"]),
    ("a**//**", ["a/b", "a/b/c"], ["ab", "ab/x", "b"]),
    ("a\\", [], ["a", "a\\"]),
    ("\\#a", ["#a"], ["a"]),
    ("#a", [], ["#a", "a"]),
    ("\\!a", ["!a"], ["a"]),
    ("a\\*", ["a*"], ["ab"]),
    ("a  ", ["a"], ["a  "]),
    ("a\\ ", ["a "], ["a"]),
    ("a\\   ", ["a "], ["a", "a  "]),
    ("a\\\\  ", ["a\\"], ["a\\ "]),
    ("a   b    ", ["a   b"], ["a"]),
    ("a\r", ["a"], ["a\r"]),
    ("\ufeffa", ["a"], []),
    ("/", [], ["a", "a/"]),
    ("!", [], ["a"]),
    ("", [], ["a"]),
    ("//a", [], ["a"]),
    ("a//b", [], ["a/b"]),
    ("*", ["a", "a/b", ".x"], []),
    ("*a*a*", ["aa", "xaya"], ["a"]),
]


def ignored(rules: Mapping[tuple[str, ...], IgnoreRules], path: str) -> bool:
    """As one who walks sees it: from the root on, and never into an ignored folder."""
    names = tuple(path.rstrip("/").split("/"))
    for end in range(1, len(names) + 1):
        folder = end < len(names) or path.endswith("/")
        for depth in range(end - 1, -1, -1):
            found = rules[names[:depth]].verdict(names[depth:end], folder=folder) if names[:depth] in rules else None
            if found is not None:
                break
        if found:
            return True
    return False


@pytest.mark.parametrize(("line", "yes", "no"), TABLE, ids=[repr(line) for line, _, _ in TABLE])
def test_a_line_ignores_what_git_says(line: str, yes: Sequence[str], no: Sequence[str]) -> None:
    rules = read_rules(line)
    assert [path for path in yes if not rules.verdict(path.rstrip("/").split("/"), folder=path.endswith("/"))] == []
    assert [path for path in no if rules.verdict(path.rstrip("/").split("/"), folder=path.endswith("/"))] == []


def test_a_line_may_want_as_much_as_a_disk_can_hold_and_no_more() -> None:
    assert read_rules("?" * LONGEST_NAME).verdict(["a" * LONGEST_NAME], folder=False)
    assert read_rules("a*" * LONGEST_NAME).verdict(["a" * LONGEST_NAME], folder=False)
    assert read_rules("?" * (LONGEST_NAME + 1)).verdict(["a" * (LONGEST_NAME + 1)], folder=False) is None
    assert read_rules("/" + "/".join(["a"] * DEEPEST)).verdict(["a"] * DEEPEST, folder=False)
    assert read_rules("/" + "/".join(["a"] * (DEEPEST + 1))).verdict(["a"] * (DEEPEST + 1), folder=False) is None
    assert read_rules("a" * (LONGEST_LINE + 1) + "\nb").verdict(["b"], folder=False)
    many = "\n".join(f"{number}" for number in range(MOST_LINES + 1))
    assert read_rules(many).verdict([f"{MOST_LINES - 1}"], folder=False)
    assert read_rules(many).verdict([f"{MOST_LINES}"], folder=False) is None


def test_the_last_line_that_matches_counts() -> None:
    rules = read_rules("*.log\n!keep.log\n/keep.log\n!x/\n")
    assert rules.verdict(("a.log",), folder=False) is True
    assert rules.verdict(("src", "keep.log"), folder=False) is False
    assert rules.verdict(("keep.log",), folder=False) is True
    assert rules.verdict(("x",), folder=True) is False
    assert rules.verdict(("a.py",), folder=False) is None


def test_the_deepest_file_that_says_anything_counts_and_nothing_in_an_ignored_folder_is_named_back() -> None:
    rules = {
        (): read_rules("*.log\nout/\n"),
        ("src",): read_rules("!a.log\n/only-here\n"),
        ("out",): read_rules("!*\n"),
    }
    assert ignored(rules, "a.log")
    assert not ignored(rules, "src/a.log")
    assert not ignored(rules, "src/deep/a.log")
    assert ignored(rules, "src/b.log")
    assert ignored(rules, "src/only-here")
    assert not ignored(rules, "src/x/only-here")
    assert ignored(rules, "out/anything")


def test_rules_without_end_are_left_when_it_is_late() -> None:
    rules = read_rules("\n".join(["**/*a*a*b"] * 150))
    asked = iter(range(1000))
    with pytest.raises(TooLate):
        rules.verdict(["a" * 255] * 250, folder=False, late=lambda: next(asked) == 3)
    assert next(asked) == 4, "each line that may take long asks before it is tried"


@pytest.mark.parametrize("line", ["*a" * 300 + "b", "/" + "a/" * 300 + "b", "x" * 256])
def test_a_line_that_no_name_on_a_disk_is_long_enough_for_costs_nothing(line: str) -> None:
    assert read_rules(line).verdict(["a" * 255], folder=False) is None


@pytest.mark.parametrize(
    "line", ["*a" * 40 + "b", "[a]*" * 60 + "b", "**/" * 200 + "b", "/" + "**/a/" * 100 + "b", "*/" * 100 + "**/**/**"]
)
def test_no_line_takes_long_however_hostile(line: str) -> None:
    rules = read_rules("\n".join([line] * 20))
    before = time.process_time()
    rules.verdict(["a" * 255], folder=False)
    rules.verdict(["a"] * 120, folder=False)
    assert time.process_time() - before < 2


# -- beside git

FILES = (
    "a",
    "b",
    "aab",
    "a.b",
    "x/a",
    "x/b",
    "x/ab",
    "x/y/a",
    "x/y/b.a",
    "ab/a",
    "ab/x/b",
    "[a]",
    "a b",
    "#a",
    "!a",
    "-",
    "x/]",
)
PIECES = st.sampled_from(
    [
        "a",
        "b",
        "x",
        "y",
        "ab",
        "*",
        "**",
        "?",
        "/",
        "!",
        ".",
        "[ab]",
        "[!a]",
        "[a-x]",
        "[",
        "]",
        "\\",
        " ",
        "#",
        "-",
        "[[:alpha:]]",
        "**/",
    ]
)
LINES = st.lists(PIECES, min_size=1, max_size=6).map("".join)
GITIGNORE = st.lists(LINES, max_size=5).map("\n".join)
PLACES = ((), ("x",), ("x", "y"), ("ab",))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for file in FILES:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text("")
    return root


if shutil.which("git"):

    @pytest.mark.slow
    def test_the_table_is_what_git_says(tmp_path: Path) -> None:
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
        for line, yes, no in TABLE:
            (tmp_path / ".gitignore").write_bytes(line.encode())
            paths = [*yes, *no]
            told = subprocess.run(
                ["git", "-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "-z", "--stdin"],
                cwd=tmp_path,
                input="".join(f"./{path}\0" for path in paths).encode(),
                capture_output=True,
            ).stdout
            git = told.decode().split("\0")
            rules: dict[tuple[str, ...], IgnoreRules] = {(): read_rules(line)}
            assert [path for path in paths if ignored(rules, path)] == [path for path in paths if f"./{path}" in git]

    @pytest.mark.slow
    @settings(deadline=None, max_examples=plenty(130))
    @given(st.lists(GITIGNORE, min_size=len(PLACES), max_size=len(PLACES)))
    @example(["a/\n!a", "", "", ""])
    @example(["x/**\n!x/y", "", "", ""])
    @example(["*\n!*/\n!a", "", "", ""])
    @example(["", "a**/b", "x/a**", ""])
    @example(["x/y/a**/**/b\nx**", "!/a**/b", "", ""])
    @example(["[a[]\n[[:x]", "", "", ""])
    @example(["a**//", "a**//b", "", ""])
    @example(["\\", "\\\\a", "a\\ ", " a"])
    def test_any_files_ignore_what_git_ignores(repository: Path, files: list[str]) -> None:
        for place, text in zip(PLACES, files, strict=True):
            (repository.joinpath(*place) / ".gitignore").write_text(text)
        told = subprocess.run(
            ["git", "-c", "core.excludesFile=/dev/null", "ls-files", "-o", "-z", "--exclude-standard"],
            cwd=repository,
            check=True,
            capture_output=True,
        ).stdout
        git = {path for path in told.decode().split("\0") if path and not path.endswith(".gitignore")}
        rules = {place: read_rules(text) for place, text in zip(PLACES, files, strict=True)}
        assert {path for path in FILES if not ignored(rules, path)} == git
