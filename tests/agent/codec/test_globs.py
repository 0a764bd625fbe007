import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.globs import _pattern, matches

CASES = [
    ("**/*", "a.py", True),
    ("**/*", "a/b/.env", True),
    ("**", "a/b", True),
    (".git/**", ".git/config", True),
    (".git/**", ".git", True),
    (".git/**", "git/config", False),
    (".git/**", "a/.git/config", False),
    ("**/.git/**", "a/.git/config", True),
    ("node_modules/**", "node_modules/a/b.js", True),
    ("node_modules/**", "node_modules_old/a.js", False),
    ("src/*.py", "src/a.py", True),
    ("src/*.py", "src/a/b.py", False),
    ("src/**/*.py", "src/b.py", True),
    ("src/**/*.py", "src/a/c/b.py", True),
    ("*.pem", "keys/a.pem", True),
    ("/a.pem", "keys/a.pem", False),
    ("/a.pem", "a.pem", True),
    ("secrets", "deploy/secrets/a.txt", True),
    ("secrets/", "secrets/a/b.txt", True),
    ("src", "src2/a", False),
    ("a?.[jt]s", "ab.ts", True),
    ("a?.[!jt]s", "ab.ts", False),
    ("a[", "a[", True),
    ("[a-a]", "a", True),
    ("[a-cx]", "x", True),
    ("secrets/", "deploy/secrets/a.txt", True),
    ("a/", "x/a", True),
    ("a/", "x/a/", True),
    ("/src/*.py/", "src/a.py/", True),
    ("a.c", "abc", False),
]  # fmt: skip


@pytest.mark.parametrize(("glob", "path", "expected"), CASES)
def test_a_glob_matches_as_users_expect(glob: str, path: str, expected: bool) -> None:
    assert matches([glob], path) is expected


@given(st.text("ab*?[]!/.\\-^", max_size=12), st.text("ab/.", max_size=12))
def test_any_text_is_a_glob(glob: str, path: str) -> None:
    assert matches([glob], path) in (True, False)


SIGNS = "ab-&~|[]!^\\?*#/. "


@given(st.text(SIGNS, max_size=12), st.text(SIGNS, max_size=8))
def test_no_glob_raises_a_warning_or_is_no_expression(glob: str, path: str) -> None:
    _pattern.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert matches([f"[{glob}]", glob], path) in (True, False)


@given(st.text("abc-&~|[^!?", min_size=1, max_size=5), st.sampled_from("abc-&~|[^!?"))
def test_a_choice_matches_the_characters_and_ranges_that_it_names(inside: str, char: str) -> None:
    """Against a reading of its own: from the left, and X-Y is a range."""
    inverted, rest, chosen = inside[0] in "!^", inside[inside[0] in "!^" :], set()
    backwards = not rest
    while rest:
        if len(rest) > 2 and rest[1] == "-":
            backwards |= rest[0] > rest[2]
            chosen |= {chr(each) for each in range(ord(rest[0]), ord(rest[2]) + 1)}
            rest = rest[3:]
        else:
            chosen.add(rest[0])
            rest = rest[1:]
    expected = char in chosen if not inverted else char not in chosen
    assert matches([f"/[{inside}]"], char) is (False if backwards else expected)


@given(st.lists(st.sampled_from(["a", "b.py", ".git", "c d"]), min_size=1, max_size=4))
def test_a_path_matches_itself_its_folders_and_everything(names: list[str]) -> None:
    path = "/".join(names)
    assert matches([f"/{path}"], path)
    assert matches([f"/{names[0]}"], path)
    assert matches([f"{names[0]}/**"], path)
    assert matches(["**/*"], path)
    assert not matches([], path)
