"""What is ignored is what git ignores."""

import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from codec.agent.ignores import IgnoreRules, read_rules

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
    ("[ab", [], ["a", "[ab"]),
    ("a\\", [], ["a", "a\\"]),
    ("\\#a", ["#a"], ["a"]),
    ("#a", [], ["#a", "a"]),
    ("\\!a", ["!a"], ["a"]),
    ("a\\*", ["a*"], ["ab"]),
    ("a  ", ["a"], ["a  "]),
    ("a\\ ", ["a "], ["a"]),
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


@pytest.mark.parametrize(
    "line", ["*a" * 40 + "b", "[a]*" * 60 + "b", "**/" * 200 + "b", "/" + "**/a/" * 100 + "b", "*/" * 100 + "**/**/**"]
)
def test_no_line_takes_long_however_hostile(line: str) -> None:
    rules = read_rules("\n".join([line] * 20))
    before = time.perf_counter()
    rules.verdict(["a" * 255], folder=False)
    rules.verdict(["a"] * 120, folder=False)
    assert time.perf_counter() - before < 2


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
    @settings(deadline=None, max_examples=400)
    @given(st.lists(GITIGNORE, min_size=len(PLACES), max_size=len(PLACES)))
    @example(["a/\n!a", "", "", ""])
    @example(["x/**\n!x/y", "", "", ""])
    @example(["*\n!*/\n!a", "", "", ""])
    @example(["[a[]\n[[:x]", "", "", ""])
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
