"""The quick ways to see that a path is a plain one see nothing else than the rule does."""

import re
import unicodedata
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codec.agent import tree_paths
from codec.agent.files import FileRefused
from codec.agent.tree_paths import is_closed, tree_names

LETTERS = st.sampled_from([*".gitGIT~1:. abf0\u200b\u00ad\uff47\u2024\u0131\u0130\u212a\u00e4"])
NAMES = st.text(st.one_of(LETTERS, st.characters(exclude_characters="/")), max_size=12)


def by_the_rule(name: str) -> bool:
    seen = "".join(char for char in name if unicodedata.category(char) != "Cf")
    plain = unicodedata.normalize("NFKC", seen).casefold().partition(":")[0].rstrip(" .")
    return plain == ".git" or re.fullmatch(r"(git|\.git|gi[0-9a-f]{4})~[0-9]+", plain) is not None


@given(NAMES)
@example(".GiT")
@example("GIT~1")
@example("gi01af~12")
@example("\u200b.git")
@example(".\uff47it")
def test_a_name_is_closed_by_the_rule(name: str) -> None:
    assert is_closed(name) is by_the_rule(name)


@given(NAMES)
@example("a\0b")
@example("a\ud800b")
@example("a\u2028b")
@example("a\u200bb")
def test_a_path_is_refused_for_its_characters_by_the_rule(name: str) -> None:
    refused = any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in name)
    said = ""
    try:
        tree_names(name)
    except FileRefused as why:
        said = str(why)
    assert ("holds characters that no path may hold" in said) is refused


@pytest.fixture
def no_single_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    def category(char: str) -> str:
        raise AssertionError(f"{char!r} was looked at by itself")

    monkeypatch.setattr(tree_paths, "unicodedata", SimpleNamespace(category=category, normalize=unicodedata.normalize))


@pytest.mark.usefixtures("no_single_characters")
@pytest.mark.parametrize("path", ["src/app.py", "a b/.github/x", "gi/git/.gitignore", "n\u00f6/\u00e4\uff47\u4e2d.py"])
def test_of_a_path_that_can_be_seen_no_character_is_looked_at_by_itself(path: str) -> None:
    assert "/".join(tree_names(path)) == path
