"""A policy's globs are matched while the whole server waits: none takes long, whatever a user writes."""

import time
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.globs import matches

HOSTILE = [
    ("*a" * 400 + "b", "a" * 200),
    ("**/" * 300 + "x", "/".join("a" * 200)),
    ("**/*a*/" * 40 + "x", "/".join(["aaaa"] * 100)),
    ("**/a/" * 100 + "b", "/".join("a" * 200)),
    ("**/" + "*?" * 100 + "[!a]", "a" * 250),
    ("*[ab]*" * 100 + "c", "ab" * 120),
]


@pytest.mark.parametrize(("glob", "path"), HOSTILE, ids=range(len(HOSTILE)))
def test_no_glob_takes_long_to_find_that_it_does_not_match(glob: str, path: str) -> None:
    begun = time.process_time()
    assert not matches([glob], path)
    assert time.process_time() - begun < 0.2


def plainly(glob: str, path: str) -> bool:
    """The meaning, tried out in every way."""
    parts = tuple(each for each in glob.strip("/").split("/") if each)
    if len(parts) == 1 and not glob.startswith("/"):
        parts = ("**", *parts)
    while len(parts) > 1 and parts[-1] == "**":
        parts = parts[:-1]
    names = tuple(path.split("/"))

    @cache
    def name(part: str, text: str) -> bool:
        if not part:
            return not text
        if part[0] == "*":
            return any(name(part[1:], text[at:]) for at in range(len(text) + 1))
        return text != "" and part[0] in ("?", text[0]) and name(part[1:], text[1:])

    @cache
    def run(part: int, at: int) -> bool:
        if part == len(parts):
            return True  # all below it matches too
        if parts[part] == "**":
            return any(run(part + 1, later) for later in range(at, len(names) + 1))
        return at < len(names) and name(parts[part], names[at]) and run(part + 1, at + 1)

    return run(0, 0)


GLOBS = st.lists(st.one_of(st.just("**"), st.text("ab*?", min_size=1, max_size=6)), min_size=1, max_size=5).map(
    "/".join
)
PATHS = st.lists(st.text("ab", min_size=1, max_size=6), min_size=1, max_size=5).map("/".join)


@given(st.sampled_from(["", "/"]), GLOBS, PATHS)
def test_a_glob_means_what_trying_every_way_finds(anchor: str, glob: str, path: str) -> None:
    assert matches([anchor + glob], path) is plainly(anchor + glob, path)
