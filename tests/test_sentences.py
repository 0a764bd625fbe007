"""Whatever is refused is refused in a sentence that a test knows: some words of it stand there.

That the test says when it comes is the test's own business; but a sentence that no test knows can be dropped, and the
refusal with it, and nobody notices.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("actors", "codec", "program", "systems", "transports", "troupe")
UNHEARD = {
    "actors/kernel/testing.py",  # for who writes tests
    "transports/process/launcher/ahead/sitecustomize.py",  # ends in silence, and the program starts in the usual way
    "transports/process/launcher/standby.py",  # the same
}
UNREACHED = {
    "the connection broke during the handshake",  # the library has read the request already
}
WORDS = 3
"""In a row."""


def sentences(source: str) -> Iterator[list[str]]:
    """The parts of each text that something is raised with, without what stands in them for values."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise):
            raised = next(ast.iter_child_nodes(node), node)
            texts = [each.value for each in ast.walk(raised) if isinstance(each, ast.Constant)]
            parts = [each for each in texts if isinstance(each, str) and " " in each.strip()]
            if parts:
                yield parts


def rows(text: str) -> Iterator[str]:
    words = text.split()
    for begin in range(max(1, len(words) - WORDS + 1)):
        yield " ".join(words[begin : begin + WORDS])


def is_known(parts: list[str], tests: str) -> bool:
    return any(row in tests for part in parts for row in rows(part))


@cache
def all_tests() -> str:
    """Texts that go on in the next line in one piece, and patterns without their backslashes."""
    files = (path.read_text() for path in sorted((ROOT / "tests").rglob("*.py")) if path != Path(__file__))
    whole = re.sub(r"\"\s*\n\s*[rfb]*\"", "", "\n".join(files))
    return re.sub(r"\\(.)", r"\1", whole)


@pytest.mark.parametrize("room", ROOMS)
def test_every_sentence_of_a_refusal_stands_in_a_test(room: str) -> None:
    unknown = [
        (name, parts)
        for path in sorted((ROOT / room).rglob("*.py"))
        if (name := path.relative_to(ROOT).as_posix()) not in UNHEARD
        for parts in sentences(path.read_text())
        if not UNREACHED & {*parts} and not is_known(parts, all_tests())
    ]
    assert unknown == []


def test_what_is_known_is_told_from_what_is_not() -> None:
    [parts] = sentences('raise Trouble(f"{name} is not a file that anybody {verb} knows", code=1)')
    assert parts == [" is not a file that anybody ", " knows"] or parts == [" is not a file that anybody "]
    assert is_known(parts, 'match="a file that"')
    assert not is_known(parts, 'match="a file"')
    assert list(rows("two words")) == ["two words"]
    assert list(sentences("raise KeyError(name)\nraise")) == []
