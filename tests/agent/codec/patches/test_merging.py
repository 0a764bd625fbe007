"""What two have done to a file is in the merge, or there is none."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.patches import merged
from tests.agent.codec.patches.drawn import Drawing, DrawnEdit, DrawnLine


def data(lines: list[DrawnLine]) -> bytes:
    return "".join(f"{line.text}\n" for line in lines).encode()


def do(drawing: Drawing, lines: list[DrawnLine], edits: list[DrawnEdit]) -> list[DrawnLine]:
    lines = list(lines)
    for edit in edits:
        place = drawing.place_of(edit, lines)
        assert place is not None
        lines[place : place + edit.removed] = [DrawnLine(10**6, text) for text in edit.added]
    return lines


def test_changes_apart_from_each_other_are_both_in_the_merge() -> None:
    merges = 0
    for seed in range(400):
        drawing = Drawing(f"merge {seed}", twins=False)
        ours = [edit for number, edit in enumerate(drawing.edits) if number % 2]
        theirs = [edit for number, edit in enumerate(drawing.edits) if not number % 2]
        if not ours or not theirs:
            continue
        base = drawing.original
        both = data(do(drawing, base, drawing.edits))
        result = merged(data(base), data(do(drawing, base, ours)), data(do(drawing, base, theirs)))
        assert result in (both, None), (seed, result)
        merges += result is not None
    assert merges > 100


CASES = [
    (b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n", b"A\nb\nC\n"),
    (b"a\nb\nc\n", b"A\nb\nc\n", b"a\nB\nc\n", None),  # touching
    (b"a\nb\nc\n", b"a\nX\nc\n", b"a\nY\nc\n", None),
    (b"a\nb\nc\n", b"a\nX\nc\n", b"a\nX\nc\n", b"a\nX\nc\n"),
    (b"a\nb\nc\nd\n", b"a\nX\nc\nD\n", b"a\nX\nc\nd\n", b"a\nX\nc\nD\n"),
    (b"a\nb\nc\n", b"a\nc\n", b"a\nB\nc\n", None),
    (b"a\nc\n", b"a\nx\nc\n", b"a\ny\nc\n", None),
    (b"a\nb\nc", b"A\nb\nc", b"a\nb\nc\n", b"A\nb\nc\n"),
    (b"a\r\nb\r\nc\r\n", b"A\r\nb\r\nc\r\n", b"a\r\nb\r\nC\r\n", b"A\r\nb\r\nC\r\n"),
    (b"a\nb\nc\n", b"a\r\nb\r\nc\r\n", b"a\nb\nC\n", None),
    (b"\xef\xbb\xbfa\nb\nc\n", b"\xef\xbb\xbfA\nb\nc\n", b"\xef\xbb\xbfa\nb\nC\n", b"\xef\xbb\xbfA\nb\nC\n"),
    (b"\xef\xbb\xbfa\nb\nc\n", b"a\nb\nc\nd\n", b"\xef\xbb\xbfa\nb\nC\n", None),
    (b"\0a", b"\0b", b"\0a", b"\0b"),
    (b"\0a", b"\0b", b"\0c", None),
    (b"", b"a\n", b"", b"a\n"),
    (b"a\n", b"", b"a\nb\n", None),
]


@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), CASES)
def test_a_merge_is_clean_or_there_is_none(base: bytes, ours: bytes, theirs: bytes, expected: bytes | None) -> None:
    assert merged(base, ours, theirs) == expected
    assert merged(base, theirs, ours) == expected


FILES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\r\n", "d"]), max_size=8).map(
    lambda lines: "".join(lines).encode()
)


@given(FILES, FILES, FILES)
def test_merging_is_fair_and_keeps_what_only_one_has_changed(base: bytes, ours: bytes, theirs: bytes) -> None:
    assert merged(base, ours, base) == merged(base, base, ours) == merged(base, ours, ours) == ours
    assert merged(base, ours, theirs) == merged(base, theirs, ours)


@pytest.mark.slow
def test_where_git_merges_too_it_merges_alike(tmp_path: Path) -> None:
    """Lines stand once, so that there is one way only to see what has changed."""
    compared = 0
    for seed in range(60):
        drawing = Drawing(f"git merge {seed}", twins=False)
        base = [DrawnLine(line.number, f"{line.text} {line.number}") for line in drawing.original]
        for name, lines in [
            ("base", base),
            ("ours", drawing.changed(drawing.moved(base, 1), 1)),
            ("theirs", drawing.deleted(drawing.changed(base, 1), 1)),
        ]:
            (tmp_path / name).write_bytes(data(lines))
        words = ["git", "merge-file", "-p", "ours", "base", "theirs"]
        git = subprocess.run(words, cwd=tmp_path, capture_output=True)
        mine = merged(*((tmp_path / name).read_bytes() for name in ("base", "ours", "theirs")))
        assert mine is None or (git.returncode == 0 and mine == git.stdout), (seed, mine, git)
        compared += mine is not None
    assert compared > 20
